"""What the pages say is true: codes exist, commands parse, links lead somewhere, the reference is current."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from small_project import Outcome

from gpu_seats.catalogue import CATALOGUE
from gpu_seats.cli.main import command_parser
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


def declared(page: str) -> str:
    """The YAML example of a how-to page, as a reader would copy it."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    block = next(block for _, block in FENCED.findall(text) if block.lstrip().startswith("# yaml-language-server"))
    return textwrap.dedent(block)


def test_the_seat_of_the_page_lints_in_the_fleet_of_the_project(
    tmp_path: Path, gpu_seats: Callable[..., Outcome]
) -> None:
    stack = yaml.safe_load(declared("add-a-seat.md"))
    directory = tmp_path / stack["stack"]
    directory.mkdir()
    (directory / "stack.yml").write_text(declared("add-a-seat.md"), encoding="utf-8")
    outcome = gpu_seats(
        "lint", "--root", str(PROJECT), "--stacks-dir", str(PROJECT / "stacks"), "--stacks-dir", str(tmp_path)
    )
    assert outcome.code == 0, outcome.err or outcome.out


def test_the_host_of_the_page_lints_beside_a_seat(project: Path, gpu_seats: Callable[..., Outcome]) -> None:
    uuid = "GPU-00000002-0000-4000-8000-000000000000"
    text = declared("add-a-host.md").replace("GPU-...", uuid).replace("site: fv", "site: lab")
    (project / "inventories" / "production" / "host_vars" / "fv-ml2.yml").write_text(text, encoding="utf-8")
    outcome = gpu_seats("lint")
    assert outcome.code == 0, outcome.err or outcome.out
    assert "2 hosts" in outcome.out
