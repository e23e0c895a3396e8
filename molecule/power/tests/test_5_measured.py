"""A measurement: its plug pulled in the middle, gone on with, proposed as a diff; and one that its threshold ends."""

from __future__ import annotations

import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from outside.lab_host import CARDS
from outside.plays import PROJECT, Run, run_playbook, started_playbook

FOLDER = "/tank/gpu-seats/power"
HOST_FILE = PROJECT / "inventories" / "production" / "host_vars" / "fv-ml1.yml"
EVERY_S = 0.3
QUICK = ("-e", "load_command='gpu-sim load {index}'", "-e", f"settle_s=0.3 hold_s=1 every_s={EVERY_S}")
SAMPLER = "gpu-seats-power-sampler.service"


def measure(*arguments: str) -> Run:
    """The verb under test, with short times."""
    return run_playbook("playbooks/power-measure.yml", *QUICK, *arguments)


def files(lab) -> list[str]:
    """Files of measurements, oldest first."""
    return lab.sh(f"ls {FOLDER}/measure-*.jsonl", ok=False).splitlines()


def whole(lines: list[str]) -> list[dict[str, Any]]:
    """The records whose checksum is right; a line that was cut off has none."""
    records = []
    for line in lines:
        body, mark, crc = line.rpartition(',"crc":"')
        if mark and crc == f'{zlib.crc32((body + "}").encode()):08x}"}}':
            records.append(json.loads(line))
    return records


def seconds(record: dict[str, Any]) -> float:
    return datetime.fromisoformat(record["t"]).timestamp()


def draw_watts(lab, card: str) -> float:
    return float(lab.sh(f"nvidia-smi -i {CARDS[card]} --query-gpu=power.draw --format=csv,noheader,nounits"))


def loads(lab) -> str:
    """Processes that load a card."""
    return lab.sh("pgrep --full --list-full '^[^ ]*python3 [^ ]*gpu-sim load'; true")


@dataclass(frozen=True)
class CutOff:
    """A measurement whose host lost its power. before, after: lines of the file before the cut and after the boot."""

    run: Run
    file: str
    before: list[str]
    after: list[str]
    cut_at_s: float


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """Where the measurements here put their samples, plots and diffs."""
    return tmp_path_factory.mktemp("measured")


@pytest.fixture(scope="module")
def cut_off(lab, out) -> CutOff:
    """Every process of the host killed at once while two cards are under load."""
    lab.sh(f"rm -f {FOLDER}/measure-*")
    arguments = (*QUICK, "-e", f"out={out}")
    with started_playbook(PROJECT, "playbooks/power-measure.yml", *arguments) as process:
        loaded = f'grep -q \'"kind":"step","t":"[^"]*","number":2\' {FOLDER}/measure-*.jsonl && echo yes'
        lab.wait("two cards are loaded", lambda: lab.sh(loaded, ok=False) == "yes", 60)
        [file] = files(lab)
        before = lab.sh(f"cat {file}").split("\n")
        lab.reboot(crash=True)
        printed, _ = process.communicate(timeout=120)
    finished = ["docker", "inspect", "--format", "{{.State.FinishedAt}}",
                os.environ.get("GPU_SEATS_LAB_CONTAINER", "gpu-seats-fv-ml1")]  # fmt: skip
    cut_at = subprocess.check_output(finished, text=True, timeout=20).strip()[:26] + "+00:00"
    after = lab.sh(f"cat {file}").split("\n")
    return CutOff(
        Run(process.returncode, printed, 0.0), file, before, after, datetime.fromisoformat(cut_at).timestamp()
    )


def test_what_was_written_before_the_cut_is_there_after_it(cut_off: CutOff):
    """Protects: a sample that was taken is on the disk; the cut costs the one that was in the making, no more."""
    assert cut_off.after[: len(cut_off.before)] == cut_off.before
    records = whole(cut_off.after)
    assert len(cut_off.after) - len(records) <= 1
    times = [seconds(one) for one in records if one["kind"] == "sample"]
    slowest_s = max(later - earlier for earlier, later in zip(times, times[1:]))
    assert len(times) > 4 and cut_off.cut_at_s - times[-1] < 2 * max(slowest_s, EVERY_S) + 1


def test_the_load_does_not_outlive_the_cut_and_the_caps_are_back(lab, cut_off: CutOff):
    """Protects: nothing loads a card while nobody watches, least of all a host that has just lost its power."""
    assert loads(lab) == ""
    assert all(draw_watts(lab, card) < 20 for card in "01")
    assert set(lab.limits().values()) == {"275.00"}


def test_the_run_says_that_the_host_went_away(cut_off: CutOff):
    assert cut_off.run.rc != 0
    shown = cut_off.run.finding("power.measure_ended", "host:fv-ml1")
    assert "the host was booted while it was measured" in shown.message and "goes on at the step" in shown.remedy


@pytest.fixture(scope="module")
def resumed(lab, cut_off: CutOff, out) -> Run:
    """The same measurement, run again."""
    host_file = HOST_FILE.read_bytes()
    run = measure("-e", f"out={out}")
    assert run.rc == 0, run.out
    assert HOST_FILE.read_bytes() == host_file
    return run


def test_the_next_run_goes_on_at_the_step_that_was_open(lab, cut_off: CutOff, resumed: Run):
    """Protects: what was measured is not loaded again; the file goes on behind what the cut left of it."""
    assert files(lab) == [cut_off.file]
    text = lab.sh(f"cat {cut_off.file}").split("\n")
    assert text[: len(cut_off.after) - 1] == cut_off.after[:-1]
    records = whole(text)
    assert [one["number"] for one in records if one["kind"] == "step_end"] == [0, 1, 2, 3, 4]
    second = max(number for number, one in enumerate(records) if one["kind"] == "run")
    assert [one["number"] for one in records[second:] if one["kind"] == "step"] == [2, 3, 4]
    assert records[-1]["kind"] == "end" and records[-1]["complete"] is True


def test_the_measured_figures_are_proposed_and_not_applied(resumed: Run, out):
    """Protects: the declaration gets better by a diff that somebody reviews, and by nothing else."""
    resumed.says("proposed for the host file, applied by nobody")
    [diff] = out.glob("*.diff")
    text = diff.read_text(encoding="utf-8")
    assert "\n--- a/inventories/production/host_vars/fv-ml1.yml\n" in text
    added = [line for line in text.splitlines() if line.startswith("+ ")]
    assert "+      standing: measured" in added
    assert any("maximum: 1500W" in line for line in added)
    assert any("BMC (ipmitool dcmi) less the cards at the same samples" in line for line in added)
    subprocess.run(["git", "apply", "--check", str(diff)], cwd=PROJECT, check=True, timeout=20)


def test_the_plot_is_written(resumed: Run, out):
    pictures = sorted(out.glob("*.png"))
    assert pictures and pictures[-1].read_bytes().startswith(b"\x89PNG\r\n")
    assert ElementTree.parse(pictures[-1].with_suffix(".svg")).getroot().tag.endswith("svg")


def test_the_threshold_ends_the_load_with_the_sample_that_is_over_it(lab, resumed: Run, out):
    """Protects: the load goes first; one sample over the threshold is seen, no second one under load."""
    run = measure("-e", f"out={out}", "-e", "cards=0 stop_at_watts=600")
    assert run.rc != 0
    shown = run.finding("power.measure_over_threshold", "host:fv-ml1")
    assert "is over the stop threshold of 600 W" in shown.message and shown.remedy
    assert loads(lab) == "" and lab.sh("systemctl --failed --no-legend --plain") == ""
    records = whole(lab.sh(f"cat {files(lab)[-1]}").split("\n"))
    under_load = [one for one in records if one["kind"] == "sample" and one["phase"] != "after"]
    assert [one["total_watts"] > 600 for one in under_load] == [False] * (len(under_load) - 1) + [True]
    assert draw_watts(lab, "0") < 20


def test_check_mode_shows_every_step_and_loads_nothing(lab, resumed: Run, out):
    before = files(lab)
    run = measure("--check", "-e", f"out={out}/check", "-e", "fresh=true")
    assert run.rc == 0, run.out
    run.says("step 4 of 4, at worst with cards 0, 1, 2, 3 loaded: host 1500 W", "fv-20a 1625 W")
    assert files(lab) == before and loads(lab) == "" and not (out / "check").exists()


def test_the_sampler_runs_beside_anything_and_goes_without_its_samples(lab):
    """Protects: power.log of the incident. What a host drew before a cut is on its pool."""
    present = run_playbook("playbooks/power-measure.yml", "-e", "sampler=present")
    assert present.rc == 0, present.out
    try:
        assert lab.unit(SAMPLER, "ActiveState", "UnitFileState") == {
            "ActiveState": "active",
            "UnitFileState": "enabled",
        }
        newest = f"ls -t {FOLDER}/*.jsonl | head -1 | xargs tail -n 1"
        lab.wait("a sample is written", lambda: f'"uuid":"{CARDS["3"]}"' in lab.sh(newest, ok=False), 15)
        [sample] = whole([lab.sh(newest)])
        assert len(sample["cards"]) == 4 and sample["bmc_watts"] > 300
    finally:
        absent = run_playbook("playbooks/power-measure.yml", "-e", "sampler=absent")
    assert absent.rc == 0, absent.out
    assert lab.unit(SAMPLER, "LoadState") == {"LoadState": "not-found"}
    assert lab.sh(newest) != ""
