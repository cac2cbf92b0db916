"""Intervals of losses with a greatest value: what no label has shown is allowed for."""

import numpy as np
import pytest
from helpers.estimates import with_interval
from helpers.states import make_picks, uniform_state, without_belief
from scipy import stats

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._bounds import (
    LEVELS,
    anytime_quantile,
    betting_ends,
    reach_with_unseen,
)
from sklearn_ase.losses import (
    BaseLoss,
    Brier,
    CustomLoss,
    LogLoss,
    SquaredError,
    ZeroOne,
)
from sklearn_ase.risk import (
    LURE,
    CorrectedASE,
    Estimate,
    GuardedASE,
    MonteCarlo,
)
from sklearn_ase.stopping import TargetWidth


@pytest.mark.parametrize(("errors", "n"), [(0, 20), (1, 50), (7, 30), (20, 50)])
def test_with_the_binomial_variance_the_upper_end_is_wilsons(errors, n):
    share, z = errors / n, stats.norm.ppf(0.95)
    reach = reach_with_unseen(share * (1 - share) / n, 1 / n, 1 - 2 * share, z, z)
    wilson = stats.binomtest(errors, n).proportion_ci(0.9, method="wilson")
    assert share + reach == pytest.approx(wilson.high, abs=1e-12)


@pytest.mark.parametrize("n_labels", [2, 10, 24, 25, 200])
def test_labels_without_an_error_do_not_prove_that_there_is_none(n_labels):
    estimate = MonteCarlo().estimate(uniform_state(np.zeros(n_labels), 2000))
    low, high = estimate.interval(0.9)
    assert low == 0.0
    z2 = stats.norm.ppf(0.95) ** 2
    wilson = z2 / (n_labels + z2)
    assert high == pytest.approx(wilson, rel=0.12)  # The pool is finite.


def test_one_label_gives_no_interval_but_a_reason():
    estimate = MonteCarlo().estimate(uniform_state(np.zeros(1), 100))
    assert estimate.refusal.startswith("No interval from one label")


@pytest.mark.parametrize("rate", [0.002, 0.02, 0.1, 0.4, 0.9, 0.995])
@pytest.mark.parametrize("n_labels", [10, 50, 200])
def test_the_interval_of_a_plain_sample_covers_at_every_error_rate(rate, n_labels):
    rng, n_samples = np.random.default_rng([n_labels, int(1000 * rate)]), 2000
    truth = round(rate * n_samples) / n_samples
    pool = np.arange(n_samples) < truth * n_samples
    held = []
    for _ in range(150):
        losses = rng.permutation(pool)[:n_labels].astype(float)
        estimate = LURE().estimate(uniform_state(losses, n_samples))
        low, high = estimate.interval(0.9)
        assert 0 <= low <= high <= 1
        held.append(low <= truth <= high)
    assert np.mean(held) > 0.84


def test_ends_never_contradict_a_label():
    losses = np.repeat([1.0, 0.0], [30, 10])
    low, high = MonteCarlo().estimate(uniform_state(losses, 50)).interval(0.99)
    assert low >= 30 / 50
    assert high <= (30 + 10) / 50


def test_which_losses_have_a_greatest_value():
    proba, classes = np.array([[0.9, 0.1]]), np.arange(2)
    assert Brier().build(proba, classes).is_bounded
    assert ZeroOne().build(np.array([0]), classes).is_bounded
    assert not LogLoss().build(proba, classes).is_bounded
    assert not SquaredError().build(np.zeros(3)).is_bounded
    assert ZeroOne().build(np.zeros(3, int), classes).take([0]).is_bounded


def test_the_bound_is_that_of_the_loss_and_not_of_the_labels_so_far():
    """With one class so far, a model that predicts it looks perfect."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    evaluator = ActiveRiskEstimator(
        lambda X: np.zeros(len(X), dtype=int), loss="zero_one", random_state=1
    )
    evaluation = evaluator.start(X)
    for _ in range(3):
        query = evaluation.ask()
        evaluation.tell(query, [0])
    estimate = evaluation.estimate()
    assert estimate.uncertainty.max_loss == 1.0
    assert estimate.interval()[1] > 0.3
    assert not evaluation.stop_reason(TargetWidth(0.1))


def test_a_function_may_say_how_great_its_values_can_be():
    def hit(y_true, y_pred):
        return (np.abs(y_true - y_pred) > 1).astype(float)

    classes, prediction = np.arange(3), np.zeros(4, dtype=int)
    task = {"task": "classification"}
    assert not CustomLoss(hit, **task).build(prediction, classes).is_bounded
    assert CustomLoss(hit, max_loss=1.0, **task).build(prediction, classes).is_bounded


def test_a_loss_beyond_what_it_says_is_refused():
    class Wrong(BaseLoss):
        task = "regression"
        max_loss = 1.0

        def __call__(self, y_true, y_pred):
            return np.abs(y_true - y_pred)

    loss = Wrong().build(np.zeros(3))
    with pytest.raises(ValueError, match=r"returned 2.5, but its max_loss is 1"):
        loss.observed(np.array([0]), np.array([2.5]))


@pytest.mark.parametrize(("n_labels", "rate"), [(50, 0.06), (100, 0.03)])
def test_errors_where_rows_are_seldom_picked_are_allowed_for(n_labels, rate):
    """Seven tenths of the picks go to a twentieth of the pool, which has no error."""
    rng, n_samples, n_hot = np.random.default_rng(5), 2000, 100
    losses = np.zeros(n_samples)
    losses[n_hot : n_hot + int(rate * n_samples)] = 1.0
    held = [_covers(rng, losses, n_hot, n_labels, LURE()) for _ in range(150)]
    assert np.mean(held) > 0.85


def _covers(rng, losses, n_hot, n_labels, risk):
    n_samples, free = len(losses), np.ones(len(losses), dtype=bool)
    rows, proba, most = [], [], []
    for _ in range(n_labels):
        q = 0.3 * free / free.sum()
        hot = free & (np.arange(n_samples) < n_hot)
        q += 0.7 * (hot / hot.sum() if hot.any() else free / free.sum())
        row = rng.choice(n_samples, p=q)
        rows.append(row)
        proba.append(q[row])
        most.append(1 / q[free].min())
        free[row] = False
    zeros = np.zeros(n_labels)
    picks = make_picks(
        rows,
        losses[rows],
        proba,
        max_inverse_proba=most,
        residual_moment=zeros,
        loss_moment=zeros,
    )
    loss = ZeroOne().build(np.zeros(n_samples, dtype=int), np.arange(2))
    estimate = risk.estimate(without_belief(picks, n_samples, loss))
    low, high = estimate.interval(0.9)
    return low <= losses.mean() <= high


@pytest.mark.parametrize(
    ("n_samples", "n_labels", "errors"), [(50, 40, 1), (100, 75, 1), (200, 150, 3)]
)
def test_rows_that_most_labels_may_have_missed_are_allowed_for(
    n_samples, n_labels, errors
):
    """Exact coverage: the number of errors among the labels is hypergeometric."""
    seen = np.arange(errors + 1)
    chance = stats.hypergeom.pmf(seen, n_samples, errors, n_labels)
    covered = 0.0
    for count, probability in zip(seen, chance, strict=True):
        losses = (np.arange(n_labels) < count).astype(float)
        risk = MonteCarlo().estimate(uniform_state(losses, n_samples))
        low, high = risk.interval(0.9)
        covered += probability * (low <= errors / n_samples <= high)
    assert covered > 0.88


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
@pytest.mark.parametrize("risk", [GuardedASE(), CorrectedASE()])
def test_an_interval_holds_what_the_labels_prove(evaluator, digits, risk):
    evaluator.set_params(loss="zero_one", n_labels=100, batch_size=10, risk=risk)
    evaluation = evaluator.fit(digits.X, digits.y).evaluation_
    estimate = evaluation.estimate()
    low, high = estimate.interval(0.99)
    assert low <= estimate.value <= high
    if isinstance(risk, GuardedASE):
        assert low >= estimate.uncertainty.least
        assert high <= estimate.uncertainty.most


# Betting


def wealth_by_loop(steps, limits, forecast, predicted, risk):
    """Greatest capital of somebody who bets against a risk, step by step."""
    up = down = 1.0
    past, greatest = [], -np.inf
    for m, step in enumerate(steps):
        centre = (5 * forecast[m] + sum(s for s, _ in past)) / (5 + m)
        variance = (5 * predicted[m] + sum((s - c) ** 2 for s, c in past)) / (5 + m)
        gap = centre - risk
        bet = gap / (variance + gap**2)
        bet_up = min(max(bet, 0), 0.9 / (risk - limits[0][m]))
        bet_down = min(max(-bet, 0), 0.9 / (limits[1][m] - risk))
        up *= 1 + bet_up * (step - risk)
        down *= 1 - bet_down * (step - risk)
        past.append((step, centre))
        greatest = max(greatest, (up + down) / 2)
    return greatest


def test_the_ends_are_where_the_capital_of_a_gambler_is():
    rng = np.random.default_rng(3)
    steps = rng.random(60)
    limits = np.full(60, -0.2), np.full(60, 1.5)
    forecast, predicted = np.full(60, 0.4), np.full(60, 0.1)
    ends = betting_ends(steps, limits, forecast, predicted, 1.0)
    assert [level for level, *_ in ends] == list(LEVELS)
    for level, low, high in ends:
        for risk in (low - 0.02, high + 0.02):
            if 0 < risk < 1:
                wealth = wealth_by_loop(steps, limits, forecast, predicted, risk)
                assert wealth >= 1 / (1 - level)
        for risk in (low + 0.02, high - 0.02):
            wealth = wealth_by_loop(steps, limits, forecast, predicted, risk)
            assert wealth < 1 / (1 - level)


def test_intervals_widen_with_their_level():
    ends = LURE().estimate(uniform_state(np.eye(1, 40)[0], 500)).uncertainty.bets.ends
    widths = [high - low for _, low, high in ends]
    assert (np.diff(widths) >= 0).all()


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_the_anytime_interval_of_rare_losses_holds_at_all_times(rate):
    """The normal one does not: no label may show an error for long."""
    rng, n_samples = np.random.default_rng(4), 1000
    pool = np.arange(n_samples) < rate * n_samples
    held = []
    for _ in range(40):
        losses = rng.permutation(pool)[:120].astype(float)
        inside = True
        for count in range(2, 121, 6):
            estimate = LURE().estimate(uniform_state(losses[:count], n_samples))
            low, high = estimate.interval(0.9, method="anytime")
            inside &= low <= rate <= high
        held.append(inside)
    assert np.mean(held) >= 0.85


def test_a_level_between_two_gets_the_next_greater_one():
    estimate = LURE().estimate(uniform_state(np.eye(1, 40)[0], 500))
    between = estimate.interval(0.85, method="anytime")
    assert between == estimate.interval(0.9, method="anytime")


def test_picks_without_known_limits_have_the_normal_anytime_interval():
    state = uniform_state(np.eye(1, 40)[0], 500)
    unknown = np.full(40, np.nan)
    picks = make_picks(
        state.picks.indices,
        state.picks.losses,
        state.picks.query_proba,
        max_inverse_proba=unknown,
        max_expected_ratio=unknown,
    )
    estimate = LURE().estimate(without_belief(picks, 500, state.loss))
    assert estimate.uncertainty.bets is None
    quantile = anytime_quantile(0.9, 39.0, 40)
    reach = reach_with_unseen(
        estimate.standard_error**2,
        estimate.uncertainty.unseen * estimate.uncertainty.sample.free_share,
        1.0 - 2.0 * estimate.value,
        quantile,
        quantile,
    )
    _, high = estimate.interval(method="anytime")
    assert high == pytest.approx(estimate.value + reach)


def test_an_interval_is_around_a_possible_centre():
    beyond = Estimate.of_mean(0.9, 0.1, 30, centre=1.3, max_loss=1.0, most=1.0)
    at_the_end = with_interval(beyond, centre=1.0)
    below, at_zero = (
        with_interval(beyond, centre=-0.2),
        with_interval(beyond, centre=0.0),
    )
    assert beyond.interval(0.9) == at_the_end.interval(0.9)
    assert below.interval(0.9) == at_zero.interval(0.9)
    assert beyond.interval(0.9)[0] < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("error_rate", [1.0, 0.98, 0.95])
def test_labels_that_all_show_a_loss_do_not_prove_that_all_rows_have_one(error_rate):
    covered = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(700, 3))
        y = (X[:, 0] + 0.5 * rng.normal(size=700) > 0).astype(int)
        predicted = np.where(rng.random(700) < error_rate, 1 - y, y)
        evaluation = ActiveRiskEstimator(
            loss="zero_one", classes=[0, 1], random_state=seed
        ).start(X[:500], predictions=predicted[:500], X_train=X[500:], y_train=y[500:])
        query = evaluation.ask(30)
        evaluation.tell(query, y[query.indices])
        low, high = evaluation.estimate().interval(0.9)
        assert low < 0.93  # 30 labels cannot prove more.
        covered.append(low <= np.mean(predicted[:500] != y[:500]) <= high)
    assert np.mean(covered) > 0.8
    diagnosis = evaluation.diagnose()
    assert np.isnan(diagnosis.skill) or abs(diagnosis.skill) < 1e3
    assert diagnosis.effective_labels > 1
