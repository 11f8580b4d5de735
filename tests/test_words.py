"""Docstrings, and the strings that document constants and fields, open with the thing they describe."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RIDDLE = re.compile(r'^[ \t]*r?"""\s*(What|Of|Where|How|By how|That which|Who|Which|Why)\b.*', re.MULTILINE)
"""Texts that stand alone, docstrings and those below constants and fields, and open by a relative clause: a reader
meets the question before the noun."""


@pytest.mark.parametrize("package", ["ocp_dyn", "problems", "scripts", "tests"])
@pytest.mark.slow
def test_documentation_opens_with_the_thing_it_describes(package: str) -> None:
    riddles = [
        f"{path.relative_to(ROOT)}: {found[0].strip()}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for found in RIDDLE.finditer(path.read_text(encoding="utf-8"))
    ]
    message = "open these texts with a noun or a verb (a predicate may open with 'Whether'):"
    assert not riddles, "\n".join([message, *riddles])


def test_every_kind_of_documentation_is_read() -> None:
    source = '"""What a."""\nclass B:\n    """Of b."""\n    c: int\n    """How c."""\n'
    source += '    def d(self):\n        """Where d."""\n'
    assert RIDDLE.findall(source) == ["What", "Of", "How", "Where"]
    assert not any(RIDDLE.match(f'"""{text}') for text in ("Whether a.", "However b.", "Whatever c.", "Offsets d."))


# American spelling

STEMS = """
brutal capital categor character critic custom diagonal digit discret emphas equal factor final formal general global
harmon hypothes ideal immun initial ital item legal linear local magnet material maxim mechan memor minim mobil modern
modular neutral normal optim organ orthogonal orthonormal parallel parameter parametr penal polar polynomial priorit
quant random rational real recogn regular sanit scrutin serial spatial special stabil standard steril subsid summar
symbol symmetr synchron synthes system tabular token trivial util vector visual"""
"""Beginnings of verbs that end in -ize."""
WHOLE = """
aluminium amongst analyse analysed analyser analysing artefact catalogue catalyse cheque defence enrol fulfil
grey greyed instalment judgement kilogramme licence manoeuvre mould offence paralyse plough practise programme
programmes sceptic sceptical skilful sulphur tyre whilst"""
BRITISH = re.compile(
    r".*(?:centre|centring|calibre|fibre|litre|metre|spectre|theatre).*"
    r"|.*(?:arm|behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|rum|vap|vig)our(?!c|s?eless).*"
    r"|.*(?:cancel|channel|fuel|label|level|model|signal|total|travel|tunnel)l(?:ed|er|ing).*"
    rf"|.*(?:{'|'.join(STEMS.split())})is(?:e|ed|er|ers|es|ing|able|ation|ations)"
    rf"|{'|'.join(WHOLE.split())}"
)
"""Common British spellings: whole words in lower case, of which names of several words are made."""


NAMES_OF_OTHERS = re.compile(r'CancelledError|"cancelled"')
"""Names that Python and Dask spell the British way."""


def british(text: str) -> set[str]:
    words = set(re.findall("[a-z]+", NAMES_OF_OTHERS.sub("", text).lower()))
    return {word for word in words if BRITISH.fullmatch(word)}


@pytest.mark.slow
def test_spelling_is_american() -> None:
    """Everywhere but in data, which others write, in this file, and where names of earlier versions are told."""
    excepted = (Path(__file__), ROOT / "CHANGELOG.md")
    kept = [path for room in ("ocp_dyn", "problems", "scripts", "tests") for path in sorted((ROOT / room).rglob("*"))]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in [*kept, *sorted(ROOT.glob("*.md"))]
        if path.suffix in (".py", ".c", ".cpp", ".h", ".toml", ".md")
        and "data" not in path.parts
        and path not in excepted
        for word in sorted(british(path.read_text(encoding="utf-8")))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if word in line.lower()
    ]
    assert not found, "\n".join(["spell these words the American way:", *found])


def test_british_spellings_are_seen_and_others_are_not() -> None:
    seen = """
    centre_of_mass CentreOfPressure recentred colour Neighbours behaviour millimetres normalise Normalised linearisation
    optimisers minimises analysed modelling labelled grey kilogramme to_programme parametrising _regularisation"""
    assert [word for word in seen.split() if not british(word)] == []
    others = """
    center source resource hour four contour parameter symmetry geometry analyses promise otherwise precise programmed
    programmer models levels cancellation realist optimism fulfill modeling license armor velour piecewise finalist"""
    assert british(others) == set()
