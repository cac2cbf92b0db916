"""``python -m sklearn_ase`` is the command line ``sklearn-ase``."""

import sys

from sklearn_ase._cli._main import main

if __name__ == "__main__":
    sys.exit(main())
