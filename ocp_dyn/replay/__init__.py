"""Replay: a solved motion in MuJoCo. Do its torques carry the body in another library, and how many steps does it stay
up?

`inverse` compares the torques along the motion; `forward` plays it until the body falls. MuJoCo comes with
`pip install "ocp_dyn[robots]"`.
"""

from .._base.rooms import only_names as _only_names
from .forward import Run as Run
from .forward import Settings as Settings
from .forward import forward as forward
from .inverse_check import Agreement as Agreement
from .inverse_check import inverse as inverse
from .report import replay_figures as replay_figures
from .report import write_report as write_report
from .simulator import check_ground as check_ground
from .simulator import check_installed as check_installed

_only_names(globals())
