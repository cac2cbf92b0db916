"""What the guarded estimate loses to a surrogate that is off by so much, in theory.

The corrected estimate C is taken as normal with a known standard error, and the
surrogate's A as off by a fixed number of these. Mean squared error of the guarded
estimate / that of C, by numerical integration; nothing is drawn.

    python benchmarks/trust/guarded_error.py
"""

import numpy as np
import pandas as pd
from scipy.special import softmax

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._evidence import CALIBRATED, WORTH

COUNTS = (10, 25, 50, 100, 200)
BIASES = (0, 0.5, 1, 2, 3, 4, 6, 8)


def relative_error(bias, n_labels):
    """Mean squared error over that of C, for an A that is off by `bias` errors of C."""
    shares, prior = CALIBRATED
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    spread = n_labels / (WORTH * np.array(shares))
    zeros = np.zeros(len(shares))
    found = []
    for z in nodes:
        gap = bias + z, 1.0, zeros, spread
        weight = softmax(np.log(prior) + _kernels.gap_log_density(*gap))
        found.append(_kernels.bias_given_gap(*gap, weight, 1.0)[0])
    return weights @ (bias - np.array(found)) ** 2 / weights.sum()


def main():
    columns = {
        n_labels: [relative_error(bias, n_labels) for bias in BIASES]
        for n_labels in COUNTS
    }
    table = pd.DataFrame(columns, index=pd.Index(BIASES, name="A is off by"))
    print(table.round(2).to_string())
    worst = [
        max(relative_error(bias, n_labels) for bias in np.arange(0, 10, 0.1))
        for n_labels in COUNTS
    ]
    print("worst", *np.round(worst, 2))


if __name__ == "__main__":
    main()
