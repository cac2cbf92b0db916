"""Parameters with a prefix, such as ``module__width``, as in skorch."""

from __future__ import annotations

from typing import Any, Self

PREFIXES = ("module__", "optimizer__", "iterator_train__", "iterator_valid__")


class NestedParams:
    """Mixin for estimators with arguments for their module and optimizer.

    The constructor stores any keyword. Unknown ones raise an error in `fit`, by
    `_check_names`.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, including those of the module and the optimizer."""
        return super().get_params(deep=deep) | self._nested_params()

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the module and the optimizer."""
        own = super().get_params(deep=True)
        passed_on = {name for name in params if name not in own}
        vars(self).update({name: params.pop(name) for name in passed_on})
        return super().set_params(**params)

    def _nested_params(self, prefix=PREFIXES):
        """Parameters that were given with one of the prefixes."""
        return {name: v for name, v in vars(self).items() if name.startswith(prefix)}

    def _check_names(self):
        """Raise an error for a parameter that has no meaning."""
        known = super().get_params(deep=False)
        for name in vars(self):
            fitted = name.startswith("_") or name.endswith("_")
            if name not in known and not fitted and not name.startswith(PREFIXES):
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}. Pass arguments "
                    "of the module and the optimizer as module__name, optimizer__name."
                )
