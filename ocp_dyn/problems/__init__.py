"""Ready optimal control problems, `ocp_dyn.problems.NAME`; `ocp-dyn problems` lists them.

This file serves a checkout only. There the problems live in the folder `problems/` beside the package, and this package
takes its modules from that folder. In the wheel the folder itself stands here, and this file is left out.
"""

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "problems"

# A copy of `ocp_dyn/` without its checkout must not take a folder of the same name that belongs to someone else.
__path__ = [str(_FOLDER)] if (_FOLDER / "small/pendulum.py").is_file() else []
