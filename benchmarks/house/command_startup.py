"""Time that ``sklearn-ase status`` takes, beside that of importing scikit-learn.

The campaign has a pool of 100,000 rows with a judge, and 1,000 labels that were told in
batches. Each command is a process of its own. The median of seven runs counts. Other
work on the machine slows down all processes, so the ratio says more than the seconds.

    python benchmarks/house/command_startup.py
    python benchmarks/house/command_startup.py --batch 1
"""

import argparse
import csv
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from sklearn_ase._cli._campaign import Campaign
from sklearn_ase._cli._main import main

START = ["start", "pool.csv", "--journal", "eval.jsonl", "--text", "question", "answer"]
START += ["--judge", "judge", "--labels", "correct", "wrong"]
START += ["--metric", "share:correct", "--seed", "0"]


def write_pool(n_rows):
    """Write a pool, and return what people would say about its rows."""
    draws, labels = random.Random(0), []
    with open("pool.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["question", "answer", "judge"])
        for row in range(n_rows):
            score = draws.random()
            labels.append("correct" if draws.random() < 0.9 * score else "wrong")
            question = f"What is the answer to question {row}? {'x' * 80}"
            table.writerow([question, f"It is {row}. {'y' * 120}", f"{score:.3f}"])
    return labels


def label_rows(labels, n_labels, batch_size):
    """Ask and tell as the commands do, in one process."""
    campaign = Campaign.load("eval.jsonl")
    with campaign.open(campaign.columns()) as evaluation:
        for _ in range(0, n_labels, batch_size):
            query = evaluation.ask(batch_size)
            evaluation.tell(query, [labels[row] for row in query.indices])
        evaluation.refit()


def seconds_of(command, n_runs):
    """Time of a process, and what it used of the processor; medians of several."""
    times, used = [], []
    for _ in range(n_runs):
        began, before = time.perf_counter(), processor_time()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
        used.append(processor_time() - before)
    return statistics.median(times), statistics.median(used)


def processor_time():
    """Seconds of the processor that all ended children have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    cli = [sys.executable, "-m", "sklearn_ase"]
    commands = {
        'python -c "import sklearn"': [sys.executable, "-c", "import sklearn"],
        "sklearn-ase --version": [*cli, "--version"],
        "sklearn-ase status": [*cli, "status", "eval.jsonl"],
        "sklearn-ase plan": [*cli, "plan", "eval.jsonl", "--width", "0.02"],
    }
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        labels = write_pool(args.rows)
        assert main(START) == 0
        label_rows(labels, args.labels, args.batch)
        size = os.path.getsize("eval.jsonl") / 1e6
        print(f"{args.rows} rows, {args.labels} labels, journal of {size:.1f} MB")
        times = {name: seconds_of(line, args.runs) for name, line in commands.items()}
        os.chdir("/")
    base, base_used = times['python -c "import sklearn"']
    print(f"{'':<27} {'seconds':>8} {'ratio':>6} {'processor':>10} {'ratio':>6}")
    for name, (seconds, used) in times.items():
        ratios = seconds / base, used / base_used
        print(
            f"{name:<27} {seconds:8.2f} {ratios[0]:6.2f} {used:10.2f} {ratios[1]:6.2f}"
        )
