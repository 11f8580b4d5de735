"""The table of a model: its bodies, joints, entries of q and qd, masses, and its other frames."""

from __future__ import annotations

from typing import Any

from casadi import DM

from .._base.display import aligned
from .._base.types import names_in_message
from .tree import Tree

HEAD = ("body", "joint", "kind", "q", "qd", "mass [kg]")


def rows_of(tree: Tree) -> tuple[list[tuple[str, ...]], list[int]]:
    """A table of the bodies, a row for each with its joint, its entries of q and qd and its mass; and the depth of each
    in the tree."""
    table: list[tuple[str, ...]] = []
    depth = [-1]
    for i, p in tree.edges:
        joint, dofs = tree.joints[i], f" ({tree.joints[i].nv} dof)"
        depth.append(depth[p] + 1)
        table.append(
            (
                tree.body_names[i - 1],
                tree.joint_names[i - 1],
                type(joint).__name__ + (dofs if joint.nv > 1 else ""),
                _range(tree.q_index[i], joint.nq),
                _range(tree.v_index[i], joint.nv),
                _figure(tree.I[i].m, 4),
            )
        )
    return table, depth[1:]


def sizes_of(tree: Tree) -> str:
    """Numbers of bodies, coordinates and dofs, and the mass, as a text."""
    return f"{tree.nb} bodies, nq = {tree.nq}, nv = {tree.nv}, mass = {_figure(tree.mass, 6)} kg"


def notes_of(tree: Tree) -> list[str]:
    """Lines of text about frames that are no moving bodies, passive torques, and joints that mimic others."""
    grounded = [name for name, frame in tree.frames.items() if not frame.body]
    merged = [n for n in tree.frame_names if n not in tree.body_names and n not in grounded]
    found = [f"fixed to the ground: {', '.join(grounded)}"] if grounded else []
    found += [f"other frames: {', '.join(merged)}"] if merged else []
    found += [f"passive torques: {_counted(tree)}"] if tree.passive else []
    held = ", ".join(" and ".join(dict.fromkeys(b.frames or b.coordinates)) for b in tree.bushings)
    found += [f"springs between: {held}"] if held else []
    return found + [f"{m.joint} mimics {m.other}: {m.ratio:g} q + {m.offset:g}" for m in tree.mimics]


def _counted(tree: Tree) -> str:
    """The number of passive elements of every kind, and the dofs that they act on."""
    kinds: dict[str, list[str]] = {}
    for element in tree.passive:
        kinds.setdefault(type(element).__name__, []).append(element.dof)
    return "; ".join(
        f"{len(dofs)} {kind} on {names_in_message(tuple(dict.fromkeys(dofs)), 40)}" for kind, dofs in kinds.items()
    )


def text_of(tree: Tree) -> str:
    """Name, sizes and table of a model as lines of text, bodies indented by their depth in the tree."""
    table, depth = rows_of(tree)
    rows = [HEAD, *(("  " * d + name, *rest) for (name, *rest), d in zip(table, depth, strict=True))]
    return "\n".join([f"{tree.name or 'model'}: {sizes_of(tree)}", aligned(rows), *notes_of(tree)])


def _figure(x: Any, digits: int) -> str:
    """A number to so many digits; "symbolic" for an expression."""
    return f"{float(x):.{digits}g}" if isinstance(x, (float, DM)) else "symbolic"


def _range(start: int, size: int) -> str:
    return str(start) if size == 1 else f"{start}..{start + size - 1}"
