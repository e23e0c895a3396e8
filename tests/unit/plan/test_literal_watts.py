"""A watt number has one place; a copy elsewhere is a warning with its file and line.

Protects: texts, labels, environment, comments, scripts and commands are searched, and what belongs into the
declaration of power, or is a dated note, is left alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.project import project_at
from gpu_seats.findings import Finding
from gpu_seats.plan.power.literal_watts import literal_watts_findings

HOST = """\
gpu_seats_host:
  host: box
  site: lab
  summary: a host
  gpus:
    "0":
      model: card
      vram: 97887MiB
      power_limits: {min: 250W, default: 300W, max: 325W}
  power:
    # 313 W is what the BMC reads
    baseline: {watts: 313W, standing: estimate}
    under_load:
      watts: 400W
      standing: estimate
      how: >-
        a guess,
        about 400 W
    caps: {limit: 275W, reason: 275 W is what the circuit takes}
  notes:
    - date: 2026-09-19
      says: 461 W at most
  assumed:
    power.baseline: 390 W less 77 W
"""
SITE = """\
gpu_seats_site:
  site: lab
  summary: a site
  circuits:
    main: {kind: breaker, amps: 20, volts: 120, feeds: [box, nas], standing: confirmed, reason: 1920 W for hours}
  loads:
    nas: {summary: a box of 60 W, watts: {watts: 60W, standing: estimate}}
"""
STACK = """\
stack: chat-seat
host: box
summary: chat
seats:
  chat:
    state: serving
    engine: other
    image: registry.test/chat:1.0
    gpus: ["0"]
    port: 8010
    claim: {vram: 40GiB}
    model: {quantization: NVFP4 W4A16}
    notes:
      - {date: 2026-09-19, says: 62.7 W while idle}
"""


def searched(root: Path, changed: dict[str, str]) -> list[Finding]:
    files = {
        "inventories/production/host_vars/box.yml": HOST,
        "inventories/production/group_vars/site_lab.yml": SITE,
        "stacks/chat-seat/stack.yml": STACK,
        **changed,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = project_at(root.resolve())
    return literal_watts_findings(load_fleet(project.root, project.inventory, project.stacks_dirs), project)


def test_watts_in_their_place_and_in_dated_notes_are_fine(tmp_path: Path) -> None:
    assert searched(tmp_path, {}) == []


STACK_FILE = "stacks/chat-seat/stack.yml"
HOST_FILE = "inventories/production/host_vars/box.yml"
SITE_FILE = "inventories/production/group_vars/site_lab.yml"


@pytest.mark.parametrize(
    ("file", "text", "line", "written"),
    [
        (STACK_FILE, STACK.replace("summary: chat", "summary: chat at 275 W"), 3, "275 W"),
        (STACK_FILE, STACK.replace("    port: 8010", "    port: 8010  # 275W cap"), 10, "275W"),
        (STACK_FILE, STACK + '    environment: {GPU_POWER_LIMIT: "275"}\n', 15, 'GPU_POWER_LIMIT: "275"'),
        (STACK_FILE, STACK + '    labels: {max_watts: "300"}\n', 15, 'max_watts: "300"'),
        (STACK_FILE, STACK + "    reason: more than 0.3 kW would trip it\n", 15, "0.3 kW"),
        (STACK_FILE, STACK + '    command: [nvidia-smi, -pl, "275"]\n', 15, '-pl, "275'),
        (STACK_FILE, STACK + '    command:\n      - nvidia-smi\n      - -pl\n      - "275"\n', 18, '"275'),
        (HOST_FILE, HOST.replace("summary: a host", "summary: a host of 1500 watts"), 4, "1500 watts"),
        (HOST_FILE, HOST.replace("    power.baseline: 390 W less 77 W", "    site: 390 W"), 24, "390 W"),
        (HOST_FILE, HOST + "gpu_power_cap: 275\n", 25, "gpu_power_cap: 275"),
        (SITE_FILE, SITE.replace("summary: a site", "summary: a site of 1920 W"), 3, "1920 W"),
        ("stacks/chat-seat/README.md", "# Chat\n\nRuns at 275 W.\n", 3, "275 W"),
        ("stacks/chat-seat/docker-compose.yml", "services:\n  x:\n    labels: {a: 275W}\n", 3, "275W"),
        ("stacks/chat-seat/files/cap.sh", "#!/bin/sh\nnvidia-smi -i 0 -pl 275\n", 2, "nvidia-smi -i 0 -pl 275"),
        ("stacks/chat-seat/cap.sh", "nvidia-smi --power-limit=275\n", 1, "--power-limit=275"),
        ("stacks/chat-seat/cap.sh", "POWER_CAP=275 ./run\n", 1, "POWER_CAP=275"),
        ("stacks/chat-seat/note.md", "2026-09-19: run nvidia-smi -pl 275\n", 1, "-pl 275"),
        ("inventories/production/group_vars/all.yml", "power_limit_watts: 275\n", 1, "power_limit_watts: 275"),
    ],
)
def test_a_watt_number_elsewhere_is_named_by_file_and_line(
    file: str, text: str, line: int, written: str, tmp_path: Path
) -> None:
    (found,) = searched(tmp_path, {file: text})
    assert (found.code, found.severity, found.subject) == ("power.literal_watts", "warning", f"file:{file}")
    assert found.message.startswith(f"{file}:{line}: ") and written in found.message
    assert (found.evidence["file"], found.evidence["line"]) == (file, line)


@pytest.mark.parametrize(
    "text",
    [
        "NVFP4 W4A16, 4 W4A4 and W8A8 are formats\n",
        "sha256:4b6W5 and a1/7W= are no watts\n",
        "1500 VA, 20 A, 120 V and 3 kWh are no watts\n",
        "2026-09-19: the BMC read 461 W\n",
        "a 12w warranty, 5 Windows, 2 WAN links\n",
        "perl -pl 5 and lines of -plot 3\n",
    ],
)
def test_what_only_looks_like_watts_is_none(text: str, tmp_path: Path) -> None:
    assert searched(tmp_path, {"stacks/chat-seat/README.md": text}) == []


SPELLINGS = """\
275W|275 watts|275 Watts|0.275 kW|0,275 kW|1.6 KW|1.6kw|275-W cap|275-watt limit|275w|~275W|(275W)
4x275W|4 x 275 W|4×275 W
250/300 W|250-300W|+25 W|1,625 W|275&nbsp;W|275W/card|1600 VA or 900 W
nvidia-smi -pl=275|nvidia-smi -pl275|nvidia-smi --power-limit 275|sudo nvidia-smi -i 0 -pm 1 -pl "275"
["sh", "-c", "nvidia-smi -pl 275"]|["nvidia-smi", "--power-limit=275"]|nvidia-smi.exe -pl 275.5
run --power-limit 275|run --gpu-power-limit=275|["run", "--power-limit", "275"]
power_limit: 275|powerLimit: 275|PowerLimit=275|"power_limit": 275|power.limit=275|power limit: 275|power cap = 275
gpu_power_limit_w: 275|POWER_LIMIT_W=275|power_w: 275|MAX_POWER_W=275|max_power: 275|TDP=275|gpu_tdp: 275|wattage: 275
WATTS="275"|export GPU_PL=275|power_budget: 1920|watts_per_card: 275
POWER_LIMIT=${POWER_LIMIT:-275}|power_limit: "{{ 275 }}"|power_limit: [275, 275]
power_limits: {min: 250, default: 300}
nvmlDeviceSetPowerManagementLimit(handle, 275000)|nvidia-settings -a GPUPowerLimit=275
"""
NO_WATTS = """\
W4A16|w4a16|7B-W4|Qwen-W8A8-275B|3 kWh|275 Wh|275 Wh/day|1500 VA|port 8022|http://x:8022/W
--weight 4 --width 5|12 Workers
300 words|24w|a 4 w/o thing|10 W3C specs|x86_64-w64|2w ago|1d 2h 3w|30 wpm|2024-W12|2024 W12|"W": 5|0W-20|sha256:4b6W5
power of 2|power: 5|power users: 5|power_state: 0|POWER9|powerpc64|power8: 2|low_power_mode: 1
max_powers: 3|watts per token
perl -pl 5|apply --pl 3|power_limit_enabled: 1|power_limit_timeout_s: 30|power-cap-interval: 60|power_limits_version: 2
watchdog: 60|--watts-file 3.txt|power_limit: null|power_limit: ""|watts_total 3 files|what it draws in watts:
"""


@pytest.mark.parametrize("text", [one for line in SPELLINGS.splitlines() for one in line.split("|")])
def test_every_spelling_of_a_limit_is_found_in_scripts_settings_and_prose(text: str, tmp_path: Path) -> None:
    (found,) = searched(tmp_path, {"stacks/chat-seat/files/start.sh": f"# first\n{text}\n4 cards\n"})
    assert found.evidence["line"] == 2


@pytest.mark.parametrize("text", [one for line in NO_WATTS.splitlines() for one in line.split("|")])
def test_other_numbers_beside_a_w_or_the_word_power_are_left_alone(text: str, tmp_path: Path) -> None:
    assert searched(tmp_path, {"stacks/chat-seat/files/start.sh": f"# first\n{text}\n4 cards\n"}) == []


def test_a_dated_paragraph_may_name_watts_to_its_end_and_no_further(tmp_path: Path) -> None:
    text = (
        "On 2026-09-19, with all cards idle, the BMC\nread 461 W at most.\n\nThe cap is 275 W.\n\n"
        "- 2026-09-19: 390 W\n  and 412 W on average\n- now 300 W\n"
    )
    found = searched(tmp_path, {"stacks/chat-seat/README.md": text})
    assert [one.evidence["line"] for one in found] == [4, 8]


def test_a_file_full_of_watts_is_told_once_it_is_clear(tmp_path: Path) -> None:
    found = searched(tmp_path, {"stacks/chat-seat/power.csv": "275 W\n" * 50_000})
    assert len(found) == 21 and found[-1].evidence["further_lines"] == 49_980


def test_vaults_pictures_links_and_hidden_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "stacks/chat-seat").mkdir(parents=True)
    (tmp_path / "stacks/chat-seat/logo.png").write_bytes(b"\x89PNG\0 275 W")
    (tmp_path / "elsewhere.md").write_text("275 W\n", encoding="utf-8")
    (tmp_path / "stacks/chat-seat/link.md").symlink_to("../../elsewhere.md")
    changed = {
        "stacks/chat-seat/.draft.md": "275 W\n",
        "inventories/production/group_vars/vault.yml": "$ANSIBLE_VAULT;1.1;AES256\n275 W\n",
    }
    assert searched(tmp_path, changed) == []
