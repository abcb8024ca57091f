"""Section names: the tables hold them as they are compared, in text of any script (E22)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents import labels
from omh_research.documents.labels import FINDING_SECTIONS, REPORT_SECTIONS, fold_label


@pytest.mark.parametrize("section", sorted({*FINDING_SECTIONS, *REPORT_SECTIONS}))
def test_the_tables_hold_every_name_folded(section: str) -> None:
    names = labels._names(section)
    assert names and all(fold_label(name) == name for name in names)


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_a_name_in_ascii_is_folded_as_any_other(text: str) -> None:
    """The quick way for ASCII agrees with the general one, which a letter beyond it brings on."""
    assert fold_label(f"{text} é").replace("é", "e") == fold_label(f"{text} e")


def test_symbols_and_controls_are_no_part_of_a_name() -> None:
    assert fold_label("📚 **SOURCES**:") == fold_label("^`_sources_`^") == "sources"
    assert all(unicodedata.category(char) == "Sk" for char in "^`")
