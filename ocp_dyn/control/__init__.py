"""Control: bodies that walk in MuJoCo by a controller that sees what sensors tell."""

from .._base.rooms import only_names as _only_names
from .bodies import Body as Body
from .bodies import Foot as Foot
from .bodies import Seen as Seen
from .controller import Controller as Controller
from .controller import Gains as Gains
from .pictures import draw_run as draw_run
from .predictive import PredictiveController as PredictiveController
from .predictive import horizon as horizon
from .ready_bodies import body as body
from .ready_bodies import controller as controller
from .run import ControlledRun as ControlledRun
from .simulation import Push as Push
from .simulation import pushes as pushes
from .stepping import StepController as StepController
from .trials import changing as changing
from .trials import pushed as pushed
from .trials import terrain as terrain
from .trials import trial as trial
from .trials import walk_and_stop as walk_and_stop
from .trotting import TrotController as TrotController
from .whole_body import Found as Found
from .whole_body import TaskWeights as TaskWeights
from .whole_body import Wanted as Wanted
from .whole_body import WholeBody as WholeBody
from .world import World as World
from .world import steps as steps
from .world import stones as stones

_only_names(globals())
