"""`python -m clustersim`: the command line, where its name is not on the path."""

import sys

from clustersim.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
