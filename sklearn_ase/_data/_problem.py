"""The problem: rows, predictions, loss, weights and costs of an evaluation, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._experts import check_experts
from sklearn_ase._data._labels import (
    check_class_list,
    check_classes,
    check_labels,
    check_learnable,
    refuse_fractions,
    refuse_respelled,
    same_kind,
)
from sklearn_ase._data._predictions import (
    Predictions,
    check_is_of_model,
    is_model,
    out_of_fold_predictions,
    predict_pool,
    read_predictions,
)
from sklearn_ase._data._rows import (
    RowOrder,
    n_rows,
    plain_labels,
    read_array,
    stack_rows,
    take_rows,
)
from sklearn_ase._data._validation import check_training_rows
from sklearn_ase._utils._display import warn_caller
from sklearn_ase._utils._typing import Rows
from sklearn_ase.exceptions import NewClassWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn_ase._data._inputs import Inputs
    from sklearn_ase._data._sampling import PoolSample
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._utils._typing import Task
    from sklearn_ase.losses._base import BaseLoss, LossTable, PointLoss
    from sklearn_ase.surrogate._base import BaseSurrogate

# The loss of the model, checked.

# What the package reads of a loss that is bound to a pool.
_OF_A_POOL_LOSS = ("n_samples", "max_loss", "is_bounded", "observed", "take")


def build_loss(
    loss: BaseLoss, predictions: Predictions, classes: np.ndarray | None
) -> LossTable | PointLoss:
    """Loss of the model at some rows, checked, because the loss may be a user's."""
    response = predictions.response_for(classes)
    built, name = loss.build(response, classes), type(loss).__name__
    missing = [name for name in _OF_A_POOL_LOSS if not hasattr(built, name)]
    if missing:
        raise TypeError(
            f"{name}.build must return a LossTable or a PointLoss, but returned "
            f"{built!r}, which lacks {', '.join(missing)}."
        )
    if classes is None:
        return built
    shape, values = (len(response), len(classes)), getattr(built, "values", 0)
    values = np.asarray(values)
    is_number = values.dtype.kind in "biuf" and values.shape == shape
    if not is_number or not np.isfinite(values).all() or values.min(initial=0) < 0:
        raise ValueError(
            f"The loss table of {name} must hold finite numbers >= 0, one row per "
            f"sample and one column per class, shape {shape}, but has shape "
            f"{values.shape} and type {values.dtype}, or other values."
        )
    return built


# The problem.


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """The data of an evaluation.

    Attributes
    ----------
    X : array, sparse matrix, frame or list
        The pool.
    predictions : Predictions
        Predictions of the model under test for the pool.
    loss : BaseLoss
    task : {"classification", "regression"}
    classes : ndarray or None
        Labels known from the start, sorted; None for regression.
    given_classes : ndarray or None
        The parameter `classes`, in the order of the user. If it is given, no other
        label is allowed.
    X_train, y_train : rows the surrogate may also learn from, or None
    train_predictions : Predictions or None
        Predictions of copies of the model for training rows that they did not learn
        from.
    cost : ndarray of shape (n_samples,) or None
        What a label of each row costs; None if all cost the same.
    sample_weight : ndarray of shape (n_samples,) or None
        How much each row of the pool counts; None if all count the same.
    model : fitted estimator or None
        The model under test, if it predicts with a method.
    estimator : estimator, callable or None
        The model under test as it was given; None if predictions were.
    experts : Experts or None
        What others say about the labels of the pool.
    stand_in : label or None
        A class that stands for every label but the first, as long as no other label
        is known.
    features, train_features : rows of X and X_train as the surrogate sees them
        See :meth:`prepared_by`; None before.
    order : RowOrder
        Of the rows of X, as the index of the given X says it.
    sample : PoolSample or None
        If X was drawn from a larger source. Outside, rows are then named by their
        numbers in the source. Here, and in strategies, they are places in X.
    """

    X: Any
    predictions: Predictions
    loss: Any
    task: str
    classes: np.ndarray | None = None
    given_classes: np.ndarray | None = None
    X_train: Any = None
    y_train: np.ndarray | None = None
    train_predictions: Predictions | None = None
    cost: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    model: Any = None
    estimator: Any = None
    experts: Any = None
    stand_in: Any = None
    features: Any = None
    train_features: Any = None
    order: RowOrder = field(default_factory=RowOrder)
    sample: PoolSample | None = None

    def places_of(self, rows: Any) -> np.ndarray:
        """Places in the pool of rows as they are named outside."""
        rows = np.asarray(rows, dtype=int)
        return rows if self.sample is None else self.sample.places_of(rows)

    def names_of(self, places: np.ndarray) -> np.ndarray:
        """Names of rows by their places in the pool."""
        return places if self.sample is None else self.sample.indices[places]

    def placed(self, ledger: LabelLedger) -> LabelLedger:
        """The ledger with rows named by their places in the pool."""
        return ledger if self.sample is None else ledger.renamed(self.places_of)

    def entries_of(self, values: Any, name: str) -> Any:
        """Entries of the rows of the pool, also if they were given for its source."""
        return values if self.sample is None else self.sample.entries_of(values, name)

    def weight_with_draw(self, weight: np.ndarray | None) -> np.ndarray | None:
        """Weight of each row times the inverse probability with which it was drawn."""
        return weight if self.sample is None else self.sample.weighted(weight)

    @property
    def n_samples(self):
        """Size of the pool."""
        return n_rows(self.X)

    @property
    def is_closed(self):
        """Whether labels other than `classes` are refused."""
        return self.given_classes is not None

    @property
    def n_training(self):
        """Number of training rows."""
        return 0 if self.y_train is None else len(self.y_train)

    def prepared_by(self, surrogate):
        """Return the problem with the rows as the surrogate sees them.

        Often these are X and X_train themselves.
        """
        features, train_features = surrogate.prepare(self.X, self.X_train)
        return replace(self, features=features, train_features=train_features)

    def classes_with(self, labels):
        """All classes once `labels` are known, sorted; None for regression."""
        if self.task == "regression":
            return None
        if not len(labels):
            return self.classes
        classes = np.unique(np.concatenate([self.classes, labels]))
        is_met = np.isin(self.stand_in, labels) or len(classes) == len(self.classes)
        if self.stand_in is None or is_met:
            return classes
        return classes[classes != self.stand_in]

    def model_classes(self, classes):
        """Which classes the model has learned, a mask; None for regression.

        A network may have a column for a class without any training row. Such a class
        is not among the training labels, and nowhere the most likely one of the pool.
        """
        has_column = self.predictions.model_classes(classes)
        has_model = has_column is not None and self.predictions.has_expert
        if not has_model or self.y_train is None:
            return has_column
        likely = self.predictions.likely_classes(classes)
        return has_column & (np.isin(classes, self.y_train) | likely)

    def check_labels(self, labels, rows=None, name="labels"):
        """Labels of some rows as an array, refused where they are not allowed."""
        classes = self.classes if self.is_closed else None
        labels = check_labels(labels, self.task, classes, rows, name)
        if self.task == "classification":
            same_kind({name: labels, "classes": self.classes})
        return labels

    def check_new_labels(self, labels, rows, name="labels"):
        """Labels that are not recorded yet: refused also if nobody can learn them."""
        labels = self.check_labels(labels, rows, name)
        if self.task == "classification":
            refuse_fractions(labels, self.classes, name)
        check_learnable(labels, self.classes, rows)
        return labels

    def check_answers(self, labels: Any, rows):
        """Check the answers for some rows; a row may have several."""
        if isinstance(labels, Mapping):
            raise TypeError(
                "labels must be an array or a list, but got a dict. Give "
                "tell(list(labels), list(labels.values())) for {row: label}."
            )
        self.order.check_answers(rows, labels, self.places_of)
        answers = np.atleast_1d(read_array(labels, "labels"))
        if len(answers) != len(rows):
            rows = np.arange(len(answers))  # The ledger reports what is wrong.
        if answers.ndim != 2 or answers.shape[1] < 2:
            return self.check_new_labels(answers, rows), ()
        rows = np.repeat(rows, answers.shape[1])
        answers = self.check_new_labels(answers.ravel(), rows).reshape(answers.shape)
        return answers[:, 0], answers[:, 1:]

    def refuse_respelled(
        self,
        classes: np.ndarray | None,
        recorded: Sequence[Any],
        *labels,
        name: str = "labels",
    ) -> None:
        """Refuse labels that differ from a class or each other only in spelling."""
        if classes is None:
            return
        known = classes.tolist()
        if self.stand_in in known and self.stand_in not in recorded:
            known.remove(self.stand_in)
        parts = [np.ravel(some) for some in labels if len(some)]
        if parts:
            refuse_respelled(np.concatenate(parts), known, name)

    def warn_of_new(self, classes, *labels):
        """Warn of labels that are not among `classes`: they may be mistyped."""
        if self.is_closed or classes is None:
            return
        labels = {label for some in labels for label in np.ravel(some).tolist()}
        new = sorted(labels.difference(classes.tolist()))
        if self.stand_in is not None and self.stand_in in classes:
            new = new[1:]  # The first one is what it stands for.
        if new:
            text = f"The labels {new} are new: neither the model nor the training rows "
            text += "have them. They become classes. If one was mistyped, correct it "
            text += "with evaluation.correct(row, label); with classes=[...] only the "
            text += "given labels are allowed."
            if self.stand_in is not None:
                label = self.classes[self.classes != self.stand_in].tolist()[0]
                text += f" The metric counts {label!r}. If people write it in another "
                text += "way, start again with a metric that names the label they use."
            warn_caller(text, NewClassWarning)

    def cost_of(self, rows):
        """What labels of these rows cost."""
        if self.cost is None:
            return np.ones(len(rows))
        return self.cost[self.places_of(rows)]

    def loss_for(self, classes, rows=None):
        """Loss at every sample of the pool, or at some rows, for every class."""
        predictions = self.predictions if rows is None else self.predictions.at(rows)
        return build_loss(self.loss, predictions, classes)

    def training_loss(self, rows, classes):
        """Loss at training rows of copies of the model that did not learn from them."""
        response = self.train_predictions.response_for(classes)
        return self.loss.build(response[rows], classes)

    def labelled_rows(self, indices, labels, classes):
        """Training rows and, below them, labelled rows of the pool."""
        rows = np.array(indices, dtype=int)
        X, y = take_rows(self.features, rows), np.array(labels)
        expert = self.predictions.at(rows).expert_for(classes)
        if self.y_train is None:
            return X, y, expert
        if expert is None:
            out_of_fold = None
        elif self.train_predictions is None:
            out_of_fold = np.full((self.n_training, *expert.shape[1:]), np.nan)
        else:
            out_of_fold = self.train_predictions.expert_for(classes)
        if not len(rows):
            return self.train_features, self.y_train, out_of_fold
        if expert is not None:
            expert = np.concatenate([out_of_fold, expert])
        y = np.concatenate([self.y_train, y])
        return stack_rows(self.train_features, X), y, expert

    def experts_for(
        self,
        surrogate: BaseSurrogate,
        classes: np.ndarray | None,
        rows: Sequence[int] | None = None,
    ) -> dict:
        """What experts say, as an argument of a surrogate that uses them."""
        if self.experts is None or not surrogate.uses_experts:
            return {}
        scores = self.experts.scores_for(classes)
        if rows is not None:
            scores = scores[np.array(rows, dtype=int)]
            before = np.zeros((self.n_training, *scores.shape[1:]))
            scores = np.concatenate([before, scores])
        return {"experts": scores}


# Training rows that cross-validation does not split.


class TrainingRows:
    """Training rows for the surrogate that cross-validation leaves whole.

    Cross-validation splits every fit parameter that has as many rows as the pool. Rows
    in this container are passed on whole; ``clone`` does not copy them.

    Parameters
    ----------
    X : array, sparse matrix, frame or list of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)

    Examples
    --------
    >>> from sklearn_ase import TrainingRows
    >>> TrainingRows([[0.0], [1.0]], ["cat", "dog"])
    TrainingRows(2 rows)
    """

    def __init__(self, X: Rows, y: ArrayLike) -> None:
        self.X = X
        self.y = y

    def __sklearn_clone__(self):
        return self

    def __repr__(self):
        return f"TrainingRows({len(self.y)} rows)"


# The problem, made from what the user gave.


def make_problem(
    inputs: Inputs, evaluator: Any, plan: Any, loss: BaseLoss, task: Task, seed: int
) -> Problem:
    """Ask the model about pool and training rows and check that everything fits.

    Of the evaluator, the model, `classes` and tags are read. The label that the metric
    is about is the one that a score of an expert is the probability of.
    """
    X, X_train, y_train = inputs.X, inputs.X_train, inputs.y_train
    predictions, train_predictions = inputs.predictions, inputs.train_predictions
    surrogate, metric = plan.surrogate, plan.metric
    estimator, classes = evaluator.estimator, None
    if task == "classification":
        classes = check_class_list(evaluator.classes)
    label = getattr(metric, "label", getattr(metric, "pos_label", None))
    if needs_no_model(estimator, predictions, metric):
        named = getattr(metric, "labels", [])
        pool_predictions = without_model(n_rows(X), task, named)
    else:
        pool_predictions = predict_pool(
            estimator, X, loss, task, classes, predictions, surrogate.uses_estimator
        )
    if predictions is not None:
        needs_expert = surrogate.uses_estimator
        check_is_of_model(
            pool_predictions, estimator, X, loss, task, classes, needs_expert
        )
    X_train, y_train = check_training_rows(X_train, y_train, X, task, evaluator)
    out_of_fold: Any = None
    if train_predictions is not None:
        out_of_fold = read_predictions(
            train_predictions, X_train, loss, task, classes, "train_predictions"
        )
    elif X_train is not None and predictions is None and surrogate.uses_out_of_fold:
        out_of_fold = out_of_fold_predictions(
            estimator, X_train, y_train, loss, task, plan.cv, seed
        )
    labels = stand_in = None
    if task == "classification":
        given = "estimator" if predictions is None else "predictions"
        met = {given: pool_predictions.columns, "y_train": y_train}
        fitted = getattr(surrogate, "estimator", surrogate)
        if surrogate.is_constant and hasattr(fitted, "classes_"):
            met["surrogate"] = plain_labels(fitted.classes_)
        labels = check_classes(classes, met)
        if len(labels) == 1 and not pool_predictions.has_expert:
            stand_in = _any_other(labels[0])
            labels = np.unique([labels[0], stand_in])
        if train_predictions is not None:
            same_kind({"train_predictions": out_of_fold.columns, "classes": labels})
    problem = Problem(
        X=X,
        predictions=pool_predictions,
        loss=loss,
        task=task,
        classes=labels,
        given_classes=classes,
        X_train=X_train,
        y_train=y_train,
        train_predictions=out_of_fold,
        cost=inputs.cost,
        sample_weight=inputs.sample_weight,
        model=estimator if predictions is None and is_model(estimator) else None,
        estimator=estimator if predictions is None else None,
        stand_in=stand_in,
        order=inputs.order,
        sample=inputs.sample,
    )
    experts = inputs.experts
    return problem if experts is None else _with_experts(problem, experts, label)


def _with_experts(problem, experts, label):
    """The problem with experts, and the labels that they name."""
    experts = check_experts(experts, problem.n_samples, problem, label)
    classes, stand_in = problem.classes, problem.stand_in
    if classes is not None:
        others = np.setdiff1d(experts.all_labels, classes)
        if len(others) and stand_in is not None:
            classes, stand_in = classes[classes != stand_in], None
        classes = np.union1d(classes, others)
    return replace(problem, experts=experts, classes=classes, stand_in=stand_in)


def without_model(n_samples, task: Task, labels) -> Predictions:
    """Predictions that stand for the model if there is none."""
    if task == "regression":
        return Predictions(np.zeros(n_samples), None, None)
    labels = plain_labels(labels)
    return Predictions(np.full(n_samples, labels[0]), None, labels)


def needs_no_model(estimator, predictions, metric):
    """Whether there is no model, and the metric is about the labels alone."""
    is_absent = estimator is None and predictions is None
    return is_absent and metric is not None and metric.response_method is None


def _any_other(label):
    """A label that stands for all but one, as long as no other is known."""
    if isinstance(label, str):
        return f"not {label}"
    return type(label)(0 if label == 1 else label + 1 if label else 1)
