"""Images of the paper's experiments, from local files or openml.org.

Local files are ``mnist.npz``, ``fashion_mnist.npz``, ``cifar10_20k.npz`` and
``cifar100_20k.npz`` (10,000 training images and all test images). Each has arrays
`X_train`, `y_train`, `X_test` and `y_test`. Images may also be packed: `X_train_webp_0`
and so on are the bytes of lossless WebP pictures, in which images of 32 x 32 pixels lie
in rows of 100.
"""

import io
from functools import lru_cache
from pathlib import Path

import numpy as np

FILES = {
    "mnist": "mnist.npz",
    "fashion_mnist": "fashion_mnist.npz",
    "cifar10": "cifar10_20k.npz",
    "cifar100": "cifar100_20k.npz",
}
# Name at openml.org, number of images, shape of an image, number of classes.
PUBLIC = {
    "mnist": ("mnist_784", 70_000, (28, 28), 10),
    "fashion_mnist": ("Fashion-MNIST", 70_000, (28, 28), 10),
    "cifar10": ("CIFAR_10", 60_000, (3, 32, 32), 10),
    "cifar100": ("cifar-100", 60_000, (3, 32, 32), 100),
}


def read_images(name, data_dir):
    """Images as float32 in [0, 1], of shape (n, channels, height, width), and labels.

    Parameters
    ----------
    name : key of `FILES`
    data_dir : path or None
        Directory of local files; None downloads from openml.org.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarrays
        Of a download the last 10,000 images are the test set.
    """
    if data_dir is None:
        X, y = download(name)
        parts = X[:-10_000], y[:-10_000], X[-10_000:], y[-10_000:]
    else:
        parts = read_npz(Path(data_dir) / FILES[name])
    X_train, y_train, X_test, y_test = parts
    return (
        channels_first(X_train),
        np.asarray(y_train).astype(np.int64),
        channels_first(X_test),
        np.asarray(y_test).astype(np.int64),
    )


def read_npz(path):
    """Images and labels as a file has them, unpacked if need be.

    Parameters
    ----------
    path : path of an ``.npz`` file

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarrays
    """
    if not Path(path).exists():
        raise SystemExit(
            f"There is no {path}. Without --data-dir images are downloaded from "
            "openml.org."
        )
    parts = []
    with np.load(path) as file:
        for part in ("train", "test"):
            y = file[f"y_{part}"]
            X = file[f"X_{part}"] if f"X_{part}" in file else unpack(file, part)
            parts += [X[: len(y)], y]
    return parts


def unpack(file, part, size=32):
    """Images of the pictures of an open file, of shape (n, size, size, 3)."""
    from PIL import Image

    images = []
    for number in range(sum(name.startswith(f"X_{part}_webp_") for name in file)):
        content = io.BytesIO(file[f"X_{part}_webp_{number}"].tobytes())
        with Image.open(content) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        grid = pixels.reshape(len(pixels) // size, size, -1, size, 3)
        images.append(grid.swapaxes(1, 2).reshape(-1, size, size, 3))
    return np.concatenate(images)


def download(name):
    """All images and labels from openml.org, the training images first."""
    from sklearn.datasets import fetch_openml

    public, n_images, shape, n_classes = PUBLIC[name]
    X, y = fetch_openml(public, return_X_y=True, as_frame=False)
    found = (*X.shape, len(np.unique(y)))
    # CIFAR-100 has twenty coarse labels, too.
    if found != (n_images, np.prod(shape), n_classes):
        raise ValueError(
            f"{public!r} of openml.org should have {n_images} images of "
            f"{np.prod(shape)} pixels in {n_classes} classes, but has {found[0]} of "
            f"{found[1]} in {found[2]}. Use --data-dir."
        )
    return X.reshape(n_images, *shape), y


@lru_cache
def all_mnist(data_dir):
    """All images of MNIST, training and test set together."""
    X_train, y_train, X_test, y_test = read_images("mnist", data_dir)
    return np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])


@lru_cache
def mnist_components(data_dir):
    """The same on 30 principal components."""
    from sklearn.decomposition import PCA

    X, y = all_mnist(data_dir)
    return PCA(30, random_state=0).fit_transform(X.reshape(len(X), -1)), y


def channels_first(X):
    """Images as networks read them, (n_samples, n_channels, height, width)."""
    X = np.asarray(X, dtype=np.float32) / 255
    if X.ndim == 3:
        return X[:, None]
    return np.ascontiguousarray(X.transpose(0, 3, 1, 2)) if X.shape[-1] == 3 else X
