"""Parameters that are passed on, ``module__width`` and its like, as in skorch."""

PREFIXES = ("module__", "optimizer__", "iterator_train__", "iterator_valid__")


class NestedParams:
    """Mixin for estimators that take arguments of their module and optimizer.

    Constructors store; what nobody reads is refused by `_check_names` in `fit`.
    """

    def get_params(self, deep=True):
        """Parameters, those of the module and the optimizer among them."""
        return super().get_params(deep=deep) | self._nested_params()

    def set_params(self, **params):
        """Set parameters, those of the module and the optimizer among them."""
        own = super().get_params(deep=True)
        passed_on = {name for name in params if name not in own}
        vars(self).update({name: params.pop(name) for name in passed_on})
        return super().set_params(**params)

    def _nested_params(self, prefix=PREFIXES):
        """What was given with such a prefix."""
        return {name: v for name, v in vars(self).items() if name.startswith(prefix)}

    def _check_names(self):
        known = super().get_params(deep=False)
        for name in vars(self):
            fitted = name.startswith("_") or name.endswith("_")
            if name not in known and not fitted and not name.startswith(PREFIXES):
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}. Arguments of "
                    "the module and the optimizer are given as module__name, "
                    "optimizer__name."
                )
