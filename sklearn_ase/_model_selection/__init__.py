"""Choose the best of several models: ask, tell, compare."""
