"""Names of metrics mean what they mean in scikit-learn; what cannot be is refused."""

import numpy as np
import pytest
from helpers.names import plain_repr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import cohen_kappa_score, get_scorer, get_scorer_names
from sklearn.naive_bayes import GaussianNB

from sklearn_ase.losses import CustomLoss, LogLoss, SquaredError
from sklearn_ase.metrics import (
    R2,
    Accuracy,
    AveragePrecision,
    BaseMetric,
    ConfusionMetric,
    LabelShare,
    MeanLoss,
    Precision,
    Recall,
    RocAuc,
    as_metric,
    metric_names,
)

SCORED = [name for name in metric_names() if name in get_scorer_names()]
NUMBERS = [name for name in SCORED if as_metric(name).task == "regression"]
CLASSES = [name for name in SCORED if name not in NUMBERS]
ONE_CLASS = ["precision", "recall", "f1", "jaccard", "roc_auc", "average_precision"]
OWN = {"specificity", "specificity_macro", "specificity_micro", "specificity_weighted"}
OWN |= {"cohen_kappa", "zero_one", "log_loss", "brier"}
OWN |= {"squared_error", "absolute_error"}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4] + np.random.default_rng(0).normal(size=(len(y), 4))
    return GaussianNB().fit(X[::2], y[::2]), X[1::2], y[1::2]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    names = np.array(["nil", "one", "two", "three", "four"])[y]
    X = X[:, ::5]
    return LogisticRegression(max_iter=50).fit(X[::2], names[::2]), X[1::2], names[1::2]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return Ridge().fit(X[::2], y[::2]), X[1::2], y[1::2]


def own_value(name, model, X, y):
    metric = as_metric(name)
    classes = getattr(model, "classes_", None)
    prediction = getattr(model, metric.response_method)(X)
    pool = metric.on_pool(prediction, classes)
    if classes is not None:
        pool = pool.at((y[:, None] == classes).astype(float))
    rows = np.arange(len(y))
    return pool.value(np.array([part.observed(rows, y).mean() for part in pool.parts]))


@pytest.mark.parametrize("name", CLASSES)
def test_a_name_means_the_scorer_of_scikit_learn_for_two_classes(cancer, name):
    expected = get_scorer(name)(*cancer)
    assert own_value(name, *cancer) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "name", [n for n in CLASSES if n not in [*ONE_CLASS, "neg_brier_score"]]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_name_means_the_scorer_of_scikit_learn_for_many_classes(digits, name):
    expected = get_scorer(name)(*digits)
    assert own_value(name, *digits) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_name_means_the_scorer_of_scikit_learn_for_numbers(diabetes, name):
    expected = get_scorer(name)(*diabetes)
    assert own_value(name, *diabetes) == pytest.approx(expected, rel=1e-12)


def test_names_that_scikit_learn_does_not_have_are_few_and_work(cancer):
    assert set(metric_names()) - set(SCORED) == OWN
    model, X, y = cancer
    guess = model.predict(X)
    expected = cohen_kappa_score(y, guess)
    assert own_value("cohen_kappa", *cancer) == pytest.approx(expected, abs=1e-12)
    assert own_value("zero_one", *cancer) == pytest.approx((guess != y).mean())
    found = own_value("specificity", *cancer)
    assert found == pytest.approx((guess[y == 0] == 0).mean(), abs=1e-12)


def test_metrics_and_losses_are_taken_as_they_are():
    metric = Precision(average="macro")
    assert as_metric(metric) is metric
    loss = LogLoss(eps=0.1)
    found = as_metric(loss)
    assert isinstance(found, MeanLoss)
    assert found.loss is loss


def test_an_unknown_name_is_refused_with_close_ones():
    match = r"^Did you mean 'f1_macro'.*\? metric='f1_makro' is not known.*'accuracy'"
    with pytest.raises(ValueError, match=match):
        as_metric("f1_makro")
    with pytest.raises(ValueError, match="Did you mean 'neg_root_mean_squared_error'"):
        as_metric("RMSE")
    with pytest.raises(ValueError, match=r"^metric='x' is not known. Use one of"):
        as_metric("x")
    for name in ("F1", "f1_score", "f1-score"):
        with pytest.raises(ValueError, match=r"^Did you mean 'f1'\? "):
            as_metric(name)


def test_a_class_a_function_and_anything_else_are_refused_with_advice():
    with pytest.raises(TypeError, match=r"metric=Recall is a class. Give an instance"):
        as_metric(Recall)
    with pytest.raises(TypeError, match=r"ConfusionMetric\(function\).*CustomLoss"):
        as_metric(lambda y_true, y_pred: 0.0)
    for other in (3, None, ["f1"]):
        with pytest.raises(TypeError, match="metric must be one of"):
            as_metric(other)

    class Duck:
        def row_values(self, y_true, y_pred):
            return y_true[:, None]

    with pytest.raises(TypeError, match=r"Duck has a method row_values.*BaseMetric"):
        as_metric(Duck())


class Own(BaseMetric):
    def row_values(self, y_true, y_pred):
        return y_true[:, None]

    def value(self, means):
        return means[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task", "regresion"),
        ("response_method", "decision_function"),
        ("bounds", (1.0, 0.0)),
        ("bounds", 1.0),
    ],
)
def test_attributes_of_a_metric_that_cannot_be_are_refused(name, value):
    wrong = type("Wrong", (Own,), {name: value})()
    with pytest.raises(ValueError, match=rf"Wrong.{name}=.* must be"):
        as_metric(wrong)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Precision(average="samples"), "average='samples' must be one of"),
        (as_metric("f1").set_params(beta=0.0), "beta=0.0 must be a number > 0"),
        (MeanLoss("log_loss", negative=2), "negative=2 must be True or False"),
        (MeanLoss("hinge"), "loss='hinge' is not known"),
        (ConfusionMetric(np.trace, bounds=(1, 0)), r"bounds=\(1, 0\) must be two"),
        (LabelShare("a", half="a"), "half='a' must be another label"),
    ],
    ids=plain_repr,
)
def test_parameters_that_cannot_be_are_refused(metric, message):
    with pytest.raises(ValueError, match=message):
        as_metric(metric)


@pytest.mark.parametrize("kind", [Precision, Recall, RocAuc, AveragePrecision])
def test_the_positive_class_must_be_known(kind):
    classes, prediction = np.array(["ant", "bee", "cat"]), np.array(["ant", "cat"])
    advice = r"there are 3 classes: \['ant', 'bee', 'cat'\]. Give .*pos_label="
    with pytest.raises(ValueError, match=advice):
        kind().on_pool(prediction, classes)
    missing = r"pos_label='cow' is not among \['ant', 'bee', 'cat'\]. Give pos_label="
    with pytest.raises(ValueError, match=missing):
        kind(pos_label="cow").on_pool(prediction, classes)
    with pytest.raises(ValueError, match=r"the only class is 'ant'. Pass all classes"):
        kind().on_pool(prediction[:1], classes[:1])


@pytest.mark.parametrize(
    "metric", [Accuracy(), RocAuc(), LabelShare("a")], ids=plain_repr
)
def test_metrics_of_classes_need_the_classes(metric):
    with pytest.raises(ValueError, match=r"needs the possible labels. Pass classes="):
        metric.on_pool(np.array(["a", "b"]))


def test_columns_of_probabilities_must_be_those_of_the_classes():
    with pytest.raises(ValueError, match="each of the 2 classes, but there are 3"):
        RocAuc().on_pool(np.ones((4, 3)), np.array([0, 1]))


def test_labels_that_are_counted_must_be_classes():
    for metric, name in ((LabelShare("c"), "label"), (LabelShare("a", "c"), "half")):
        with pytest.raises(ValueError, match=rf"{name}='c' is not among \['a', 'b'\]"):
            metric.on_pool(None, np.array(["a", "b"]), n_samples=4)


def test_without_predictions_the_size_of_the_pool_must_be_told():
    with pytest.raises(ValueError, match=r"size of the pool is not known.*n_samples="):
        LabelShare("a").on_pool(None, np.array(["a", "b"]))
    weighted = LabelShare("a").on_pool(None, np.array(["a", "b"]), np.ones(3))
    assert weighted.n_samples == 3


def test_an_own_metric_of_labels_alone_needs_no_predictions():
    class Positive(Own):
        response_method = None

        def row_values(self, y_true, y_pred):
            assert y_pred is None
            return (np.asarray(y_true) > 0)[:, None]

    numbers = Positive().on_pool(None, n_samples=3)
    assert numbers.parts[0].observed(np.arange(2), np.array([1.0, -1.0])).sum() == 1
    classes = Positive().on_pool(None, np.array([0, 1]), n_samples=3)
    assert classes.parts[0].observed(np.arange(2), np.array([1, 0])).sum() == 1
    assert Positive()([1, 0, 0, 0]) == 0.25


def test_a_function_of_the_confusion_matrix_has_its_limits():
    with pytest.raises(ValueError, match=r"at most 30 classes.*but there are 31"):
        ConfusionMetric(np.trace).on_pool(np.zeros(4, int), np.arange(31))
    with pytest.raises(ValueError, match="must return one number, but returned"):
        ConfusionMetric(np.diag)([0, 1], [0, 1])
    with pytest.raises(TypeError, match="must be a function"):
        as_metric(ConfusionMetric(3))


def test_a_mean_loss_says_what_its_loss_says():
    metric = MeanLoss("log_loss")
    assert (metric.task, metric.response_method) == ("classification", "predict_proba")
    assert MeanLoss("zero_one").bounds == (0.0, 1.0)
    assert MeanLoss("zero_one", negative=True).bounds == (-1.0, 0.0)
    assert MeanLoss(SquaredError()).task == "regression"
    own = MeanLoss(CustomLoss(lambda y_true, y_pred: 1.0 * (y_true != y_pred)))
    assert own.task is None
    table = own.on_pool(np.array([0, 1]), np.array([0, 1])).parts[0]
    assert table.values.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert own.on_pool(np.array([0.0, 1.0])).n_samples == 2
    assert R2().bounds[1] == 1.0
