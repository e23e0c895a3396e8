"""The tree as text: whatever the site looks like, each figure is there and no line is too wide.

Protects: second feeds, surge-only outlets, loads on nothing and narrow terminals are drawn too.
"""

from __future__ import annotations

from typing import Any

import pytest

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Host
from gpu_seats.declare.site import Site
from gpu_seats.plan.power import parse_what_if, site_power
from gpu_seats.report.power_tree import comparison_text, power_tree_text
from gpu_seats.report.terminal import Terminal


def circuit(kind: str, *feeds: str, **over: Any) -> dict[str, Any]:
    rating = {"rating_va": 1500, "power_factor": 0.6} if kind == "ups" else {"amps": 20, "volts": 120}
    return {"kind": kind, **rating, "feeds": list(feeds), "standing": "confirmed", "reason": "r", **over}


def host(name: str, watts: int) -> Host:
    power = {"under_load": {"watts": f"{watts}W", "standing": "measured", "date": "2026-09-30", "how": "clamp meter"}}
    return Host.model_validate({"host": name, "site": "fv", "summary": name, "power": power})


def tree(circuits: dict[str, Any], *hosts: Host, question: str = "") -> dict[str, Any]:
    site = Site.model_validate({"site": "fv", "summary": "a site", "circuits": circuits})
    fleet = Fleet(sites={"fv": site}, hosts={one.host: one for one in hosts})
    return site_power(fleet, "fv", parse_what_if(question)).as_dict()


def test_a_load_on_two_feeds_stands_below_each() -> None:
    text = power_tree_text(tree({"a": circuit("breaker", "box"), "b": circuit("breaker", "box")}, host("box", 500)))
    assert text.count("└─ box  500 W, measured") == 2


def test_a_device_that_two_others_feed_is_drawn_in_full_once() -> None:
    circuits = {
        "a": circuit("breaker", "pdu"),
        "b": circuit("breaker", "pdu"),
        "pdu": circuit("pdu", "box"),
    }
    text = power_tree_text(tree(circuits, host("box", 500)))
    assert text.count("└─ box  500 W") == 1 and "└─ pdu  as above" in text


def test_a_surge_only_outlet_is_told() -> None:
    text = power_tree_text(tree({"unit": circuit("ups", "edge", bypass=["box"])}, host("edge", 50), host("box", 500)))
    assert "box  500 W, measured, on a surge-only outlet" in text
    assert "worst case 50 W, 6 % of 900 W, 850 W left: ok" in text


def test_a_load_on_no_device_in_use_is_drawn_apart() -> None:
    text = power_tree_text(tree({"unit": circuit("ups", "box", in_use=False)}, host("box", 500)))
    assert "on no device in use:\n  box  500 W, measured\n" in text


def test_an_overload_says_by_how_much() -> None:
    text = power_tree_text(tree({"unit": circuit("ups", "box")}, host("box", 1000)))
    assert "worst case 1000 W, 111 % of 900 W, 100 W too much: over its absolute limit" in text


@pytest.mark.parametrize("width", [40, 60, 100])
def test_every_width_is_kept(width: int) -> None:
    circuits = {"a": circuit("breaker", "pdu", "box"), "pdu": circuit("pdu", "unit"), "unit": circuit("ups", "edge")}
    data = tree(circuits, host("edge", 50), host("box", 500), question="load=edge:70W")
    text = power_tree_text(data, Terminal(width))
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


def test_colour_marks_what_is_over_and_nothing_else() -> None:
    over = power_tree_text(tree({"unit": circuit("ups", "box")}, host("box", 1000)), Terminal(100, colour=True))
    assert "\x1b[1;31m" in over
    fine = power_tree_text(tree({"unit": circuit("ups", "box")}, host("box", 100)), Terminal(100, colour=True))
    assert "31m" not in fine


def test_a_comparison_has_a_row_for_each_device() -> None:
    circuits = {"a": circuit("breaker", "box"), "unit": circuit("ups", "box", in_use=False)}
    before = tree(circuits, host("box", 500))
    after = tree(circuits, host("box", 500), question="in_use=unit,load=box:600W")
    rows = [" ".join(line.split()) for line in comparison_text(before, after).splitlines()]
    assert rows == [
        "what if in_use=unit,load=box:600W",
        "device before share after share left verdict",
        "a 500 W 26 % 600 W 31 % 1320 W ok",
        "unit - - 600 W 67 % 300 W ok",
    ]
