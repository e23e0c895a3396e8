"""The picture and the page of a power tree, from what the planner says of the production site and of made-up ones.

Protects: the figures of the host's page as words beside every bar; state, standing and fate in words and never in
colour alone; texts of declarations that stay texts; the same file for the same record.
"""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.plan.power import parse_what_if, site_power
from gpu_seats.report.power_picture import power_html, power_svg
from gpu_seats.report.power_picture.style import DARK, LIGHT

PROJECT = Path(__file__).resolve().parents[3]
SVG = "{http://www.w3.org/2000/svg}"
SVG_TAGS = {"svg", "title", "desc", "style", "defs", "pattern", "path", "circle", "rect", "line", "text", "g"}
PAGE_TAGS = {
    "html",
    "head",
    "meta",
    "body",
    "main",
    "h1",
    "h2",
    "p",
    "strong",
    "div",
    "section",
    "ul",
    "li",
    "code",
} | {*("table", "caption", "thead", "tbody", "tr", "th", "td")}
INCIDENT = "loaded=2,in_use=fv-ups+fv-ups-inlet"


def power_of(question: str = "") -> dict[str, Any]:
    fleet = load_fleet(PROJECT)
    return (site_power(fleet, "fv", parse_what_if(question)) if question else site_power(fleet, "fv")).as_dict()


@pytest.fixture(scope="module")
def fv() -> dict[str, Any]:
    return power_of()


def words_of(svg: str) -> str:
    """All texts of a picture in their order; one blank between lines, units not kept together."""
    texts = ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    return " ".join(texts).replace("\u00a0", " ")


def rows_of(svg: str) -> dict[str, str]:
    """Words of each row of the tree by its name."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        texts = list(group.iter(f"{SVG}text"))
        names = [node.text or "" for node in texts if "name" in (node.get("class") or "").split()]
        if names:
            said = " ".join(node.text or "" for node in texts).replace("\u00a0", " ")
            found["".join(names)] = said
    return found


class Page(HTMLParser):
    """Tags of a page with their attributes, the visible text, the rows of its tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


def test_the_breaker_of_the_page_is_told_with_its_limits_headroom_and_high_end(fv):
    row = rows_of(power_svg(fv))["fv-20a"]
    assert "1,625 of 1,920 W continuous (85 %), 295 W left" in row
    assert "up to 1,800 W (94 %) if the BMC reads DC and estimates run high" in row
    assert "continuous 1,920 W" in row
    assert "absolute 2,400 W" in row
    assert "first to give" in row
    assert "within its limits" in row
    assert "(confirmed)" in row


def test_each_figure_of_a_host_is_told_with_its_standing_and_range(fv):
    row = rows_of(power_svg(fv))["fv-ml1"]
    assert "1,500 W, range 1,500 to 1,650 W" in row
    assert "4 cards at their cap of 275 W: 1,100 W, derived" in row
    assert "machine under load 400 W, derived" in row
    assert "supply loss 0 to 150 W, estimate" in row
    assert "read on 2026-09-19: 461 W, ipmitool dcmi power reading" in row


def test_what_shares_the_fate_of_the_cards_is_marked(fv):
    rows = rows_of(power_svg(fv))
    assert "shared fate" in rows["fv-edge"]
    assert "When fv-20a gives, it goes dark with fv-ml1, and the way in with it." in rows["fv-edge"]
    assert "When fv-20a gives, its BMC goes dark with it." in rows["fv-ml1"]


def test_devices_out_of_use_say_so_and_carry_nothing(fv):
    svg = power_svg(fv)
    row = rows_of(svg)["fv-ups"]
    assert row.count("not in use") == 2
    assert "would feed fv-ml1 and fv-edge" in row
    assert " of 900 W" not in row
    segments = [node for node in ElementTree.fromstring(svg).iter(f"{SVG}rect") if has_class(node, "segment")]
    in_rows = [node for node in segments if float(node.get("width", "0")) > 11]
    assert len(in_rows) == 3 + 2 + 1  # the breaker's, the host's, the router's


def has_class(node: ElementTree.Element, word: str) -> bool:
    return word in (node.get("class") or "").split()


def test_the_incident_shows_which_device_gives_and_by_how_much():
    svg = power_svg(power_of(INCIDENT))
    rows = rows_of(svg)
    assert "What if: loaded=2,in_use=fv-ups+fv-ups-inlet" in words_of(svg)
    assert "fv-ups is over its absolute limit." in words_of(svg)
    assert "1,114 of 900 W (124 %), 214 W over" in rows["fv-ups"]
    assert "first to give over its absolute limit" in rows["fv-ups"]
    assert "First to give, at 124 % of its full rating; then fv-ups-inlet at 77 %, fv-20a at 46 %" in rows["fv-ups"]
    assert "2 idle cards of 19.2 W: 38.5 W (7.2 to 125 W), measured" in rows["fv-ml1"]
    assert len([node for node in ElementTree.fromstring(svg).iter(f"{SVG}rect") if has_class(node, "over")]) == 1 + 1


def test_a_host_below_a_ups_stands_below_it_and_only_once():
    names = list(rows_of(power_svg(power_of(INCIDENT))))
    assert names == ["fv-20a", "fv-ups-inlet", "fv-ups", "fv-ml1", "fv-edge"]


def test_bars_are_as_long_as_their_watts(fv):
    """1,500 W of the host against 2,400 W that the breaker can carry at all, on one scale."""
    root = ElementTree.fromstring(power_svg(fv))
    track = next(node for node in root.iter(f"{SVG}rect") if has_class(node, "track"))
    cards = [
        node for node in root.iter(f"{SVG}rect") if has_class(node, "cards") and float(node.get("width", "0")) > 11
    ]
    full = float(track.get("width", "0"))
    assert [float(node.get("width", "0")) / full for node in cards] == pytest.approx([1100 / 2400] * 2, abs=0.001)


def test_standings_are_patterns_too(fv):
    fv = {**fv, "loads": [dict(load) for load in fv["loads"]]}
    host = next(load for load in fv["loads"] if load["name"] == "fv-ml1")
    host["terms"] = [{**term, "standing": "measured"} for term in host["terms"]]
    before, after = (pattern_count(power_svg(power)) for power in (power_of(), fv))
    # cards and machine, each a segment and a swatch, in the breaker's row and in the host's
    assert before["derived"] - after["derived"] == 2 * 2 * 2
    assert before["estimate"] == after["estimate"]


def pattern_count(svg: str) -> dict[str, int]:
    nodes = list(ElementTree.fromstring(svg).iter(f"{SVG}rect"))
    return {word: sum(has_class(node, word) for node in nodes) for word in ("derived", "estimate")}


def test_what_is_measured_now_is_a_second_mark(fv):
    fv = {**fv, "loads": [dict(load) for load in fv["loads"]]}
    host = next(load for load in fv["loads"] if load["name"] == "fv-ml1")
    host["measured"] = {"cards_watts": 1080.4, "bmc_watts": None, "at": "2026-11-30 12:00"}
    svg = power_svg(fv)
    assert "measured: cards 1,080 W (2026-11-30 12:00)" in rows_of(svg)["fv-ml1"]
    marks = [node for node in ElementTree.fromstring(svg).iter(f"{SVG}path") if has_class(node, "now")]
    assert len(marks) == 1 + 1  # and the one of the legend


def test_a_sum_with_an_unknown_load_is_told_as_a_lower_bound(fv):
    fv = {**fv, "devices": [dict(device) for device in fv["devices"]], "loads": [dict(load) for load in fv["loads"]]}
    fv["devices"][0] |= {"unknown_loads": ["fv-ml1"], "verdict": "unknown"}
    host = next(load for load in fv["loads"] if load["name"] == "fv-ml1")
    host |= {"unknown": ["the limit of card 2 of fv-ml1"], "terms": host["terms"][1:]}
    rows = rows_of(power_svg(fv))
    assert "at least 1,625 of 1,920 W continuous (85 %), at most 295 W left" in rows["fv-20a"]
    assert "not wholly known" in rows["fv-20a"]
    assert "Not known, so the sum is a lower bound: fv-ml1" in rows["fv-20a"]
    assert "at least 1,500 W" in rows["fv-ml1"]
    assert "not known: the limit of card 2 of fv-ml1" in rows["fv-ml1"]


def test_a_load_on_two_feeds_is_drawn_once_and_named_on_both(fv):
    second = {**fv["devices"][0], "name": "fv-20b", "loads": ["fv-ml1"], "terms": fv["devices"][0]["terms"][:1]}
    svg = power_svg({**fv, "devices": [*fv["devices"], second]})
    assert words_of(svg).count("on this feed too; counts here in full, its bar stands above") == 1


def test_a_ring_of_devices_and_a_load_on_no_circuit_are_still_shown(fv):
    above = ("fv-ups", "fv-20a", "fv-ups-inlet")
    ring = [{**device, "parents": [other]} for device, other in zip(fv["devices"], above, strict=True)]
    rows = rows_of(power_svg({**fv, "devices": ring}))
    assert set(rows) == {"fv-20a", "fv-ups-inlet", "fv-ups", "fv-ml1", "fv-edge"}
    rows = rows_of(power_svg({**fv, "devices": [], "first_to_give": None, "shared_fate": []}))
    assert set(rows) == {"fv-ml1", "fv-edge"}


def test_a_site_without_anything_is_a_picture_that_says_so(fv):
    nothing = {"site": "bare", "devices": [], "loads": [], "first_to_give": None, "shared_fate": [], "findings": []}
    assert "No circuit is declared." in words_of(power_svg(nothing))
    assert "No circuit is declared." in Page(power_html(nothing)).text


def test_the_picture_is_told_to_who_cannot_see_it(fv):
    root = ElementTree.fromstring(power_svg(fv))
    assert root.get("role") == "img"
    told = {node.get("id"): node.text or "" for node in root if node.get("id")}
    assert root.get("aria-labelledby") == "power-title power-desc"
    assert told["power-title"] == "Power tree of fv"
    desc = told["power-desc"].replace("\u00a0", " ")
    for sentence in ("First to give: fv-20a", "295 W left", "fv-ups (UPS", "not in use", "fv-edge (router): 125 W"):
        assert sentence in desc


def test_the_page_is_one_file_that_runs_and_fetches_nothing(fv):
    page = power_html(fv)
    tags = Page(page).tags
    assert not {"script", "link", "img", "iframe", "object", "image", "use"} & {tag for tag, _ in tags}
    assert not [one for _, given in tags for one in given if one.startswith("on") or one in ("src", "href", "style")]
    assert not re.search(r"@import|url\((?!#)", page)
    policy = next(given["content"] for tag, given in tags if given.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    ids = [given["id"] for _, given in tags if given.get("id")]
    assert len(ids) == len(set(ids))
    assert ids.count("proposal-title") == 1


def test_the_tables_hold_every_figure_and_where_it_comes_from(fv):
    rows = Page(power_html(fv)).rows
    breaker = next(row for row in rows if row[0] == "fv-20a")
    assert breaker[2:9] == [
        "1,625",
        "1,525 to 1,800",
        "1,920",
        "2,400",
        "85",
        "295",
        "within its limits, first to give",
    ]
    figures = [(load["name"], term["how"]) for load in fv["loads"] for term in load["terms"]]
    assert figures
    for name, how in figures:
        assert [row for row in rows if row[0] == name and row[-1] == how], (name, how)


def test_findings_what_is_not_measured_and_the_proposed_feed_stand_on_the_page(fv):
    text = Page(power_html(fv)).text
    assert "power.correlated_recovery" in text
    assert all(one["text"] in text for one in fv["unmeasured"])
    assert "The router and the way in stay up when the cards overload a device." in text
    assert "fv-pdu" in text


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_have_the_contrast_that_wcag_asks_for(palette):
    grounds = [("ink", "surface"), ("muted", "surface"), ("ink", "track"), ("critical", "surface")]
    grounds += [("on_critical", "critical"), ("surface", "ink")]
    grounds += [(f"on_{group}", group) for group in ("cards", "machine", "router", "other")]
    for text, ground in grounds:
        assert contrast(palette[text], palette[ground]) >= 4.5, (text, ground)


def test_segments_differ_on_a_printer_without_colour():
    groups = [LIGHT[group] for group in ("cards", "machine", "router", "other")]
    assert all(contrast(one, next_one) >= 1.3 for one, next_one in itertools.pairwise(groups))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@given(st.text(max_size=80), st.text(min_size=1, max_size=80))
def test_whatever_a_declaration_says_stays_text(summary, name):
    """Markup, control characters, lone surrogates, marks that turn the text around."""
    power = renamed(name, summary)
    root = ElementTree.fromstring(power_svg(power))
    kinds = {node.tag.removeprefix(SVG) for node in root.iter()}
    assert kinds <= SVG_TAGS
    tags = {tag for tag, _ in Page(power_html(power)).tags}
    assert tags <= PAGE_TAGS | SVG_TAGS


def renamed(name: str, summary: str) -> dict[str, Any]:
    term = {"watts": 10.0, "low_watts": 5.0, "high_watts": 20.0, "standing": "estimate", "how": summary}
    load = {**term, "name": name, "kind": "load", "role": "other", "summary": summary}
    device = {
        **{"name": f"{name}'s", "kind": "breaker", "rating_text": summary, "standing": "assumed", "parents": []},
        **{"in_use": True, "absolute_watts": 100.0, "continuous_watts": 80.0, "nominal_watts": 10.0},
        **{"low_watts": 5.0, "high_watts": 20.0, "verdict": "ok", "feeds": [name], "loads": [name]},
        "terms": [{**term, "name": name}],
    }
    return {
        **{"site": name, "summary": summary, "what_if": summary, "devices": [device], "first_to_give": None},
        "loads": [{**load, "terms": [{**term, "name": summary}], "cards": [], "unknown": [], "readings": []}],
        "shared_fate": [],
        "findings": [{"severity": "warning", "code": "power.x", "subject": name, "message": summary, "remedy": name}],
        "unmeasured": [{"load": name, "text": summary}],
    }


def test_the_same_record_gives_the_same_file(fv):
    again = power_of()
    assert power_svg(fv) == power_svg(again)
    assert power_html(fv) == power_html(again)
