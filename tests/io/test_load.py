"""`od.load` finds the format of a file; the shared reader of XML refuses what could harm."""

from __future__ import annotations

from pathlib import Path

import pytest

import ocp_dyn as od
from ocp_dyn.io import formats, xml, xml_tree

DRONE = '<robot name="drone"><link name="base"/></robot>'


@pytest.mark.parametrize("name", ["drone.urdf", "drone.xml", "drone"])
@pytest.mark.parametrize("head", ["", "<?xml version='1.0'?>\n<!-- <mujoco> -->\n", "\ufeff"])
def test_the_outermost_element_decides(tmp_path: Path, name: str, head: str) -> None:
    (tmp_path / name).write_text(head + DRONE, encoding="utf-8")
    assert od.load(tmp_path / name, root=od.FloatingBase()).nv == 6


def test_json_and_other_encodings(tmp_path: Path) -> None:
    model = od.models.pendulum(2)
    od.save_model(model, tmp_path / "rods.json")
    assert od.load(str(tmp_path / "rods.json")) == model
    (tmp_path / "drone.xml").write_bytes(('<?xml version="1.0" encoding="utf-16"?>' + DRONE).encode("utf-16"))
    assert od.load(tmp_path / "drone.xml", root=od.FloatingBase()).nv == 6


def test_what_load_refuses(tmp_path: Path) -> None:
    (tmp_path / "drone.urdf").write_text(DRONE)
    with pytest.raises(TypeError, match=r"the format URDF has no option 'rot'.*did you mean 'root'"):
        od.load(tmp_path / "drone.urdf", rot=od.FloatingBase())
    with pytest.raises(od.ModelError, match="looks like the text of a model"):
        od.load(DRONE)
    with pytest.raises(FileNotFoundError):
        od.load(tmp_path / "none.urdf")
    (tmp_path / "page.html").write_text("<html/>")
    with pytest.raises(od.ModelError, match=r"outermost element <html> is of no format .*URDF: \.urdf, <robot>"):
        od.load(tmp_path / "page.html")
    (tmp_path / "table.csv").write_text("a,b\n")
    with pytest.raises(od.ModelError, match=r"ends in '\.csv' is of no format"):
        od.load(tmp_path / "table.csv")
    (tmp_path / "page.urdf").write_text("<html/>")
    with pytest.raises(od.ModelError, match=r"the outermost element is <html>, expected <robot>"):
        od.load(tmp_path / "page.urdf")


def test_elements_know_their_places() -> None:
    tree = xml_tree("<a>\n one <b name='x'/>\n two <!-- no --> three <c><d/></c></a>", "m.xml")
    assert [e.tag for e in tree.walk()] == ["a", "b", "c", "d"]
    assert [e.line for e in tree.walk()] == [1, 2, 3, 3]
    assert tree.text.split() == ["one", "two", "three"]
    assert tree.child("e") is None
    assert str(tree.all("b")[0].fault("it is wrong")) == "m.xml, line 2: <b 'x'>: it is wrong"


WRONG = {
    "<!DOCTYPE a [<!ENTITY x 'y'>]><a/>": "document type declaration",
    "<a><b></a>": r"line 1: not well-formed XML: mismatched tag; <b> of line 1 is open",
    "": "is empty",
    "<!-- a -->": "not well-formed XML: no element found",
    "<a>\xff</a>".encode("latin-1"): "not well-formed XML",
    b'<?xml version="1.0" encoding="ebcdic-x"?><a/>': "unknown encoding|cannot be decoded",
    "<a>" * 201: "nested more than 200 deep",
    "<a>&x;</a>": "undefined entity",
}


@pytest.mark.parametrize("text", WRONG)
def test_xml_that_is_refused(text: str | bytes) -> None:
    with pytest.raises(od.ModelError, match=WRONG[text]):
        xml_tree(text, "m.xml")


def test_xml_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml, "MOST_ELEMENTS", 10)
    monkeypatch.setattr(xml, "MOST_TEXT", 10)
    monkeypatch.setattr(xml, "MOST_BYTES", 200)
    assert len(list(xml_tree("<a>" + "<b/>" * 9 + "</a>", "m.xml").walk())) == 10
    for text, message in (
        ("<a>" + "<b/>" * 10 + "</a>", "more than 10 elements"),
        ("<a>" + "t" * 11 + "</a>", "characters of text"),
        ("<a>" + " " * 200 + "</a>", "bytes"),
    ):
        with pytest.raises(od.ModelError, match=message):
            xml_tree(text, "m.xml")
    with pytest.raises(TypeError, match="must be a str or bytes"):
        xml_tree(3, "m.xml")  # type: ignore[arg-type]


def test_files_beside_a_model_stay_in_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "arm.xml").write_text("<a/>")
    (tmp_path / "secret.xml").write_text("<a/>")
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    element = xml_tree("<include/>", "model.xml")
    assert xml.file_beside(element, "parts\\arm.xml", folder) == (folder / "parts" / "arm.xml").resolve()
    for name in ("../secret.xml", str(tmp_path / "secret.xml"), "link.xml"):
        with pytest.raises(od.ModelError, match=r"line 1: <include>: the file .* does not lie in the folder"):
            xml.file_beside(element, name, folder)
    with pytest.raises(od.ModelError, match=r"there is no file .other\.xml."):
        xml.file_beside(element, "other.xml", folder)
    with pytest.raises(od.ModelError, match="names no file"):
        xml.file_beside(element, " ", folder)


def test_formats_do_not_share_endings_or_tags() -> None:
    names = [name for kind in formats.FORMATS for name in (*kind.endings, *kind.tags)]
    assert len(set(names)) == len(names)
