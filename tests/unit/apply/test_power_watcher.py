"""Protects: the measuring process as the host runs it, with real processes: kill -9 in the middle costs at most one
sample and leaves no load, a second one is refused, the next one goes on where the first was cut off.

nvidia-smi and the load are small programs of this test; a card draws more while its load holds a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from measured_host import UUIDS, plan_data

from gpu_seats.apply.power_measure.plan import measure_plan
from gpu_seats.apply.power_measure.progress import progress_of
from gpu_seats.apply.power_measure.unit import STOPPED
from gpu_seats.observe.power_log import epoch_of, read_power_log

SMI = """#!/bin/sh
n=0
for uuid in {uuids}; do
  case "$*" in *"-i "*) case "$*" in *$uuid*) ;; *) n=$((n+1)); continue ;; esac ;; esac
  draw=10.00
  for f in {folder}/load-$uuid-*; do
    [ -e "$f" ] && kill -0 "${{f##*-}}" 2>/dev/null && draw=270.00
  done
  echo "$n, $uuid, $draw, 275.00, 275.00"
  n=$((n+1))
done
"""
BURN = """#!/bin/sh
touch {folder}/load-$1-$$
while :; do sleep 0.2; done
"""
EVERY_S = 0.2


@pytest.fixture
def host(tmp_path):
    """A folder with nvidia-smi and burn on the PATH; what is left of processes is ended."""
    for name, text in (("nvidia-smi", SMI), ("burn", BURN)):
        tool = tmp_path / "bin" / name
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(text.format(uuids=" ".join(UUIDS[:2]), folder=tmp_path))
        tool.chmod(0o755)
    yield tmp_path
    for pid in load_pids(tmp_path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def load_pids(folder: Path) -> list[int]:
    """Loads that run."""
    pids = [int(path.name.rpartition("-")[2]) for path in folder.glob("load-*")]
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and "burn" in command_of(pid)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def orders(folder: Path, hold_s: float = 0.8, **more) -> Path:
    times = {"every_s": EVERY_S, "settle_s": 0.4, "hold_s": hold_s, "lease_s": 60}
    plan = {**plan_data(2), "folder": str(folder), "times": times, **more}
    (folder / "lease").write_text("-")
    path = folder / "orders.json"
    runs = len(read(folder).of("run")) if log_of(folder).exists() else 0
    files = {"log": str(log_of(folder)), "lease": str(folder / "lease"), "lock": str(folder / "lock"), "runs": runs}
    path.write_text(json.dumps({"plan": plan, **files}))
    return path


def log_of(folder: Path) -> Path:
    return folder / "pool" / "measure.jsonl"


def read(folder: Path):
    return read_power_log(log_of(folder).read_bytes())


def started(folder: Path, **more) -> subprocess.Popen:
    argv = [sys.executable, "-m", "gpu_seats.host_tool", "measure", "--orders", str(orders(folder, **more))]
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.Popen(argv, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, text=True)


def wait_for(condition, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def in_step(folder: Path, number: int, phase: str) -> bool:
    if not log_of(folder).exists():
        return False
    samples = read(folder).samples
    return bool(samples) and (samples[-1].get("step"), samples[-1].get("phase")) == (number, phase)


def test_the_whole_measurement(host):
    process = started(host)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "every step was measured\n")
    log = read(host)
    assert [round(one["cards_watts"]["average"]) for one in log.of("step_end")] == [20, 280, 540]
    assert log.torn == [] and log.last("end")["complete"] and load_pids(host) == []
    run = log.last("run")
    assert run["key"] == measure_plan(run["plan"]).key and run["done"] == []


def test_killed_in_the_middle_it_loses_one_sample_at_most_and_the_next_run_goes_on(host):
    process = started(host, hold_s=1.5)
    wait_for(lambda: in_step(host, 1, "hold"))
    assert len(load_pids(host)) == 1
    killed_at = time.time()
    process.kill()
    process.wait(10)
    wait_for(lambda: load_pids(host) == [], 5)
    cut = read(host)
    last = epoch_of(cut.samples[-1]["t"])
    assert killed_at - last < 3 * EVERY_S + 0.5, "a sample that was taken before the kill is not in the file"
    assert len(cut.torn) <= 1 and cut.last("end") is None
    assert progress_of(cut).done.keys() == {0} and not progress_of(cut).complete

    again = started(host, hold_s=0.6)
    said, _ = again.communicate(timeout=60)
    assert (again.returncode, said) == (0, "every step was measured\n")
    log = read(host)
    assert log.records[: len(cut.records)] == cut.records, "what was written stays"
    assert [one["number"] for one in log.of("step_end")] == [0, 1, 2]
    assert [one["done"] for one in log.of("run")] == [[], [0]]
    assert progress_of(log).complete


def test_told_to_end_it_ends_the_load_and_says_so_in_the_file(host):
    process = started(host, hold_s=30)
    wait_for(lambda: in_step(host, 0, "settle"))
    process.terminate()
    said, _ = process.communicate(timeout=20)
    assert process.returncode == STOPPED and said.startswith("power.measure_ended")
    assert read(host).last("stop")["code"] == "power.measure_ended"
    assert read(host).last("end")["complete"] is False and load_pids(host) == []


def test_nobody_looks_and_it_ends_by_itself(host):
    process = started(host, hold_s=30)
    wait_for(lambda: in_step(host, 0, "settle"))
    os.utime(host / "lease", (time.time() - 61, time.time() - 61))
    said, _ = process.communicate(timeout=20)
    assert process.returncode == STOPPED and "nobody has looked for 60 s" in said


def test_two_at_once_are_refused(host):
    first = started(host, hold_s=30)
    wait_for(lambda: in_step(host, 0, "settle"))
    second = started(host)
    said, _ = second.communicate(timeout=20)
    assert second.returncode == 2 and f"process {first.pid} since" in said
    assert len(read(host).of("run")) == 1, "the second has not touched the file"
    first.terminate()
    first.wait(20)


def test_a_load_over_the_threshold_is_ended_within_a_sample(host):
    limits = {"stop_at_watts": 800.0, "machine_watts": 400.0}
    process = started(host, hold_s=0.8, limits=limits)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == STOPPED
    assert said == (
        "power.measure_over_threshold: cards 540 W + machine 400 W = 940 W is over the stop threshold of 800 W\n"
    )
    log = read(host)
    over = [one for one in log.samples if one.get("total_watts") is not None and one["total_watts"] > 800]
    assert len(over) == 1 and load_pids(host) == []
    assert progress_of(log).done.keys() == {0, 1}


def test_a_load_that_ends_by_itself_ends_the_run(host):
    load = {"command": ["sh", "-c", "echo no memory >&2; exit 3", "{uuid}"]}
    process = started(host, hold_s=0.6, load=load)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == STOPPED and "load of card 0 ended by itself with rc 3" in said and "no memory" in said


def test_orders_that_are_none_are_refused(host):
    path = host / "none.json"
    path.write_text('{"plan": {}}')
    argv = [sys.executable, "-m", "gpu_seats.host_tool", "measure", "--orders", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2 and "no plan of a measurement" in done.stdout


def sampler(folder: Path, *options: str) -> subprocess.Popen:
    argv = [sys.executable, "-m", "gpu_seats.host_tool", "sample", "--every-s", str(EVERY_S), *options]
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.Popen(argv, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, text=True)


def test_a_killed_sampler_loses_one_sample_at_most_and_the_next_one_appends(host):
    out = host / "samples.jsonl"
    for n in (1, 2):
        process = sampler(host, "--out", str(out), "--note", f"bench {n}")
        wait_for(lambda n=n: out.exists() and len(read_power_log(out.read_bytes()).samples) >= 5 * n)
        killed_at = time.time()
        process.kill()
        process.wait(10)
        log = read_power_log(out.read_bytes())
        assert killed_at - epoch_of(log.samples[-1]["t"]) < 3 * EVERY_S + 0.5
        assert len(log.torn) <= n
    notes = {one["note"] for one in log.samples}
    assert notes == {"bench 1", "bench 2"} and len(log.of("sampler")) == 2
    assert {one["uuid"] for one in log.samples[-1]["cards"]} == set(UUIDS[:2])
    times = [epoch_of(one["t"]) for one in log.samples]
    assert times == sorted(times)


def test_the_sampler_beside_a_bench_ends_with_3_when_the_host_draws_too_much(host):
    config = host / "config.json"
    cards = {str(n): UUIDS[n] for n in range(2)}
    limits = {"machine_watts": 400.0}
    config.write_text(json.dumps({"host": "fv-ml1", "cards": cards, "limits": limits}))
    out = host / "samples.jsonl"
    options = ("--out", str(out), "--config", str(config), "--stop-above-watts", "600", "--until-s", "30")
    process = sampler(host, *options)
    wait_for(lambda: out.exists() and len(read_power_log(out.read_bytes()).samples) >= 2)
    burn = subprocess.Popen([str(host / "bin" / "burn"), UUIDS[0]])
    said, _ = process.communicate(timeout=20)
    burn.kill()
    burn.wait(10)
    assert (process.returncode, said) == (3, "cards 280 W + machine 400 W = 680 W is above 600 W\n")
    assert read_power_log(out.read_bytes()).samples[-1]["total_watts"] == 680.0


def test_the_sampler_ends_at_its_time_and_refuses_a_folder_that_is_a_file(host):
    process = sampler(host, "--folder", str(host / "days"), "--until-s", "0.5")
    assert process.wait(20) == 0
    assert len(list((host / "days").glob("samples-*.jsonl"))) == 1
    process = sampler(host, "--folder", str(host / "bin" / "burn"), "--until-s", "5")
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 1 and "takes no line" in said
