"""Whether an evaluation can read its pool in chunks."""


def chunks_obstacle(plan, sample_weight, experts):
    """Say why an evaluation needs tables; empty if it can be done in chunks.

    Parameters
    ----------
    plan : Plan
    sample_weight, experts : object or None

    Returns
    -------
    obstacle : str
    """
    if plan.metric is not None:
        return f"metric={plan.metric!r}"
    if sample_weight is not None:
        return "sample_weight"
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
