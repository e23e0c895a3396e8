"""The picture of a power tree as a real browser lays it out: nothing overlaps, nothing is cut, bars are to scale.

Protects: a page that is readable as it is delivered, at 1000 px, in light and dark, whatever the size of the site.
Screenshots stay in build/power-screenshots to be looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from headless_chromium import HeadlessChromium
from matplotlib.image import imread
from power_sites import PROJECT, power_of_fv, power_of_many

from gpu_seats.report.power_picture import power_html, power_svg
from gpu_seats.report.power_picture.scale import PLOT_LEFT, PLOT_RIGHT
from gpu_seats.report.power_picture.style import DARK, LIGHT

SCREENSHOTS = PROJECT / "build" / "power-screenshots"
WIDTH = 1000
SLACK = 1.0
"""Pixels: boxes of texts are made of whole line heights, and two lines may touch."""
Box = tuple[float, float, float, float]
CASES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "fv": lambda _: power_of_fv(),
    "fv-on-the-ups": lambda _: power_of_fv("loaded=2,in_use=fv-ups+fv-ups-inlet"),
    "fv-six-cards-at-325": lambda _: power_of_fv("gpus=6,limit=325"),
    "twelve-hosts": power_of_many,
    "long-names": lambda root: power_of_many(root, long_names=True),
}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> HeadlessChromium:
    return HeadlessChromium(tmp_path_factory.mktemp("chromium"))


@pytest.fixture(scope="module", params=CASES)
def drawn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """Name of the case, and its site's power."""
    root = tmp_path_factory.mktemp("site")
    (root / "stacks").mkdir()
    return request.param, CASES[request.param](root)


@pytest.fixture(scope="module")
def measures(chromium: HeadlessChromium, drawn: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return chromium.measures(power_html(drawn[1]), width=WIDTH)


def overlap(one: Box, other: Box) -> bool:
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > SLACK and min(one[3], other[3]) - max(one[1], other[1]) > SLACK
    )


def inside(inner: Box, outer: Box) -> bool:
    return (
        inner[0] >= outer[0] - SLACK
        and inner[1] >= outer[1] - SLACK
        and inner[2] <= outer[2] + SLACK
        and inner[3] <= outer[3] + SLACK
    )


def texts_of(measures: dict[str, Any], word: str) -> Iterator[dict[str, Any]]:
    return (one for one in measures["texts"] if word in one["class"].split())


def test_a_page_of_1000_pixels_needs_no_scrolling_sideways(measures):
    assert measures["width"] == WIDTH
    assert measures["scroll_width"] <= WIDTH
    assert all(table["needs"] <= table["room"] for table in measures["tables"]), measures["tables"]


def test_the_page_runs_nothing_and_fetches_nothing(measures):
    assert (measures["scripts"], measures["fetched"]) == (1, 0)  # the one script is the measuring one


def test_every_text_has_a_place_of_its_own_in_its_picture(measures):
    texts = measures["texts"]
    assert len(texts) > 30
    assert all(one["box"][2] > one["box"][0] for one in texts if one["text"].strip()), "a text was not drawn"
    outside = [one for one in texts if not any(inside(one["box"], svg) for svg in measures["pictures"])]
    assert outside == []
    hit = [(a["text"], b["text"]) for a, b in itertools.combinations(texts, 2) if overlap(a["box"], b["box"])]
    assert hit == []


def test_names_keep_to_their_column_and_marks_to_their_frames(measures):
    scale = (measures["pictures"][0][2] - measures["pictures"][0][0]) / 1000
    for name in texts_of(measures, "name"):
        assert name["box"][2] <= PLOT_LEFT * scale + SLACK, name["text"]
    pills = [one["box"] for one in measures["rects"] if "pill" in one["class"].split()]
    words = list(texts_of(measures, "in-pill"))
    assert len(words) == len(pills)
    assert [one["text"] for one in words if not any(inside(one["box"], pill) for pill in pills)] == []


def test_a_segment_holds_the_word_that_names_it(measures):
    for group in ("cards", "machine", "router", "other"):
        segments = [one["box"] for one in measures["rects"] if {"segment", group} <= set(one["class"].split())]
        for word in texts_of(measures, f"on-{group}"):
            left, top, right, bottom = word["box"]
            middle = ((top + bottom) / 2) - 1
            core = (left, middle, right, middle + 2)
            assert any(inside(core, segment) for segment in segments), word


def test_no_limit_mark_crosses_a_text(measures):
    limits = [one["box"] for one in measures["lines"] if "limit" in one["class"].split()]
    crossed = [one["text"] for one in measures["texts"] for mark in limits if overlap(one["box"], widened(mark, SLACK))]
    assert crossed == []


def widened(box: Box, by: float) -> Box:
    return (box[0] - by, box[1], box[2] + by, box[3])


def test_all_bars_share_one_scale_of_watts(measures, drawn):
    """What the browser drew, in pixels, against the watts of the record."""
    power = drawn[1]
    most = max(
        watts
        for one in (*power["devices"], *power["loads"])
        for watts in (one.get("absolute_watts"), one.get("high_watts"))
        if watts
    )
    pixels_per_watt = (PLOT_RIGHT - PLOT_LEFT) / most
    picture = measures["pictures"][0]
    tracks = [box for box in boxes_of(measures, "track") if inside(box, picture)]
    expected = sorted(one["absolute_watts"] * pixels_per_watt for one in power["devices"])
    assert sorted(right - left for left, _, right, _ in tracks) == pytest.approx(expected, abs=0.2)
    cards = [box for box in boxes_of(measures, "cards") if inside(box, picture) and box[2] - box[0] > 12]
    carried = [
        term["watts"] * pixels_per_watt
        for load in power["loads"]
        for term in load["terms"]
        if term["name"].endswith(("card", "cards")) and term["watts"] * pixels_per_watt > 12
    ]
    widths = sorted(right - left for left, _, right, _ in cards)
    for width in carried:
        assert any(abs(width - drawn_width) < 0.2 for drawn_width in widths), (width, widths)


def boxes_of(measures: dict[str, Any], word: str) -> list[Box]:
    return [tuple(one["box"]) for one in measures["rects"] if word in one["class"].split()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_screenshot_shows_it_in_the_readers_colours(chromium, drawn, measures, scheme):
    name, power = drawn
    picture = chromium.screenshot(
        power_html(power),
        SCREENSHOTS / f"{name}-{scheme}.png",
        width=WIDTH,
        height=int(measures["height"]),
        dark=scheme == "dark",
    )
    pixels = imread(picture)
    palette = LIGHT if scheme == "light" else DARK
    assert pixels.shape[1] == WIDTH
    shares = {key: share_of(pixels, palette[key]) for key in ("surface", "ink", "cards", "machine")}
    assert shares["surface"] > 0.5, shares
    assert all(share > 0.0003 for share in shares.values()), shares
    segments = [one for one in measures["rects"] if {"segment", "cards"} <= set(one["class"].split())]
    left, top, right, bottom = max((one["box"] for one in segments), key=lambda box: box[2] - box[0])
    bar = pixels[int(top) + 2 : int(bottom) - 2, int(left) + 2 : int(right) - 2]
    assert share_of(bar, palette["cards"]) > 0.3


def share_of(pixels: Any, colour: str) -> float:
    """Which part of the pixels has exactly this colour."""
    wanted = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return float((abs(pixels[:, :, :3] - wanted).max(axis=2) < 0.004).mean())


def test_the_svg_alone_shows_the_same(chromium, drawn):
    """It brings its own style, in a page that has none."""
    page = f"<!DOCTYPE html><html><body style='margin:0'>{power_svg(drawn[1])}</body></html>"
    measures = chromium.measures(page, width=WIDTH)
    assert measures["scroll_width"] <= WIDTH
    texts = measures["texts"]
    assert [one["text"] for one in texts if not inside(one["box"], measures["pictures"][0])] == []
    assert [(a["text"], b["text"]) for a, b in itertools.combinations(texts, 2) if overlap(a["box"], b["box"])] == []
