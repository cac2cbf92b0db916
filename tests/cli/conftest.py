"""A small campaign on disk, and what people would say about its rows."""

import csv
import io
import random

import pytest

from sklearn_ase._cli._main import main

HOSTILE = [
    "=1+1",
    "<script>alert('x')</script>",
    'two\nlines, a comma and a "quote"',
    "Ответ, 答え, جواب",
    "@SUM(A1)\ttab",
    "a" * 5000,
    "row,label\n3,correct",
]


class Desk:
    """A folder with a pool, and a person who fills in sheets."""

    def __init__(self, folder, capsys):
        self.folder, self._capsys = folder, capsys
        random_state = random.Random(0)
        self.labels, rows = [], []
        for row in range(80):
            is_right = random_state.random() < 0.7
            self.labels.append("correct" if is_right else "wrong")
            score = min(max(0.3 + 0.4 * is_right + random_state.gauss(0, 0.2), 0), 1)
            says = is_right if random_state.random() < 0.8 else not is_right
            rows.append(
                {
                    "question": f"question {row}",
                    "answer": HOSTILE[row % len(HOSTILE)],
                    "gpt4": f"{score:.3f}",
                    "model": "correct" if says else "wrong",
                    "words": str(random_state.randint(5, 90)),
                    "region": "north" if row % 2 else "south",
                    "stars": str(3 + 2 * is_right),
                    "gold": self.labels[row] if row < 10 else "",
                }
            )
        self.rows = rows
        self.write("pool.csv", rows)

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def read(self, name):
        text = (self.folder / name).read_bytes().decode("utf-8-sig")
        limit = csv.field_size_limit(len(text) + 1)
        try:
            return list(csv.DictReader(io.StringIO(text, newline="")))
        finally:
            csv.field_size_limit(limit)

    def run(self, *words):
        """Exit code, stdout and stderr of a command; files are in the folder."""
        files = (".csv", ".jsonl", ".parquet", ".json")
        argv = [self.path(w) if w.endswith(files) else w for w in words]
        self._capsys.readouterr()
        code = main(argv)
        return code, *self._capsys.readouterr()

    def start(self, *more, metric="share:correct", labels=("correct", "wrong")):
        words = ["start", "pool.csv", "--journal", "eval.jsonl"]
        words += ["--text", "question", "answer", "--metric", metric, "--seed", "0"]
        words += ["--labels", *labels] if labels else []
        return self.run(*words, *(more or ("--judge", "gpt4")))

    def fill(self, name, n_rows=None, labels=None):
        """Write the labels into a sheet, or into its first rows."""
        sheet, labels = self.read(name), labels or self.labels
        for line in sheet[:n_rows]:
            line["label"] = labels[int(line["row"])]
        self.write(name, sheet)

    def label(self, n, name="batch.csv", labels=None):
        """Ask, fill in and tell."""
        assert (
            self.run("ask", "eval.jsonl", str(n), "--out", name, "--overwrite")[0] == 0
        )
        self.fill(name, labels=labels)
        code, out, err = self.run("tell", "eval.jsonl", name)
        assert code == 0, err
        return out


@pytest.fixture
def desk(tmp_path, capsys):
    return Desk(tmp_path, capsys)
