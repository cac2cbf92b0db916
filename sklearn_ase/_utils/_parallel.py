"""Run jobs on whatever backend of joblib is active."""

from joblib import Parallel


def run_jobs(jobs, n_jobs):
    """Run jobs and return an iterable of their results, in order.

    Parameters
    ----------
    jobs : iterable of joblib.delayed calls
    n_jobs : int or None

    Returns
    -------
    results : iterable
        Each is there as soon as it can be. With a backend that cannot say when a job
        is done (multiprocessing, ray) all are there at the end.
    """
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    except ValueError as error:
        if "return_as" not in str(error):
            raise
        return Parallel(n_jobs=n_jobs)(jobs)
