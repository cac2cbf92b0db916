"""The command line ``sklearn-ase``."""
