"""Texts with places for values."""

from __future__ import annotations

import pytest

from ocp_dyn._base.templates import lines_of, text_of

TEXT = """\
int @name@(void);  /* @word@ @name@ */
@rows@
@if loud
shout@mark@
@else
whisper
@end
end
"""


@pytest.mark.parametrize(("loud", "said"), [(True, "shout!"), (0, "whisper")])
def test_places_lists_and_parts(tmp_path, loud, said):
    path = tmp_path / "text.in"
    path.write_text(TEXT)
    values = {"name": "f", "word": "@name@", "rows": ["  a ", "  b"], "loud": loud, "mark": "!"}
    first = "int f(void);  /* @name@ f */"  # values are no templates
    assert lines_of(path, **values) == [first, "  a ", "  b", said, "end"]
    assert text_of(path, **values) == f"{first}\n  a\n  b\n{said}\nend\n"


def test_a_value_that_is_missing_is_told(tmp_path):
    path = tmp_path / "text.in"
    path.write_text("@nobody@ here\n")
    with pytest.raises(KeyError, match="nobody"):
        lines_of(path)
