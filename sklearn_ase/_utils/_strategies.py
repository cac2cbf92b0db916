"""Check objects that users give as strategies, perhaps of their own making."""

from sklearn_ase._utils._checks import shown


def check_strategy(strategy, base, verbs, owner):
    """Refuse strings, classes and objects that lack what the package reads.

    The parameters of the strategy are checked, too, by its ``validate()``.

    Parameters
    ----------
    strategy : object
    base : type
        Base class of such strategies. Its ``flags`` are the names of the attributes
        that the package reads.
    verbs : sequence of str
        Methods that the package calls.
    owner : str
        What the strategy is used for, to begin the message.

    Returns
    -------
    strategy : object
    """
    is_object = not isinstance(strategy, (type, str))
    if is_object and hasattr(strategy, "validate"):
        strategy.validate()  # Before the flags, which may depend on the parameters.
    needed = (*verbs, *base.flags, "get_params", "validate")
    missing = [name for name in needed if not hasattr(strategy, name)]
    if not is_object or missing:
        lack = f" It lacks {', '.join(missing)}." if is_object else ""
        if isinstance(strategy, type) and issubclass(strategy, base):
            lack = f" Make an instance: {owner}={strategy.__name__}(...)."
        elif not is_object:
            folder = base.__module__.rpartition(".")[0]
            lack = f" The classes to choose from are in {folder}."
        # Not an AttributeError, which hasattr(owner, ...) would hide.
        raise TypeError(
            f"{owner} must be an instance of a subclass of {base.__name__}, but got "
            f"{shown(strategy)}.{lack}"
        )
    return strategy
