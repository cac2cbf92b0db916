"""Whether an evaluation can read its pool in chunks."""


def chunks_obstacle(plan, experts, has_model=True):
    """Say why an evaluation needs tables; empty if it can be done in chunks.

    Parameters
    ----------
    plan : Plan
    experts : object or None
    has_model : bool, default=True
        Whether there is a model under test.

    Returns
    -------
    obstacle : str
    """
    if not has_model:
        return f"metric={plan.metric!r} without a model"
    if experts is not None:
        return "experts"
    if plan.surrogate.uses_experts:
        return f"surrogate={type(plan.surrogate).__name__}"
    # Strategies need not inherit from the base classes.
    parts_of = getattr(plan.acquisition, "local_parts", lambda: None)
    if parts_of() is None:
        return f"acquisition={type(plan.acquisition).__name__}"
    if not getattr(plan.selection, "is_local", False):
        return f"selection={type(plan.selection).__name__}"
    return ""
