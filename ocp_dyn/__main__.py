"""`python -m ocp_dyn` is the command `ocp-dyn`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
