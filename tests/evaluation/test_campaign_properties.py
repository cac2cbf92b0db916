"""Invariants of campaigns: rows are asked for, answered and withdrawn in any order."""

import os
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import paper_formulas as paper
from helpers.campaigns import Vote
from helpers.crashing_campaign import X as IRIS
from helpers.crashing_campaign import differences, shown
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import JournalWarning
from sklearn_ase.risk import LURE, CorrectedASE
from sklearn_ase.selection import ArgMax, Proportional, UniformMixed
from sklearn_ase.surrogate import ClassifierSurrogate

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning"
)
N_SAMPLES = 14
POOL = IRIS[::11]
PROBA = pd.DataFrame(np.random.default_rng(0).dirichlet(np.ones(3), N_SAMPLES))
KINDS = {
    "drawn": {},
    "corrected": {"risk": CorrectedASE(), "refit": 2},
    "best first": {"selection": ArgMax()},
    "audited": {"selection": UniformMixed(uniform_share=0.3)},
    "priced": {"cost": np.arange(1.0, N_SAMPLES + 1)},
    "known": {"known_labels": {0: 0, 5: 1, 6: 1, 13: 2}},
}
labels = st.integers(0, 3)  # The last is a class that the model does not know.


@pytest.fixture(autouse=True)
def _fast_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class Campaign(RuleBasedStateMachine):
    """A campaign with a journal, and beside it a plain list of what happened."""

    @initialize(kind=st.sampled_from(sorted(KINDS)))
    def begin(self, kind):
        self.folder = Path(tempfile.mkdtemp())
        self.kind = kind
        self.asked, self.told, self.skipped = [], {}, set()
        self.evaluation = self.start()

    def start(self, name="labels.jsonl"):
        settings = {"loss": "brier"} | KINDS[self.kind]
        given = {name: settings.pop(name, None) for name in ("cost", "known_labels")}
        surrogate = ClassifierSurrogate(Vote(), calibration=None, min_rows=3)
        evaluator = ActiveRiskEstimator(surrogate=surrogate, **settings)
        journal = self.folder / name
        return evaluator.start(POOL, predictions=PROBA, journal=journal, **given)

    @property
    def pending(self):
        return [
            row
            for row in self.asked
            if row not in self.told | dict.fromkeys(self.skipped)
        ]

    @property
    def known(self):
        return KINDS[self.kind].get("known_labels", {})

    # What may happen.

    @precondition(lambda self: len(self.asked) < N_SAMPLES)
    @rule(data=st.data())
    def ask(self, data):
        n_free = N_SAMPLES - len(self.asked)
        n_queries = data.draw(st.integers(1, min(4, n_free)), label="n_queries")
        evaluation, before = self.evaluation, len(self.asked)
        scores = self.scores()
        query = evaluation.ask(n_queries)
        picked = evaluation.ledger.indices[before:]
        self.check_probabilities(scores, picked)
        assert not set(picked) & set(self.asked)
        assert len(picked) == n_queries
        assert query.indices.tolist() == [
            row for row in picked if row not in self.known
        ]
        self.asked += picked
        # What was known before is told with the ask.
        self.told |= {row: [self.known[row]] for row in picked if row in self.known}

    def scores(self):
        evaluation = self.evaluation
        if not evaluation.is_fitted:
            return None
        scores = evaluation.plan.acquisition.score_samples(evaluation.state)
        power = evaluation.plan.selection.cost_power
        return scores / KINDS[self.kind].get("cost", np.ones(N_SAMPLES)) ** power

    def check_probabilities(self, scores, picked):
        """Each pick has the probability that it had, and those of a step sum to 1."""
        ledger, free = self.evaluation.ledger, np.ones(N_SAMPLES, dtype=bool)
        free[self.asked] = False
        selection = self.evaluation.plan.selection
        if scores is None:
            selection, scores = Proportional(), np.ones(N_SAMPLES)
        for row in picked:
            distribution = np.zeros(N_SAMPLES)
            distribution[free] = selection.distribution(scores[free])
            assert np.isclose(distribution.sum(), 1.0, rtol=1e-12)
            proba = ledger.picks.query_proba[ledger.indices.index(row)]
            if selection.has_query_proba:
                assert np.isclose(proba, distribution[row], rtol=1e-9)
                assert proba > 0
            else:
                assert np.isnan(proba)
                assert distribution[row] > 0
            free[row] = False

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), n_answers=st.sampled_from([1, 1, 1, 3]))
    def tell(self, data, n_answers):
        rows = data.draw(_some_of(self.pending), label="rows")
        answers = data.draw(
            st.lists(
                labels, min_size=n_answers * len(rows), max_size=n_answers * len(rows)
            )
        )
        answers = np.reshape(answers, (len(rows), n_answers))
        self.evaluation.tell(rows, answers if n_answers > 1 else answers[:, 0])
        self.told |= dict(zip(rows, answers.tolist(), strict=True))

    @precondition(lambda self: self.told)
    @rule(data=st.data(), answers=st.lists(labels, min_size=1, max_size=2))
    def correct(self, data, answers):
        row = data.draw(st.sampled_from(list(self.told)), label="row")
        self.evaluation.correct(row, answers[0] if len(answers) == 1 else answers)
        self.told[row] = answers

    @precondition(lambda self: self.told or self.skipped)
    @rule(data=st.data())
    def withdraw(self, data):
        rows = sorted({*self.told, *self.skipped})
        row = data.draw(st.sampled_from(rows), label="row")
        self.evaluation.withdraw(row)
        self.told.pop(row, None)
        self.skipped.discard(row)

    @precondition(lambda self: self.pending)
    @rule(data=st.data())
    def skip(self, data):
        rows = data.draw(_some_of(self.pending), label="rows")
        self.evaluation.skip(rows)
        self.skipped |= set(rows)

    @precondition(lambda self: self.skipped)
    @rule(data=st.data(), label=labels)
    def tell_what_was_skipped(self, data, label):
        row = data.draw(st.sampled_from(sorted(self.skipped)), label="row")
        self.evaluation.tell([row], [label])
        self.skipped.discard(row)
        self.told[row] = [label]

    @rule()
    def refit(self):
        self.evaluation.refit()

    @rule(data=st.data())
    def be_refused(self, data):
        """What cannot be is refused, and nothing changes."""
        before, text = shown(self.evaluation), self.text()
        free = [row for row in range(N_SAMPLES) if row not in self.asked]
        evaluation = self.evaluation
        wrong = [lambda: evaluation.ask(len(free) + 1), lambda: evaluation.skip([99])]
        wrong += [
            lambda row=row: evaluation.tell([row], [1]) for row in (*free, *self.told)
        ]
        wrong += [lambda row=row: evaluation.skip([row]) for row in (*free, *self.told)]
        without = [
            r for r in (*free, *self.pending) if r not in evaluation.ledger.known
        ]
        wrong += [lambda row=row: evaluation.correct(row, 1) for row in without]
        wrong += [lambda row=row: evaluation.withdraw(row) for row in without]
        wrong += [
            lambda row=row: evaluation.tell([row], [np.nan]) for row in self.pending
        ]
        wrong += [
            lambda row=row: evaluation.tell([row, row], [1, 1]) for row in self.pending
        ]
        with pytest.raises(ValueError, match=r"."):
            data.draw(st.sampled_from(wrong))()
        assert differences(evaluation, before) == []
        assert self.text() == text

    @rule()
    def resume(self):
        before = shown(self.evaluation)
        self.evaluation.close()
        self.evaluation = self.start()
        assert differences(self.evaluation, before) == []

    @rule(tear=st.sampled_from([b"[", b'["tell", [3], ', b'["ask", [3, 4], [0.']))
    def resume_a_torn_copy(self, tear):
        shutil.copy(self.folder / "labels.jsonl", self.folder / "copy.jsonl")
        with open(self.folder / "copy.jsonl", "ab") as file:
            file.write(tear)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JournalWarning)
            copy = self.start("copy.jsonl")
        assert differences(copy, self.evaluation) == []
        copy.close()

    def text(self):
        return (self.folder / "labels.jsonl").read_bytes()

    # What always holds.

    @invariant()
    def every_label_was_told(self):
        ledger = self.evaluation.ledger
        told = {
            row: [label, *ledger.more_labels.get(row, [])]
            for row, label in ledger.labels.items()
        }
        assert told == self.told
        assert set(ledger.more_labels) <= set(ledger.labels)

    @invariant()
    def what_is_open_was_asked_for_once(self):
        ledger = self.evaluation.ledger
        assert ledger.indices == self.asked
        assert len(set(ledger.indices)) == len(ledger.indices)
        assert set(ledger.skipped) == self.skipped
        assert len(ledger.skipped) == len(self.skipped)
        assert self.evaluation.pending.indices.tolist() == self.pending

    @invariant()
    def weighted_estimates_use_the_labels_before_the_first_open_row(self):
        state, in_order = self.evaluation.state, []
        for row in self.asked:
            if row in self.told:
                in_order.append(row)
            elif row not in self.skipped:
                break
        picks = state.settled
        assert picks.indices[picks.answered].tolist() == in_order
        has_proba = state.picks.has_query_proba
        if in_order and not picks.n_skipped and has_proba:
            loss = self.evaluation.loss_
            losses = [
                paper.mean(
                    loss.observed(np.array([row]), np.array([label]))[0]
                    for label in self.told[row]
                )
                for row in in_order
            ]
            found = self.evaluation.estimate(LURE()).value
            expected = paper.lure(losses, picks.query_proba, N_SAMPLES)
            assert np.isclose(found, expected, rtol=1e-9)

    @invariant()
    def the_history_has_a_line_for_each_label(self):
        history = self.evaluation.history
        assert history["index"].tolist() == list(self.told)
        assert history["n_labels"].tolist() == list(range(1, len(self.told) + 1))

    @invariant()
    def the_surrogate_knows_the_classes_there_are(self):
        met = {0, 1, 2}.union(self.known.values(), *self.told.values())
        assert self.evaluation.classes_.tolist() == sorted(met)

    def teardown(self):
        if hasattr(self, "evaluation"):
            self.evaluation.close()
            shutil.rmtree(self.folder)


def _some_of(rows):
    """Some rows, in any order."""
    return st.lists(st.sampled_from(rows), min_size=1, max_size=len(rows), unique=True)


TestCampaign = Campaign.TestCase
TestCampaign.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    derandomize=True,
    report_multiple_bugs=False,
)
