"""The plan of an evaluation is checked here, before a label is spent."""

import numbers

import numpy as np

from sklearn_ase._data._rows import check_indices


def check_stop(stop, risk):
    """Refuse what is no stopping rule, and one that no estimate would meet."""
    if isinstance(stop, type) or not hasattr(stop, "reason"):
        raise TypeError(
            f"stop={stop!r} cannot serve as stopping rule. Give an instance of a "
            "class from sklearn_ase.stopping."
        )
    stop.reason([])  # Refuses what is wrong with its parameters.
    if getattr(stop, "needs_interval", False) and not risk.needs_query_proba:
        raise ValueError(
            f"{type(stop).__name__} waits for a narrow interval, but "
            f"{type(risk).__name__} must do without any. Use risk=GuardedASE() or "
            "CorrectedASE() with selection=Proportional() or UniformMixed(...)."
        )


def check_budget(budget):
    """Check how much labels may cost."""
    if budget is not None and not (isinstance(budget, numbers.Real) and budget > 0):
        raise ValueError(f"budget={budget!r} must be a number > 0, or None.")


def check_n_labels(n_labels, batch_size, n_samples):
    """Check how many labels are to be bought."""
    if not isinstance(n_labels, numbers.Integral) or n_labels < 0:
        raise ValueError(f"n_labels={n_labels!r} must be an integer >= 0.")
    if not isinstance(batch_size, numbers.Integral) or batch_size < 1:
        raise ValueError(f"batch_size={batch_size!r} must be an integer >= 1.")
    if n_labels > n_samples:
        raise ValueError(
            f"n_labels={n_labels} is more than the pool holds: n_samples = "
            f"{n_samples}. Ask for at most that many."
        )


def check_cv(cv):
    """Check the number of folds in which copies of the model are fitted."""
    valid = isinstance(cv, numbers.Integral) and not isinstance(cv, bool)
    if not valid or cv < 0 or cv == 1:
        raise ValueError(
            f"cv={cv!r} must be 0, to never fit the model, or an integer "
            ">= 2, the number of folds."
        )


def check_strategy(strategy, room, *attributes):
    """Refuse strings, classes and whatever else is no strategy."""
    missing = [name for name in attributes if not hasattr(strategy, name)]
    if isinstance(strategy, type) or missing:
        base = f"Base{room.capitalize()}"
        raise TypeError(
            f"{room}={strategy!r} cannot serve as {room}. Give an instance of a class "
            f"from sklearn_ase.{room}, or of a subclass of {base}."
        )


def check_risk(risk):
    """Refuse what is no risk."""
    flags = ("needs_query_proba", "needs_belief", "leans_on_surrogate")
    check_strategy(risk, "risk", "estimate", *flags)


def check_plan(risk, acquisition, selection, surrogate):
    """Refuse plans whose labels could not give the estimate that is asked for."""
    check_risk(risk)
    flags = ("needs_member_loss", "follows_labels")
    check_strategy(acquisition, "acquisition", "score_samples", *flags)
    check_strategy(selection, "selection", "pick", "distribution", "has_query_proba")
    if acquisition.needs_member_loss and not surrogate.gives_members:
        raise ValueError(
            f"{type(acquisition).__name__} compares the members of the surrogate, but "
            f"{type(surrogate.estimator).__name__} has none. Use an ensemble as "
            "surrogate or another acquisition."
        )
    name = type(risk).__name__
    if risk.needs_query_proba and not selection.has_query_proba:
        raise ValueError(
            f"{name} weighs each label by the probability with which it was picked, "
            f"but {type(selection).__name__}() picks without one. Use "
            "selection=Proportional() or UniformMixed(...)."
        )
    if risk.needs_uniform and not acquisition.is_uniform:
        raise ValueError(
            f"{name} needs a plain random sample, but "
            f"acquisition={type(acquisition).__name__}() prefers some rows. Use "
            "acquisition=Uniform(), or risk=LURE() or CorrectedASE()."
        )


def check_ledger(ledger, n_samples):
    """Check that a ledger may be of this pool."""
    if ledger is None:
        return
    if not hasattr(ledger, "pending"):
        raise TypeError(
            f"ledger must be a LabelLedger, got {ledger!r}. Read a file with "
            "LabelLedger.from_csv(path)."
        )
    wrong = [index for index in ledger.indices if not 0 <= index < n_samples]
    if wrong:
        raise ValueError(
            f"The ledger is of another pool: it has row {wrong[0]}, but this pool has "
            f"{n_samples} rows."
        )
    if len(set(ledger.indices)) < len(ledger.indices):
        raise ValueError("The ledger asks for some rows twice. Each row is asked once.")


def check_embedding(embedding, n_samples, selection):
    """Check a space in which the rows of a batch are kept apart."""
    if selection.has_query_proba:
        raise ValueError(
            f"embedding= keeps rows apart by choice, but {type(selection).__name__}() "
            "draws them with probabilities that estimates rely on. Use "
            "selection=ArgMax(), or leave embedding out."
        )
    embedding = np.asarray(embedding, dtype=float)
    if embedding.ndim != 2 or len(embedding) != n_samples:
        raise ValueError(
            f"embedding must be of shape ({n_samples}, n_dimensions), one row for each "
            f"of the pool, but has shape {embedding.shape}."
        )
    if not np.isfinite(embedding).all():
        raise ValueError("embedding must be finite, but has NaN or infinite entries.")
    return embedding


def check_cost(cost, n_samples):
    """Check what a label of each row costs; None stays None."""
    if cost is None:
        return None
    cost = np.asarray(cost, dtype=float)
    if cost.shape != (n_samples,) or not (np.isfinite(cost) & (cost > 0)).all():
        raise ValueError(
            f"cost must be one finite number > 0 for each of the {n_samples} rows of "
            f"the pool, but has shape {cost.shape}"
            + (f" and a least entry of {cost.min()}." if cost.size else ".")
        )
    return cost


def check_known_labels(known_labels, n_samples):
    """Check labels that are there before the first query, a dict of row to label."""
    if known_labels is None:
        return {}
    try:
        known = dict(known_labels)
    except (TypeError, ValueError):
        raise TypeError(
            f"known_labels must be a dict of row to label, got {known_labels!r}."
        ) from None
    known = dict(zip(check_indices(list(known)).tolist(), known.values(), strict=True))
    wrong = [index for index in known if not 0 <= index < n_samples]
    if wrong:
        raise ValueError(
            f"known_labels has rows {wrong[:5]}, but the rows of the pool are 0 to "
            f"{n_samples - 1}."
        )
    return known


def check_can_estimate(n_labels, evaluation):
    """Refuse a budget that never suffices for the estimate that is asked for."""
    surrogate = evaluation.surrogate
    n_training = evaluation.task.n_training + len(evaluation.ledger.known)
    no_label = n_labels == 0 and not len(evaluation.ledger)
    if no_label and not (evaluation.is_fitted and evaluation.risk.leans_on_surrogate):
        raise ValueError(
            f"n_labels=0 leaves {type(evaluation.risk).__name__} nothing to estimate "
            "from. Buy labels, or give X_train and y_train with risk=GuardedASE() or "
            "ASE()."
        )
    if evaluation.risk.needs_belief and not surrogate.can_fit(n_training + n_labels):
        raise ValueError(
            f"{type(evaluation.risk).__name__} needs a fitted surrogate. That takes at "
            f"least {surrogate.min_rows} labelled rows, but n_labels={n_labels} and "
            f"there are {n_training} training rows. Give X_train and y_train or buy "
            "more labels."
        )


def check_scores(scores, n_samples, acquisition):
    """Check what an acquisition, perhaps somebody else's, returned."""
    scores = np.asarray(scores, dtype=float)
    name = type(acquisition).__name__
    if scores.shape != (n_samples,):
        raise ValueError(
            f"{name}.score_samples must return one score a row, shape ({n_samples},), "
            f"but returned shape {scores.shape}."
        )
    if not np.isfinite(scores).all() or scores.min() < 0:
        raise ValueError(
            f"{name}.score_samples must return finite scores >= 0, but they go from "
            f"{scores.min()} to {scores.max()}."
        )
    return scores
