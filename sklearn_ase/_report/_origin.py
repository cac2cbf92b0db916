"""The section about how the number was made."""

import platform
from importlib.metadata import version

import numpy as np

from sklearn_ase._labels._fingerprint import fingerprint
from sklearn_ase._labels._opening import described
from sklearn_ase._report._blocks import Facts
from sklearn_ase._report._text import counted
from sklearn_ase._utils._seeding import draw_seed
from sklearn_ase._utils._unwrapping import unwrap
from sklearn_ase._version import __version__

_PACKAGES = ("scikit-learn", "numpy", "scipy")


def origin_blocks(evaluation, made, more=None):
    """How the number was made, so that others can make it again.

    Parameters
    ----------
    evaluation : Evaluation
    made : str
        When the report was made.
    more : dict of str to str, default=None
        What else is known, such as the name of the file; it comes first.

    Yields
    ------
    block : block
    """
    problem, plan = evaluation.problem, evaluation.plan
    facts = dict(more or {})
    facts["report made"] = made
    facts["labels"] = f"{len(evaluation.ledger)} of {evaluation.n_samples} rows"
    facts["model under test"] = _model(problem, plan)
    if problem.experts is not None:
        facts["judges"] = ", ".join(one.name for one in problem.experts.each)
    if problem.n_training:
        facts["training rows"] = str(problem.n_training)
    facts["what is estimated"] = described(plan.metric or problem.loss)
    facts["how it is estimated"] = described(plan.risk)
    facts["surrogate"] = described(plan.surrogate)
    facts["which rows to label"] = (
        f"{described(plan.acquisition)}, {described(plan.selection)}"
    )
    facts["surrogate fitted again"] = _refit(plan.refit)
    facts["weights of the rows"] = "none" if problem.sample_weight is None else "given"
    facts |= _seed(plan.random_state, evaluation.seed)
    facts["fingerprint of the pool"] = _fingerprint(evaluation)
    if problem.experts is not None:
        values = [
            one.values.reshape(len(one.values), -1) for one in problem.experts.each
        ]
        facts["fingerprint of the judges"] = fingerprint(np.hstack(values))
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    facts["versions"] = ", ".join(
        [f"sklearn_ase {__version__}", *packages, f"Python {platform.python_version()}"]
    )
    yield Facts(facts)


def _model(problem, plan):
    if problem.model is not None:
        return type(unwrap(problem.model).last).__name__
    needs_none = getattr(plan.metric, "response_method", "") is None
    if problem.predictions.expert is None and needs_none:
        return "none: the labels themselves are counted"
    return "given by its predictions"


def _seed(random_state, seed):
    """What repeats the picks: the number that was given, or the one that was drawn."""
    is_given = isinstance(random_state, int | np.integer)
    # A journal goes on with its own seed, whatever is given later.
    if is_given and draw_seed(random_state) == seed:
        return {"random_state": str(random_state)}
    return {"seed": f"{seed}, drawn by the evaluation"}


def _refit(refit):
    if isinstance(refit, float):
        return f"whenever the number of labels has grown {refit:g} times"
    if isinstance(refit, int | np.integer):
        return f"after every {counted(int(refit), 'label')}"
    return f"at {described(list(refit))} labels"


def _fingerprint(evaluation):
    """That of the journal, if there is one: to read a pool may take long."""
    header = getattr(evaluation.ledger, "header", None) or {}
    return header.get("pool") or fingerprint(evaluation.problem.X)
