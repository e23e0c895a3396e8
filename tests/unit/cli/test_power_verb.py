"""``gpu-seats power``: the tree of a site as text and as JSON, questions beside it, and refusals.

Protects: the text stays readable in 100 columns and carries every figure of the sum, the exit code follows the limits,
and what cannot be asked is refused with what can.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small_project import SITE, Outcome, write

from gpu_seats.cli.answer import FINDINGS, FINE, USAGE

ROOT = Path(__file__).parents[3]
GpuSeats = Callable[..., Outcome]


@pytest.fixture
def production(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("production")
def test_the_tree_of_a_site(gpu_seats: GpuSeats) -> None:
    outcome = gpu_seats("power", "--site", "fv")
    assert outcome.code == FINE, "shared fate is a warning"
    for part in (
        "fv-20a  breaker, 20 A x 120 V = 2400 W, for hours 80 % = 1920 W",
        "worst case 1625 W, 85 % of 1920 W, 295 W left: ok; range 1525 to 1800 W, 79 to 94 %",
        "├─ fv-ml1  1500 W, derived",
        "1100 W  4 cards, 4 x 275 W, derived",
        "400 W  machine under load, derived",
        "0 to 150 W  supply loss, estimate",
        "├─ fv-edge  125 W, estimate, 25 to 150 W, router",
        "   └─ fv-ups  ups, 1500 VA x 0.6 = 900 W (assumed); not in use",
        "First to give: fv-20a, at 68 % of the 2400 W",
        "when fv-20a opens: fv-ml1, fv-edge go dark, and with them router fv-edge and the BMC of fv-ml1",
        "Proposed feed, which separates the way in from the load",
        "treat 1650 W on the circuit as a floor",
        "power.correlated_recovery",
    ):
        assert part in " ".join(outcome.out.split("\n    ")), part


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("question", [[], ["--what-if", "loaded=2,in_use=fv-ups+fv-ups-inlet"]])
def test_no_line_is_wider_than_a_page(gpu_seats: GpuSeats, question: list[str]) -> None:
    lines = gpu_seats("power", "--site", "fv", *question).out.splitlines()
    assert lines and max(map(len, lines)) <= 100
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.usefixtures("production")
def test_a_question_is_answered_beside_what_is_declared(gpu_seats: GpuSeats) -> None:
    outcome = gpu_seats("power", "--site", "fv", "--what-if", "loaded=2,in_use=fv-ups+fv-ups-inlet")
    assert outcome.code == FINDINGS
    head = outcome.out.splitlines()[:5]
    assert head[0] == "what if loaded=2,in_use=fv-ups+fv-ups-inlet"
    assert [" ".join(line.split()) for line in head[1:]] == [
        "device before share after share left verdict",
        "fv-20a 1625 W 85 % 1113.5 W 58 % 806.5 W ok",
        "fv-ups-inlet - - 1113.5 W 77 % 326.5 W ok",
        "fv-ups - - 1113.5 W 124 % -213.5 W over its absolute limit",
    ]
    assert "First to give: fv-ups, at 124 % of the 900 W" in outcome.out


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize(
    ("question", "code"), [("limit=300", FINE), ("limit=325", FINDINGS), ("gpus=8", FINDINGS), ("out=fv-edge", FINE)]
)
def test_the_exit_code_follows_the_limits(gpu_seats: GpuSeats, question: str, code: int) -> None:
    assert gpu_seats("power", "--site", "fv", "--what-if", question).code == code


@pytest.mark.usefixtures("production")
def test_json_carries_both_sides_of_a_question(gpu_seats: GpuSeats) -> None:
    plain = json.loads(gpu_seats("power", "--site", "fv", "--json").out)
    asked = json.loads(gpu_seats("power", "--site", "fv", "--what-if", "gpus=4,limit=300", "--json").out)
    assert asked["before"] == plain and asked["what_if"] == "gpus=4,limit=300"
    assert plain["devices"][0]["headroom_watts"] == 295 and asked["devices"][0]["headroom_watts"] == 195


@pytest.mark.usefixtures("production")
def test_questions_may_be_given_several_times(gpu_seats: GpuSeats) -> None:
    once = gpu_seats("power", "--what-if", "gpus=4,limit=300", "--json").out
    assert gpu_seats("power", "--what-if", "gpus=4", "--what-if", "limit=300", "--json").out == once


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--site", "vf"], ["--site vf: no such site is declared", "allowed: ana, fv, irv, nh3, sf"]),
        (["--what-if", "gpu=4"], ["--what-if 'gpu' cannot be asked", "did you mean gpus?", "limit=<watts>"]),
        (["--what-if", "in_use=fv-up"], ["in_use=fv-up names nothing of this site", "fv-ups"]),
        (["--html", "/no/such/place/x.html"], ["--html /no/such/place/x.html: there is no directory"]),
        (["--html", "/proc/x.html"], ["--html /proc/x.html: cannot be written: "]),
        (["--svg", "/dev/full"], ["--svg /dev/full: cannot be written: Is a device or a pipe, no file"]),
        (["--html", ""], ["--html .: cannot be written: Is a directory"]),
    ],
)
def test_what_cannot_be_answered_is_refused(gpu_seats: GpuSeats, arguments: list[str], told: list[str]) -> None:
    outcome = gpu_seats("power", *arguments)
    assert outcome.code == USAGE and outcome.out == ""
    assert all(part in outcome.err for part in told), outcome.err


def test_a_site_must_be_named_where_none_declares_circuits(project: Path, gpu_seats: GpuSeats) -> None:
    assert "which site? name it with --site; allowed: lab" in gpu_seats("power").err
    outcome = gpu_seats("power", "--site", "lab")
    assert outcome.code == FINE and "declares no circuits" in outcome.out


def test_a_load_on_a_circuit_that_nobody_knows_is_told(project: Path, gpu_seats: GpuSeats) -> None:
    main = {"kind": "breaker", "amps": 20, "volts": 120, "feeds": ["box1"], "standing": "confirmed", "reason": "r"}
    site = {"gpu_seats_site": {**SITE, "circuits": {"main": main}}}
    write(project / "inventories/production/group_vars/site_lab.yml", site)
    outcome = gpu_seats("power")
    assert outcome.code == FINDINGS
    assert "worst case at least 0 W, 0 % of 1920 W, at most 1920 W left: not wholly known" in outcome.out
    assert "box1  ?, unknown" in outcome.out
    assert "not declared: the limit of card 0 of box1" in outcome.out
    lint = gpu_seats("lint")
    assert lint.code == FINDINGS and "power.load_unknown" in lint.out


def test_lint_names_a_watt_number_by_file_and_line(project: Path, gpu_seats: GpuSeats) -> None:
    (project / "stacks/chat-seat/README.md").write_text("# Chat\n\nCapped at 275 W.\n", encoding="utf-8")
    outcome = gpu_seats("lint")
    assert outcome.code == FINE
    assert "power.literal_watts" in outcome.out and "stacks/chat-seat/README.md:3: 275 W" in outcome.out


@pytest.mark.usefixtures("production")
def test_the_picture_is_written_where_it_is_asked_for(gpu_seats: GpuSeats, tmp_path: Path) -> None:
    page, sheet = tmp_path / "fv.html", tmp_path / "fv.svg"
    outcome = gpu_seats("power", "--site", "fv", "--html", str(page), "--svg", str(sheet))
    assert outcome.code == FINE
    assert outcome.out.endswith(f"written: {page}\nwritten: {sheet}\n")
    assert sheet.read_text(encoding="utf-8").startswith("<svg") and "fv-20a" in page.read_text(encoding="utf-8")
