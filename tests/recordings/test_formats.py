"""Files of recordings: what is read and written again, and clear errors with the line for what is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.recordings import Recording, read, read_c3d, write

needs_ezc3d = pytest.mark.skipif(importlib.util.find_spec("ezc3d") is None, reason="needs ezc3d (extra gait)")

TRC = """PathFileType\t4\t(X/Y/Z)\tstride.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100.0\t\t100.0\t3\t3\tmm\t100\t1\t3
Frame#\tTime\tS1:Heel\t\t\tToe\t\t\tSacrum\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3

7\t0.06\t100.5\t20\t-80\t300\t21\t-81\t40\t990\t0\t
8\t0.07\t\t\t\t301\t21\t-81\t42\t991\t1
9\t0.08\t102.5\t20\t-80\t302\t21\t-81\t44\t992\t2\t\t
"""
STO = """stride
version=1
nRows=2
nColumns=3
inDegrees=yes

Some words of the program.
endheader
time\tknee_angle\tpelvis_tx
0.0\t-10\t1.5
0.01\t-11.5\tnan
"""
SIMM = "name walk\ndatacolumns 2\ndatarows 2\nrange 0 1\nendheader\n  time  ankle  \n 0 1.5\n 1 2.5\n"
IMU = "DataType=Quaternion\nversion=3\nendheader\ntime\ttorso_imu\n0\t0.6,0.8,0,0\n1\t0.8,0,0,-0.6\n"
CSV = "Time (ms),hip [rad],emg\n0,0.1,\n10,0.2,3\n"


def file(tmp_path: Path, text: str | bytes, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_trc_is_read(tmp_path: Path) -> None:
    found = read(file(tmp_path, TRC, "a.trc"))
    assert found.names == ("S1:Heel", "Toe", "Sacrum")
    assert found.times.tolist() == [0.06, 0.07, 0.08]
    assert found.units == ("m", "m", "m")
    np.testing.assert_allclose(found["S1:Heel"][0], [0.1005, 0.02, -0.08])
    assert np.isnan(found["S1:Heel"][1]).all()
    assert found["Sacrum"][2].tolist() == [0.044, 0.992, 0.002]
    turned = read(file(tmp_path, TRC, "a.trc"), up="y")
    np.testing.assert_allclose(turned["Sacrum"][2], [0.044, -0.002, 0.992])


def test_sto_and_mot_of_all_versions_are_read(tmp_path: Path) -> None:
    found = read(file(tmp_path, STO, "a.mot"))
    assert (found.names, found.units, found.title) == (("knee_angle", "pelvis_tx"), ("deg", "deg"), "stride")
    assert np.isnan(found["pelvis_tx"][1])
    old = read(file(tmp_path, SIMM, "b.mot"))
    assert (old.title, old["ankle"].tolist(), old.units) == ("walk", [1.5, 2.5], ("",))
    imu = read(file(tmp_path, IMU, "c.sto"))
    assert imu.kind == "orientations"
    assert imu["torso_imu"].tolist() == [[0.8, 0, 0, 0.6], [0, 0, -0.6, 0.8]]
    vectors = read(
        file(tmp_path, IMU.replace("Quaternion", "Vec3").replace(",0,0\n", ",0\n").replace(",-0.6", ""), "d.sto")
    )
    assert vectors.kind == "points"
    trailing = STO.replace("\n", "\t\t\n").replace("version=1", "version=1\t")
    assert read(file(tmp_path, trailing, "e.sto")).names == found.names


def test_csv_is_read(tmp_path: Path) -> None:
    found = read(file(tmp_path, CSV, "a.csv"))
    assert (found.names, found.units) == (("hip", "emg"), ("rad", ""))
    assert found.times.tolist() == [0, 0.01]
    assert np.isnan(found["emg"][0])
    german = read(file(tmp_path, "time;hip\n0;0,5\n1;0,25\n", "b.csv"), decimal=",")
    assert german["hip"].tolist() == [0.5, 0.25]


def test_encodings(tmp_path: Path) -> None:
    text = TRC.replace("Heel", "Fuß").replace("\n", "\r\n")
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert read(file(tmp_path, text.encode(encoding), "a.trc")).names[0] == "S1:Fuß"
    with pytest.raises(od.ModelError, match=r"a.trc, line 4: byte 0xdf is not utf-8.*encoding='cp1252'"):
        read(file(tmp_path, text.encode("cp1252"), "a.trc"))
    assert read(file(tmp_path, text.encode("cp1252"), "a.trc"), encoding="cp1252").names[0] == "S1:Fuß"
    with pytest.raises(od.ModelError, match="line 1: a zero byte"):
        read(file(tmp_path, text.encode("utf-16-le"), "a.trc"))
    with pytest.raises(ValueError, match="encoding must be one that Python knows"):
        read(file(tmp_path, text, "a.trc"), encoding="hex")


TRC_FAULTS = [
    ("PathFileType", "Path", "line 1: a .trc file begins with 'PathFileType'"),
    ("\tNumFrames", "\tNumFrame", "line 2: the header has no NumFrames: did you mean 'NumFrame'"),
    ("100.0\t3\t3", "100.0\t4\t3", "line 3: NumFrames is 4, and there are 3 frames: the file is cut off"),
    ("100.0\t3\t3", "100.0\t3\t2", "line 3: NumMarkers is 2, and line 4 has 3 names"),
    ("100.0\t3\t3", "100.0\tx\t3", "line 3: NumFrames must be a whole number, got 'x'"),
    ("\tmm\t", "\tkm\t", "line 3: Units must be one of m, .*got 'km'"),
    ("\tmm\t", "\tm\t", "line 3: Units is m, and the markers of a frame are 9.* in another unit"),
    ("100.0\t\t", "60\t\t", r"line 3: DataRate is 60 Hz, and the times are 0.01 s apart \(100 Hz\)"),
    ("\tTime\tS1", "\tTim\tS1", "line 4: columns must be 'Frame#', 'Time'"),
    ("Toe", "S1:Heel", "line 4: the marker 'S1:Heel' is there twice"),
    ("\t\t\tToe", "\t\tToe\t", "line 4: the name 'Toe' is not above the x of a marker"),
    ("\t\t\t301", "\t\t301", "line 8: 10 columns, and frame, time and 3 markers need 11"),
    ("301\t21", "301\t", "line 8: the marker Toe has only some of x, y and z"),
    ("-81\t42", "-81\tzz", "line 8: column Sacrum x must be a number, got 'zz'"),
    ("-81\t42", "-81\t1e999", "line 8: column Sacrum x is '1e999', too large"),
    ("100.5", "100,5", "line 7: column S1:Heel x is '100,5', with a comma as decimal mark: give decimal=','"),
    ("8\t0.07", "8\t0.06", "line 8: the time 0.06 is the same as 0.06 of the row before"),
    ("8\t0.07", "8\t0.09", "line 9: the time 0.08 is before 0.09"),
    ("8\t0.07", "8\t", "line 8: the time is missing"),
    ("992\t2\t\t\n", "992", "line 9: 10 columns"),
]
STO_FAULTS = [
    ("endheader", "end", "line 12: no line is 'endheader'"),
    ("nRows=2", "nRows=20", "line 3: nrows is 20, and there are 2: the file is cut off"),
    ("nColumns=3", "nColumns=4", "line 4: ncolumns is 4, and there are 3"),
    ("inDegrees=yes", "inDegrees=perhaps", "line 5: inDegrees must be yes or no"),
    ("inDegrees=yes\n", "inDegrees=yes\nindegrees=no\n", "line 6: indegrees is 'no' here and 'yes' on line 5"),
    ("time\t", "t\t", "line 9: the first column below the header must be 'time', got 't'"),
    ("pelvis_tx", "knee_angle", "line 9: the column 'knee_angle' is there twice"),
    ("knee_angle\t", "\t", "line 9: column 2 of 3 has no name"),
    ("\t-11.5", "", "line 11: 2 columns, and line 9 names 3"),
    ("-11.5", "-11.5.0", "line 11: column knee_angle must be a number"),
    ("0.01\t", "0\t", "line 11: the time 0 is the same as 0"),
    ("version=1", "DataType=Mat33", "line 2: DataType must be double, Vec3"),
    ("version=1", "DataType=Vec3", "line 10: column knee_angle must hold 3 numbers"),
]
CSV_FAULTS = [
    ("Time", "When", "line 1: the first column must be 'time'"),
    ("(ms)", "(h)", "line 1: the first column must be 'time', in s or ms"),
    (",emg", ",hip", "line 1: the column 'hip' is there twice"),
    ("10,0.2,3", "10,0.2", "line 3: 2 columns, and line 1 names 3"),
    ("0.1", '"0.1', "line 2: the quotes of this row do not match"),
    ("0,0.1,\n10,0.2,3\n", "", "line 1: there is no row"),
]
FAULTS = [("a.trc", TRC, *f) for f in TRC_FAULTS] + [("a.sto", STO, *f) for f in STO_FAULTS]
FAULTS += [("a.csv", CSV, *f) for f in CSV_FAULTS]


@pytest.mark.parametrize(("name", "text", "old", "new", "message"), FAULTS)
def test_faults_are_told_with_their_line(
    tmp_path: Path, name: str, text: str, old: str, new: str, message: str
) -> None:
    assert old in text
    with pytest.raises(od.ModelError, match=f"{name}, {message}"):
        read(file(tmp_path, text.replace(old, new, 1), name))


def test_quaternions_have_length_one(tmp_path: Path) -> None:
    with pytest.raises(od.ModelError, match=r"line 6: the quaternion of torso_imu has the length 1.2"):
        read(file(tmp_path, IMU.replace("0.8,0,0,-0.6", "0.8,0,0,-0.9"), "a.sto"))


def test_units_that_the_user_gives_are_taken(tmp_path: Path) -> None:
    found = read(file(tmp_path, TRC.replace("\tmm\t", "\tm\t"), "a.trc"), units="mm")
    assert found["Toe"][0].tolist() == [0.3, 0.021, -0.081]


def test_other_endings_and_options(tmp_path: Path) -> None:
    with pytest.raises(od.ModelError, match=r"'a.txt' must end with .trc, .mot"):
        read(tmp_path / "a.txt")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "a.trc")
    with pytest.raises(ValueError, match=r"up='y' turns points.*ground_forces"):
        read(file(tmp_path, STO, "a.mot"), up="y")
    with pytest.raises(ValueError, match=r"units= is for the markers of a .trc"):
        read(file(tmp_path, STO, "a.mot"), units="mm")
    with pytest.raises(ValueError, match="decimal must be"):
        read(file(tmp_path, STO, "a.mot"), decimal=";")


def record(shape: tuple[int, ...], unit: str) -> Recording:
    rng = np.random.default_rng(len(shape))
    values = rng.normal(size=(6, 2, *shape))
    if shape == (4,):
        values /= np.linalg.norm(values, axis=-1, keepdims=True)
    elif shape != (6,):
        values[2, 1] = np.nan
    return Recording(["first", "second one"], 0.2 + np.arange(6) / 60, values, (unit,), "walk")


@pytest.mark.parametrize(
    ("ending", "shape", "unit"),
    [
        (".trc", (3,), "m"),
        (".sto", (), "deg"),
        (".mot", (), ""),
        (".sto", (3,), ""),
        (".sto", (4,), ""),
        (".csv", (), "N m"),
    ],
)
def test_what_is_written_is_read_again(tmp_path: Path, ending: str, shape: tuple[int, ...], unit: str) -> None:
    before = record(shape, unit)
    path = tmp_path / f"a{ending}"
    write(before, path)
    after = read(path)
    assert (after.names, after.units) == (before.names, before.units)
    np.testing.assert_array_equal(after.times, before.times)
    np.testing.assert_allclose(after.values, before.values, rtol=1e-14, atol=1e-15)


def test_parts_of_points_come_back_from_csv(tmp_path: Path) -> None:
    before = record((3,), "m")
    write(before, tmp_path / "a.csv")
    after = read(tmp_path / "a.csv").as_points()
    assert (after.names, after.units) == (before.names, ("m", "m"))
    np.testing.assert_array_equal(after.values, before.values)


def test_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    for name, recording, text in [
        ("a.trc", record((), "m"), "a .trc file holds points in m"),
        ("a.txt", record((), "m"), "must end with .trc"),
        ("a.sto", Recording("a\tb", [0.0], [[1.0]]), "holds a mark that separates columns"),
        ("a.csv", Recording("a,b", [0.0], [[1.0]]), "holds a mark that separates columns"),
    ]:
        with pytest.raises(ValueError, match=text):
            write(recording, tmp_path / name)
    with pytest.raises(TypeError, match="write needs a Recording"):
        write(np.zeros(3), tmp_path / "a.sto")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


# C3D


def made_c3d(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Two markers at 50 Hz with a gap, and a force plate of type 2 at 200 Hz, as ezc3d writes them."""
    import ezc3d

    rng = np.random.default_rng(4)
    points = rng.normal(size=(4, 2, 5)) * 300
    points[3] = 1
    points[:, 1, 2] = np.nan
    analog = rng.normal(size=(1, 6, 20)) * 100
    c3d = ezc3d.c3d()
    c3d["parameters"]["POINT"]["RATE"]["value"] = [50]
    c3d["parameters"]["POINT"]["LABELS"]["value"] = ["R.Heel", "R.Toe"]
    c3d["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    c3d["parameters"]["ANALOG"]["RATE"]["value"] = [200]
    c3d["parameters"]["ANALOG"]["LABELS"]["value"] = ["Fx", "Fy", "Fz", "Mx", "My", "Mz"]
    c3d["parameters"]["ANALOG"]["UNITS"]["value"] = ["N"] * 3 + ["Nmm"] * 3
    corners = np.array([[600, 0, 0], [600, 400, 0], [0, 400, 0], [0, 0, 0]], dtype=float)
    plate = {"USED": [1], "TYPE": [2], "ZERO": [1, 0], "CORNERS": corners.T[:, :, None]}
    plate |= {"ORIGIN": np.array([[0.0], [0.0], [-30.0]]), "CHANNEL": np.arange(1, 7)[:, None]}
    for key, value in plate.items():
        c3d["parameters"]["FORCE_PLATFORM"][key]["value"] = np.asarray(value)
    c3d["data"]["points"], c3d["data"]["analogs"] = points, analog
    c3d.write(str(path))
    return points, analog[0]


@needs_ezc3d
@pytest.mark.slow
def test_c3d_is_read(tmp_path: Path) -> None:
    points, analog = made_c3d(tmp_path / "a.c3d")
    found = read_c3d(tmp_path / "a.c3d")
    assert found.markers is not None
    assert found.analog is not None
    assert found.plates is not None
    assert found.markers.names == ("R.Heel", "R.Toe")
    assert found.markers.rate == pytest.approx(50)
    np.testing.assert_allclose(found.markers["R.Heel"], points[:3, 0].T / 1000, rtol=1e-6)
    assert np.isnan(found.markers["R.Toe"]).all(axis=1).tolist() == [False, False, True, False, False]
    np.testing.assert_allclose(found.analog.values, analog.T, rtol=1e-5)
    assert found.analog.units[3] == "Nmm"
    # plate axes: x to the first two corners' side, y from corner 1 to 4; the force on the foot is opposite to what the
    # plate feels
    force, corner = found.plates["plate1"][:, 3:], found.corners
    assert corner is not None
    np.testing.assert_allclose(np.linalg.norm(force, axis=1), np.linalg.norm(analog[:3], axis=0), rtol=1e-5)
    origin, down = corner[0].mean(axis=0), np.array([0, 0, 0.03])
    sensor = found.plates["plate1"][:, :3] - np.cross(origin, force)
    lengths = [np.linalg.norm(sensor + np.cross(sign * down, force), axis=1) for sign in (1, -1)]
    wanted = np.linalg.norm(analog[3:], axis=0) / 1000
    assert any(np.allclose(length, wanted, rtol=1e-5) for length in lengths)
    np.testing.assert_array_equal(read(tmp_path / "a.c3d", up="y").values, found.markers.z_up().values)


@needs_ezc3d
def test_damaged_c3d_files_are_refused(tmp_path: Path) -> None:
    made_c3d(tmp_path / "a.c3d")
    raw = (tmp_path / "a.c3d").read_bytes()
    for damaged, text in [
        (raw[:300], "this is no .c3d file"),
        (b"\x02\x51" + raw[2:], "second byte must be 0x50"),
        (raw[:-400], "it is cut off"),
        (b"\xf0" + raw[1:], "places the parameters past the end"),
    ]:
        with pytest.raises(od.ModelError, match=text):
            read_c3d(file(tmp_path, damaged, "b.c3d"))
    with pytest.raises(od.ModelError, match=r"must end with .c3d"):
        read_c3d(file(tmp_path, raw, "b.c4d"))


def test_without_ezc3d_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ezc3d", None)
    with pytest.raises(od.ModelError, match=r"pip install 'ocp_dyn\[gait\]'"):
        read_c3d(file(tmp_path, b"", "b.c3d"))
