"""Secret values on their way to the host: in one option that no log gets, and in no other."""

from __future__ import annotations

import pytest
from controller_cases import CHAT, fleet, observed

from gpu_seats.controller.deployment import secret_files
from gpu_seats.controller.seat_plan import SeatPlanRequest, seat_plan

SECRETS = {"chat-seat": {"API_KEY": "s3cr3t 'value'\nof two lines"}}


def planned_stacks() -> list[dict]:
    seats = {"chat": {**CHAT, "secrets": ["API_KEY"]}}
    plan = seat_plan(fleet(**seats), SeatPlanRequest("box1", "chat", secrets=SECRETS), lambda _: observed())
    return plan.as_result()["stacks"]


def test_the_text_of_each_secret_file_stands_under_its_path_and_the_stacks_stay_without_it() -> None:
    """Protects: Ansible writes nested options to the target's system log, where escaping defeats its masking."""
    stacks = planned_stacks()
    [(path, text)] = secret_files(stacks, SECRETS).items()
    assert path in [one["path"] for one in stacks[0]["files"]]
    assert "s3cr3t" in text and "s3cr3t" not in repr(stacks)


def test_a_secret_without_a_value_is_named() -> None:
    with pytest.raises(KeyError, match="API_KEY"):
        secret_files(planned_stacks(), {"chat-seat": {}})
