"""The commands, their options, and the texts of `--help`. Loads nothing but argparse."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .streams import Parser

FILE = """FILE is a URDF, an MJCF, an SDF, an OpenSim model, a bioMod, a Lua model of RBDL, a model
written by od.save_model (.json), or a name: of a ready model (human, five_link_biped, pendulum, ...) or of a robot
(talos, g1, solo12, ...). `ocp-dyn info` lists all names.
Robots are in the package of the extra: pip install "ocp_dyn[robots]"."""

STATUS = """exit status: 0 fine; 1 a fault in the file or the problem, or a solver that found no solution; 2 a wrong
command line; 130 interrupted by Ctrl-C. Results go to standard output, progress and errors to standard error."""

TOP = """Rigid-body dynamics and optimal control of walking, from a terminal.

  ocp-dyn walk                                  a human walks: pictures, an animation and a report in ./walk
  ocp-dyn walk talos --speed 0.4                a robot walks, in ./walk_talos
  ocp-dyn sweep people.py --out people          a problem at many points, on all cores or a cluster
  ocp-dyn gait subject.osim walk.trc loads.xml  joint angles and moments of a recorded walk, in ./gait
  ocp-dyn info robot.urdf                       joints, masses, limits and frames of a robot
  ocp-dyn check robot.urdf                      every fault of a file, with its line and the remedy
  ocp-dyn export robot.urdf --functions ID,FD --out build/robot      C code for a controller
  ocp-dyn convert talos --out talos.xml         a model for MuJoCo, or as URDF
  ocp-dyn COMMAND --help                        more about a command, with examples"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(
        prog="ocp-dyn", description=TOP, epilog=STATUS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action=_Version, help="print the version and stop")
    parser.add_argument(
        "--versions", action=_Versions, help="print all versions, the system and the compiler, and stop"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for add in (
        _info,
        _check,
        _show,
        _export,
        _convert,
        _bench,
        _walk,
        _sweep,
        _gait,
        _plot,
        _rerun,
        _problems,
        _completion,
    ):
        add(commands)
    return parser


class _Version(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        import ocp_dyn

        print(f"ocp-dyn {ocp_dyn.__version__}")
        parser.exit()


class _Versions(_Version):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from ..native.provenance import provenance, sentences

        print("\n".join(sentences(provenance())))
        parser.exit()


def _command(
    commands: Any, name: str, summary: str, examples: str, more: str = "", *, module: str = ""
) -> argparse.ArgumentParser:
    """A command with its examples, and a paragraph that follows them."""
    epilog = f"examples:\n{_indented(examples)}\n\n" + (f"{more}\n\n" if more else "") + STATUS
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    command.set_defaults(module=module or name, parser=command)
    return command


def _path(text: str) -> Path:
    """A path that has a name: an empty text, from a variable that is not set, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; write . for the current folder")
    return Path(text)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _file(command: argparse.ArgumentParser, *, optional: bool = False, root: bool = True) -> None:
    kinds = "a file of a model or a name"
    command.add_argument("file", metavar="FILE", nargs="?" if optional else None, help=kinds)
    if root:
        command.add_argument(
            "--root", choices=("auto", "fixed", "floating", "planar"), default="auto",
            help="how the root link of a URDF moves; auto: floating if three or more limbs hang on it, else fixed",
        )  # fmt: skip


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print the result as one JSON object")


def _info(commands: Any) -> None:
    command = _command(
        commands, "info", "print joints, sizes, masses, limits and frames of a model",
        "ocp-dyn info                        the names of models and robots\n"
        "ocp-dyn info robot.urdf\n"
        "ocp-dyn info talos --json | python -m json.tool",
        FILE,
    )  # fmt: skip
    _file(command, optional=True)
    _json(command)


def _check(commands: Any) -> None:
    command = _command(
        commands, "check", "list every fault of a file of a model, with its line and the remedy",
        "ocp-dyn check robot.urdf\n"
        "ocp-dyn check robot.urdf --json\n"
        "for file in robots/*.urdf; do ocp-dyn check $file || exit 1; done",
        "Faults are what the library refuses: wrong numbers, unknown names, loops, inertias that no body can have. "
        "Notes\n"
        "are what it takes, but what is rarely meant: joints that mimic others, moving bodies without mass, paths of\n"
        "muscles without a length, through their wrap objects, or that no polynomial follows.",
    )  # fmt: skip
    command.add_argument("file", metavar="FILE", type=_path, help="a file of a model, of any format")
    _json(command)


def _show(commands: Any) -> None:
    command = _command(
        commands, "show", "show a model or a saved motion in the browser, or draw a model",
        "ocp-dyn show talos                       in the browser, if the extra `viewer` is installed\n"
        "ocp-dyn show walk/walk.npz               a saved solution, with forces and footholds\n"
        "ocp-dyn show robot.urdf --out robot.png  a picture\n"
        "ocp-dyn show walk/walk.npz --out walk.html      a page that plays by itself\n"
        "ocp-dyn show human --view side --labels joints --out human.png",
        FILE + ' The viewer is in the\nextra: pip install "ocp_dyn[viewer]".',
    )  # fmt: skip
    _file(command)
    command.add_argument("--out", type=_path, metavar="FILE",
                         help="write a picture (.png, .pdf, .svg) or a page (.html) instead of showing")  # fmt: skip
    command.add_argument("--view", choices=("side", "front", "top", "3d"), help="the picture's view")
    command.add_argument("--labels", choices=("joints", "bodies", "frames"), help="names in the picture")
    command.add_argument("--no-browser", action="store_true", help="print the address and open no browser")


FUNCTIONS = """Functions by name, as od.function calls them: ID inverse dynamics, FD forward dynamics, H mass matrix,
C bias force, tau_g gravity, com center of mass, dID and dFD derivatives; with --feet also G and gamma (Jacobian of
the contacts and its rate), FDc (accelerations and contact forces), IDc and impact."""


def _functions(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument("--functions", default=default, metavar="NAMES", help=f"names with commas (default {default})")
    command.add_argument("--feet", default="", metavar="FRAMES", help="frames in contact, names with commas; "
                         "robots by name have theirs")  # fmt: skip
    command.add_argument("--points", action="store_true", help="feet are points: forces without moments")


def _export(commands: Any) -> None:
    command = _command(
        commands, "export", "write functions of a model as C code",
        "ocp-dyn export robot.urdf --functions ID,FD,H,C --out build/robot\n"
        "ocp-dyn export talos --functions ID,FDc,G --feet left_sole_link,right_sole_link --out build/talos\n"
        "ocp-dyn export solo12 --functions FD --lanes 8 --precision single --out build/solo12",
        f"{FUNCTIONS}\n\n{FILE}",
    )  # fmt: skip
    _file(command)
    _functions(command, "ID,FD,H,C")
    command.add_argument("--out", type=_path, metavar="DIR", required=True, help="folder of the C files")
    command.add_argument("--prefix", help="first part of the names of files and functions; default: from DIR")
    command.add_argument("--lanes", type=int, default=1, help="2, 4, 8 or 16: code for as many states at once, too")
    command.add_argument("--precision", choices=("double", "single"), default="double")
    command.add_argument("--derivatives", nargs="?", const="jac,fwd1,adj1,jac_adj1", default="", metavar="KINDS",
                         help="derivatives for CasADi: any of jac,fwd1,adj1,jac_adj1; without KINDS all")  # fmt: skip
    command.add_argument("--dense", action="store_true", help="row-major matrices with all their zeros")
    command.add_argument("--no-pack", action="store_true", help="no vector statements for equal limbs: half the text, "
                         "longer and slower machine code")  # fmt: skip
    _json(command)


def _convert(commands: Any) -> None:
    command = _command(
        commands, "convert", "write a model as MJCF for MuJoCo, as URDF, for OpenSim or as JSON",
        "ocp-dyn convert talos --out talos.xml                   MJCF, with soles that touch the ground\n"
        "ocp-dyn convert human --out human.xml --drop passive --box sole_l=0.12,0.04,0.01,0,0,0.01\n"
        "ocp-dyn convert model.json --out model.urdf\n"
        "ocp-dyn convert robot.urdf --out robot.json\n"
        "ocp-dyn convert subject.json --out subject.osim         with its muscles",
        "What a format cannot hold is an error that names it and the word of --drop that leaves it out. Robots by "
        "name have\n"
        f"shapes under their feet.\n\n{FILE}",
    )  # fmt: skip
    _file(command)
    command.add_argument(
        "--out", type=_path, metavar="FILE", required=True, help="a name ending in .xml, .urdf, .json or .osim"
    )
    command.add_argument("--drop", default="", metavar="WORDS",
                         help="what may be left out, with commas: passive, springs, "
                         "armature, effort, limits; constraints, friction, speed and muscles for OpenSim")  # fmt: skip
    command.add_argument("--ball", action="append", metavar="FRAME=RADIUS[,CX,CY,CZ]", 
                         help="a ball that touches the ground, around the origin of a frame or another center in it "
                         "[m]; several times for several")  # fmt: skip
    command.add_argument(
        "--box",
        action="append",
        metavar="FRAME=X,Y,Z[,CX,CY,CZ]",
        help="a box by its half sizes, around the origin of a frame or another center in it [m]; above a sole: CZ = Z",
    )
    command.add_argument("--visuals", choices=("sticks", "meshes", "none"), help="MJCF: what is seen (default sticks)")
    command.add_argument("--lock-massless", action="store_true", help="joints that move no mass hold still at zero")
    command.add_argument("--balance", action="store_true", help="MJCF: change inertias that no body can have")
    command.add_argument("--world", action="store_true", help="URDF: write a floating base as a joint of a link world")
    _json(command)


def _bench(commands: Any) -> None:
    command = _command(
        commands, "bench", "measure how long functions of a model take, interpreted and compiled",
        "ocp-dyn bench talos\n"
        "ocp-dyn bench robot.urdf --functions ID,FD,FDc --feet l_foot,r_foot --json",
        "Times are medians in microseconds. interpreted: CasADi's virtual machine, one state. compiled: C code, one "
        "state.\n"
        f"batch: C code, per state of a batch of 1000. Without a C compiler only the first.\n\n{FUNCTIONS}\n\n{FILE}",
    )  # fmt: skip
    _file(command)
    _functions(command, "ID,FD,H,C,dID,dFD")
    command.add_argument("--seconds", type=float, default=0.2, help="time spent on each measurement (default 0.2)")
    command.add_argument("--no-compile", action="store_true", help="measure the interpreted functions alone")
    command.add_argument("--no-pack", action="store_true", help="code of one state without vector statements")
    _json(command)


WALK: dict[str, dict[str, Any]] = {
    "--speed": {"type": float, "metavar": "V",
                "help": "speed [m/s]; default: human 1.2, robots by the length of their legs"},
    "--load": {"type": float, "metavar": "KG", "help": "a load on the trunk [kg]"},
    "--lock": {"nargs": "+", "metavar": "JOINT", "help": "joints that do not move; of a human also JOINT=ANGLE [rad]"},
    "--backward": {"action": "store_true", "help": "walk backward"},
    "--slope": {"type": float, "metavar": "S", "help": "rise per distance, negative downhill"},
    "--step-length": {"type": float, "nargs": "+", "metavar": "M",
                      "help": "length of a step [m]; of a human a number, or "
                      "bounds of two; free by default"},
    "--step-time": {"type": float, "nargs": "+", "metavar": "S", "help": "time of a step [s], in the same way"},
}  # fmt: skip
"""Options of all who walk; then those of walkers on two feet, of humans, robots, robots on two feet, quadrupeds. The
problems have the same ones, from these tables."""
STEPS: dict[str, dict[str, Any]] = {
    "--step-width": {"type": float, "nargs": "+", "metavar": "M",
        "help": "distance of the feet across [m], in the same way"},
    "--steps": {"type": int, "metavar": "N",
        "help": "steps until the motion repeats; default 1, or 2 if the sides differ"},
}  # fmt: skip
HUMAN: dict[str, dict[str, Any]] = {
    "--mass": {"type": float, "metavar": "KG", "help": "body mass [kg]"},
    "--height": {"type": float, "metavar": "M", "help": "stature [m]"},
    "--sex": {"choices": ("male", "female")},
    "--toes": {"action": "store_true", "help": "feet with toes"},
    "--prosthesis": {"nargs": "+", "metavar": "JOINT[=K]", "help": "joints with springs, K [N m/rad], without muscles"},
}
MARGINS = ("clearance", "yaw", "joints", "speed", "torque")
"""Fields of `od.walking.Margins`."""


def _margin(text: str) -> str | tuple[str, float]:
    """The type of a value of --margins: a name with its number, or none."""
    from .._base.checks import name_among  # help is told without CasADi

    name, _, value = text.partition("=")
    try:
        return text if text == "none" else (name_among(name, MARGINS, text, "margin"), float(value))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: write NAME=VALUE, as in yaw=0.2, or none") from None
    except KeyError as error:
        raise argparse.ArgumentTypeError(str(error.args[0])) from None


ROBOT: dict[str, dict[str, Any]] = {
    "--feet": {"metavar": "NAMES", "help": "links or frames of the feet, with commas: left, right; or front left, "
               "front right, hind left, hind right of a quadruped; by default those that the shapes of the file show"},
    "--margins": {"nargs": "+", "metavar": "NAME=VALUE", "type": _margin, "help": "others than an operator's usual "
                  "margins: clearance (in lengths of the leg), yaw and joints [rad], speed and torque (parts of the "
                  "limits); or none"},
}  # fmt: skip
BIPED: dict[str, dict[str, Any]] = {
    "--sole-height": {"type": float, "metavar": "M", "help": "height of the feet's frames above the ground [m]"},
    "--double-support": {"type": float, "metavar": "S", "help": "time on both feet [s]; free by default"},
    "--sole": {"type": float, "nargs": 2, "metavar": ("LENGTH", "WIDTH"), "help": "half length and half width [m]"},
    "--impact": {"action": "store_true", "help": "the foot may hit the ground"},
    "--lock-light": {"action": "store_true", "help": "lock fingers, eyes and other joints that move little mass"},
    "--ignore-limits": {"action": "store_true", "help": "leave out limits of joints, if they are wrong"},
}
QUADRUPED: dict[str, dict[str, Any]] = {
    "--foot-radius": {"type": float, "metavar": "M", "help": "radius of the feet [m]"},
    "--flight": {"type": float, "metavar": "S", "help": "shortest time off the ground [s]"},
    "--overlap": {"type": float, "metavar": "S", "help": "shortest time on all feet [s]"},
}  # fmt: skip
MUSCLES: dict[str, dict[str, Any]] = {
    "--weaken": {"nargs": "+", "metavar": "NAME=FACTOR", "help": "factors of the largest forces of muscles"},
}
WALKERS = {"human_walk": ("a human", WALK | STEPS | HUMAN),
           "muscle_walk": ("a planar body with muscles", {"--speed": WALK["--speed"]} | MUSCLES),
           "robot_walk": ("a robot on two feet", WALK | STEPS | ROBOT | BIPED),
           "robot_trot": ("a quadruped", WALK | ROBOT | QUADRUPED)}  # fmt: skip
"""The walker of each problem, and the options that it has."""


def attribute(option: str) -> str:
    """The name under which argparse keeps the value of an option."""
    return option[2:].replace("-", "_")


def add_walker(arguments: argparse.ArgumentParser, problem: str, **defaults: Any) -> None:
    """Adds the options of the walker of a problem, but the feet of a robot. defaults: by name."""
    for option, settings in WALKERS[problem][1].items():
        if option != "--feet":
            name = attribute(option)
            arguments.add_argument(option, **settings, **({"default": defaults[name]} if name in defaults else {}))


def _walk(commands: Any) -> None:
    command = _command(
        commands, "walk", "find a walk by optimal control, with pictures, an animation and a report",
        "ocp-dyn walk                              a human at 1.2 m/s; pictures in ./walk\n"
        "ocp-dyn walk --speed 1.5 --mass 60 --height 1.65 --sex female --out brisk\n"
        "ocp-dyn walk --load 15 --slope 0.1 --out hike\n"
        "ocp-dyn walk talos --speed 0.4            a robot; pictures in ./walk_talos\n"
        "ocp-dyn walk solo12                       a quadruped trots\n"
        "ocp-dyn walk robot.urdf                   a robot from a file in any format\n"
        "ocp-dyn walk subject.osim --speed 1.2     the body of an OpenSim model walks as people do\n"
        "ocp-dyn walk planar.osim --weaken soleus_r=0.4      a planar one by its muscles",
        "Without FILE a human walks. FILE is a robot in any format, whose feet the shapes in its file show, the name\n"
        "of one, or an OpenSim or bioMod model of a human body, whose joints have known names; a body\n"
        "that moves in a plane walks by its muscles if it has some, else by torques.\n"
        "`ocp-dyn problems` lists other motions: running, jumping, slopes.",
    )  # fmt: skip
    _file(command, optional=True, root=False)
    command.add_argument("--out", type=_path, metavar="DIR", help="folder (default: walk for a human, else walk_NAME)")
    command.add_argument("--quick", action="store_true", help="a coarse grid, for a first look")
    pictures = command.add_mutually_exclusive_group()
    pictures.add_argument("--no-pictures", action="store_true", help="only the solution and the report")
    pictures.add_argument("--pictures", action="store_true", help="with --quick too: curves and the animation")
    command.add_argument("--force", action="store_true", help="replace the results of an earlier run in the folder")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")
    _json(command)
    groups = {"all walkers": WALK, "humans and robots on two feet": STEPS, "humans": HUMAN, "robots": ROBOT,
              "robots on two feet": BIPED, "quadrupeds": QUADRUPED, "planar bodies with muscles": MUSCLES}  # fmt: skip
    for title, group in groups.items():
        added = command.add_argument_group(title)
        for option, settings in group.items():
            added.add_argument(option, **settings)


def _sweep(commands: Any) -> None:
    command = _command(
        commands, "sweep", "solve the problem of a file at many points, in several processes or on a cluster",
        "ocp-dyn sweep people.py --points speed=0.8:1.6:5 slope=-0.1,0,0.1 --out gaits\n"
        "ocp-dyn sweep people.py --points mass=50:100 sex=female,male speed=0.8:1.6 --sample 1000 --out people\n"
        "ocp-dyn sweep people.py --scheduler tcp://head:8786 --out people     the points of the file, by Dask\n"
        "ocp-dyn sweep people.py --part $SLURM_ARRAY_TASK_ID/64 --out part_$SLURM_ARRAY_TASK_ID",
        "FILE has a function build(...) that returns a Problem, and perhaps `points` and a dict `solve` of options. "
        "Points\n"
        "whose names are arguments of build go there; all others are values of the problem's parameters. The same "
        "command\n"
        "continues a sweep that was stopped: what is in the folder is not solved again. Several may work on one "
        "folder.\n"
        "The folder gets a file and a record per point, table.csv, and the page report.md.",
        module="sweeping.command",
    )  # fmt: skip
    add = command.add_argument
    add("file", metavar="FILE", type=_path, help="a Python file")
    add("--function", default="build", metavar="NAME", help="the function that makes the problem (default build)")
    add("--points", nargs="+", metavar="NAME=VALUES", help="a grid: low:high:count, or a list with commas; with "
        "--sample ranges low:high, or words with commas. Default: `points` of FILE")  # fmt: skip
    add("--sample", type=int, metavar="N", help="N points of a Latin hypercube in place of a grid")
    add("--seed", type=int, default=0, help="seed of the sample (default 0)")
    add("--part", default="", metavar="I/N", help="only the part I of N neighborhoods, for array jobs")
    add("--out", metavar="DIR", required=True, help="folder, or an address such as s3://bucket/gaits")
    add("--jobs", type=int, default=0, help="number of processes; default: one per core")
    add("--scheduler", default="", metavar="ADDRESS", help="address of a Dask scheduler, for a cluster")
    add("--again", action="store_true", help="solve points that did not converge once more")
    add("--stop", action="store_true", help="stop at the first error; default: go on with the other points")
    add("--patience", type=float, default=60.0, metavar="S",
        help="time to wait for room on a full disk and for a scheduler that is gone [s] (default 60)")  # fmt: skip
    add("--quiet", action="store_true", help="no progress on standard error")
    _json(command)


def _gait(commands: Any) -> None:
    command = _command(
        commands, "gait", "scaling, inverse kinematics and dynamics of a recorded walk, figures, a report",
        "ocp-dyn gait subject.osim walk.trc forces.mot --out gait\n"
        "ocp-dyn gait subject.osim walk.trc loads.xml --weights tasks.xml --cutoff 6\n"
        "ocp-dyn gait subject.osim walk.trc forces.mot --feet ground_force_r_=calcn_r,ground_force_l_=calcn_l\n"
        "ocp-dyn gait generic.osim static.trc walk.trc loads.xml --setup scale.xml\n"
        "ocp-dyn gait generic.osim static.c3d walk.c3d --mass 71 --up z",
        "FORCES is a table of ground forces, or an OpenSim file of external loads that names one; without it they are\n"
        "those of the plates of WALK, a .c3d file, each on the foot that is nearest to it. Of a table, forces\n"
        "whose names end with r or l act on calcn_r and calcn_l, if --feet does not say more. The folder gets\n"
        "coordinates.mot, moments.sto, a figure for each side with a whole stride, and report.md.\n"
        "With STATIC or --setup the model is scaled first, and saved as subject.json and subject.osim: as a setup\n"
        "file of OpenSim's Scale Tool says, or else by one factor for all bodies, to --mass.",
    )  # fmt: skip
    command.add_argument("file", metavar="MODEL", help="a model with markers, such as an OpenSim model (.osim)")
    command.add_argument("static", metavar="STATIC", nargs="?", type=_path, help="markers of a static trial")
    command.add_argument("markers", metavar="WALK", type=_path, help="markers: .trc or .c3d")
    command.add_argument(
        "forces", metavar="FORCES", nargs="?", type=_path, help="forces of the ground: .mot, .sto or .xml"
    )
    command.add_argument("--out", type=_path, metavar="DIR", default=Path("gait"), help="folder (default: gait)")
    command.add_argument("--force", action="store_true", help="replace the results of an earlier run in the folder")
    command.add_argument("--up", choices=("y", "z"), default="y", help="vertical axis of the files (default: y)")
    command.add_argument("--weights", type=_path, metavar="FILE", help="weights of markers: OpenSim's tasks (.xml)")
    command.add_argument("--setup", type=_path, metavar="FILE", help="scaling: a setup of OpenSim's Scale Tool (.xml)")
    command.add_argument("--mass", type=float, metavar="KG", help="of the subject, where no setup has it")
    command.add_argument("--feet", metavar="A=FRAME,...", help="frames on which forces act, by beginnings of columns")
    command.add_argument("--cutoff", type=float, default=6.0, metavar="HZ", help="of the low-pass filter (default: 6)")
    command.add_argument("--reference", default="winter", metavar="NAME", help="measured bands (default: winter)")
    _json(command)


def _plot(commands: Any) -> None:
    command = _command(
        commands, "plot", "draw a solution that was saved",
        "ocp-dyn plot walk/walk.npz                         curves, in walk/walk.png\n"
        "ocp-dyn plot walk/walk.npz --reference winter      a walk over a measured band\n"
        "ocp-dyn plot walk/walk.npz --what strip --out strip.png\n"
        "ocp-dyn plot walk/walk.npz --what animation --out walk.gif",
    )  # fmt: skip
    command.add_argument("result", metavar="RESULT", type=_path, help="a file of Solution.save, .npz")
    command.add_argument("--what", choices=("motion", "strip", "animation", "overview", "summary"), default="motion",
                         help="curves (default), stick figures, an animation, both in one, or numbers as "
                         "text")  # fmt: skip
    command.add_argument("--reference", action="append", metavar="GAIT", help="a measured gait behind the curves of a "
                         "walk: winter, schwartz_free, ..., or a table .csv; several times for several")  # fmt: skip
    command.add_argument("--out", type=_path, metavar="PICTURE", help="default: RESULT.png, .gif for an animation")


def _rerun(commands: Any) -> None:
    command = _command(
        commands, "rerun", "solve a saved problem again, and say how far the two solutions are apart",
        "ocp-dyn rerun walk/walk.npz                      what `ocp-dyn walk` or a ready problem saved\n"
        "ocp-dyn rerun gaits/points/speed_1.2.npz         a point of a sweep, by the function of its file\n"
        "ocp-dyn rerun my.npz --problem my_walk.py:walk   a Problem, or a function that returns one\n"
        "ocp-dyn rerun my.npz --problem my_walk.py:build --arguments speed=1.2",
        "A file names the problem that was solved: a ready problem with its options, or a Python file with the\n"
        "function or variable that holds it, and the digest of that file. Its code runs only if it is unchanged, and\n"
        "after a yes, at the terminal or by --yes, since the file may come from others.\n"
        "--problem says what to solve where a file does not, or where that file has changed.\n"
        "exit status 1 if the solutions differ by more than --within, or one of them did not converge.",
        module="rerunning.command",
    )  # fmt: skip
    command.add_argument("result", metavar="FILE", type=_path, help="a file of Solution.save, .npz")
    command.add_argument("--problem", metavar="FILE.py:NAME", help="a Problem, or a function that returns one")
    command.add_argument(
        "--arguments", nargs="+", default=[], metavar="NAME=VALUE", help="of the function of --problem"
    )
    command.add_argument("--yes", action="store_true", help="run the Python file that made the solution, unasked")
    command.add_argument("--within", type=float, default=1e-4, metavar="D",
                         help="largest difference of q [rad, m] that counts as the same (default 1e-4)")  # fmt: skip
    command.add_argument("--out", type=_path, metavar="FILE", help="save the new solution, .npz")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")
    _json(command)


def _problems(commands: Any) -> None:
    command = _command(
        commands, "problems", "list the ready problems, or run one",
        "ocp-dyn problems                             all problems\n"
        "ocp-dyn problems jump --quick --out jump     run one\n"
        "ocp-dyn problems jump --help                 its options\n"
        "ocp-dyn problems small.cart_pole             a small one: leaves cart_pole.png",
        "Each is a file to read and to copy: ocp-dyn problems --path NAME prints where it is.",
        module="ready",
    )  # fmt: skip
    command.add_argument("--path", action="store_true", help="print the file of the problem")
    command.add_argument("name", nargs="?", metavar="NAME", help="name of a problem")
    command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="options of the problem")


def _completion(commands: Any) -> None:
    command = _command(
        commands, "completion", "print the script by which a shell completes commands, options and names",
        "ocp-dyn completion bash > ~/.local/share/bash-completion/completions/ocp-dyn\n"
        "ocp-dyn completion zsh > ~/.zfunc/_ocp-dyn          with fpath+=~/.zfunc before compinit\n"
        "ocp-dyn completion fish > ~/.config/fish/completions/ocp-dyn.fish\n"
        'eval "$(ocp-dyn completion bash)"                   for this terminal alone',
    )  # fmt: skip
    command.add_argument("shell", choices=("bash", "zsh", "fish"))
