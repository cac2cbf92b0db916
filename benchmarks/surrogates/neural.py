"""Speed and memory of the neural room, as ratios within one run.

1. Ten members, a tiny perceptron and a small CNN: training and predicting against ten
   plain skorch nets one by one, with as many epochs, batches and the same final loss.
2. Where stacking stops to pay: perceptrons of growing width, looped / stacked.
3. Radial BNN: 100 draws over 2,000 images against drawing and calling sample by sample
   over mini-batches of 64.
4. Memory of predicting with 20 members over a pool of 200,000 rows.

Of three repetitions the fastest counts: whatever else runs on a machine only adds.

    python benchmarks/surrogates/neural.py --data-dir DIR
"""

import argparse
import multiprocessing
import resource
import time
from pathlib import Path

import numpy as np
import torch
from skorch import NeuralNetClassifier
from torch import nn
from torch.nn import functional as F

from sklearn_ase.neural import (
    MLP,
    DeepEnsembleClassifier,
    RadialBNN,
    RadialBNNClassifier,
    SmallCNN,
)

N_MEMBERS = 10
N_TRAIN = 1000
N_POOL = 2000
EPOCHS = 5
REPEATS = 3
# Of the radial network for one image and one draw: two convolutions, two dense layers.
MULTIPLY_ADDS = 24**2 * 16 * 25 + 8**2 * 32 * 16 * 25 + 512 * 128 + 128 * 10


def mnist(data_dir):
    """Training images with labels and a pool, float32 in [0, 1]."""
    with np.load(Path(data_dir) / "mnist.npz") as data:
        X, y = data["X_train"], data["y_train"].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))
    X = (X[order, None] / 255).astype(np.float32)
    return X[:N_TRAIN], y[order][:N_TRAIN], X[N_TRAIN : N_TRAIN + N_POOL]


def timed(function):
    """Seconds of a call, and what it gave."""
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def plain_nets(module, X, y):
    """Ten skorch nets, one by one."""
    nets = []
    for seed in range(N_MEMBERS):
        torch.manual_seed(seed)
        net = NeuralNetClassifier(
            module,
            criterion=nn.CrossEntropyLoss,
            optimizer=torch.optim.Adam,
            lr=0.001,
            max_epochs=EPOCHS,
            batch_size=64,
            iterator_train__shuffle=True,
            iterator_valid__batch_size=1024,
            train_split=None,
            verbose=0,
            **sizes(module),
        )
        nets.append(net.fit(X, y))
    return nets


def sizes(module):
    """Arguments of a module for MNIST."""
    if module is MLP:
        return {"module__n_features": 784, "module__n_classes": 10, "module__width": 32}
    return {"module__width": 8}


def ensemble(module, vectorized, **kwargs):
    """The same training as of the plain nets."""
    kwargs = {
        "n_members": N_MEMBERS,
        "max_epochs": EPOCHS,
        "validation_fraction": None,
        "random_state": 0,
        **sizes(module),
        **kwargs,
    }
    return DeepEnsembleClassifier(module, vectorized=vectorized, **kwargs)


def compare(module, X, y, pool):
    """Print seconds and ratios of training and predicting."""
    print(
        f"\n{module.__name__}, {N_MEMBERS} members, {EPOCHS} epochs of {len(X)} images"
    )
    print(f"{'':16}{'train':>8}{'predict':>9}{'ratio':>8}{'ratio':>8}{'loss':>8}")
    ways = {"looped": False, "stacked": True, "auto": "auto"}
    rows = {name: [] for name in ["ten skorch nets", *ways]}
    for _ in range(REPEATS):
        train, nets = timed(lambda: plain_nets(module, X, y))
        predict, _ = timed(lambda nets=nets: [n.predict_proba(pool) for n in nets])
        loss = np.mean([net.history[-1]["train_loss"] for net in nets])
        rows["ten skorch nets"].append((train, predict, loss))
        for name, vectorized in ways.items():
            model = ensemble(module, vectorized)
            train, model = timed(lambda model=model: model.fit(X, y))
            predict, _ = timed(lambda model=model: model.predict_proba_members(pool))
            rows[name].append((train, predict, model.net_.history[-1]["train_loss"]))
    base = np.min(rows["ten skorch nets"], axis=0)
    for name, values in rows.items():
        train, predict, loss = np.min(values, axis=0)
        ratios = f"{base[0] / train:8.2f}{base[1] / predict:8.2f}"
        print(f"{name:16}{train:8.2f}{predict:9.3f}{ratios}{loss:8.3f}")


def crossover(X, y, pool):
    """Print looped / stacked for perceptrons of growing width."""
    print("\nperceptrons: time looped / time stacked")
    print(f"{'width':>8}{'weights':>10}{'train':>8}{'predict':>9}")
    for width in (8, 32, 128, 512):
        seconds = {}
        for vectorized in (False, True):
            model = ensemble(MLP, vectorized, module__width=width, max_epochs=2)
            pairs = []
            for _ in range(REPEATS):
                train, model = timed(lambda model=model: model.fit(X, y))
                predict = timed(lambda model=model: model.predict_proba_members(pool))
                pairs.append((train, predict[0]))
            seconds[vectorized] = np.min(pairs, axis=0)
        ratio = seconds[False] / seconds[True]
        weights = 785 * width + 10 * (width + 1)
        print(f"{width:8}{weights:10,}{ratio[0]:8.2f}{ratio[1]:9.2f}")


@torch.no_grad()
def sample_by_sample(network, pool, n_draws):
    """Draw and call one sample at a time, mini-batch by mini-batch."""
    logits = []
    for _ in range(n_draws):
        for rows in torch.as_tensor(pool).split(64):
            w1, b1, w2, b2, w3, b3, w4, b4 = (d[0] for d in network.draw(1))
            h = F.relu(F.max_pool2d(F.conv2d(rows, w1, b1), 2))
            h = F.relu(F.max_pool2d(F.conv2d(h, w2, b2), 2)).flatten(1)
            logits.append(F.linear(F.relu(F.linear(h, w3, b3)), w4, b4))
    return logits


def radial(X, y, pool):
    """Print the pool pass of the radial network against the loop."""
    model = RadialBNNClassifier(max_epochs=1, random_state=0).fit(X, y)
    network = model.networks_.network
    assert isinstance(network, RadialBNN)
    slow, fast = [], []
    for _ in range(REPEATS):
        slow.append(timed(lambda: sample_by_sample(network, pool, 100))[0])
        fast.append(timed(lambda: model.predict_proba_members(pool))[0])
    slow, fast = min(slow), min(fast)
    print(f"\nradial BNN, 100 draws over {len(pool)} images")
    print(f"sample by sample {slow:.2f} s, together {fast:.2f} s: {slow / fast:.1f} x")
    work = 2e-9 * len(pool) * 100 * MULTIPLY_ADDS
    square = torch.randn(2048, 2048)
    best = 2e-9 * 2048**3 / min(timed(lambda: square @ square)[0] for _ in range(10))
    print(f"{work:.0f} GFLOP at {work / fast:.0f} a second; a dense product makes")
    print(f"{best:.0f} and would take {work / best:.2f} s: {slow * best / work:.1f} x")


def peak_memory():
    """Print the memory of a pass over a large pool, beyond its input."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 64)).astype(np.float32)
    model = DeepEnsembleClassifier(n_members=20, max_epochs=1)
    model.fit(X, rng.integers(10, size=len(X)))
    pool = np.tile(X, (100, 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.predict_proba(pool)
    mean = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.predict_proba_members(pool)
    members = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\n20 members over {len(pool):,} rows, peak memory beyond the input:")
    print(
        f"mean {(mean - before) / 1024:.0f} MB, all members (160 MB of them the ",
        end="",
    )
    print(f"result) {(members - before) / 1024:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    args = parser.parse_args()
    # In a process of its own: the greatest memory so far must not be that of training.
    process = multiprocessing.get_context("spawn").Process(target=peak_memory)
    process.start()
    process.join()
    X, y, pool = mnist(args.data_dir)
    compare(MLP, X, y, pool)
    compare(SmallCNN, X, y, pool)
    crossover(X, y, pool)
    radial(X, y, pool)


if __name__ == "__main__":
    main()
