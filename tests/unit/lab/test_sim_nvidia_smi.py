"""The simulated nvidia-smi prints what the captured real ones printed, with their return codes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from gpu_sim import claims, control, faults, machine, smi

from gpu_seats.observe.nvidia.parse import parse_nvidia_smi

CAPTURES = Path(__file__).resolve().parents[1] / "data/captures/nvidia-smi"
ALL_FIELDS = (
    "index,uuid,name,pci.bus_id,driver_version,persistence_mode,mig.mode.current,power.management,power.draw,power.limit,"
    "enforced.power.limit,power.default_limit,power.min_limit,power.max_limit,memory.total,memory.used,temperature.gpu,"
    "utilization.gpu,fan.speed,ecc.mode.current,pstate"
)
UUID_2 = "GPU-5e7a0002-c0de-4000-8000-000000000002"


def captured(name: str) -> tuple[str, int]:
    """Text and return code of a capture: the lines that start with ``# $`` and ``# rc=`` are notes."""
    text = (CAPTURES / name).read_text(encoding="utf-8")
    code = re.search(r"^# rc=(\d+)$", text, re.M)
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("# $", "# rc=")))
    return body, int(code[1]) if code else 0


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, int]:
    code = smi.main(list(arguments))
    return capsys.readouterr().out, code


def boot_with_bus(number: str) -> None:
    machine.boot([{"index": 0, "uuid": "GPU-x", "bus_id": f"00000000:{number}:00.0"}])


@pytest.mark.parametrize(
    ("capture", "fault", "argument", "bus"),
    [
        ("err-gpu-lost.txt", "gpu-lost", "0", "41"),
        ("err-gpu-unknown.txt", "gpu-unknown-error", "0", "0B"),
        ("err-gpu-unknown-noblank.txt", "gpu-unknown-error-noblank", "0", "07"),
        ("err-no-devices.txt", "no-devices", None, "41"),
        ("err-nvml-mismatch.txt", "nvml-mismatch", "580.95", "41"),
        ("err-nvml-mismatch-oneline.txt", "nvml-mismatch-oneline", None, "41"),
    ],
)
@pytest.mark.parametrize("arguments", [["-L"], ["-q", "-x"], ["--query-gpu=index", "--format=csv"], []])
def test_failure_texts_are_the_captured_ones(
    cards: Path,
    capsys: pytest.CaptureFixture[str],
    capture: str,
    fault: str,
    argument: str | None,
    bus: str,
    arguments: list[str],
) -> None:
    boot_with_bus(bus)
    control.switch_on(fault, argument)
    assert run(capsys, *arguments) == captured(capture)


def test_unknown_field_fails_the_whole_query(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = "--query-gpu=index,clocks_throttle_reasons.unknown"
    assert run(capsys, fields, "--format=csv") == captured("err-invalid-field.txt")
    control.switch_on("invalid-field", "ecc.mode.current")
    text, code = run(capsys, f"--query-gpu={ALL_FIELDS}", "--format=csv")
    assert (text, code) == ('Field "ecc.mode.current" is not a valid field to query.\n\n', 2)


def test_driver_that_is_not_loaded(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control.switch_on("driver-down", None)
    assert run(capsys, "--version") == (faults.DRIVER_DOWN, 9)


def test_healthy_cards_still_answer_when_another_is_lost(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control.switch_on("gpu-lost", "2")
    assert run(capsys, "-L")[1] == 15
    text, code = run(capsys, "-i", "GPU-5e7a0003-c0de-4000-8000-000000000003", "-L")
    assert code == 0 and text.startswith("GPU 3: ")
    assert run(capsys, "-i", UUID_2, "-L")[1] == 15


def test_version_and_table_header_of_driver_610(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control.switch_on("driver-610", None)
    assert run(capsys, "--version") == captured("version-610.txt")
    assert captured("table-header-610.txt")[0] in run(capsys)[0]


def test_table_cells_of_a_card_that_cannot_be_read(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    real_first, real_second = captured("table-err-cell.txt")[0].splitlines()
    control.switch_on("err-values", "2")
    lines = run(capsys)[0].splitlines()
    at = lines.index(real_second)
    assert [i for i, c in enumerate(lines[at - 1]) if c == "|"] == [i for i, c in enumerate(real_first) if c == "|"]
    assert {len(line) for line in lines if line.startswith(("|", "+"))} == {len(real_second)}


@pytest.mark.parametrize("capture", ["csv-l40s-595.80-util100-noproc.txt", "csv-rtx2080s-610.txt"])
def test_csv_header_and_units_are_the_captured_ones(
    cards: Path, capsys: pytest.CaptureFixture[str], capture: str
) -> None:
    header, row = captured(capture)[0].splitlines()
    lines = run(capsys, f"--query-gpu={ALL_FIELDS}", "--format=csv")[0].splitlines()
    assert lines[0] == header
    units = [re.sub(r"^-?[\d.]+", "", cell) for cell in row.split(", ")]
    ours = [re.sub(r"^-?[\d.]+", "", cell) for cell in lines[1].split(", ")]
    for name, real, simulated in zip(header.split(", "), units, ours):
        if "[" in name:
            assert simulated == real or real.startswith("["), name


def test_mig_card_has_numbers_for_power_and_none_for_utilisation(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    control.switch_on("mig-enabled", "0")
    real = captured("csv-h100-mig-590-noheader-nounits.txt")[0].strip().split(", ")
    text = run(capsys, "-i", "0", f"--query-gpu={ALL_FIELDS}", "--format=csv,noheader,nounits")[0]
    ours = dict(zip(ALL_FIELDS.split(","), text.strip().split(", ")))
    theirs = dict(zip(ALL_FIELDS.split(","), real))
    for name in ("mig.mode.current", "utilization.gpu", "power.management"):
        assert ours[name] == theirs[name]
    assert float(ours["power.draw"]) > 0


def test_process_query_without_and_with_processes(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = "timestamp,gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,pid,process_name,used_gpu_memory"
    arguments = (f"--query-compute-apps={fields}", "--format=csv")
    assert run(capsys, *arguments) == captured("compute-apps-empty-header-only.txt")
    control.hold_memory(machine.load_machine().cards[1], 500, "a desktop.exe", 0.0)
    control.switch_on("compute-apps-na", None)
    header, row = run(capsys, *arguments)[0].splitlines()
    real = captured("compute-apps-wddm-na-memory.txt")[0].splitlines()
    assert header == real[0]
    pattern = r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}, NVIDIA [^,]+, [0-9A-F:.]+, [^,]+, GPU-[^,]+, \d+, [^,]+, \[N/A\]"
    assert re.fullmatch(pattern, row) and all(re.fullmatch(pattern, line) for line in real[1:])


def tag_paths(element: ElementTree.Element, prefix: str = "") -> set[str]:
    paths = set()
    for child in element:
        paths |= {f"{prefix}/{child.tag}"} | tag_paths(child, f"{prefix}/{child.tag}")
    return paths


def test_every_xml_element_is_one_that_real_drivers_print(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control.hold_memory(machine.load_machine().cards[0], 500, "python", 0.0)
    real = set()
    for path in sorted(CAPTURES.glob("xml-v*.xml")):
        real |= tag_paths(ElementTree.fromstring(path.read_bytes()))
    text, code = run(capsys, "-q", "-x")
    ours = ElementTree.fromstring(text)
    assert code == 0 and len(ours.findall("gpu")) == 4
    assert tag_paths(ours) - real - {p for p in tag_paths(ours) if "/process_info" in p} == set()


def card_facts(parsed: Any) -> list[tuple[Any, ...]]:
    kept = [r for r in parsed.records if type(r).__name__ == "GpuCard"]
    return [(c.uuid, c.bus_id, c.memory_total_mib, c.memory_used_mib, c.power_limit_watts) for c in kept]


def test_csv_xml_and_text_say_the_same_to_the_projects_own_parser(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "-i", "2", "-pl", "275")
    control.hold_memory(machine.load_machine().cards[2], 93 * 1024, "engine", 30.0)
    csv, xml, text = (
        card_facts(parse_nvidia_smi(run(capsys, *arguments)[0], rc=0))
        for arguments in ([f"--query-gpu={ALL_FIELDS}", "--format=csv"], ["-q", "-x"], ["-q"])
    )
    assert csv == xml == text and len(csv) == 4
    assert csv[2] == (UUID_2, csv[2][1], 97887, 95232, 275.0)


def test_swapped_index_keeps_uuids(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control.switch_on("index-swap", "3")
    lines = run(capsys, "--query-gpu=index,uuid", "--format=csv,noheader")[0].splitlines()
    assert lines[0] == "0, GPU-5e7a0003-c0de-4000-8000-000000000003"
    assert lines[3] == "3, GPU-5e7a0000-c0de-4000-8000-000000000000"


def test_values_that_are_words_keep_their_brackets(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for fault, word in (
        ("na-values", "[N/A]"),
        ("deprecated-values", "[Requested functionality has been deprecated]"),
    ):
        control.switch_on(fault, "0")
        text = run(capsys, "-i", "0", "--query-gpu=power.limit", "--format=csv,noheader")[0]
        assert text == f"{word}\n"
        faults.clear_faults()
    control.switch_on("err-values", "0")
    text = run(capsys, "-i", "0", "--query-gpu=power.draw,fan.speed", "--format=csv,noheader")[0]
    assert text == "[Unknown Error], [Unknown Error]\n"


def test_memory_adds_up_with_the_drivers_reserve(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uuid = machine.load_machine().cards[3].uuid
    held = claims.HeldClaim(uuid, "engine", "VLLM::EngineCore", 2048, 20.0)
    query = "--query-gpu=memory.total,memory.reserved,memory.used,memory.free"
    total, reserved, used, free = map(
        int, run(capsys, "-i", "3", query, "--format=csv,noheader,nounits")[0].split(", ")
    )
    held.release()
    assert (total, reserved, used) == (97887, 640, 2048) and free == total - reserved - used


def test_help_says_that_it_is_a_simulator(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "SIMULATOR" in run(capsys, "--help")[0]
