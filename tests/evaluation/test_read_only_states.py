"""Strategies cannot change what an evaluation knows."""

import numpy as np
import pytest
from helpers.iris_campaign import start_evaluation

from sklearn_ase.acquisition import BaseAcquisition
from sklearn_ase.testing import check_acquisition, make_state


class FirstRowsOnly(BaseAcquisition):
    """Writes into the mask of free rows, so that others could not be picked."""

    def score_samples(self, state):
        free = state.free
        free[: len(free) // 2] = False
        return free.astype(float)


def test_an_acquisition_that_writes_to_the_state_is_refused():
    with pytest.raises(AssertionError, match="read-only"):
        check_acquisition(FirstRowsOnly())
    evaluation = start_evaluation(acquisition=FirstRowsOnly())
    with pytest.raises(ValueError, match="read-only"):
        evaluation.ask()
    assert evaluation.state.free.all()


@pytest.mark.parametrize("part", ["picks", "settled", "labelled"])
def test_picks_of_a_state_cannot_be_written(part):
    for state in (make_state(), start_evaluation().state):
        for array in vars(getattr(state, part)).values():
            assert not isinstance(array, np.ndarray) or not array.flags.writeable
