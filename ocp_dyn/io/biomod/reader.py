"""bioMod -> Model: segments with their translations and rotations, inertias, ranges and markers; muscles as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from ..._base.files import file_to_read
from ..._base.types import Array, Collected, ModelError, repr_in_message, suggestion
from ...constraints import Loop
from ...joints import Fixed, Joint, Prismatic, Revolute, Spherical
from ...mechanism import Model
from ...mechanism.annotations import Annotations, Marker, counted_out
from ...mechanism.builder import WORLD, ModelBuilder
from .muscles import MuscleBlocks
from .placements import letters_of, read_placement
from .tokens import MATRICES_BEFORE, Words

ROOTS = ("", "root", "base")
"""Names of the ground, where no segment has them."""
GROUND = "root"
"""The name that no segment may have."""
SKIPPED = ("imu", "mimu", "customrt", "contact", "softcontact", "ghost", "actuator", "scalingsegment")
"""Blocks that do not change the motion, or are forces that biorbd adds when it is asked."""
REFUSED = {
    "passivetorque": "give the torque by Model.with_passive",
    "ligament": "its force changes the motion",
    "externalforceset": "its forces change the motion",
}
DRAWN = {
    "mesh": 3, "meshfile": 1, "meshcolor": 3, "meshscale": 3, "meshrt": 7, "endmesh": 0, "patch": 3,
    "ispathrelative": 1, "forceplate": 1, "externalforceindex": 1,
}  # fmt: skip
"""Entries of a segment that do not change the motion, and their numbers of words."""
BESIDE = {"root_actuated": 1, "external_forces": 1, "mesh_folder_prefix": 1}
"""Words between the blocks that do not change the motion, as files of old versions have, and what follows them."""


@dataclass
class Segment:
    name: str
    line: int
    parent: str = ""
    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))
    translations: str = ""
    rotations: str = ""
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    ranges: list[Array] = field(default_factory=list)
    damping: list[float] = field(default_factory=list)
    as_matrix: bool = False
    """Whether RT is a matrix."""

    @property
    def dofs(self) -> int:
        """Number of speeds, which have dampings; a ball joint has one coordinate more."""
        return len(self.translations) + (3 if self.rotations == "q" else len(self.rotations))


@dataclass
class LoopEnd:
    """A segment at one end of a loop, and the place of the loop's frame in it."""

    segment: str = ""
    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))
    as_matrix: bool = False


def load_biomod(path: str | PathLike[str]) -> Model:
    """The model of a bioMod file, of biorbd and bioptim.

    Segments, with translations and rotations: each coordinate is a joint of its own, called "SEGMENT_TransX" or
    "SEGMENT_RotX" as in biorbd, in the same order, the second of two about one axis "SEGMENT_RotX_2"; a segment without
    any is merged into its parent and stays a frame. `rotations q` is a ball joint, whose w stands behind x, y, z here
    and at the end of q there: `od.Layout(model, "rbdl", joints=model.joint_names)` converts. Masses (biorbd has 1e-8 kg
    where there is none), centers of mass, inertias, ranges, dampings of joints and gravity are read; of an inertia that
    is not symmetric the lower triangle, as there. Markers are `model.markers`, loops
    `model.constraints`, muscles with their points and half cylinders `model.muscles` and `model.wraps`. Numbers may be
    computed from pi and variables of the file. Dampings
    count with `loads=od.Loads(passive=True)`, as they do in biorbd's forward dynamics; its inverse dynamics has them
    with the other sign. Shapes, sensors and contacts are not read; `model.notes` tells which blocks are left out.

    Raises ModelError with file, line and remedy for what is wrong, or would change the motion and is not read: passive
    torques, ligaments, forces from outside. OSError if the file cannot be read.

    >>> import pathlib, tempfile
    >>> text = "version 4 segment thigh rotations y mass 7 com 0 0 -0.2 inertia 0.1 0 0 0 0.1 0 0 0 0.02 endsegment"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "leg.bioMod").write_text(text)
    ...     od.io.load_biomod(f"{folder}/leg.bioMod").q_names
    ('thigh_RotY',)
    """
    file = file_to_read(path)
    model = parse_biomod(file.read_bytes(), source=str(file))
    return replace(model, name=file.stem)


def parse_biomod(text: str | bytes, *, source: str = "bioMod text") -> Model:
    """The model of a bioMod given as text; `source` opens the messages. See `load_biomod`.

    >>> hand = "segment hand translations xz rotations y mass 1 inertia 1 0 0 0 1 0 0 0 1 endsegment"
    >>> od.io.parse_biomod(f"version 4 {hand} marker tip parent hand position 0 0 0.1 endmarker").markers[0].point
    (0.0, 0.0, 0.1)
    """
    reader = _Reader(Words(text, source), Collected(raising=True))
    reader.read()
    return reader.model()


def biomod_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about the faults of a bioMod file, and notes on what is left out."""
    faults = Collected()
    notes: list[str] = []
    with faults.each():
        reader = _Reader(Words(text, source), faults)
        reader.read()
        if not faults.messages:
            reader.model()
        notes = [f"{source}, line {line}: {word} is left out" for word, line in reader.skipped]
    return faults.messages, notes


class _Reader:
    """Reads block after block; segments go into a builder as they end, after their parents."""

    def __init__(self, words: Words, faults: Collected) -> None:
        self.words, self.faults = words, faults
        self.skipped: list[tuple[str, int]] = []
        self.builder = ModelBuilder()
        self.segments: dict[str, Segment] = {}
        self.markers: list[tuple[int, Marker]] = []
        self.loops: list[Loop] = []
        self.muscles = MuscleBlocks(words, self.segments, GROUND)

    def read(self) -> None:
        """Reads all blocks."""
        while self.words.more():
            word, start = self.words.word("a block"), self.words.next
            with self.faults.each():
                self._block(word)
                continue
            self._leave_out(word, start)  # a faulty block
        for segment in self.segments.values():
            with self.faults.each():
                try:
                    add_segment(self.builder, segment, segment.parent or WORLD)
                except ModelError as error:
                    raise ModelError(f"{self.words.source}, line {segment.line}: {error}") from None

    def model(self) -> Model:
        """The model of what was read."""
        try:
            markers = tuple(marker for _, marker in self.markers)
            muscles = self.muscles.muscles()
            if self.muscles.on_ground or any(GROUND in (loop.predecessor, loop.successor) for loop in self.loops):
                self.builder.add_frame(GROUND, WORLD)
            left = Counter(word.lower() for word, _ in self.skipped)
            data = Annotations(markers, muscles, tuple(self.muscles.wraps.values()), notes=counted_out(left))
            return replace(self.builder.build(), annotations=data, constraints=tuple(self.loops))
        except ModelError as error:
            if str(error).startswith(self.words.source):
                raise
            raise ModelError(f"{self.words.source}: {error}") from None

    def _leave_out(self, word: str, start: int) -> None:
        """Goes to the end of a faulty block; a segment stays as one without anything, for its children."""
        self.words.next = start
        if word.lower() == "segment" and self.words.more() and self.words.peek() not in self.segments:
            self.segments[self.words.peek()] = Segment(self.words.peek(), self.words.line)
        ends = [
            k for k in range(start, len(self.words.words)) if self.words.words[k][0].lower() == f"end{word.lower()}"
        ]
        self.words.next = ends[0] + 1 if ends else start

    def _block(self, word: str) -> None:
        key = word.lower()
        if key == "version":
            self.words.matrices = self.words.number("version") < MATRICES_BEFORE
        elif key == "gravity":
            self.builder.gravity = [float(x) for x in self.words.numbers(3, "gravity")]
        elif key in (own := {"segment": self._segment, "marker": self._marker, "loopconstraint": self._loop,
                             "variables": self.words.read_variables}):  # fmt: skip
            own[key]()
        elif key in self.muscles.readers:
            self.muscles.readers[key]()
        elif key in REFUSED:
            raise self.words.fault(f"{word} is not read: {REFUSED[key]}")
        elif key in SKIPPED:
            self.skipped.append((word, self.words.line))
            self.words.skip_to(f"end{key}")
        elif key in BESIDE:
            self.words.leave_out(BESIDE[key])
        else:
            known = ("version", "gravity", *own, *self.muscles.readers, *SKIPPED)
            raise self.words.fault(
                f"{repr_in_message(word)} begins no block; known are {', '.join(known)}{suggestion(key, known)}"
            )

    def _segment(self) -> None:
        name, line = self.words.word("the name of a segment"), self.words.line
        if name in self.segments or name.lower() == GROUND:
            raise self.words.fault(f"the name {repr_in_message(name)} is taken; names must be unique, rename it")
        segment = Segment(name, line, as_matrix=self.words.matrices)
        while (key := self.words.word("endsegment").lower()) != "endsegment":
            read = ENTRIES.get(key)
            if read is None:
                raise self.words.fault(
                    f"segment {repr_in_message(name)}: unknown entry {repr_in_message(key)}{suggestion(key, ENTRIES)}"
                )
            read(segment, self.words)
        if segment.parent not in self.segments and segment.parent.lower() in ROOTS:
            segment.parent = ""
        if segment.parent and segment.parent not in self.segments:
            raise self.words.fault(
                f"segment {repr_in_message(name)}: no parent {repr_in_message(segment.parent)} yet; segments come "
                f"after their parents{suggestion(segment.parent, self.segments)}"
            )
        ball = int(segment.rotations == "q")
        for what, given, size in (("ranges", segment.ranges, segment.dofs + ball), ("dampings", segment.damping,
                                                                                   segment.dofs)):  # fmt: skip
            if given and len(given) != size:
                raise self.words.fault(
                    f"segment {repr_in_message(name)}: {len(given)} {what}, expected {size}, one per "
                    f"{'coordinate' if what == 'ranges' else 'speed'}"
                )
        self.segments[name] = segment

    def _marker(self) -> None:
        name = self.words.word("the name of a marker")
        parent, point = "", np.zeros(3)
        while (key := self.words.word("endmarker").lower()) != "endmarker":
            if key == "parent":
                parent = self.words.word("a parent")
            elif key == "position":
                point = self.words.numbers(3, "position")
            elif key in ("technical", "anatomical"):
                self.words.number(key)
            elif key == "axestoremove":
                self.words.word(key)
            else:
                raise self.words.fault(f"marker {repr_in_message(name)}: unknown entry {repr_in_message(key)}")
        if parent not in self.segments:
            hint = suggestion(parent, self.segments)
            raise self.words.fault(f"marker {repr_in_message(name)}: no segment {repr_in_message(parent)}{hint}")
        self.markers.append((self.words.line, Marker(name, parent, tuple(float(x) for x in point))))

    def _loop(self) -> None:
        """A loop: its successor does not move in its predecessor along one axis, three rotations and three
        translations. It may have a name of its own."""
        ends, axis = {"predecessor": LoopEnd(), "successor": LoopEnd()}, np.zeros(6)
        entries = (*ends, *(f"rt{end}" for end in ends), "axis", "stabilizationparameter")
        named = self.words.peek().lower() not in (*entries, "endloopconstraint")
        name = self.words.word("the name of a loop") if named else ""
        what = f"loopconstraint {repr_in_message(name)}" if name else "a loopconstraint"
        while (key := self.words.word("endloopconstraint").lower()) not in ("endloopconstraint", "loopconstraint"):
            if key in ends:
                ends[key].segment = self.words.word(f"a {key}")
            elif key.removeprefix("rt") in ends:
                read_placement(ends[key.removeprefix("rt")], self.words)
            elif key == "axis":
                axis = self.words.numbers(6, key)
            elif key == "stabilizationparameter":
                self.words.number(key)
            else:
                raise self.words.fault(f"{what}: unknown entry {repr_in_message(key)}{suggestion(key, entries)}")
        for end in ends.values():
            if end.segment not in self.segments and end.segment.lower() not in ROOTS:
                raise self.words.fault(
                    f"{what}: no segment {repr_in_message(end.segment)}{suggestion(end.segment, self.segments)}"
                )
        first, second = (end.segment if end.segment in self.segments else GROUND for end in ends.values())
        pose, pose_s = ((tuple(end.R.ravel()), tuple(end.p)) for end in ends.values())
        try:
            self.loops.append(Loop(first, second, [axis.tolist()], pose, pose_s, label=name))
        except (ValueError, TypeError) as error:
            raise self.words.fault(f"{what}: {error}") from None


# Entries of segments


def _ahead(words: Words, count: int, what: str) -> list[Array]:
    """Numbers, so many at a time, up to the next word that is none."""
    found = []
    while words.more() and _is_number(words.peek()):
        found.append(words.numbers(count, what))
    return found


def _is_number(word: str) -> bool:
    return bool(word) and (word[0].isdigit() or word[0] in "+-.$(" or word.lower().startswith("pi"))


def _set(key: str, read: Callable[[Words], Any]) -> Callable[[Segment, Words], None]:
    return lambda segment, words: setattr(segment, key, read(words))


def _left_out(count: int) -> Callable[[Segment, Words], None]:
    return lambda segment, words: words.leave_out(count)


ENTRIES: dict[str, Callable[[Segment, Words], object]] = {
    "parent": _set("parent", lambda words: words.word("a parent")),
    "rtinmatrix": _set("as_matrix", lambda words: bool(words.number("RTinMatrix"))),
    "rt": read_placement,
    "translations": _set("translations", lambda words: letters_of(words, "translations")),
    "rotations": _set("rotations", lambda words: letters_of(words, "rotations", ("q",))),
    "mass": _set("mass", lambda words: words.number("mass")),
    **dict.fromkeys(("com", "centerofmass"), _set("com", lambda words: words.numbers(3, "com"))),
    **dict.fromkeys(
        ("inertia", "inertiamatrix"), _set("inertia", lambda words: words.numbers(9, "inertia").reshape(3, 3))
    ),
    "inertia_xxyyzz": _set("inertia", lambda words: np.diag(words.numbers(3, "inertia_xxyyzz"))),
    **dict.fromkeys(("ranges", "rangesq"), _set("ranges", lambda words: _ahead(words, 2, "rangesQ"))),
    **dict.fromkeys(("rangesqdot", "rangesqddot"), lambda segment, words: _ahead(words, 1, "a range")),
    "jointdampings": _set("damping", lambda words: [float(x) for (x,) in _ahead(words, 1, "jointDampings")]),
    **{key: _left_out(count) for key, count in DRAWN.items()},
}


def add_segment(builder: ModelBuilder, segment: Segment, parent: str) -> None:
    """A segment as a chain of joints, a massless body each but the last."""
    lower = np.tril(segment.inertia)
    own: dict[str, Any] = {"mass": segment.mass, "com": segment.com, "inertia": lower + np.tril(lower, -1).T}
    kinds: list[tuple[str, Joint]] = [(f"Trans{letter.upper()}", Prismatic(letter)) for letter in segment.translations]
    if segment.rotations == "q":
        kinds.append(("Rot", Spherical()))
    else:
        kinds += [(f"Rot{letter.upper()}", Revolute(letter)) for letter in segment.rotations]
    if not kinds:
        builder.add_body(
            segment.name, Fixed(), parent, origin=segment.p, rotation=segment.R, inertia_check=False, **own
        )
        return
    dof, R, p = 0, segment.R, segment.p
    for k, (ending, joint) in enumerate(kinds):
        last = k == len(kinds) - 1
        name = segment.name if last else f"{segment.name}#{k}"
        options: dict[str, Any] = dict(own) if last else {}
        if segment.ranges and joint.nv == 1:
            options["lower"], options["upper"] = (float(x) for x in segment.ranges[dof])
        if segment.damping:
            options["damping"] = segment.damping[dof : dof + joint.nv]
        again = sum(ending == earlier for earlier, _ in kinds[:k])
        joint_name = f"{segment.name}_{ending}" + (f"_{again + 1}" if again else "")
        builder.add_body(
            name, joint, parent, joint_name=joint_name, origin=p, rotation=R, inertia_check=False, **options
        )
        parent, R, p, dof = name, np.eye(3), np.zeros(3), dof + joint.nv
