"""Tasks that had no part in any choice of the estimates: what they show is a test.

A task is held out if it is in ``HELD_OUT``. Four of them are in ``TASKS`` too, where
the default surrogate was chosen, but not the rule of the guarded estimate.

* noisy 15, 25, 40: this share of the training labels, in per cent, is drawn again
  (permuted); the pool is clean. Without a number: 20 for phoneme, 25 for digits.
* drift, drift 20: the labels of half, or of a fifth, of the pool are shuffled.
* rare 1, rare 3: one class against the rest, so many per cent of all rows. The number
  of them in training rows and pool is left to chance.
* 4000: as many training rows, no shift.
* alone: no training rows are given.
* frames and judges: see ``frame_tasks.py`` and ``judge_tasks.py``.
"""

from frame_tasks import FRAME_TASKS
from judge_tasks import JUDGE_TASKS
from sklearn.datasets import load_breast_cancer
from tasks import (
    TASKS,
    boosting,
    boosting_regressor,
    classification,
    linear,
    read_digits,
    read_mnist,
    regression,
    table,
    tree,
)

# Held out as far as the rule goes, though in TASKS.
OLD_NAMES = (
    "phoneme noisy log_loss",
    "phoneme noisy zero_one",
    "california coast",
    "diabetes",
)

adult = table("adult", "class", ["split"])
bank = table("bank_marketing_additional_full", "y")
california = table("california_housing", "median_house_value")
pendigits = table("pendigits", "class")
phoneme = table("phoneme", "class")
USUAL = {"n_train": 1000, "n_pool": 2000}
MANY = {"n_train": 4000, "n_pool": 2000}


def read_cancer(data_dir):
    """The tumours that ship with scikit-learn."""
    return load_breast_cancer(return_X_y=True)


def _wrong_labels():
    """Training labels that are wrong, a share of them."""
    digits = {"n_train": 500, "n_pool": 1200}
    tasks = classification("digits noisy", read_digits, linear, noise=0.25, **digits)
    for percent in (15, 25, 40):
        noise, name = percent / 100, f"noisy {percent}"
        if percent != 25:
            tasks |= classification(
                f"digits {name}", read_digits, linear, noise=noise, **digits
            )
        tasks |= classification(
            f"pendigits {name}", pendigits, linear, noise=noise, **USUAL
        )
        tasks |= regression(
            f"california {name}", california, boosting_regressor, noise=noise, **USUAL
        )
    return tasks


def _drift():
    """Labels of the pool that training rows know nothing of."""
    return {
        **classification("phoneme drift", phoneme, tree, drift=0.5, **USUAL),
        **classification("adult drift 20", adult, boosting, drift=0.2, **USUAL),
        **classification("pendigits drift 20", pendigits, linear, drift=0.2, **USUAL),
    }


def _rare():
    """One class against the rest, of which there are few."""
    tasks = {}
    for percent in (1, 3):
        name, share = f"rare {percent}", percent / 100
        tasks |= classification(
            f"mnist {name}", read_mnist, linear, rare=(8, share), **USUAL
        )
        tasks |= classification(
            f"pendigits {name}", pendigits, boosting, rare=(9, share), **USUAL
        )
    return tasks | classification(
        "mnist rare 1 4000", read_mnist, linear, rare=(8, 0.01), **MANY
    )


RARE_TASKS = _rare()
HELD_OUT = {
    **{name: TASKS[name] for name in OLD_NAMES},
    **_wrong_labels(),
    **_drift(),
    **RARE_TASKS,
    **classification("adult 4000", adult, boosting, **MANY),
    **classification("bank 4000", bank, linear, **MANY),
    **regression("california 4000", california, boosting_regressor, **MANY),
    **classification("cancer", read_cancer, linear, n_train=100, n_pool=450),
    **classification("adult alone", adult, boosting, is_alone=True, **USUAL),
    **FRAME_TASKS,
    **JUDGE_TASKS,
}
