"""Helpers that know nothing of the package."""
