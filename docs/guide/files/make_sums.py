"""Make sums.csv, the pool of the page command_line.md: run it in its folder.

A made-up model has answered 400 sums. It errs more often in products. A made-up judge
gives a score to each answer. It is too kind, most of all to products.
"""

import csv
import math
import random

SIGNS = {"sum": "+", "difference": "-", "product": "×"}
ERRORS = {"sum": 0.1, "difference": 0.2, "product": 0.45}


def true_answer(first, sign, second):
    """What a sum really is."""
    if sign == "×":
        return first * second
    return first + second if sign == "+" else first - second


def rows(n_rows=400, seed=1):
    """Lines of the file as dicts."""
    draw = random.Random(seed)
    for _ in range(n_rows):
        kind = draw.choice(list(SIGNS))
        first, second = draw.randint(12, 99), draw.randint(3, 60)
        answer = true_answer(first, SIGNS[kind], second)
        is_wrong = draw.random() < ERRORS[kind]
        if is_wrong:
            answer += draw.choice([-10, -2, -1, 1, 2, 10])
        kindness = 2.5 if kind == "product" else 1.0
        score = kindness + 2.5 * (0.5 - is_wrong) + draw.gauss(0, 1)
        yield {
            "question": f"What is {first} {SIGNS[kind]} {second}?",
            "answer": f"It is {answer}.",
            "kind": kind,
            "judge": f"{1 / (1 + math.exp(-score)):.2f}",
        }


if __name__ == "__main__":
    with open("sums.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["question", "answer", "kind", "judge"])
        writer.writeheader()
        writer.writerows(rows())
