"""A misspelt -e must not deploy forward when a rollback was meant."""

from __future__ import annotations

import pytest

from gpu_seats.controller.declared_faults import PlayHostError
from gpu_seats.controller.extra_vars import TAKEN, refuse_misspelt


@pytest.mark.parametrize(("name", "meant"), [("rolback", "rollback"), ("seats", "seat"), ("takeover", "take_over")])
def test_a_misspelt_variable_is_refused_with_what_was_meant(name: str, meant: str) -> None:
    with pytest.raises(PlayHostError, match=f"did you mean {meant}"):
        refuse_misspelt([name])


def test_variables_of_the_verbs_and_of_the_operator_pass() -> None:
    refuse_misspelt([*TAKEN, "gpu_seats_secrets", "ansible_host", "my_var"])
