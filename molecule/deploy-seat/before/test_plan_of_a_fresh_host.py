"""Check mode before anything was ever deployed."""

from __future__ import annotations

from outside.plays import deploy


def test_check_mode_is_a_plan_and_touches_nothing(lab, untouched):
    """Protects: `--check --diff` on a host that has nothing yet tells the whole plan and makes not even a directory."""
    assert lab.containers() == {}
    assert "compose.yaml" not in lab.file_snapshot()
    with untouched():
        run = deploy("flash-next,smol", "--check", "--diff")
    assert run.rc == 0, run.out
    assert run.changed == 1
    run.says("card total before after left measured free", "host RAM, GiB")
    run.says("+services:", '+    image: "vllm/vllm-openai:v0.29.1rc0"')
    assert "would create" in run.verdict("flash-next") and "would create" in run.verdict("smol")
    assert lab.containers() == {}
