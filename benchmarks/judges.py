"""How many labels does a biased judge save, and how narrow is the interval?

Pools of 1,000 answers with the verdicts of people and of automatic judges, see
``judge_pools.py``. No model is under test: what is estimated is the share of answers
that people accept, or a win rate. At 50, 100 and 200 labels are compared, by mean
squared error and by the coverage and width of the 90 % interval:

* judge alone: the package with the judge that PPI++ has, and no features,
* judges: the package with all judges (one or two more), and no features,
* features: the package with all judges and a few cheap features,
* a plain random sample (t and Wilson's interval), PPI++ (also with the factor for a
  finite pool, and with the mean of all judges), stratified PPI++ and active
  inference, both with the mean of all judges. ``judge_methods.py`` has their formulas.

The second task is the difference between two systems that answer the same questions.

    python benchmarks/judges.py --data-dir DIR --out RUNS --runs 40
    python benchmarks/judges.py --out RUNS --report
    python benchmarks/judges.py --out RUNS --markdown

``--development`` takes the seed that choices are made on.

Runs with this seed so far are in ``runs/judges.tar.xz``; unpacked into
RUNS they are printed, or gone on with, without being made again.
"""

import argparse
import warnings
from pathlib import Path
from time import process_time

import judge_methods as methods
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from judge_pools import ALL_POOLS, EVOUNA, HIDDEN, PAIRS, POOLS, USELESS
from scipy import stats
from texts import slashed

from sklearn_ase import ActiveRiskEstimator

SEED = 618033
DEVELOPMENT_SEED = 142857
COUNTS = (50, 100, 200)
PAIR_LABELS = 150
# Plain samples of each run for the methods that cost nothing.
N_SAMPLES = 50
OURS = ("judge alone", "judges", "features")
OTHERS = {
    "plain sample": (methods.plain_sample, "judge"),
    "plain sample, Wilson": (methods.plain_sample_wilson, "judge"),
    "PPI++": (methods.ppi, "judge"),
    "PPI++, finite pool": (methods.ppi_finite, "judge"),
    "PPI++, mean of judges": (methods.ppi, "score"),
    "stratified PPI++": (methods.stratified_ppi, "score"),
    "active inference": (methods.active, "score"),
}
METHODS = (*OURS, *OTHERS)
# Greatest width against PPI++'s in the median pool, by number of labels.
WIDTHS = {50: 0.85, 100: 0.75, 200: 0.65}
COLUMNS = ["pool", "seed", "n_labels", "method", "square", "covers", "width", "seconds"]
PAIR_COLUMNS = ["pair", "seed", "method", "truth", "difference", "square", "right"]
PAIR_COLUMNS += ["covers", "width"]


def known_to(method, pool):
    """Features and judges that one of the package's ways gets."""
    names = list(pool.experts)[: 1 if method == "judge alone" else None]
    experts = {name: pool.experts[name] for name in names}
    return (pool.X if method == "features" else None), experts


def evaluator_of(pool, seed):
    """Evaluator of the pool's metric; there is no model."""
    return ActiveRiskEstimator(
        metric=pool.metric, classes=np.unique(pool.y), random_state=seed
    )


def run(data_dir, name, seed):
    """Rows of one pool: error, coverage and width of each method."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    pool = ALL_POOLS[name](data_dir, rng)
    values, truth, found = pool.values, pool.values.mean(), []

    def keep(count, method, results, seconds):
        value, low, high = np.transpose(results)
        covers = np.mean((low <= truth) & (truth <= high))
        square, width = np.mean((value - truth) ** 2), np.mean(high - low)
        found.append((name, seed, count, method, square, covers, width, seconds))

    for method in OURS:
        started = process_time()
        X, experts = known_to(method, pool)
        evaluator = evaluator_of(pool, seed)
        evaluation = evaluator.start(X, experts=experts)
        for count in COUNTS:
            evaluation.run(pool.y, count)
            estimate = evaluation.estimate()
            result = (float(estimate), *estimate.interval(methods.LEVEL))
            keep(count, method, [result], process_time() - started)
    for method, (function, known) in OTHERS.items():
        score = getattr(pool, known)
        for count in COUNTS:
            # Methods that label a plain sample label the same one.
            rng = np.random.default_rng([seed, count])
            samples = [function(values, score, count, rng) for _ in range(N_SAMPLES)]
            keep(count, method, samples, 0.0)
    return found


def difference(evaluation, is_first):
    """Difference of the shares of two systems, with the ends of its interval."""
    # The interval of the difference is not there yet; see the two shares alone.
    first, second = (evaluation.estimate(where=rows) for rows in (is_first, ~is_first))
    return float(first) - float(second), np.nan, np.nan


def run_pair(data_dir, name, seed):
    """Rows of one comparison of two systems, at 150 labels."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    pool, is_first = PAIRS[name](data_dir, rng)
    n_questions = is_first.sum()
    values, score = pool.values, pool.judge
    differences = values[:n_questions] - values[n_questions:]
    judged = score[:n_questions] - score[n_questions:]
    truth, found = differences.mean(), []

    def keep(method, results):
        value, low, high = np.transpose(results)
        square = np.mean((value - truth) ** 2)
        right = np.mean(np.sign(value) == np.sign(truth))
        covers = np.mean((low <= truth) & (truth <= high))
        if np.isnan(low).any():  # There is no interval.
            covers = np.nan
        cells = (truth, value.mean(), square, right, covers, np.mean(high - low))
        found.append((name, seed, method, *cells))

    for method in ("judges", "features"):
        X, experts = known_to(method, pool)
        if X is None:
            X = is_first[:, None].astype(float)
        evaluator = evaluator_of(pool, seed)
        evaluation = evaluator.start(X, experts=experts)
        evaluation.run(pool.y, PAIR_LABELS)
        keep(method, [difference(evaluation, is_first)])
    # A pair of answers takes two labels.
    n_pairs = PAIR_LABELS // 2
    for method in ("plain sample", "PPI++"):
        function = OTHERS[method][0]
        rng = np.random.default_rng([seed, n_pairs])
        samples = [
            function(differences, judged, n_pairs, rng) for _ in range(N_SAMPLES)
        ]
        keep(method, samples)
    keep("the judge alone", [(judged.mean(), np.nan, np.nan)])
    return found


def simulate(args, seeds):
    """Run all that is missing."""
    jobs = [(name, run, COLUMNS) for name in ALL_POOLS]
    jobs += [(name, run_pair, PAIR_COLUMNS) for name in PAIRS]
    for name, function, columns in jobs:
        if args.pools and name not in args.pools:
            continue
        path = Path(args.out) / f"{name}.csv"
        done = set(pd.read_csv(path)["seed"]) if path.exists() else set()
        calls = (
            delayed(function)(args.data_dir, name, seed)
            for seed in seeds
            if seed not in done
        )
        for rows in Parallel(n_jobs=args.jobs, return_as="generator")(calls):
            frame = pd.DataFrame(rows, columns=columns)
            frame.to_csv(path, mode="a", header=not path.exists(), index=False)
        print(f"{name}: done", flush=True)


def read(args, names, seeds):
    """Rows of the files of these names; none if there are no files."""
    paths = [Path(args.out) / f"{name}.csv" for name in names]
    frames = [pd.read_csv(path) for path in paths if path.exists()]
    if not frames:
        return None
    runs = pd.concat(frames)
    return runs[runs["seed"].isin(seeds)]


def table_of(runs):
    """Means of each pool, method and number of labels, with those against others."""
    keys = ["pool", "method", "n_labels"]
    grouped = runs.groupby(keys)
    table = grouped[["square", "covers", "width", "seconds"]].mean()
    table["square_error"] = grouped["square"].sem()
    table["width_error"] = grouped["width"].sem()
    table["n_runs"] = grouped["seed"].nunique()
    for name, short in (("PPI++", "ppi"), ("plain sample", "plain")):
        base = table.xs(name, level="method")[["square", "width"]]
        for column in ("square", "width"):
            both = table[column].unstack("method")
            ratio = both.div(base[column], axis=0)
            table[f"{column}_{short}"] = ratio.stack().reorder_levels(keys)
    return table


def report(args, seeds):
    """Print a table of each number, and whether the targets are met."""
    runs = read(args, ALL_POOLS, seeds)
    if runs is not None:
        table = table_of(runs)
        print("runs of each pool:", runs.groupby("pool")["seed"].nunique().to_dict())
        print(f"at {COUNTS} labels")
        summaries(table)
        per_pool(table)
        targets(table)
    pairs = read(args, PAIRS, seeds)
    if pairs is not None:
        report_pairs(pairs)


def part_of(table, names):
    """The pools of these names that are there."""
    return table[table.index.get_level_values("pool").isin(list(names))]


def summaries(table):
    """Medians and worst pools of each method, for groups of pools."""
    groups = {"EVOUNA": EVOUNA, "all pools with a judge": POOLS}
    groups |= {"permuted": USELESS, "hidden errors": HIDDEN}
    for title, names in groups.items():
        part = part_of(table, names)
        if part.empty:
            continue
        print(f"\n{title}, {part.index.get_level_values('pool').nunique()} pools\n")
        print(
            "| method | error / plain's | error / PPI++'s | worst | width / PPI++'s |"
            " widest | covers | least |"
        )
        print("|" + "---|" * 8)
        for method in METHODS:
            by_count = part.xs(method, level="method").groupby("n_labels")
            cells = [
                by_count["square_plain"].median(),
                by_count["square_ppi"].median(),
                by_count["square_ppi"].max(),
                by_count["width_ppi"].median(),
                by_count["width_ppi"].max(),
                by_count["covers"].mean(),
                by_count["covers"].min(),
            ]
            print(f"| {' | '.join([method, *map(slashed, cells)])} |")


def per_pool(table):
    """A line for each pool: the package with features against the others."""
    for method in OURS:
        print(f"\n{method}, each pool\n")
        print("| pool | error / plain's | error / PPI++'s | width / PPI++'s | covers |")
        print("|" + "---|" * 5)
        part = table.xs(method, level="method")
        for pool in [name for name in ALL_POOLS if name in part.index]:
            lines = part.loc[pool]
            names = ("square_plain", "square_ppi", "width_ppi", "covers")
            print(f"| {' | '.join([pool, *(slashed(lines[k]) for k in names)])} |")


def targets(table):
    """Say which targets are met, for each of the package's ways."""
    for method in OURS:
        print(f"\nTargets, {method}")
        part = part_of(table, POOLS).xs(method, level="method").groupby("n_labels")
        say(
            "error <= .7 of PPI++'s in the median pool",
            part["square_ppi"].median(),
            0.7,
        )
        say("error <= 1.1 of PPI++'s in every pool", part["square_ppi"].max(), 1.1)
        width = part["width_ppi"].median()
        greatest = pd.Series(WIDTHS).reindex(width.index)
        say("width <= .85 / .75 / .65 of PPI++'s", width, greatest)
        say("coverage >= .88 on average", part["covers"].mean(), 0.88, least=True)
        say("coverage >= .84 in every pool", part["covers"].min(), 0.84, least=True)
        for_certain(part_of(table, POOLS).xs(method, level="method"))
        for pool in ("arena gpt35", *USELESS):
            if pool not in table.index:
                continue
            ours = table.xs((pool, method), level=("pool", "method"))
            plain = table.xs((pool, "plain sample"), level=("pool", "method"))
            for column, word in (("square", "error"), ("width", "width")):
                # Two standard errors of the ratio are left for chance.
                ratio = ours[column] / plain[column]
                chance = 2 * ours[f"{column}_error"] / plain[column]
                title = f"{pool}: {word} not above a plain sample's"
                say(f"{title} (chance {slashed(chance)})", ratio, 1 + chance)


def for_certain(table):
    """Name the pools that miss a target by more than chance.

    By two standard errors, or with a probability below 1 % for the coverage.
    """
    chance = 2 * table["square_error"] / table["square"] * table["square_ppi"]
    is_far = table["square_ppi"] - chance > 1.1
    n_covered = (table["covers"] * table["n_runs"]).round()
    is_low = stats.binom.cdf(n_covered, table["n_runs"], 0.84) < 0.01
    for title, missed in (("error", is_far), ("coverage", is_low)):
        names = [f"{pool} at {count}" for pool, count in table.index[missed]]
        print(
            f"  pools that miss it for certain, {title}: {', '.join(names) or 'none'}"
        )


def say(title, found, bound, least=False):
    """Print one target with what was found, and whether it is met."""
    met = (found >= bound) if least else (found <= bound)
    words = " / ".join("yes" if each else "no" for each in met)
    print(f"  {title}: {slashed(found)}: {words}")


def report_pairs(pairs):
    """Print how often the difference has the right sign, and how far off it is."""
    print(f"\nTwo systems, {PAIR_LABELS} labels\n")
    print(
        "| pair | method | runs | truth | difference | root of the mean squared error |"
        " right sign | covers | width |"
    )
    print("|" + "---|" * 9)
    for (pair, method), part in pairs.groupby(["pair", "method"], sort=False):
        cells = [part["truth"].mean(), part["difference"].mean()]
        texts = [f"{value:+.3f}" for value in cells]
        texts.append(f"{np.sqrt(part['square'].mean()):.3f}")
        rates = ("right", "covers", "width")
        texts += [slashed([part[name].mean()]) for name in rates]
        print(f"| {' | '.join([pair, method, str(len(part)), *texts])} |")
    for method in ("judges", "features"):
        part = pairs[pairs["method"] == method].groupby("pair", sort=False)
        say(
            f"{method}: right sign in 90 % of the runs", part["right"].mean(), 0.9, True
        )


def markdown(args, seeds):
    """Print the tables of the documentation."""
    runs = read(args, ALL_POOLS, seeds)
    table = table_of(runs)
    print(f"{runs.groupby('pool')['seed'].nunique().min()} runs of each pool")
    summaries(table)
    per_pool(table)
    pairs = read(args, PAIRS, seeds)
    if pairs is not None:
        report_pairs(pairs)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", required=True, help="directory of the runs, continued")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pools", nargs="+", help="names of some pools or pairs")
    parser.add_argument("--development", action="store_true")
    parser.add_argument("--report", action="store_true", help="only print the tables")
    parser.add_argument("--markdown", action="store_true", help="only print the tables")
    args = parser.parse_args(argv)
    seed = DEVELOPMENT_SEED if args.development else SEED
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=args.runs).tolist()
    if not (args.report or args.markdown):
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args, seeds)
    (markdown if args.markdown else report)(args, seeds)


if __name__ == "__main__":
    main()
