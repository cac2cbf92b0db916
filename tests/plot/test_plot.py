"""Displays draw the numbers that they are given."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_ase import (
    AcquisitionDisplay,
    LabelEfficiencyDisplay,
    LossCalibrationDisplay,
    RiskCurveDisplay,
)
from sklearn_ase.simulation import LabelEfficiency
from sklearn_ase.simulation._curve import Row, columns_of

pytest.importorskip("matplotlib").use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


def _result():
    rng = np.random.default_rng(0)
    rows = [
        Row(
            evaluator="default",
            run=run,
            seed=0,
            risk=risk,
            n_labels=count,
            value=value,
            low=value - 0.1,
            high=value + 0.1,
            anytime=1.0,
            flagged=0.0,
            truth=0.3,
            mc_variance=1,
        )
        for run in range(4)
        for risk in ("ASE", "GuardedASE")
        for count in (10, 50)
        for value in [0.3 + rng.normal() / count]
    ]
    return LabelEfficiency(columns_of(rows))


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("metric", ["mean_squared_error", "coverage", "bias", "width"])
def test_a_line_for_each_risk_with_the_metrics_of_the_summary(metric):
    result = _result()
    display = LabelEfficiencyDisplay.from_result(result, metric=metric)
    assert [line.get_label() for line in display.lines_] == ["ASE", "GuardedASE"]
    metrics = result.summary()
    drawn = np.concatenate([line.get_ydata() for line in display.lines_])
    np.testing.assert_array_equal(drawn, metrics[metric])
    assert display.ax_.get_xlabel() == "labels"


def test_draws_on_given_axes_and_only_the_risks_asked_for():
    _, ax = plt.subplots()
    display = LabelEfficiencyDisplay(_result().summary()).plot(ax, risks=["ASE"])
    assert display.ax_ is ax
    assert len(display.lines_) == 1


def test_plain_samples_are_drawn_once_whatever_the_evaluators():
    metrics = {
        "evaluator": ["one", "one", "two", "two"],
        "risk": ["ASE", "Monte Carlo"] * 2,
        "n_labels": [10] * 4,
        "mean_squared_error": [0.1, 0.4, 0.2, 0.4],
    }
    lines = LabelEfficiencyDisplay(metrics).plot().lines_
    names = [line.get_label() for line in lines]
    assert names == ["ASE, one", "Monte Carlo", "ASE, two"]


def test_an_unknown_metric_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"'beauty' is not known.*mean_squared_error"):
        LabelEfficiencyDisplay(_result().summary()).plot(metric="beauty")


@pytest.fixture
def fitted(evaluator, digits):
    """An evaluation with enough labels for an interval."""
    evaluator.set_params(n_labels=30)
    return evaluator.fit(
        digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train
    )


def test_the_risk_curve_is_the_history_with_its_intervals(fitted):
    display = RiskCurveDisplay.from_estimator(fitted, truth=0.3)
    history = fitted.history_
    np.testing.assert_array_equal(display.line_.get_ydata(), history["risk"])
    low, high = fitted.risk_.interval(0.9)
    assert (display.low[-1], display.high[-1]) == (low, high)
    assert not np.isfinite(display.low[10])  # Too few labels for an interval.
    assert len(display.refits_.get_segments()) == history["refit"].sum()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["GuardedASE", "90 % interval", "truth"]


@pytest.mark.parametrize("refit", [False, True])
def test_the_risk_curve_has_one_point_for_each_batch(evaluator, digits, refit):
    evaluation = evaluator.start(
        digits.X, X_train=digits.X_train, y_train=digits.y_train
    )
    estimates = []
    for _ in range(3):
        query = evaluation.ask(14)
        evaluation.tell(query, digits.y[query.indices])
        estimates.append(evaluation.estimate())
    if refit:  # It is noted with the last label of the last batch.
        evaluation.refit()
        estimates[-1] = evaluation.estimate()
    display = RiskCurveDisplay.from_evaluation(evaluation)
    assert display.line_.get_xdata().tolist() == [14, 28, 42]
    assert display.line_.get_ydata().tolist() == [float(risk) for risk in estimates]
    np.testing.assert_array_equal(np.isfinite(display.low), [False, True, True])
    assert display.band_.get_paths()[0].vertices[:, 0].min() == 28


def test_an_interval_by_itself_is_drawn_as_a_bar():
    low, high = np.array([-np.inf, 0.2]), np.array([np.inf, 0.4])
    counts, risk = np.array([20, 40]), np.array([0.3, 0.3])
    display = RiskCurveDisplay(counts, risk, low, high, [False, False]).plot()
    assert len(display.bars_.get_segments()) == 1
    assert display.ax_.get_legend() is None


@pytest.mark.parametrize(
    "display", [RiskCurveDisplay, AcquisitionDisplay, LossCalibrationDisplay]
)
def test_an_evaluator_that_is_not_fitted_is_not_drawn(display, evaluator):
    with pytest.raises(NotFittedError):
        display.from_estimator(evaluator)


def test_displays_draw_on_the_axes_they_are_given(fitted):
    _, (one, two, three) = plt.subplots(1, 3)
    assert RiskCurveDisplay.from_estimator(fitted, ax=one).ax_ is one
    assert AcquisitionDisplay.from_estimator(fitted, ax=two).ax_ is two
    assert LossCalibrationDisplay.from_estimator(fitted, ax=three).ax_ is three


def test_shares_of_the_classes_sum_to_one(fitted):
    display = AcquisitionDisplay.from_estimator(fitted)
    assert len(display.areas_) == len(np.unique(fitted.history_["label"]))
    top = display.areas_[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(1.0)


def test_labelled_rows_are_drawn_where_they_lie(fitted, digits):
    display = AcquisitionDisplay.from_estimator(fitted, positions=digits.X[:, 2:4])
    places = digits.X[fitted.history_["index"], 2:4]
    np.testing.assert_array_equal(display.points_.get_offsets(), places)
    np.testing.assert_array_equal(display.points_.get_array(), np.arange(1, 31))


def test_labels_of_a_regression_are_drawn_as_they_are(regression_evaluator, diabetes):
    regression_evaluator.fit(
        diabetes.X, diabetes.y, X_train=diabetes.X_train, y_train=diabetes.y_train
    )
    display = AcquisitionDisplay.from_estimator(regression_evaluator)
    drawn = display.points_.get_offsets()[:, 1]
    np.testing.assert_array_equal(drawn, regression_evaluator.history_["label"])


def test_classes_that_are_numbers_are_classes():
    labels = np.array([0.0, 1.0, 1.0])
    assert len(AcquisitionDisplay(np.arange(3), labels).plot().areas_) == 2


def test_no_bar_reaches_below_a_loss_of_zero():
    observed = np.array([0.0, 0.0, 0.0, 1.0])
    bars = LossCalibrationDisplay(np.full(4, 0.2), observed).plot(n_groups=1).bars_
    ((_, low), (_, high)) = bars[2][0].get_segments()[0]
    assert (low, high) == pytest.approx((0.0, 0.25 + 2 * observed.std() / 3**0.5))


def test_group_means_of_the_loss_are_means_of_groups():
    expected = np.array([0.1, 0.2, 0.8, 0.9])
    observed = np.array([0.0, 1.0, 1.0, 1.0])
    bars = LossCalibrationDisplay(expected, observed).plot(n_groups=2).bars_
    np.testing.assert_allclose(bars[0].get_xdata(), [0.15, 0.85])
    np.testing.assert_allclose(bars[0].get_ydata(), [0.5, 1.0])


def test_a_surrogate_without_expectations_is_not_drawn(evaluator, digits):
    evaluator.set_params(n_labels=5).fit(digits.X, digits.y)
    with pytest.raises(ValueError, match=r"no expectations yet.*X_train"):
        LossCalibrationDisplay.from_estimator(evaluator)
