"""Reads a .c3d file by ezc3d and writes its arrays to the standard output, in a process of its own.

ezc3d trusts the sizes in a file: a damaged one may end its process, fill the memory or keep it busy for ever. Run by
path, without the rest of the library: python _c3d_child.py FILE LARGEST_MEMORY_IN_BYTES.
"""

import contextlib
import io
import sys
from typing import Any

import numpy as np


def content(path: str) -> dict[str, Any]:
    """Arrays of the file, by name."""
    import ezc3d

    c3d = ezc3d.c3d(path, extract_forceplat_data=True)
    header, parameters = c3d["header"], c3d["parameters"]

    def texts(group: str, key: str) -> Any:
        values = parameters[group][key]["value"] if group in parameters and key in parameters[group] else []
        return np.array([str(x).strip() for x in values], dtype=str)

    plates = c3d["data"]["platform"] if "platform" in c3d["data"] else []  # noqa: SIM401, it has no get
    return {
        "points": np.array(c3d["data"]["points"], dtype=float)[:3],
        "analogs": np.array(c3d["data"]["analogs"], dtype=float)[0],
        "point_labels": texts("POINT", "LABELS"),
        "point_units": texts("POINT", "UNITS"),
        "analog_labels": texts("ANALOG", "LABELS"),
        "analog_units": texts("ANALOG", "UNITS"),
        "point_rate": float(header["points"]["frame_rate"]),
        "analog_rate": float(header["analogs"]["frame_rate"]),
        "first_frame": int(header["points"]["first_frame"]),
        "plate_units": np.array([[str(p["unit_position"]), str(p["unit_moment"])] for p in plates], dtype=str),
        "corners": np.array([np.array(p["corners"], dtype=float).T for p in plates]),
        "force": np.array([np.array(p["force"], dtype=float).T for p in plates]),
        "moment": np.array([np.array(p["moment"], dtype=float).T for p in plates]),
    }


def main(path: str, memory: int) -> int:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        arrays = content(path)
    except Exception as error:  # noqa: BLE001, ezc3d raises what its C++ does
        print(str(error)[:300] or type(error).__name__, file=sys.stderr)
        return 3
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    sys.stdout.buffer.write(packed.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
