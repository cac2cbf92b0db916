"""The paper's formulas as slow loops: the yardstick for the kernels.

Straight from the definitions, one sample at a time, nothing shared or vectorised.
``p[c]`` is a belief, ``members[e][c]`` the members' beliefs, ``loss[c]`` the loss of
the model if the label were c.
"""

import math


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def log_or_zero(p):
    """Logarithm that only ever meets a factor p, so that 0 log 0 = 0."""
    return math.log(p) if p > 0 else 0.0


def mean_belief(members):
    return [mean(member[c] for member in members) for c in range(len(members[0]))]


def expected_loss(p, loss):
    """``g(x) = E_{Y~π}[L(f(x), Y)]``."""
    total = 0.0
    for c in range(len(p)):
        total += p[c] * loss[c]
    return total


def loss_variance(p, loss):
    """``E_{Y~π}[(L - g)²]``."""
    g = expected_loss(p, loss)
    total = 0.0
    for c in range(len(p)):
        total += p[c] * (loss[c] - g) ** 2
    return total


def ase(beliefs, losses):
    """Equation 4: the mean expected loss over the pool."""
    return mean(expected_loss(p, loss) for p, loss in zip(beliefs, losses, strict=True))


def disagreement(members):
    """``mean_e(p_e log p_e) - p log p`` for each class."""
    terms = []
    for c, p in enumerate(mean_belief(members)):
        of_members = mean(member[c] * log_or_zero(member[c]) for member in members)
        terms.append(of_members - p * log_or_zero(p))
    return terms


def entropy(p):
    total = 0.0
    for c in range(len(p)):
        total += p[c] * -log_or_zero(p[c])
    return total


def bald(members):
    """Equation 5: predictive entropy minus expected entropy of the members."""
    return entropy(mean_belief(members)) - mean(entropy(member) for member in members)


def weighted_entropy(p, loss):
    """``E_{Y~p}[-L(Y) log p(Y)]``."""
    total = 0.0
    for c in range(len(p)):
        total += p[c] * -loss[c] * log_or_zero(p[c])
    return total


def xwed(members, loss):
    """Equation 6: BALD with both entropies weighted by the loss."""
    return weighted_entropy(mean_belief(members), loss) - mean(
        weighted_entropy(member, loss) for member in members
    )


def variance_reduction(member_losses, loss_variances):
    """Score of each sample; ``member_losses[e][i]`` is ``g_e(x_i)``."""
    risks = [mean(losses) for losses in member_losses]
    scores = []
    for i, noise in enumerate(loss_variances):
        at_sample = [losses[i] for losses in member_losses]
        covariance = mean(
            (risk - mean(risks)) * (g - mean(at_sample))
            for risk, g in zip(risks, at_sample, strict=True)
        )
        variance = mean((g - mean(at_sample)) ** 2 for g in at_sample)
        scores.append(covariance**2 / (variance + noise))
    return scores


def lure_weights(query_proba, n_samples):
    """``v_m`` of equation 2, for ``m = 1..M``."""
    N, M = n_samples, len(query_proba)
    if M == N:
        return [1.0] * M
    weights = []
    for m in range(1, M + 1):
        q = query_proba[m - 1]
        weights.append(1 + (N - M) / (N - m) * (1 / ((N - m + 1) * q) - 1))
    return weights


def lure(losses, query_proba, n_samples):
    """Equation 2, ``(1/M) Σ v_m l_m``."""
    weights = lure_weights(query_proba, n_samples)
    return mean(v * loss for v, loss in zip(weights, losses, strict=True))


def corrected_steps(indices, losses, query_proba, surrogates, n_samples):
    """``R_m`` for each step; ``surrogates[m][j]`` is ``g_m(x_j)`` before label m."""
    steps = []
    for m, picked in enumerate(indices):
        g = surrogates[m]
        observed = sum(losses[s] for s in range(m))
        believed = sum(g[j] for j in range(n_samples) if j not in indices[:m])
        surprise = (losses[m] - g[picked]) / query_proba[m]
        steps.append((observed + believed + surprise) / n_samples)
    return steps


def mean_of_steps(steps, n_samples):
    """Mean weighted by ``w_m ∝ 1 / ((N-m+1)(N-m))``; all on the last one at M = N."""
    if len(steps) == n_samples:
        return steps[-1]
    numerator = denominator = 0.0
    for m, step in enumerate(steps, start=1):
        w = 1 / ((n_samples - m + 1) * (n_samples - m))
        numerator += w * step
        denominator += w
    return numerator / denominator


def variance_of_steps(steps, n_samples):
    """``Σ (w_m f_m)² / (Σ w_m)² · Σ d_m² / (M - 1)``, ``d_m = (R_m - R) / f_m``.

    ``f_m`` is the share of the pool that was free at step m.
    """
    M = len(steps)
    centre = mean_of_steps(steps, n_samples)
    scatter = weight = total = 0.0
    for m, step in enumerate(steps, start=1):
        free = (n_samples - m + 1) / n_samples
        w = 1 / ((n_samples - m + 1) * (n_samples - m))
        scatter += ((step - centre) / free) ** 2
        weight += (w * free) ** 2
        total += w
    return scatter / (M - 1) * weight / total**2


def step_moments(query_proba, beliefs, losses):
    """``E[((l - g) / q)²]`` and ``E[(l / q)²]`` over pick and label."""
    of_residual = of_loss = 0.0
    for q, p, loss in zip(query_proba, beliefs, losses, strict=True):
        g = expected_loss(p, loss)
        if q == 0:
            continue
        for c in range(len(p)):
            of_residual += q * p[c] * ((loss[c] - g) / q) ** 2
            of_loss += q * p[c] * (loss[c] / q) ** 2
    return of_residual, of_loss


def predictable_power(plain, control, n_trusted):
    """Regression of the past steps on their controls, ``n_trusted`` steps worth of 1.

    ``(k s² + Σ (R_s - R) c_s) / (k s² + Σ (c_s - c)²)`` with ``s²`` the mean of
    ``(c_s - c)²``, all over ``s < m``.
    """
    powers = []
    for m in range(len(plain)):
        R, c = plain[:m], control[:m]
        square = sum((value - mean(c)) ** 2 for value in c) if m else 0
        if square == 0:
            powers.append(1.0)
            continue
        prior = n_trusted * square / m
        product = sum((R[s] - mean(R)) * c[s] for s in range(m))
        powers.append(min(max((prior + product) / (prior + square), 0.0), 1.0))
    return powers


def gaussian_bald(epistemic, noise):
    return 0.5 * math.log(1 + epistemic / noise)


def squared_error_expected(f, mu, epistemic, noise):
    return (mu - f) ** 2 + epistemic + noise


def squared_error_variance(f, mu, epistemic, noise):
    v = epistemic + noise
    return 2 * v**2 + 4 * v * (mu - f) ** 2


def squared_error_xwed(f, mu, epistemic, noise):
    v = epistemic + noise
    return 0.5 * ((mu - f) ** 2 + v) * math.log(v / noise) + epistemic


def absolute_error_expected(f, mu, epistemic, noise):
    """Mean of a folded normal."""
    v, shift = epistemic + noise, mu - f
    peak = math.sqrt(2 * v / math.pi) * math.exp(-(shift**2) / (2 * v))
    return peak + shift * math.erf(shift / math.sqrt(2 * v))


def absolute_error_variance(f, mu, epistemic, noise):
    second_moment = (mu - f) ** 2 + epistemic + noise
    return second_moment - absolute_error_expected(f, mu, epistemic, noise) ** 2
