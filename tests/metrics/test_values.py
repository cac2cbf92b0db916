"""When every label is known, a metric has the value that scikit-learn gives."""

import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone

from sklearn_ase.metrics import (
    R2,
    Accuracy,
    AveragePrecision,
    BalancedAccuracy,
    CohenKappa,
    ConfusionMetric,
    ExplainedVariance,
    FBeta,
    Jaccard,
    LabelMean,
    LabelShare,
    Matthews,
    MeanLoss,
    Precision,
    Recall,
    RootMeanSquaredError,
    Specificity,
)

N_SAMPLES = 80


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def pool_value(metric, y, prediction, classes=None, weight=None):
    """Value by the means of a pool whose labels are all known."""
    if weight is not None:
        weight = weight / weight.mean()
    pool = metric.on_pool(prediction, classes, weight, n_samples=len(y))
    rows = np.arange(len(y))
    means = [part.observed(rows, y).mean() for part in pool.parts]
    return pool.value(np.array(means))


def labels_and_guesses(rng, classes, true=None, guessed=None):
    """Labels and predictions, drawn from all classes or from some."""
    classes = np.array(classes)
    y = rng.choice(classes if true is None else np.array(true), N_SAMPLES)
    guess = rng.choice(classes if guessed is None else np.array(guessed), N_SAMPLES)
    is_right = (rng.random(N_SAMPLES) < 0.5) & np.isin(y, guess)
    return y, np.where(is_right, y, guess), classes


def weights(rng, kind):
    if kind == "equal":
        return None
    if kind == "weighted":
        return rng.uniform(0.2, 3.0, N_SAMPLES)
    return (rng.random(N_SAMPLES) < 0.4).astype(float)


def tables_of(y, guess, labels, weight):
    """For each class against the rest, its two by two table."""
    return metrics.multilabel_confusion_matrix(
        y, guess, labels=labels, sample_weight=weight
    ).astype(float)


def specificity_score(y, guess, average, pos_label=None, sample_weight=None):
    labels = [pos_label] if average == "binary" else None
    tables = tables_of(y, guess, labels, sample_weight)
    if average == "micro":
        tables = tables.sum(axis=0, keepdims=True)
    right, below = tables[:, 0, 0], tables[:, 0].sum(axis=1)
    each = np.divide(right, below, out=np.zeros(len(tables)), where=below > 0)
    size = tables[:, 1].sum(axis=1)
    return np.average(each, weights=size if average == "weighted" else None)


def f2_score(*args, **kwargs):
    return metrics.fbeta_score(*args, beta=2.0, **kwargs)


RATIOS = {
    "precision": (Precision, metrics.precision_score),
    "recall": (Recall, metrics.recall_score),
    "specificity": (Specificity, specificity_score),
    "f1": (FBeta, metrics.f1_score),
    "f2": (lambda **kwargs: FBeta(beta=2.0, **kwargs), f2_score),
    "jaccard": (Jaccard, metrics.jaccard_score),
}
AGREEMENTS = {
    "accuracy": (Accuracy(), metrics.accuracy_score),
    "balanced": (BalancedAccuracy(), metrics.balanced_accuracy_score),
    "adjusted": (
        BalancedAccuracy(adjusted=True),
        lambda *args, **kwargs: metrics.balanced_accuracy_score(
            *args, adjusted=True, **kwargs
        ),
    ),
    "matthews": (Matthews(), metrics.matthews_corrcoef),
    "kappa": (CohenKappa(), metrics.cohen_kappa_score),
}
every_ratio = pytest.mark.parametrize("name", RATIOS)
every_agreement = pytest.mark.parametrize("name", AGREEMENTS)
every_weight = pytest.mark.parametrize("kind", ["equal", "weighted", "slice"])
POOLS = {
    "two": ([0, 1], None, None),
    "signs": ([-1, 1], None, None),
    "strings": (["no", "yes"], None, None),
    "five": ([0, 1, 2, 3, 4], None, None),
    "names": (["ant", "bee", "cat", "dog"], None, None),
    "not true": ([0, 1, 2, 3, 4], [0, 2, 4], None),
    "not predicted": ([0, 1, 2, 3, 4], None, [1, 2, 3]),
    "neither": ([0, 1, 2, 3, 4], [0, 1, 2], [1, 2, 3]),
    "no class": ([0, 2, 4], None, [0, 1, 2, 4, 7]),
}
every_pool = pytest.mark.parametrize("pool", POOLS)


@every_ratio
@every_weight
@pytest.mark.parametrize("pool", ["two", "signs", "strings", "five", "no class"])
def test_a_ratio_of_one_class_is_that_of_scikit_learn(rng, name, kind, pool):
    kind_of_metric, expected = RATIOS[name]
    y, guess, classes = labels_and_guesses(rng, *POOLS[pool])
    weight = weights(rng, kind)
    for pos_label in classes:
        metric = kind_of_metric(pos_label=pos_label)
        found = pool_value(metric, y, guess, classes, weight)
        if name == "specificity":
            value = specificity_score(y, guess, "binary", pos_label, weight)
        else:
            value = expected(y == pos_label, guess == pos_label, sample_weight=weight)
        assert found == pytest.approx(value, abs=1e-12)
        assert metric(y, guess, weight) == pytest.approx(value, abs=1e-12)


@every_ratio
@pytest.mark.parametrize(
    ("classes", "positive"),
    [([0, 1], 1), ([1, 2], 1), ([-1, 1], 1), ([4, 7], 7)],
)
def test_by_default_1_or_the_greater_of_two_numbers_is_positive(
    rng, name, classes, positive
):
    y, guess, classes = labels_and_guesses(rng, classes)
    kind_of_metric = RATIOS[name][0]
    expected = pool_value(kind_of_metric(pos_label=positive), y, guess, classes)
    assert pool_value(kind_of_metric(), y, guess, classes) == expected
    assert kind_of_metric()(y, guess) == pytest.approx(expected, abs=1e-15)


@every_ratio
@every_weight
@every_pool
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_an_average_of_ratios_is_that_of_scikit_learn(rng, name, kind, pool, average):
    kind_of_metric, expected = RATIOS[name]
    y, guess, classes = labels_and_guesses(rng, *POOLS[pool])
    weight = weights(rng, kind)
    metric = kind_of_metric(average=average)
    found = pool_value(metric, y, guess, classes, weight)
    if kind == "slice":  # A row of weight 0 does not show that its class occurs.
        y, guess = y[weight > 0], guess[weight > 0]
        weight = None
    if name == "specificity" and average == "micro":
        every = np.union1d(
            classes, guess
        )  # All classes count, even if they are not there.
        tables = tables_of(y, guess, every, weight).sum(axis=0)
        value = tables[0, 0] / tables[0].sum()
    else:
        more = {} if name == "specificity" else {"zero_division": 0.0}
        value = expected(y, guess, average=average, sample_weight=weight, **more)
    assert found == pytest.approx(value, abs=1e-12)


@every_agreement
@every_weight
@every_pool
@pytest.mark.filterwarnings("ignore:y_pred contains classes")
def test_agreement_is_that_of_scikit_learn(rng, name, kind, pool):
    metric, expected = AGREEMENTS[name]
    y, guess, classes = labels_and_guesses(rng, *POOLS[pool])
    weight = weights(rng, kind)
    found = pool_value(metric, y, guess, classes, weight)
    if kind == "slice":
        y, guess = y[weight > 0], guess[weight > 0]
        weight = None
    value = expected(y, guess, sample_weight=weight)
    assert found == pytest.approx(value, abs=1e-12)
    assert metric(y, guess, weight) == pytest.approx(value, abs=1e-12)


def test_two_classes_need_two_means_that_depend_on_labels(rng):
    _, guess, classes = labels_and_guesses(rng, [0, 1])
    for metric in (Precision(), Recall(), FBeta(), BalancedAccuracy(), CohenKappa()):
        pool = metric.on_pool(guess, classes)
        assert len(pool.parts) == 2
        assert pool.known[-1] == pytest.approx(guess.mean())
    assert len(Accuracy().on_pool(guess, classes).parts) == 1
    assert len(FBeta(average="micro").on_pool(guess, classes).parts) == 1


def test_precision_does_not_depend_on_missed_positives(rng):
    y, guess, classes = labels_and_guesses(rng, [0, 1])
    pool = Precision().on_pool(guess, classes)
    slim = pool.without_idle_parts()
    assert len(slim.parts) == 1
    means = [part.observed(np.arange(len(y)), y).mean() for part in pool.parts]
    assert slim.value(np.array(means[:1])) == pool.value(np.array(means))
    recall = Recall().on_pool(guess, classes)
    assert recall.without_idle_parts() is recall


@every_ratio
def test_texts_have_no_positive_class_by_default(rng, name):
    _, guess, classes = labels_and_guesses(rng, ["no", "yes"])
    with pytest.raises(
        ValueError, match=r"positive one, 'no' or 'yes'. Give pos_label"
    ):
        RATIOS[name][0]().on_pool(guess, classes)


@pytest.mark.parametrize("metric", [Recall(), FBeta(beta=2), AveragePrecision()])
@pytest.mark.parametrize("rarer", ["fraud", "ok"])
def test_the_rarer_text_is_the_example_of_a_positive_class(metric, rarer):
    classes = np.array(["fraud", "ok"])
    predicted = (np.arange(20) < 3) == (rarer == "ok")
    proba = np.column_stack([~predicted, predicted]) * 0.8 + 0.1
    is_ranking = isinstance(metric, AveragePrecision)
    given = proba if is_ranking else classes[predicted.astype(int)]
    example = clone(metric).set_params(pos_label=rarer)
    with pytest.raises(ValueError, match="as in ") as caught:
        metric.on_pool(given, classes)
    assert f"as in sklearn_ase.metrics.{example!r}." in str(caught.value)


def test_a_class_that_is_never_predicted_is_known_not_to_be_found(rng):
    _, guess, classes = labels_and_guesses(rng, [0, 1, 2], guessed=[0, 2])
    pool = FBeta(average="macro").on_pool(guess, classes)
    assert pool.known[1] == 0.0
    assert len(pool.parts) == 5


@every_weight
@pytest.mark.parametrize("pool", ["two", "names", "neither", "no class"])
def test_a_function_of_the_confusion_matrix_sees_that_of_scikit_learn(rng, kind, pool):
    y, guess, classes = labels_and_guesses(rng, *POOLS[pool])
    weight, seen = weights(rng, kind), []

    def function(matrix):
        seen.append(matrix)
        return matrix[0, 1] - 2.0 * matrix[1, 0]

    found = pool_value(ConfusionMetric(function), y, guess, classes, weight)
    matrix = metrics.confusion_matrix(
        y,
        guess,
        labels=np.union1d(classes, guess),
        sample_weight=weight,
        normalize="all",
    )
    np.testing.assert_allclose(seen[0], matrix, atol=1e-12)
    assert found == pytest.approx(function(matrix), abs=1e-12)


REGRESSIONS = {
    "r2": (R2(), metrics.r2_score),
    "explained": (ExplainedVariance(), metrics.explained_variance_score),
    "rmse": (RootMeanSquaredError(), metrics.root_mean_squared_error),
    "mse": (MeanLoss("squared_error"), metrics.mean_squared_error),
    "mae": (MeanLoss("absolute_error"), metrics.mean_absolute_error),
}


@pytest.mark.parametrize("name", REGRESSIONS)
@every_weight
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_metric_of_numbers_is_that_of_scikit_learn(rng, name, kind, offset):
    metric, expected = REGRESSIONS[name]
    y = offset + rng.normal(size=N_SAMPLES)
    prediction = 0.6 * y + 0.4 * offset + rng.normal(0.3, 0.5, N_SAMPLES)
    weight = weights(rng, kind)
    value = expected(y, prediction, sample_weight=weight)
    # Labels themselves have only ten digits after the point at 1e6.
    tolerance = 1e-12 if offset == 0 else 1e-9
    found = pool_value(metric, y, prediction, weight=weight)
    assert found == pytest.approx(value, abs=tolerance)
    assert metric(y, prediction, weight) == pytest.approx(value, abs=tolerance)


@every_weight
def test_mean_losses_of_probabilities_are_those_of_scikit_learn(rng, kind):
    y, _, classes = labels_and_guesses(rng, ["ant", "bee", "cat"])
    proba, weight = rng.dirichlet(np.ones(3), N_SAMPLES), weights(rng, kind)
    value = metrics.log_loss(y, proba, labels=classes, sample_weight=weight)
    for metric, sign in ((MeanLoss("log_loss"), 1), (MeanLoss("log_loss", True), -1)):
        found = pool_value(metric, y, proba, classes, weight)
        assert found == pytest.approx(sign * value, abs=1e-12)
        assert metric(y, proba, weight) == pytest.approx(sign * value, abs=1e-12)


@every_weight
def test_shares_and_means_of_labels_need_no_model(rng, kind):
    y, _, classes = labels_and_guesses(rng, ["a wins", "b wins", "tie"])
    weight = weights(rng, kind)
    share = np.average(y == "a wins", weights=weight)
    tie = np.average(y == "tie", weights=weight)
    numbers = rng.normal(size=N_SAMPLES)
    for metric, labels, names, value in (
        (LabelShare("a wins"), y, classes, share),
        (LabelShare("a wins", half="tie"), y, classes, share + tie / 2),
        (LabelMean(), numbers, None, np.average(numbers, weights=weight)),
    ):
        assert metric.response_method is None
        found = pool_value(metric, labels, None, names, weight)
        assert found == pytest.approx(value, abs=1e-12)
        assert metric(labels, sample_weight=weight) == pytest.approx(value, abs=1e-12)


def test_what_is_not_defined_is_nan():
    zeros, ones, mixed = np.zeros(4, int), np.ones(4, int), np.array([0, 1, 1, 0])
    classes = np.array([0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for metric, y, guess in (
            (Precision(), mixed, zeros),
            (Recall(), zeros, mixed),
            (Specificity(), ones, mixed),
            (FBeta(), zeros, zeros),
            (Jaccard(), zeros, zeros),
            (Matthews(), zeros, mixed),
            (Matthews(), mixed, ones),
            (CohenKappa(), ones, ones),
        ):
            assert np.isnan(pool_value(metric, y, guess, classes))
            assert np.isnan(metric(y, guess))
        for metric in (R2(), ExplainedVariance()):
            same = np.full(30, 0.1)
            assert np.isnan(metric(same, np.linspace(0, 1, 30)))


def test_a_model_without_errors_has_no_derivative_to_tell_rows_apart():
    metric = RootMeanSquaredError()
    assert metric([1.0, 2.0], [1.0, 2.0]) == 0.0
    assert metric.gradient(np.zeros(1)) == 0.0
