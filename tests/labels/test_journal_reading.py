"""A journal can be read while others write to it, and reading changes nothing."""

import numpy as np
import pytest

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._labels._journal import read_journal
from sklearn_ase.exceptions import JournalError
from sklearn_ase.metrics import LabelShare


@pytest.fixture
def campaign(tmp_path):
    """An evaluation with all kinds of events, still open, and its journal."""
    rng = np.random.default_rng(0)
    score = rng.random(60)
    y = np.where(rng.random(60) < score, "yes", "no")
    evaluator = ActiveRiskEstimator(
        metric=LabelShare("yes"), classes=["no", "yes"], random_state=0
    )
    path = tmp_path / "labels.jsonl"
    how = {"experts": {"judge": score}, "journal": path, "known_labels": {3: "no"}}
    with evaluator.start(None, **how) as evaluation:
        evaluation.run(y, 12)
        rows = evaluation.ask(4).indices
        evaluation.tell(rows[:2], y[rows[:2]])
        evaluation.correct(rows[0], "no")
        evaluation.withdraw(rows[1])
        evaluation.skip(rows[2:3])
        yield evaluation, path


def test_the_ledger_is_that_of_the_evaluation(campaign):
    evaluation, path = campaign
    before = path.read_bytes()
    ledger = read_journal(path)
    assert path.read_bytes() == before
    assert ledger.header["n_samples"] == 60
    live = evaluation.ledger
    for name in ("indices", "labels", "skipped", "known", "pending"):
        assert getattr(ledger, name) == getattr(live, name)
    np.testing.assert_array_equal(ledger.picks.query_proba, live.picks.query_proba)
    assert list(ledger.notes) == list(live.notes)
    assert ledger.unnoted is None


def test_a_torn_last_line_is_left_out_and_stays_in_the_file(campaign):
    _, path = campaign
    before = read_journal(path)
    torn = path.read_bytes() + b'["tell", [5'
    path.write_bytes(torn)
    ledger = read_journal(path)
    assert ledger.labels == before.labels
    assert path.read_bytes() == torn


def test_a_changed_label_is_refused(campaign):
    _, path = campaign
    path.write_bytes(path.read_bytes().replace(b'"yes"', b'"noo"', 1))
    with pytest.raises(JournalError, match="checksum"):
        read_journal(path)


def test_an_empty_or_missing_file(tmp_path):
    path = tmp_path / "labels.jsonl"
    with pytest.raises(FileNotFoundError):
        read_journal(path)
    assert not path.exists()
    path.touch()
    ledger = read_journal(path)
    assert ledger.header is None
    assert not ledger.indices
