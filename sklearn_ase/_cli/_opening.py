"""Open the evaluation of a campaign: turn columns into what Python takes."""

from sklearn_ase._active_risk import ActiveRiskEstimator
from sklearn_ase._cli._columns import (
    as_label,
    features_of,
    judge_of,
    labels_of,
    numbers_of,
    probabilities_of,
)


def open_evaluation(campaign, columns):
    """Start the evaluation of a campaign, or continue it.

    Parameters
    ----------
    campaign : Campaign
    columns : dict of str to list
        The pool.

    Returns
    -------
    evaluation : Evaluation
    """
    classes, pos_label = campaign.classes, campaign.pos_label
    about = getattr(campaign.goal, "label", None), pos_label
    rows = {"known_labels": _known_labels(campaign, columns) or None}
    rows["predictions"] = _predictions(campaign, columns)
    if campaign.judge:
        rows["experts"] = {
            name: judge_of(
                _translated(columns[name], campaign.judge_says), classes, name, *about
            )
            for name in campaign.judge
        }
    for option, argument in {"weight": "sample_weight", "cost": "cost"}.items():
        name = getattr(campaign, option)
        if name is not None:
            rows[argument] = numbers_of(columns[name], name, True)
    X = features_of(columns, campaign.features) if campaign.features else None
    if campaign.train is not None:
        rows |= _training_rows(campaign, X)
    evaluator = ActiveRiskEstimator(
        metric=campaign.goal,
        loss=campaign.loss,
        classes=classes,
        random_state=campaign.seed,
    )
    return evaluator.start(X, journal=campaign.journal, **rows)


def predictions_in(campaign, columns, name, metric):
    """Return the predictions of another model, in one column.

    Parameters
    ----------
    campaign : Campaign
    columns : dict of str to list
    name : str
        Of the column.
    metric : BaseMetric
        It decides whether these are labels, numbers or probabilities.

    Returns
    -------
    predictions : list or ndarray of shape (n_samples,) or (n_samples, n_classes)
    """
    if metric.response_method == "predict_proba":
        about = campaign.classes, campaign.pos_label
        return probabilities_of(columns, [name], *about)
    return _labels(campaign, columns, name, True)


def _labels(campaign, columns, name, needs_all):
    if campaign.classes is None:
        return numbers_of(columns[name], name, needs_all)
    return labels_of(columns[name], campaign.classes, name, needs_all)


def _predictions(campaign, columns):
    """What the model under test says; None without a model."""
    if campaign.prediction:
        return _labels(campaign, columns, campaign.prediction, True)
    if campaign.proba:
        about = campaign.classes, campaign.pos_label
        return probabilities_of(columns, campaign.proba, *about)
    return None


def _known_labels(campaign, columns):
    if not campaign.known:
        return {}
    labels = enumerate(_labels(campaign, columns, campaign.known, False))
    # An empty cell is None or NaN, which is not equal to itself.
    return {row: label for row, label in labels if label is not None and label == label}


def _training_rows(campaign, X):
    """Features, labels and perhaps predictions of the training rows."""
    train = campaign.train_columns()
    X_train = features_of(train, campaign.features)
    for name in campaign.features:
        if X_train[name].dtype != X[name].dtype:
            raise ValueError(
                f"Column {name} has numbers in one of the pool and the file of "
                "--train, and texts in the other. Make them alike."
            )
    found = {"X_train": X_train}
    found["y_train"] = _labels(campaign, train, campaign.train_label, True)
    if campaign.train_predictions:
        found["train_predictions"] = _predictions(campaign, train)
    return found


def _translated(cells, words):
    """What a judge says in the labels of people, by words such as ``pass=correct``."""
    pairs = (each.partition("=") for each in words)
    meaning = {word: label for word, _, label in pairs}
    return [c if c is None else meaning.get(as_label(c), c) for c in cells]
