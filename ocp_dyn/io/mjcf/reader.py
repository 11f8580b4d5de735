"""MJCF -> Model, and everything else in the file that users need: tendons and actuators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np
from casadi import DM

from ..._base.files import file_to_read, path_of
from ..._base.types import Array, ModelError, names_in_message, repr_in_message
from ...mechanism import Model
from ...mechanism.annotations import Annotations
from ..constraints import with_mimics
from ..layouts import Layout
from ..shapes.body_shape import shape_file
from ..xml import XmlElement, every_fault
from .actuators import Actuator, read_actuators
from .build import built, frames_of_sites, reference
from .compiled import MeshInertias
from .document import read_document, sections
from .elements import InertiaData
from .equality import EqualityReader
from .inertia import of_body
from .poses import TINY
from .settings import Settings, read_classes, read_settings
from .tendons import FixedTendon, Tendons, read_tendons
from .tree import BodyData, TreeReader
from .values import Values
from .vocabulary import check_attributes


@dataclass(frozen=True)
class MjcfFile:
    """The contents of an MJCF file.

    model: bodies and joints; its active equalities are `model.constraints`, for `od.constrained_dynamics`, and linear
    couplings of joints `model.mimics` too; its keyframes are `model.configurations`. reference: the configuration in
    which the file has the bodies (nq), MuJoCo's qpos0. tendons: the fixed ones. actuators: all. skipped: what the file
    has and the model has not, in words.

    Configurations are in the model's layout; `od.Layout(model, "mujoco")` converts others.

    >>> inside = '<body name="leg"><joint name="knee"/><geom size="0.1"/></body>'
    >>> key = '<keyframe><key name="bent" qpos="0.5"/></keyframe>'
    >>> od.io.parse_mjcf(f"<mujoco><worldbody>{inside}</worldbody>{key}</mujoco>").model.configurations
    {'bent': array([0.5])}
    """

    model: Model
    reference: Array
    tendons: tuple[FixedTendon, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    skipped: tuple[str, ...] = ()


def load_mjcf(path: str | PathLike[str], *, folder: str | PathLike[str] | None = None) -> Model:
    """The model of a MuJoCo MJCF file: its joints in MuJoCo's order, several joints of a body as a chain.

    Included files lie in the folder of the file or below; folder: another one, for files that include those beside
    their own folder. Active equalities are `model.constraints`, keyframes `model.configurations`; `read_mjcf` gives
    tendons and actuators, too, and `read_shapes` the shapes.

    Frames of the model are the bodies and the named sites. Bodies whose shapes are meshes, and have no `<inertial>`,
    need the package `mujoco`, whose compiler reads meshes. See `read_mjcf` for what is read.

    Raises ModelError with file, line, element and remedy for everything wrong in the file and everything in it that
    would change the motion and is not read, OSError if a file cannot be read.

    >>> import pathlib, tempfile
    >>> ball = '<mujoco model="ball"><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    >>> with tempfile.TemporaryDirectory() as place:
    ...     size = pathlib.Path(place, "ball.xml").write_text(ball)
    ...     od.io.load_mjcf(f"{place}/ball.xml")
    <Model 'ball': nb=1, nq=7, nv=6>
    """
    return read_mjcf(path, folder=folder).model


def read_mjcf(path: str | PathLike[str], *, folder: str | PathLike[str] | None = None) -> MjcfFile:
    """The model of an MJCF file, with its tendons and actuators.

    See `load_mjcf` for folder and errors.

    >>> import pathlib, tempfile
    >>> hinge = '<joint name="knee" ref="10"/><geom size="0.1"/>'
    >>> text = f'<mujoco><worldbody><body name="leg">{hinge}</body></worldbody></mujoco>'
    >>> with tempfile.TemporaryDirectory() as place:
    ...     size = pathlib.Path(place, "leg.xml").write_text(text)
    ...     np.degrees(od.io.read_mjcf(f"{place}/leg.xml").reference).round(6)
    array([10.])
    """
    file = file_to_read(path)
    if str(file).lstrip().startswith("<"):
        raise ModelError(
            f"a path was expected, got what looks like MJCF text ({repr_in_message(str(file)[:30])}...): use parse_mjcf"
        )
    contents = _read(file.read_bytes(), str(file), Path(file), None if folder is None else Path(path_of(folder)))
    return replace(contents, model=replace(contents.model, shape_files=(shape_file(file, folder),)))


def parse_mjcf(text: str | bytes, source: str = "MJCF text") -> MjcfFile:
    """The contents of an MJCF given as text, which includes no files. `source` opens the messages. See `read_mjcf`.

    >>> body = '<body name="wheel"><joint name="hub" axis="0 1 0"/><geom type="cylinder" size="0.3 0.02"/></body>'
    >>> wheel = od.io.parse_mjcf(f"<mujoco><worldbody>{body}</worldbody></mujoco>").model
    >>> wheel.q_names, round(wheel.mass, 6)  # of water: 1000 kg/m^3
    (('hub',), 11.309734)
    """
    return _read(text, source, None, None)


def _read(text: str | bytes, source: str, path: Path | None, folder: Path | None) -> MjcfFile:
    return _file_of(read_document(text, source, path, folder), source, path)


def mjcf_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about the faults of an MJCF file, and notes on what is left out."""
    path = Path(source)
    try:
        root = read_document(text, source, path, None)
    except ModelError as error:
        return [str(error)], []
    notes: list[str] = []

    def read(root: XmlElement) -> None:
        notes[:] = [f"{source}: {one}" for one in _file_of(root, source, path).skipped]

    return every_fault(root, read), notes


def _file_of(root: XmlElement, source: str, path: Path | None) -> MjcfFile:
    refuse_deformable(root)
    settings, classes = read_settings(root), read_classes(root)
    tree = TreeReader(root, settings, classes)
    joints = {joint.name: joint for body in tree.bodies for joint in body.joints}
    if not joints:
        raise root.fault("no body has a joint, and a model needs one that moves; add a <joint> or a <freejoint>")
    frames = frames_of_sites(tree.bodies)
    tendons = read_tendons(root, joints, frames, classes, settings)
    drives = read_actuators(root, tree.bodies, tendons.fixed, classes, settings)
    inertias = inertias_of(tree.bodies, settings, MeshInertias(path))
    name = root.get("model") or (path.stem if path else "")
    try:
        model = built(name, tree.bodies, inertias, settings, drives.torques, held_to_world(root))
    except ModelError as error:
        raise ModelError(str(error) if str(error).startswith(source) else f"{source}: {error}") from None
    q0 = reference(tree.bodies)
    bodies = {body.name: body.name for body in tree.bodies}
    equalities = EqualityReader(model, q0, joints, tendons.fixed, frames, bodies).read(root, classes, settings)
    configurations = tuple((key, tuple(q)) for key, q in keyframes(root, model, q0).items())
    left = skipped(tree.bodies, tendons, drives.elsewhere)
    rows = Annotations(configurations=configurations, notes=tuple(f"left out: {one}" for one in left))
    model = tendons.on(replace(with_mimics(model, equalities), constraints=equalities, annotations=rows))
    return MjcfFile(model, q0, tuple(tendons.fixed.values()), drives.actuators, left)


def held_to_world(root: XmlElement) -> bool:
    """Whether an equality may hold a body to the world."""
    return any(element.tag in ("connect", "weld") for element in sections(root, "equality"))


def refuse_deformable(root: XmlElement) -> None:
    for element in sections(root, "deformable"):
        if element.tag != "skin":
            raise element.fault("deformable bodies have no counterpart here: delete it to load the rigid bodies")


def inertias_of(bodies: list[BodyData], settings: Settings, meshes: MeshInertias) -> list[InertiaData]:
    """The inertias of all bodies; scaled to the total mass that the file asks for, if it does."""
    nothing = InertiaData(0.0, np.zeros(3), np.zeros((3, 3)))
    found = [nothing]
    for number, body in enumerate(bodies[1:], 1):
        found.append(of_body(body, settings, partial(meshes.of, number)))
    total = sum(each.mass for each in found)
    if settings.total_mass > 0 and total > 0:
        factor = settings.total_mass / total
        return [InertiaData(factor * each.mass, each.com, factor * each.I) for each in found]
    return found


def keyframes(root: XmlElement, model: Model, q0: Array) -> dict[str, Array]:
    """The configurations of `<key>`s; one without qpos is the reference."""
    layout, found = Layout(model, "mujoco"), {}
    for number, element in enumerate(sections(root, "keyframe")):
        check_attributes(element)
        name = element.get("name") or f"key{number}"
        if name in found:
            raise element.fault(f"the name {repr_in_message(name)} is taken; names must be unique, rename it")
        values = Values(element)
        qpos = values.numbers("qpos", 0, 10**7, default=())
        if qpos.size not in (0, model.nq):
            raise element.fault(f"qpos has {qpos.size} numbers, expected {model.nq}, those of all joints")
        q = np.array(DM(layout.from_q(qpos)).full()).ravel() if qpos.size else q0.copy()
        found[name] = with_unit_quaternions(model, q, element)
    return found


def with_unit_quaternions(model: Model, q: Array, element: XmlElement) -> Array:
    """q with quaternions of length one, as MuJoCo makes them."""
    found = q.copy()
    for i, _ in model.edges:
        if model.joints[i].has_quaternion:
            at = slice(model.q_index[i + 1] - 4, model.q_index[i + 1])
            length = float(np.linalg.norm(q[at]))
            if not length > TINY:
                raise element.fault(f"qpos of joint {repr_in_message(model.joint_names[i - 1])} is no rotation")
            found[at] = q[at] / length
    return found


def skipped(bodies: list[BodyData], tendons: Tendons, elsewhere: tuple[str, ...]) -> tuple[str, ...]:
    """Sentences on parts of the file that the model does not have."""
    found = []
    idle = tuple(set(tendons.spatial) - {numbers["name"] for *_, numbers in tendons.springs})
    if idle:
        found.append(f"{len(idle)} spatial tendons, which have no springs: {names_in_message(sorted(idle), 6)}")
    if elsewhere:
        found.append(f"torque limits by actuators of the kinds {', '.join(elsewhere)}, on tendons, sites or bodies")
    balls = tuple(j.name for body in bodies for j in body.joints if j.kind == "ball" and j.limits is not None)
    if balls:
        found.append(f"limits of the angle of ball joints: {names_in_message(balls, 6)}")
    mocap = tuple(body.name for body in bodies if body.mocap)
    if mocap:
        found.append(f"mocap bodies do not move: {names_in_message(mocap, 6)}")
    return tuple(found)
