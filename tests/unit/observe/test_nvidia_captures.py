"""Every saved output of nvidia-smi gives the values that it prints, and a reason for those it does not."""

from __future__ import annotations

from typing import Any

import pytest
from captured import capture, codes, record

CARDS: dict[str, dict[str, Any]] = {
    "csv-h100-mig-590-noheader-nounits.txt": {
        "index": 0,
        "uuid": "GPU-064c94d6-a8bf-4cc8-85f4-641807397cfb",
        "bus_id": "00000000:00:09.0",
        "name": "NVIDIA H100 80GB HBM3",
        "driver_version": "590.48.01",
        "memory_total_mib": 81559.0,
        "memory_used_mib": 11125.0,
        "memory_free_mib": None,
        "power_draw_watts": 433.78,
        "power_limit_watts": 700.0,
        "min_power_limit_watts": 200.0,
        "mig_mode": "Enabled",
        "utilization_percent": None,
        "temperature_c": 53.0,
    },
    "csv-h200-590-load-noheader-nounits.txt": {
        "uuid": "GPU-c8c9558f-cf46-4cfe-88fa-c98c8c3e9b5e",
        "memory_total_mib": 143771.0,
        "power_draw_watts": 627.4,
        "utilization_percent": 100.0,
        "mig_mode": "Disabled",
        "fan_percent": None,
    },
    "csv-l40s-595.80-util100-noproc.txt": {
        "driver_version": "595.80",
        "memory_total_mib": 46068.0,
        "memory_used_mib": 0.0,
        "utilization_percent": 100.0,
        "power_draw_watts": 144.97,
        "max_power_limit_watts": 350.0,
        "persistence_mode": "Disabled",
        "mig_mode": None,
    },
    "csv-rtx2080s-610.txt": {
        "driver_version": "610.57.04",
        "name": "NVIDIA GeForce RTX 2080 SUPER",
        "fan_percent": 38.0,
        "default_power_limit_watts": 250.0,
        "max_power_limit_watts": 350.0,
        "ecc_mode": None,
    },
    "xml-418-p400-power-na.xml": {
        "uuid": "GPU-d57f8373-d395-46f5-8309-bc549d79379d",
        "driver_version": "418.43",
        "memory_total_mib": 1998.0,
        "memory_reserved_mib": None,
        "power_draw_watts": None,
        "power_limit_watts": None,
        "index": None,
    },
    "xml-v11-515-3060-draw-only.xml": {
        "driver_version": "515.65.01",
        "power_draw_watts": 8.7,
        "power_limit_watts": None,
        "max_power_limit_watts": None,
        "memory_reserved_mib": 197.0,
    },
    "xml-v11-515-a10g.xml": {
        "power_draw_watts": 25.58,
        "power_limit_watts": 300.0,
        "enforced_power_limit_watts": 300.0,
        "min_power_limit_watts": 100.0,
        "bus_id": "00000000:00:1E.0",
        "ecc_mode": "Enabled",
    },
    "xml-v12-535-a100-mig.xml": {
        "driver_version": "535.54.03",
        "power_draw_watts": 67.03,
        "power_limit_watts": 500.0,
        "mig_mode": "Enabled",
        "memory_total_mib": 81920.0,
        "memory_reserved_mib": 869.0,
        "utilization_percent": None,
    },
    "xml-v12-570-3060.xml": {
        "driver_version": "570.124.04",
        "power_draw_watts": 11.6,
        "power_draw_instant_watts": 11.63,
        "power_limit_watts": 170.0,
        "max_power_limit_watts": 190.0,
    },
    "xml-v13-595-4000sff.xml": {
        "driver_version": "595.84",
        "power_draw_watts": 8.81,
        "power_draw_instant_watts": 8.44,
        "power_limit_watts": 70.0,
        "enforced_power_limit_watts": 70.0,
        "min_power_limit_watts": 30.0,
        "memory_free_mib": 16482.0,
    },
}


@pytest.mark.parametrize("name", sorted(CARDS))
def test_the_card_has_the_printed_values(name: str) -> None:
    card = record(capture(f"nvidia-smi/{name}"), "gpu_card")
    assert {key: card[key] for key in CARDS[name]} == CARDS[name]


@pytest.mark.parametrize("name", sorted(CARDS))
def test_every_value_that_is_missing_has_a_reason(name: str) -> None:
    card = record(capture(f"nvidia-smi/{name}"), "gpu_card")
    missing = {key for key, value in card.items() if value is None}
    assert missing == set(card["unknown"])
    assert all(card["unknown"].values())


def test_bracketed_text_is_kept_as_the_reason() -> None:
    card = record(capture("nvidia-smi/csv-h100-mig-590-noheader-nounits.txt"), "gpu_card")
    assert card["unknown"]["power_management"] == "[Requested functionality has been deprecated]"
    assert card["unknown"]["utilization_percent"] == "[N/A]"
    assert card["unknown"]["memory_free_mib"] == "not asked for"


FINDINGS: dict[str, list[tuple[str, str]]] = {
    "compute-apps-empty-header-only.txt": [],
    "compute-apps-wddm-na-memory.txt": [],
    "csv-h100-mig-590-noheader-nounits.txt": [("gpu.mig_enabled", "gpu:0"), ("gpu.value_unknown", "gpu:0")],
    "csv-h200-590-load-noheader-nounits.txt": [("gpu.value_unknown", "gpu:0")],
    "csv-l40s-595.80-util100-noproc.txt": [("gpu.value_unknown", "gpu:0")],
    "csv-rtx2080s-610.txt": [("gpu.value_unknown", "gpu:0")],
    "dmesg-fallen-off-multiline.txt": [
        ("gpu.lost", "gpu:00000000:B3:00.0"),
        ("gpu.driver_fault", "tool:dmesg"),
        ("gpu.lost", "gpu:00000000:44:00.0"),
    ],
    "err-gpu-lost.txt": [("gpu.lost", "gpu:00000000:41:00.0")],
    "err-gpu-unknown-noblank.txt": [("gpu.lost", "gpu:00000000:07:00.0")],
    "err-gpu-unknown.txt": [("gpu.lost", "gpu:00000000:0B:00.0")],
    "err-invalid-field.txt": [("gpu.query_field_unknown", "tool:nvidia-smi")],
    "err-no-devices.txt": [("gpu.no_devices", "tool:nvidia-smi")],
    "err-nvml-mismatch-oneline.txt": [("gpu.driver_mismatch", "tool:nvidia-smi")],
    "err-nvml-mismatch.txt": [("gpu.driver_mismatch", "tool:nvidia-smi")],
    "pm-on.txt": [],
    "proc-version-open-vs-closed.txt": [],
    "table-err-cell.txt": [("gpu.table_not_parsed", "tool:nvidia-smi"), ("gpu.handle_error", "gpu:2")],
    "table-header-610.txt": [("gpu.table_not_parsed", "tool:nvidia-smi")],
    "version-610.txt": [],
    "xml-418-p400-power-na.xml": [
        ("gpu.power_limit_unsupported", "gpu:GPU-d57f8373-d395-46f5-8309-bc549d79379d"),
        ("gpu.value_unknown", "gpu:GPU-d57f8373-d395-46f5-8309-bc549d79379d"),
    ],
    "xml-v11-515-3060-draw-only.xml": [
        ("gpu.power_limit_unsupported", "gpu:GPU-5ac57249-a1fb-4513-8349-06867439afe7"),
        ("gpu.value_unknown", "gpu:GPU-5ac57249-a1fb-4513-8349-06867439afe7"),
    ],
    "xml-v11-515-a10g.xml": [("gpu.value_unknown", "gpu:GPU-5387b023-7e15-418d-8600-cc0b116c5f46")],
    "xml-v12-535-a100-mig.xml": [
        ("gpu.not_listed", "tool:nvidia-smi"),
        ("gpu.mig_enabled", "gpu:GPU-49cd6a59-6618-48a9-8cd6-626c321edfa5"),
        ("gpu.value_unknown", "gpu:GPU-49cd6a59-6618-48a9-8cd6-626c321edfa5"),
    ],
    "xml-v12-570-3060.xml": [("gpu.value_unknown", "gpu:GPU-560b0181-257a-4b49-8c9c-47b3017ad04d")],
    "xml-v13-595-4000sff.xml": [("gpu.value_unknown", "gpu:GPU-0d71bd4b-d87c-476f-8ffb-55d9a99ebd70")],
}


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_findings_are_these_and_no_others(name: str) -> None:
    assert codes(capture(f"nvidia-smi/{name}")) == FINDINGS[name]


def test_a_header_alone_means_no_process_and_is_no_error() -> None:
    seen = capture("nvidia-smi/compute-apps-empty-header-only.txt")
    assert seen.records == []
    assert seen.notes == ["no process holds a card"]


def test_process_names_keep_their_blanks_and_hidden_memory_is_unknown() -> None:
    seen = capture("nvidia-smi/compute-apps-wddm-na-memory.txt")
    last = record(seen, "gpu_process", 4)
    assert len(seen.records) == 5
    assert (last["pid"], last["name"]) == (20372, r"C:\Program Files\NZXT CAM\NZXT CAM.exe")
    assert last["used_memory_mib"] is None
    assert last["unknown"]["used_memory_mib"] == "[N/A]"


@pytest.mark.parametrize(
    "name", ["err-gpu-lost.txt", "err-gpu-unknown.txt", "err-gpu-unknown-noblank.txt", "err-nvml-mismatch.txt"]
)
def test_an_error_that_hides_cards_leaves_their_number_unknown_not_zero(name: str) -> None:
    inventory = record(capture(f"nvidia-smi/{name}"), "gpu_inventory")
    assert inventory["card_count"] is None
    assert inventory["unknown"]["card_count"]


def test_no_devices_is_the_only_error_that_means_zero_cards() -> None:
    assert record(capture("nvidia-smi/err-no-devices.txt"), "gpu_inventory")["card_count"] == 0


def test_a_mismatch_names_the_installed_library_where_it_is_printed() -> None:
    assert record(capture("nvidia-smi/err-nvml-mismatch.txt"), "driver_version")["library"] == "580.95"
    assert capture("nvidia-smi/err-nvml-mismatch-oneline.txt").findings[0].evidence["library"] is None


def test_exit_codes_come_from_the_notes() -> None:
    assert capture("nvidia-smi/err-gpu-lost.txt").rc == 15
    assert capture("nvidia-smi/err-nvml-mismatch.txt").rc == 18


def test_persistence_lines_tell_changed_cards_from_unchanged_ones() -> None:
    seen = capture("nvidia-smi/pm-on.txt")
    assert [(one.as_dict()["bus_id"], one.as_dict()["enabled"], one.as_dict()["changed"]) for one in seen.records] == [
        ("00000000:41:00.0", True, True),
        ("00000000:61:00.0", True, False),
    ]


def test_the_kernel_module_is_read_in_the_open_and_the_closed_layout() -> None:
    seen = capture("nvidia-smi/proc-version-open-vs-closed.txt")
    assert [(one.as_dict()["driver"], one.as_dict()["flavour"]) for one in seen.records] == [
        ("580.95.05", "open"),
        ("550.163.01", "closed"),
    ]


def test_the_word_deprecated_is_never_taken_for_a_version() -> None:
    version = record(capture("nvidia-smi/version-610.txt"), "driver_version")
    assert version["driver"] == "610.57.04"
    assert version["library"] == "610.57"
    assert version["cuda"] == "13.3"


def test_the_table_gives_versions_but_no_cards() -> None:
    seen = capture("nvidia-smi/table-header-610.txt")
    assert record(seen, "driver_version")["driver"] == "610.57.04"
    assert [one.kind for one in seen.records] == ["driver_version"]


def test_an_error_cell_of_the_table_names_card_and_bus() -> None:
    broken = capture("nvidia-smi/table-err-cell.txt").findings[1]
    assert broken.evidence["bus_id"] == "00000000:61:00.0"
    assert broken.evidence["cell"] == "ERR!"


def test_mig_devices_hang_below_their_card_with_their_memory() -> None:
    card = record(capture("nvidia-smi/xml-v12-535-a100-mig.xml"), "gpu_card")
    assert [one["gpu_instance_id"] for one in card["mig_devices"]] == [3, 4, 5, 6]
    assert card["mig_devices"][0]["memory_total_mib"] == 19968.0


def test_attached_cards_that_are_not_listed_are_counted() -> None:
    assert record(capture("nvidia-smi/xml-v12-535-a100-mig.xml"), "gpu_inventory")["card_count"] == 4


def test_a_kernel_report_over_several_lines_is_one_lost_card() -> None:
    seen = capture("nvidia-smi/dmesg-fallen-off-multiline.txt")
    assert record(seen, "xid_event")["xid"] == 79
    assert record(seen, "xid_event")["bus_id"] == "00000000:44:00.0"
