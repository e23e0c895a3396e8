"""Bad figures, caps and circuits are one clear line each: file, line, key, value, what is allowed, what to do.

Protects: a watt figure, a cap or a device tree that cannot be true never reaches a sum.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from declared_project import FILES, HOST, HOST_FILE, INVENTORY, SITE, SITE_FILE, problems, spoilt, write_project

from gpu_seats.declare.fleet import load_fleet

LIMIT = "      limit: 275W"
UNIT = "kind: ups, rating_va: 1500, power_factor: 0.6"
EDGE_FILE = "inventories/production/host_vars/fv-edge.yml"
EDGE = "gpu_seats_host:\n  host: fv-edge\n  site: fv\n  summary: a router\n"
TWO_HOSTS = INVENTORY.replace("{fv-ml1: }", "{fv-ml1: , fv-edge: }")
HOST_CASES = {
    "a figure without a unit": (
        ("{watts: 313W", "{watts: 313"),
        (15, "power.baseline.watts", ["313 is not a power", "W, kW, like 275W"]),
    ),
    "watts as text": (
        ("{watts: 313W", "{watts: plenty"),
        (15, "power.baseline.watts", ["'plenty' is not a power", "W, kW"]),
    ),
    "volt-amperes for watts": (
        ("{watts: 313W", "{watts: 313VA"),
        (15, "power.baseline.watts", ["'313VA' is not a power", "W, kW"]),
    ),
    "a negative baseline": (
        ("{watts: 313W", "{watts: -313W"),
        (15, "power.baseline.watts", ["'-313W' is negative", "less than 0W"]),
    ),
    "a negative number": (("{watts: 313W", "{watts: -313"), (15, "power.baseline.watts", ["-313 is negative"])),
    "a negative low end": (("low: 384W", "low: -1W"), (16, "power.under_load.low", ["'-1W' is negative"])),
    "a figure that is no mapping": (
        ("baseline: {watts: 313W, standing: derived, how: what the BMC reads less the cards}", "baseline: 313W"),
        (15, "power.baseline", ["313W is not a mapping", "for example baseline: {watts:"]),
    ),
    "a figure without its standing": (
        ("{watts: 313W, standing: derived,", "{watts: 313W,"),
        (15, "power.baseline.standing", ["the key is missing", "measured, derived, estimate, assumed"]),
    ),
    "an unknown standing": (
        ("standing: derived", "standing: guess"),
        (15, "power.baseline.standing", ["guess is not one of the known values", "measured, derived, estimate"]),
    ),
    "a low end above the figure": (
        ("low: 384W", "low: 401W"),
        (16, "power.under_load.low", ["401W is more than the figure itself", "at most 400W"]),
    ),
    "a high end below the figure": (
        ("high: 420W", "high: 399W"),
        (16, "power.under_load.high", ["399W is less than the figure itself", "at least 400W"]),
    ),
    "measured without a day": (
        ("date: 2026-09-19, ", ""),
        (16, "power.under_load.standing", ["measured needs the key date", "add date, or say standing: estimate"]),
    ),
    "measured without how": (
        (", how: a clamp meter", ""),
        (16, "power.under_load.standing", ["measured needs the key how", "add how"]),
    ),
    "losses the wrong way round": (
        ("low: 0.08", "low: 0.2"),
        (17, "power.supply_loss.low", ["0.2 is more than the most that is lost", "at most 0.1"]),
    ),
    "a loss of everything": (("high: 0.10", "high: 1.5"), (17, "power.supply_loss.high", ["not in the allowed range"])),
    "a cap without a unit": ((LIMIT, "      limit: 275"), (19, "power.caps.limit", ["275 is not a power", "275W"])),
    "caps without a reason": (
        ("\n      reason: the circuit", ""),
        (18, "power.caps.reason", ["the key is missing"]),
    ),
    "a cap of nothing": (
        (LIMIT, "      limit: 0W"),
        (19, "power.caps.limit", ["'0W' is no limit", "count it as nothing"]),
    ),
    "a card with a cap of nothing": (
        ('{"3": 260W}', '{"3": 0.0kW}'),
        (20, "power.caps.cards.3", ["'0.0kW' is no limit"]),
    ),
    "a card that takes nothing": (
        ("default: 300W", "default: 0W"),
        (13, "gpus.3.power_limits.default", ["'0W' is no limit"]),
    ),
    "digits of another script": (
        (LIMIT, "      limit: \uff12\uff17\uff15W"),
        (19, "power.caps.limit", ["\uff12\uff17\uff15W' is not a power"]),
    ),
    "nothing at all": (("{watts: 313W", "{watts: null"), (15, "power.baseline.watts", ["null is not a power"])),
    "a list of watts": (("{watts: 313W", "{watts: [313W]"), (15, "power.baseline.watts", ["[313W] is not a power"])),
    "no number": ((LIMIT, "      limit: .nan"), (19, "power.caps.limit", [".nan is not a power"])),
    "more than any number": (
        ("{watts: 313W", "{watts: " + "9" * 400 + "W"),
        (15, "power.baseline.watts", ["9999...' is more than any site has", "at most 1000000kW"]),
    ),
    "a cap over the ceiling": (
        (LIMIT, "      limit: 301W"),
        (19, "power.caps.limit", ["301W is above the ceiling", "at most 300W (power.caps.ceiling)", "calculated anew"]),
    ),
    "a card's own cap over the ceiling": (
        ('"3": 260W', '"3": 325W'),
        (20, "power.caps.cards.3", ["325W is above the ceiling", "at most 300W"]),
    ),
    "a cap above stock without a dated reason": (
        ('"3": 260W}\n      ceiling: 300W', '"3": 310W}\n      ceiling: 320W'),
        (20, "power.caps.cards.3", ["310W is above the card's stock limit", "at most 300W", "above_stock: {date:"]),
    ),
    "a reason above stock without its day": (
        ("      ceiling: 300W", "      ceiling: 320W\n      above_stock: {reason: cold days}"),
        (22, "power.caps.above_stock.date", ["the key is missing", "Day of the decision"]),
    ),
    "a cap below what the card takes": (
        ('"3": 260W', '"3": 249W'),
        (20, "power.caps.cards.3", ["249W is below what the card takes", "250W to 325W", "raise the cap"]),
    ),
    "a cap above what the card takes": (
        ('"3": 260W}\n      ceiling: 300W', '"3": 330W}'),
        (20, "power.caps.cards.3", ["330W is above what the card takes", "250W to 325W"]),
    ),
    "an unknown card in the caps": (
        ('"3": 260W', '"7": 260W'),
        (20, "power.caps.cards.7", ["the card 7 is no card of fv-ml1", '"2", "3"']),
    ),
    "a card by number in the caps": (
        ('"3": 260W', "3: 260W"),
        None,
    ),
    "a cap at a card": (
        ("power_limits: {min: 250W", "power_cap: 275W\n      power_limits: {min: 250W"),
        (13, "gpus.3.power_cap", ["the key power_cap is not known here"]),
    ),
    "a circuit that is none": (
        ("  power:\n", "  power:\n    circuit_alone: mian\n"),
        (15, "power.circuit_alone", ["mian is no circuit of the site", "main, second, unit", "did you mean main?"]),
    ),
}
SITE_CASES = {
    "a breaker without amps": (
        ("kind: breaker, amps: 20", "kind: breaker"),
        (5, "circuits.main.kind", ["a breaker without amps has no rating", "add amps: 20"]),
    ),
    "a breaker without amps and volts": (
        ("amps: 20, volts: 120, feeds: [fv-ml1]", "feeds: [fv-ml1]"),
        (5, "circuits.main.kind", ["without amps and volts", "add amps: 20, volts: 120"]),
    ),
    "an inlet without volts": (
        ("kind: inlet, amps: 12, volts: 120", "kind: inlet, amps: 12"),
        (6, "circuits.second.kind", ["inlet without volts has no rating", "add volts: 120"]),
    ),
    "a UPS without a rating": (
        (UNIT, "kind: ups, power_factor: 0.6"),
        (7, "circuits.unit.kind", ["a ups without rating_va has no rating", "rating_va: 1500"]),
    ),
    "a UPS without a power factor": (
        (UNIT, "kind: ups, rating_va: 1500"),
        (7, "circuits.unit.kind", ["a ups without power_factor", "power_factor: 0.6"]),
    ),
    "a rating of nothing": (("amps: 20", "amps: 0"), (5, "circuits.main.amps", ["0 is not in the allowed range"])),
    "an infinite rating": (("amps: 20", "amps: .inf"), (5, "circuits.main.amps", [".inf is not a finite number"])),
    "a breaker with a UPS's keys": (
        ("kind: breaker, amps: 20", "kind: breaker, bypass: [], amps: 20"),
        (5, "circuits.main.bypass", ["the key bypass is of a ups, and this is a breaker"]),
    ),
    "feeds of something unknown": (
        ("feeds: [nas]", "feeds: [nas, nass]"),
        (7, "circuits.unit.feeds[1]", ["nass is no host, load or circuit of this site", "fv-ml1, nas", "did you mean"]),
    ),
    "a BMC that is not declared": (
        ("feeds: [nas]", "feeds: [nas, fv-ml1/bmc]"),
        (7, "circuits.unit.feeds[1]", ["fv-ml1/bmc names a BMC, and fv-ml1 declares none", "add bmc to the host"]),
    ),
    "a load named twice at a device": (
        ("feeds: [nas]", "feeds: [nas, nas]"),
        (7, "circuits.unit.feeds[1]", ["named twice", "name each load once"]),
    ),
    "a load on both banks of a UPS": (
        ("feeds: [nas]", "feeds: [nas], bypass: [nas]"),
        (7, "circuits.unit.bypass[0]", ["named twice"]),
    ),
    "a device that feeds itself": (
        ("feeds: [nas]", "feeds: [nas, unit]"),
        (7, "circuits.unit.feeds[1]", ["closes a ring of devices (unit -> unit)", "remove one of these feeds"]),
    ),
    "a breaker of more than there is": (
        ("kind: breaker, amps: 20", "kind: breaker, amps: 1.0e+200"),
        (5, "circuits.main.amps", ["1.0e+200 is not in the allowed range", "more than 0 and at most 10000"]),
    ),
    "a ring of two devices": (
        ("feeds: [nas]", "feeds: [nas, second]"),
        (7, "circuits.unit.feeds[1]", ["closes a ring of devices (second -> unit -> second)"]),
    ),
    "a ring over a bypass": (
        ("feeds: [nas]", "feeds: [nas], bypass: [second]"),
        (7, "circuits.unit.bypass[0]", ["closes a ring of devices (second -> unit -> second)"]),
    ),
    "a load on no device": (
        ("feeds: [nas]", "feeds: []"),
        (
            9,
            "loads.nas",
            ["the load nas hangs below no circuit", "feeds of main, second, unit", "where it is plugged in"],
        ),
    ),
    "a load with a circuit's name": (
        ("    nas: {summary", "    main: {summary: b, watts: {watts: 1W, standing: estimate}}\n    nas: {summary"),
        (5, "circuits.main", ["the name main is that of a load too", "rename one"]),
    ),
    "a circuit with a host's name": (
        ("    second: {kind", "    fv-ml1: {kind"),
        (6, "circuits.fv-ml1", ["the name fv-ml1 is that of a host", "rename it"]),
    ),
    "a load in watts without a unit": (
        ("{watts: 60W", "{watts: 60"),
        (9, "loads.nas.watts.watts", ["60 is not a power"]),
    ),
    "a load's low end above it": (
        ("{watts: 60W", "{watts: 60W, low: 61W"),
        (9, "loads.nas.watts.low", ["61W is more than the figure itself", "at most 60W"]),
    ),
    "a load measured at no time": (
        ("{watts: 60W, standing: estimate", "{watts: 60W, how: a meter, standing: measured"),
        (9, "loads.nas.watts.standing", ["needs the key date"]),
    ),
    "a router that is none": (
        ("  summary: a site", "  summary: a site\n  router: nas"),
        (4, "router", ["nas is no host of the site, and no load with role: router"]),
    ),
}


def matching(found: list[object], key: str) -> list[object]:
    return [one for one in found if getattr(one, "key", "") == key]


@pytest.mark.parametrize("case", HOST_CASES)
def test_a_host_that_cannot_draw_so_is_refused(case: str, tmp_path: Path) -> None:
    (old, new), expected = HOST_CASES[case]
    _check(tmp_path, HOST_FILE, spoilt(HOST, old, new), "gpu_seats_host", expected)


@pytest.mark.parametrize("case", SITE_CASES)
def test_circuits_that_cannot_be_so_are_refused(case: str, tmp_path: Path) -> None:
    (old, new), expected = SITE_CASES[case]
    _check(tmp_path, SITE_FILE, spoilt(SITE, old, new), "gpu_seats_site", expected)


def _check(root: Path, file: str, text: str, prefix: str, expected: tuple[int, str, list[str]] | None) -> None:
    found = problems(root, {file: text})
    if expected is None:
        assert found == []
        return
    line, key, parts = expected
    named = [one for one in found if one.key == f"{prefix}.{key}"]
    assert named, [str(one) for one in found]
    assert str(named[0]).startswith(f"{file}:{line}: "), str(named[0])
    assert all(part in str(named[0]) for part in parts), str(named[0])


def test_a_host_with_cards_below_no_circuit_is_refused(tmp_path: Path) -> None:
    found = problems(tmp_path, {SITE_FILE: spoilt(SITE, "feeds: [fv-ml1]", "feeds: []")})
    assert [(one.file, one.key) for one in found] == [(HOST_FILE, "gpu_seats_host.host")]
    assert "fv-ml1 has cards and hangs below no circuit of site fv" in str(found[0])
    assert "feeds of main, second, unit" in str(found[0]) and f"{SITE_FILE}:4" in str(found[0])


def test_a_host_that_declares_power_below_no_circuit_is_refused_and_one_without_is_not(tmp_path: Path) -> None:
    quiet = {EDGE_FILE: EDGE, "inventories/production/hosts.yml": TWO_HOSTS}
    assert problems(tmp_path, quiet) == []
    drawing = EDGE + "  power: {under_load: {watts: 125W, standing: estimate}}\n"
    found = problems(tmp_path, {**quiet, EDGE_FILE: drawing})
    assert [one.file for one in found] == [EDGE_FILE]
    assert "fv-edge declares power and hangs below no circuit" in str(found[0])


def test_a_proposed_feed_that_leaves_a_load_out_is_refused(tmp_path: Path) -> None:
    """Protects: a proposal without the second host promises room that is not there."""
    device = "kind: breaker, amps: 20, volts: 120, standing: assumed, reason: r"
    left = f"  feed_proposal:\n    other: {{{device}, feeds: [fv-ml1]}}\n"
    found = problems(tmp_path, {SITE_FILE: SITE + left})
    assert [one.key for one in found] == ["gpu_seats_site.feed_proposal"]
    assert "does not feed nas, which the circuits of the site feed" in str(found[0])
    assert problems(tmp_path, {SITE_FILE: SITE + left.replace("[fv-ml1]", "[fv-ml1, nas]")}) == []


def test_a_site_without_circuits_asks_for_no_place(tmp_path: Path) -> None:
    assert problems(tmp_path, {SITE_FILE: "gpu_seats_site: {site: fv, summary: a site}\n"}) == []


def test_a_host_of_another_site_is_not_fed_here(tmp_path: Path) -> None:
    inventory = INVENTORY.replace("}}}}", "}}, site_sf: {hosts: {fv-edge: }}}}").replace(
        "{hosts: {fv-ml1: }}, site_fv", "{hosts: {fv-ml1: , fv-edge: }}, site_fv"
    )
    changed = {
        EDGE_FILE: EDGE.replace("site: fv", "site: sf"),
        "inventories/production/group_vars/site_sf.yml": "gpu_seats_site: {site: sf, summary: another}\n",
        "inventories/production/hosts.yml": inventory,
        SITE_FILE: spoilt(SITE, "feeds: [fv-ml1]", "feeds: [fv-ml1, fv-edge]"),
    }
    found = problems(tmp_path, changed)
    assert [one.key for one in found] == ["gpu_seats_site.circuits.main.feeds[1]"]
    assert "fv-edge is a host of site sf" in str(found[0])


def claiming(text: str) -> str:
    return spoilt(text, "  power:\n", "  power:\n    circuit_alone: main\n")


def test_a_circuit_that_one_host_claims_alone_is_its_own(tmp_path: Path) -> None:
    assert problems(tmp_path, {HOST_FILE: claiming(HOST)}) == []


def test_a_circuit_claimed_alone_with_another_load_on_it_is_refused(tmp_path: Path) -> None:
    changed = {HOST_FILE: claiming(HOST), SITE_FILE: spoilt(SITE, "feeds: [fv-ml1]", "feeds: [fv-ml1, second]")}
    found = problems(tmp_path, changed)
    assert [one.key for one in found] == ["gpu_seats_host.power.circuit_alone"]
    assert "main is claimed alone, and nas hangs below it too" in str(found[0])
    assert f"change feeds in {SITE_FILE}:5" in str(found[0])


def test_two_hosts_that_both_claim_a_circuit_alone_are_refused(tmp_path: Path) -> None:
    edge = EDGE + "  power: {circuit_alone: main, under_load: {watts: 125W, standing: estimate}}\n"
    changed = {
        HOST_FILE: claiming(HOST),
        EDGE_FILE: edge,
        SITE_FILE: spoilt(SITE, "feeds: [fv-ml1]", "feeds: [fv-ml1, fv-edge]"),
        "inventories/production/hosts.yml": TWO_HOSTS,
    }
    told = [str(one) for one in problems(tmp_path, changed)]
    assert any("is a circuit that fv-edge claims alone too" in one and f"{EDGE_FILE}:5" in one for one in told), told


def test_the_good_project_means_what_it_says(tmp_path: Path) -> None:
    """The cases above fail for their one change; defaults by kind and the order of a figure are as written."""
    fleet = load_fleet(write_project(tmp_path, FILES))
    main, second, unit = fleet.sites["fv"].circuits.values()
    assert (main.absolute_watts, main.continuous_watts) == (2400, 1920)
    assert (second.absolute_watts, second.continuous_watts) == (1440, 1152)
    assert (unit.absolute_watts, unit.continuous_watts) == (900, 900)
    power = fleet.hosts["fv-ml1"].power
    assert power and power.under_load and power.caps
    assert (power.under_load.low_watts, power.under_load.watts, power.under_load.high_watts) == (384, 400, 420)
    assert power.caps.cards == {"3": 260}


def test_a_ring_and_a_chain_of_any_length_are_told_apart(tmp_path: Path) -> None:
    """A chain of 1,500 devices loads; with its end plugged into its start it is one problem that can be read."""
    line = "    d{0}: {{kind: breaker, amps: 20, volts: 120, feeds: [d{1}], standing: derived, reason: r}}\n"
    chain = "".join(line.format(number, number + 1) for number in range(1499))
    for end, expected in (("nas", 0), ("d0", 1)):
        last = line.format(1499, "").replace("[d]", f"[{end}]")
        found = problems(tmp_path, {SITE_FILE: spoilt(SITE, "    unit:", f"{chain}{last}    unit:")})
        assert len(found) == expected
    assert "d0 -> d1 -> d2 -> d3 -> d4 -> d5 -> d6 -> d7 -> 1489 more -> d1497 -> d1498 -> d1499 -> d0" in str(found[0])
    assert found[0].key.endswith("circuits.d1499.feeds[0]")


def test_two_rings_that_share_a_device_are_two_problems(tmp_path: Path) -> None:
    line = "    {0}: {{kind: breaker, amps: 20, volts: 120, feeds: [{1}], standing: derived, reason: r}}\n"
    rings = line.format("x", "y") + line.format("y", "x, z") + line.format("z", "y")
    found = problems(tmp_path, {SITE_FILE: spoilt(SITE, "    unit:", f"{rings}    unit:")})
    assert [one.message.partition(" (")[2].partition(")")[0] for one in found] == ["x -> y -> x", "y -> z -> y"]


def test_a_device_in_use_below_one_that_is_not_is_refused(tmp_path: Path) -> None:
    """The inlet would carry nothing while the unit on it carries a load."""
    idle = spoilt(SITE, "amps: 12, volts: 120,", "amps: 12, volts: 120, in_use: false,")
    (found,) = problems(tmp_path, {SITE_FILE: idle})
    assert found.key == "gpu_seats_site.circuits.unit" and found.line == 7
    assert "unit is in use, and all that feeds it is not (second)" in found.message
    assert problems(tmp_path, {SITE_FILE: spoilt(idle, "feeds: [fv-ml1]", "feeds: [fv-ml1, unit]")}) == []
