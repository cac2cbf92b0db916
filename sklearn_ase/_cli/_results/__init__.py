"""Readers of the result files of other tools."""
