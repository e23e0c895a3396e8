"""Lines that fit their room.

Protects: no text of the power picture runs into the next one, and none is cut short.
"""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.report.power_picture.text_width import fitting_lines, text_width

TEXTS = st.text(alphabet=st.sampled_from("abw W-/_:.,1%漢é\u00a0\n\t"), max_size=120)


@given(TEXTS, st.floats(40, 400), st.sampled_from([11.0, 14.0]), st.booleans())
def test_every_line_fits_and_nothing_is_left_out(text, room, size, bold):
    lines = fitting_lines(text, room, size, bold)
    assert all(text_width(line, size, bold) <= room for line in lines)
    assert re.sub(r"[ \n\t]", "", "".join(lines)) == re.sub(r"[ \n\t]", "", text)


def test_lines_break_after_blanks_and_hyphens_and_never_between_a_number_and_its_unit():
    assert fitting_lines("one-two three", 56, 12) == ["one-two", "three"]
    assert fitting_lines("one-two", 40, 12) == ["one-", "two"]
    assert fitting_lines("about 1,920\u00a0W", 60, 12) == ["about", "1,920\u00a0W"]
    assert fitting_lines("", 60, 12) == [""]


def test_bold_and_wide_characters_take_more_room():
    assert text_width("abc", 12, bold=True) > text_width("abc", 12)
    assert text_width("漢", 12) == 12
    assert text_width("e\u0301", 12) == text_width("e", 12)
