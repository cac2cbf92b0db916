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

The second task is the difference between two systems that answer the same questions,
with 150 labels. A label is a verdict on one answer, of either system, or on a pair of
answers to one question. A verdict on a pair costs one label if people read both answers
at once, and two if they read one by one. So there are three designs: 150 answers, 75
pairs and 150 pairs.

    python benchmarks/judges/judges.py --data-dir DIR --out RUNS --runs 40
    python benchmarks/judges/judges.py --out RUNS --report
    python benchmarks/judges/judges.py --out RUNS --markdown

``--development`` takes the seed that choices are made on.

``--save FILE.csv`` writes a line for each figure. The tables of the documentation are
printed from such a file:

    python benchmarks/judges/judges.py --out benchmarks/results/judges.csv --markdown
"""

import argparse
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats

from sklearn_ase import ActiveRiskEstimator

sys.path.append(str(Path(__file__).parents[1] / "shared"))
import judge_methods as methods
from judge_pools import ALL_POOLS, EVOUNA, HIDDEN, PAIRS, POOLS, USELESS, pairs_of
from tables import add_arguments, is_table, save, slashed

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
PAIR_COLUMNS = ["pair", "seed", "unit", "n_labels", "method", "truth", "difference"]
PAIR_COLUMNS += ["square", "right", "covers", "width"]


def known_to(method, pool):
    """Features and judges that one of the package's ways gets."""
    names = list(pool.experts)[: 1 if method == "judge alone" else None]
    experts = {name: pool.experts[name] for name in names}
    return (pool.X if method == "features" else None), experts


def evaluator_of(pool, seed):
    """Evaluator of the pool's metric; there is no model."""
    classes = np.unique([*pool.y, *pool.metric.labels])
    return ActiveRiskEstimator(metric=pool.metric, classes=classes, random_state=seed)


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


def run_pair(data_dir, name, seed):
    """Rows of one comparison of two systems, for each design."""
    warnings.simplefilter("ignore")
    answers, is_first = PAIRS[name](data_dir, np.random.default_rng(seed))
    pairs = pairs_of(answers)
    truth, found = pairs.values.mean(), []

    def keep(unit, n_labels, method, results):
        value, low, high = np.transpose(results)
        square = np.mean((value - truth) ** 2)
        right = np.mean(np.sign(value) == np.sign(truth))
        covers = np.mean((low <= truth) & (truth <= high))
        if np.isnan(low).any():  # There is no interval.
            covers = np.nan
        cells = (truth, value.mean(), square, right, covers, np.mean(high - low))
        found.append((name, seed, unit, n_labels, method, *cells))

    def with_ends(estimate):
        return [(float(estimate), *estimate.interval(methods.LEVEL))]

    def labelled(pool, X, experts, n_labels):
        evaluation = evaluator_of(pool, seed).start(X, experts=experts)
        evaluation.run(pool.y, n_labels)
        return evaluation

    for method in ("judges", "features"):
        X, experts = known_to(method, answers)
        if X is None:  # The system is known in any case.
            X = is_first[:, None].astype(float)
        evaluation = labelled(answers, X, experts, PAIR_LABELS)
        systems = np.where(is_first, "first", "second")
        estimate = evaluation.compare_groups(systems).difference("first", "second")
        keep("answers", PAIR_LABELS, method, with_ends(estimate))
    for count in (PAIR_LABELS // 2, PAIR_LABELS):
        for method in ("judges", "features"):
            evaluation = labelled(pairs, *known_to(method, pairs), count)
            keep("pairs", count, method, with_ends(evaluation.estimate()))
        for method in ("plain sample", "PPI++"):
            function, known = OTHERS[method]
            score = getattr(pairs, known)
            rng = np.random.default_rng([seed, count])
            samples = [
                function(pairs.values, score, count, rng) for _ in range(N_SAMPLES)
            ]
            keep("pairs", count, method, samples)
    keep("none", 0, "the judge alone", [(pairs.judge.mean(), np.nan, np.nan)])
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


def read(args, seeds):
    """A line for each pool or pair, method and number of labels."""
    if is_table(args.out):
        return pd.read_csv(args.out)
    frames = []
    for name in [*ALL_POOLS, *PAIRS]:
        path = Path(args.out) / f"{name}.csv"
        if path.exists():
            runs = pd.read_csv(path).rename(columns={"pair": "pool"})
            frames.append(means_of(runs[runs["seed"].isin(seeds)]))
    return pd.concat(frames)


def means_of(runs):
    """Means of one pool or pair over its runs, with standard errors of two of them."""
    keys = ["pool", "method", "n_labels"]
    keys += [name for name in ("unit",) if name in runs]
    grouped = runs.groupby(keys, sort=False)
    means = ["square", "covers", "width", "difference", "right", "truth"]
    table = grouped[[name for name in means if name in runs]].mean()
    table.insert(0, "n_runs", grouped["seed"].nunique())
    for name in ("square", "width"):
        table[f"{name}_error"] = grouped[name].sem()
    if "truth" in runs:
        table["least_truth"] = runs["truth"].min()
        table["greatest_truth"] = runs["truth"].max()
    return table.reset_index()


def table_of(means):
    """The means of pools, with those divided by other methods'."""
    keys = ["pool", "method", "n_labels"]
    table = means[means["pool"].isin(list(ALL_POOLS))].set_index(keys).sort_index()
    for name, short in (("PPI++", "ppi"), ("plain sample", "plain")):
        base = table.xs(name, level="method")[["square", "width"]]
        for column in ("square", "width"):
            both = table[column].unstack("method")
            ratio = both.div(base[column], axis=0)
            table[f"{column}_{short}"] = ratio.stack().reorder_levels(keys)
    return table


def report(args, seeds):
    """Print a table of each number, and whether the targets are met."""
    means = read(args, seeds)
    if args.save:
        save(means, args.save)
    table = table_of(means)
    if len(table):
        n_runs = table.groupby("pool")["n_runs"].max()
        print("runs of each pool:", n_runs.to_dict())
        print(f"at {COUNTS} labels")
        summaries(table)
        per_pool(table)
        targets(table)
    pairs = means[means["pool"].isin(list(PAIRS))]
    report_pairs(pairs)
    pair_targets(pairs)


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
        n_pools = part.index.get_level_values("pool").nunique()
        by_method = {
            method: part.xs(method, level="method").groupby("n_labels")
            for method in METHODS
        }
        lines = {
            method: [
                rows["square_plain"].median(),
                rows["square_ppi"].median(),
                rows["square_ppi"].max(),
            ]
            for method, rows in by_method.items()
        }
        heads = ["error / plain's", "error / PPI++'s", "worst"]
        print_table(f"{title}, {n_pools} pools: error", ["method", *heads], lines)
        lines = {
            method: [
                rows["width_ppi"].median(),
                rows["width_ppi"].max(),
                rows["covers"].mean(),
                rows["covers"].min(),
            ]
            for method, rows in by_method.items()
        }
        heads = ["width / PPI++'s", "widest", "covers", "least"]
        print_table(f"{title}, {n_pools} pools: interval", ["method", *heads], lines)


def per_pool(table):
    """A line for each pool, with all judges and with features beside them."""
    columns = ("square_plain", "square_ppi", "width_ppi", "covers")
    heads = ["error / plain's", "error / PPI++'s", "width / PPI++'s", "covers"]
    for method in OURS[1:]:
        part = table.xs(method, level="method")
        names = [name for name in ALL_POOLS if name in part.index]
        lines = {name: [part.loc[name][column] for column in columns] for name in names}
        print_table(f"{method}, each pool", ["pool", *heads], lines)


def print_table(title, heads, lines):
    """Print a table whose cells are numbers at each number of labels."""
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name, cells in lines.items():
        print(f"| {' | '.join([name, *map(slashed, cells)])} |")


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
    for pair, part in pairs.groupby("pool", sort=False):
        first = part.iloc[0]
        print(
            f"\n{pair}, {first['n_runs']} runs; truth {first['truth']:+.3f}, in single "
            f"runs {first['least_truth']:+.3f} to {first['greatest_truth']:+.3f}\n"
        )
        print("| labels | method | mean | RMSE | right sign | covers | width |")
        print("|" + "---|" * 7)
        for _, line in part.iterrows():
            count = line["n_labels"]
            cells = [f"{count} {line['unit']}" if count else "none", line["method"]]
            cells.append(f"{line['difference']:+.3f}")
            cells.append(f"{np.sqrt(line['square']):.3f}")
            cells += [slashed([line[name]]) for name in ("right", "covers", "width")]
            print(f"| {' | '.join(cells)} |")


def pair_targets(pairs):
    """Say whether the differences of the package have the right sign, and cover."""
    ours = pairs[pairs["method"].isin(OURS)]
    for _, line in ours.iterrows():
        words = (line[name] for name in ("n_labels", "unit", "method"))
        print(f"\n{line['pool']}, {' '.join(map(str, words))}")
        say("right sign in 90 % of the runs", line[["right"]], 0.9, least=True)
        say("coverage >= .88", line[["covers"]], 0.88, least=True)


def markdown(args, seeds):
    """Print the tables of the documentation."""
    means = read(args, seeds)
    table = table_of(means)
    print(f"{table['n_runs'].min()} runs of each pool")
    summaries(table)
    per_pool(table)
    report_pairs(means[means["pool"].isin(list(PAIRS))])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    add_arguments(parser)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pools", nargs="+", help="names of some pools or pairs")
    parser.add_argument("--development", action="store_true")
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
