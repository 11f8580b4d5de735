#!/usr/bin/env python3
"""`scripts/check_reference.py FILE...`: the command `python -m scripts.checks.reference`, callable from any folder."""

import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
runpy.run_module("scripts.checks.reference", run_name="__main__")
