"""An evaluation as a plain program of numpy and scikit-learn, for a comparison of cost.

It does what the package does with default settings for log loss: a forest, its
calibration together with the model on rows that were held out, picks by disagreement
and spread, and the corrected estimate. It has no checks, intervals or trust.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax, xlogy
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_predict


def evaluate(X_train, y_train, X, y, model, refits, n_labels, seed):
    """Return the corrected estimate of the log loss after `n_labels` labels."""
    rng, n = np.random.default_rng(seed), len(X)
    f = model.predict_proba(X)
    loss, smooth = -np.log(np.maximum(f, 1e-15)), lambda p: np.log(0.99 * p + 0.001)
    out_of_fold = cross_val_predict(
        clone(model), X_train, y_train, cv=5, method="predict_proba"
    )
    rows, estimates, weights = [], [], np.array([0.5, 0.5])
    for m in range(n_labels + 1):
        if m == 0 or m in refits:
            known = np.concatenate([y_train, y[rows]])
            forest = ExtraTreesClassifier(
                100, bootstrap=True, max_features=0.3, oob_score=True, random_state=m
            ).fit(np.concatenate([X_train, X[rows]]), known)
            members = np.stack([tree.predict_proba(X) for tree in forest.estimators_])
            mean = members.mean(axis=0)
            apart = xlogy(members, members).mean(axis=0) - xlogy(mean, mean)
            held_out = np.nan_to_num(forest.oob_decision_function_)
            n_fitted = len(known)
        new = rows[n_fitted - len(y_train) :]
        known = np.concatenate([y_train, y[rows]])
        pair = [
            smooth(np.concatenate([held_out, mean[new]])),
            smooth(np.concatenate([out_of_fold, f[rows]])),
        ]

        def cost(w, pair=pair, known=known):
            scores = np.tensordot(w, pair, axes=1)
            scores -= scores.max(axis=1, keepdims=True)
            norm = np.log(np.exp(scores).sum(axis=1))
            return np.sum(norm - scores[np.arange(len(known)), known])

        weights = minimize(cost, weights, method="L-BFGS-B").x
        proba = softmax(weights[0] * smooth(mean) + weights[1] * smooth(f), axis=1)
        g = (proba * loss).sum(axis=1)
        spread = np.sqrt((proba * (loss - g[:, None]) ** 2).sum(axis=1))
        tilt = np.divide(proba, mean, out=np.zeros_like(mean), where=mean > 0)
        xwed = (tilt * apart * loss).sum(axis=1)
        if m == n_labels:
            break
        free = np.setdiff1d(np.arange(n), rows)
        scores = xwed[free] / xwed[free].sum() + spread[free] / spread[free].sum()
        q = 0.7 * scores / scores.sum() + 0.3 / len(free)
        place = rng.choice(len(free), p=q)
        row = free[place]
        total = loss[rows, y[rows]].sum() + g[free].sum()
        estimates.append((total + (loss[row, y[row]] - g[row]) / q[place]) / n)
        rows.append(row)
    return float(np.mean(estimates))
