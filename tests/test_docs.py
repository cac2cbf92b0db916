"""What the pages say can be pasted and runs."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "guide"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [path for path in sorted(GUIDE.glob("*.md")) if BLOCK.search(path.read_text())]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_code_of_a_page_runs_from_top_to_bottom(path, monkeypatch):
    text = path.read_text(encoding="utf-8")
    page = ModuleType(path.stem)
    monkeypatch.setitem(sys.modules, path.stem, page)  # Its classes can be pickled.
    exec("\n".join(BLOCK.findall(text)), vars(page))
