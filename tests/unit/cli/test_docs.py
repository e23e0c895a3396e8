"""What the pages say is true: codes exist, commands parse, links lead somewhere, the reference is current."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gpu_seats.cli.main import command_parser
from gpu_seats.findings import CATALOGUE
from gpu_seats.report.findings_markdown import findings_markdown

PROJECT = Path(__file__).resolve().parents[3]
REFERENCE = PROJECT / "docs" / "findings.md"
PAGES = [*sorted(path for path in (PROJECT / "docs").glob("*.md")), PROJECT / "README.md"]
AREAS = sorted({code.partition(".")[0] for code in CATALOGUE})
CODE = re.compile(rf"`((?:{'|'.join(AREAS)})\.(?!yml)[a-z_]+)`")
DECLARED_KEYS = {"model.weights", "model.path"}
FENCED = re.compile(r"^( *)```[a-z]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

pages = pytest.mark.parametrize("page", [path for path in PAGES if path.exists()], ids=lambda path: path.name)


def test_the_findings_reference_is_what_the_catalogue_says() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == findings_markdown(CATALOGUE), "stale: run `make docs`"


@pages
def test_every_code_that_a_page_names_is_registered(page: Path) -> None:
    named = set(CODE.findall(page.read_text(encoding="utf-8")))
    assert named <= set(CATALOGUE) | DECLARED_KEYS


@pages
def test_every_command_that_a_page_shows_is_accepted(page: Path) -> None:
    blocks = FENCED.findall(page.read_text(encoding="utf-8"))
    lines = [line.strip() for _, block in blocks for line in block.splitlines()]
    for line in lines:
        words = shlex.split(line.partition(" #")[0].partition("|")[0].removeprefix("$ "), comments=True) if line else []
        if words and words[0].removeprefix(".venv/bin/") == "gpu-seats":
            command_parser().parse_args(words[1:])


@pages
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_index_links_of_the_reference_lead_to_headings() -> None:
    text = findings_markdown(CATALOGUE)
    headings = {heading.replace(".", "").lower() for heading in re.findall(r"^##+ (.+)$", text, re.MULTILINE)}
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert links and links <= headings
