"""Journals of formats 1 and 2 open and resume like those of today.

The files in ``data`` are the finished campaigns "drawn" and "known" of
``helpers/crashing_campaign.py``.
"""

import json
import shutil
import warnings
from pathlib import Path

import pytest
from helpers.crashing_campaign import (
    KINDS,
    Y,
    differences,
    next_step,
    run_to_the_end,
    shown,
    start,
)

from sklearn_ase.acquisition import (
    BALD,
    XWED,
    ExpectedLoss,
    LossSpread,
    Mixture,
    TrustWeighted,
    VarianceReduction,
)
from sklearn_ase.exceptions import JournalWarning
from sklearn_ase.selection import Proportional

DATA = Path(__file__).parent / "data"
# The defaults by which the rows in journals of each format were picked.
OLD_DEFAULTS = {
    1: {
        "acquisition": TrustWeighted(
            Mixture([XWED(), LossSpread()], shares=[0.7, 0.3])
        ),
        "selection": Proportional(uniform_share=0.2),
    },
    2: {
        "acquisition": TrustWeighted(Mixture([XWED(), LossSpread()])),
        "selection": Proportional(uniform_share=0.3),
    },
}


@pytest.fixture(params=KINDS)
def kind(request):
    """A campaign that was finished."""
    return request.param


@pytest.fixture(params=[1, 2])
def version(request):
    """An old format."""
    return request.param


@pytest.fixture
def path(kind, version, tmp_path):
    """A copy of its journal."""
    return Path(shutil.copy(DATA / f"format_{version}_{kind}.jsonl", tmp_path))


@pytest.fixture
def one_answer_counts_as_all(monkeypatch):
    """Rows are picked as when several answers did not make an estimate surer."""
    name = "sklearn_ase._evaluation._states.with_several_answers"
    monkeypatch.setattr(name, lambda picks, noise: picks)


# Old picks do not say what else could have been picked, and old notes have the standard
# errors of their time.
NEWER = {"max_inverse_proba", "max_expected_ratio", "standard_error", "intervals"}


def reopen(path, kind, **parameters):
    """Resume the campaign; any warning but that of the format is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*has no checksums", JournalWarning)
        return start(path, kind, **parameters)


def test_an_old_journal_opens_with_a_warning_that_it_has_no_checksums(
    path, kind, version
):
    with pytest.warns(JournalWarning, match=f"format {version}, .*no checksums") as all:
        evaluation = start(path, kind)
    assert len(all) == 1
    assert next_step(evaluation.ledger) is None  # The campaign was finished.
    assert evaluation.ledger.header["version"] == version
    evaluation.close()


@pytest.mark.usefixtures("one_answer_counts_as_all")
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
def test_it_shows_what_the_same_campaign_shows_today(path, kind, version):
    afresh = start(None, kind, **OLD_DEFAULTS[version])
    run_to_the_end(afresh)
    with reopen(path, kind) as evaluation:
        assert {*differences(evaluation, afresh, digits=5)} <= NEWER


def test_opening_it_changes_nothing(path, kind):
    text = path.read_bytes()
    reopen(path, kind).close()
    assert path.read_bytes() == text


def test_it_can_be_continued_closed_and_opened_again(path, kind):
    text = path.read_bytes()
    with reopen(path, kind) as evaluation:
        n_asked = len(evaluation.ledger.indices)
        row = evaluation.ask().indices
        evaluation.tell(row, Y[row])
        before = shown(evaluation)
        assert len(evaluation.ledger.indices) == n_asked + 1
    assert path.read_bytes().startswith(text)
    assert len(path.read_bytes()) > len(text)
    with reopen(path, kind) as again:
        assert differences(again, before) == []


@pytest.mark.usefixtures("one_answer_counts_as_all")
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.JournalWarning")
@pytest.mark.parametrize("n_events", [0, 1, 10, 40, 90])
def test_a_campaign_that_began_in_an_old_format_ends_as_that_of_today(
    path, kind, version, n_events
):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: 1 + n_events]))
    afresh = start(None, kind, **OLD_DEFAULTS[version])
    run_to_the_end(afresh)
    with start(path, kind, **OLD_DEFAULTS[version]) as evaluation:
        run_to_the_end(evaluation)
        assert {*differences(evaluation, afresh, digits=5)} <= NEWER


@pytest.mark.filterwarnings("ignore:.*has no checksums")
def test_other_settings_are_used_with_a_warning_and_kept(path, kind):
    text = path.read_bytes()
    with pytest.warns(JournalWarning, match=r"last used with different refit\."):
        start(path, kind, refit=3).close()
    assert path.read_bytes().startswith(text)
    reopen(path, kind, refit=3).close()


# As scikit-learn breaks the lines of a long description; the names decide where.
WRAPPED = "Trusted(acquisition=Mixture(acquisitions=[BALD(), LossSpread(), "
WRAPPED += f"ExpectedLoss(),\n{' ' * 42}VarianceReduction()],\n"
WRAPPED += f"{' ' * 28}shares=[0.25, 0.25, 0.3, 0.2]))"


@pytest.mark.parametrize("version", [1])
def test_a_setting_that_spans_lines_is_the_same_under_its_new_name(path, kind):
    header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(header) | {"acquisition": WRAPPED}
    path.write_text(json.dumps(header) + "\n" + "".join(lines), encoding="utf-8")
    parts = [BALD(), LossSpread(), ExpectedLoss(), VarianceReduction()]
    mixture = Mixture(parts, shares=[0.25, 0.25, 0.3, 0.2])
    reopen(path, kind, acquisition=TrustWeighted(mixture)).close()


def test_it_answers_questions_that_nobody_asked_then(path, kind):
    with reopen(path, kind) as evaluation:
        where = Y[0] == Y
        for asked in ({"metric": "accuracy"}, {"metric": "f1_macro"}, {"where": where}):
            found = evaluation.estimate(**asked)
            assert 0.0 <= float(found) < 5.0
        table = evaluation.estimate_by(Y, metric="accuracy")
        assert table["estimate"].min() >= 0.0
        assert table["estimate"].max() <= 1.0
