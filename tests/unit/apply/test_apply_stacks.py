"""apply_stacks as a whole: real files in a temporary directory against a Docker host in memory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fake_docker_host import (
    FakeDockerHost,
    Killed,
    actions,
    codes,
    compose_service,
    image_id,
    labels,
    rendered,
    stack_of,
)

from gpu_seats.apply.stacks_run import RunOptions, apply_stacks, keep_stacks
from gpu_seats.apply.wanted import wanted_stack

CHECK = RunOptions(check_mode=True)
DO = RunOptions()


@pytest.fixture
def docker():
    return FakeDockerHost()


def tree(base):
    return {str(path): path.read_bytes() for path in Path(base).rglob("*") if path.is_file()}


def test_four_ways_check_do_check_do(docker, tmp_path):
    """Check mode decides what a real run does and touches nothing; the second run has nothing to do."""
    stack = stack_of(tmp_path)
    (planned,) = apply_stacks([stack], docker.host(), CHECK)
    assert (planned.changed, actions(planned)) == (True, {"app": "create"})
    assert docker.found == {} and tree(tmp_path) == {}
    (done,) = apply_stacks([stack], docker.host(), DO)
    assert done.actions == planned.actions
    assert docker.named("app")["NetworkSettings"]["Ports"] == {"8000/tcp": [{"HostIp": "", "HostPort": "8022"}]}
    before, calls = docker.ids(), len(docker.calls)
    for options in (CHECK, DO):
        (again,) = apply_stacks([stack], docker.host(), options)
        assert (again.changed, again.failed, actions(again)) == (False, False, {"app": "none"})
        assert again.diff == []
    assert docker.ids() == before and len(docker.calls) == calls


def test_changed_label_recreates_only_its_service_and_says_which_label(docker, tmp_path):
    """Labels attach at creation: a renumbered link must recreate the container, its neighbour must keep running."""

    def services(address):
        links = {"homepage.href": f"http://{address}:8022/"}
        return {"app": compose_service("app", port=8022, extra_labels=links), "other": compose_service("other")}

    apply_stacks([stack_of(tmp_path, services=services("10.250.50.54"))], docker.host(), DO)
    before = docker.ids()
    (result,) = apply_stacks([stack_of(tmp_path, services=services("10.251.50.54"))], docker.host(), DO)
    assert actions(result) == {"app": "recreate", "other": "none"}
    why = next(one["why"] for one in result.actions if one["action"] == "recreate")
    assert why == "label homepage.href: 'http://10.250.50.54:8022/' -> 'http://10.251.50.54:8022/'"
    assert docker.ids()["other"] == before["other"] and docker.ids()["app"] != before["app"]


def test_only_the_services_that_change_are_named_to_compose(docker, tmp_path):
    """Compose gets -p, --no-deps and the service's name, never --remove-orphans, and pulls nothing by itself."""
    apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    (command,) = [call for call in docker.calls if " up " in call]
    assert "--project-name one " in command and command.endswith(" app")
    assert "--no-deps" in command and "--pull never" in command and "--remove-orphans" not in command


def test_changed_image_is_named_in_the_reason(docker, tmp_path):
    apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    (result,) = apply_stacks(
        [stack_of(tmp_path, services={"app": compose_service("app", "app:2", 8022)})], docker.host(), DO
    )
    assert [one["why"] for one in result.actions if one["action"] == "recreate"] == ["image app:1 -> app:2"]


def test_image_pulled_anew_under_the_same_tag_recreates(docker, tmp_path):
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    docker.registry["app:1"] = image_id("app:1 of next week")
    (result,) = apply_stacks([stack], docker.host(), RunOptions(pull="always"))
    assert actions(result) == {"app": "recreate"}
    assert docker.named("app")["Image"] == image_id("app:1 of next week")


@pytest.mark.parametrize(
    ("status", "networks", "action"),
    [
        ("exited", True, "start"),
        ("exited", False, "recreate"),
        ("created", False, "recreate"),
        ("created", True, "recreate"),
        ("paused", True, "start"),
        ("restarting", True, "recreate"),
        ("dead", True, "recreate"),
    ],
)
def test_container_that_does_not_run_is_repaired(docker, tmp_path, status, networks, action):
    """A start that failed leaves no network; starting such a container again would run it without its port."""
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    one = docker.named("app")
    one["State"]["Status"] = status
    if status != "paused":
        one["NetworkSettings"] = {"Ports": {}, "Networks": {"x": {}} if networks else {}}
    (result,) = apply_stacks([stack], docker.host(), DO)
    assert (actions(result), result.changed, result.failed) == ({"app": action}, True, False)
    assert docker.named("app")["State"]["Status"] == "running"
    assert docker.named("app")["NetworkSettings"]["Ports"]
    assert not apply_stacks([stack], docker.host(), DO)[0].changed


@pytest.mark.parametrize("ports", [{}, {"8000/tcp": []}, {"8000/tcp": None}])
def test_running_without_its_published_port_is_recreated(docker, tmp_path, ports):
    """Healthy and unreachable: the port is not in NetworkSettings although it was asked for (moby#51758)."""
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    one = docker.named("app")
    one["State"]["Health"] = {"Status": "healthy"}
    one["NetworkSettings"]["Ports"] = ports
    (result,) = apply_stacks([stack], docker.host(), DO)
    assert actions(result) == {"app": "recreate"}
    assert "without its published port 8022->8000/tcp" in result.actions[0]["why"]
    assert docker.named("app")["Id"] != one["Id"] and docker.named("app")["NetworkSettings"]["Ports"]


def test_host_network_has_no_ports_to_lose(docker, tmp_path):
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    docker.named("app")["HostConfig"]["NetworkMode"] = "host"
    docker.named("app")["NetworkSettings"]["Ports"] = {}
    assert not apply_stacks([stack], docker.host(), DO)[0].changed


def test_port_lost_in_a_race_while_starting_is_cured_in_the_same_run(docker, tmp_path):
    docker.loses_ports_of = ["app"]
    (result,) = apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    assert not result.failed and docker.named("app")["NetworkSettings"]["Ports"]
    assert [one["action"] for one in result.actions if one["action"] != "write"] == ["create", "recreate"]


def test_port_that_stays_lost_is_a_finding(docker, tmp_path):
    docker.loses_ports_of = ["app", "app"]
    (result,) = apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    assert result.failed and codes(result) == ["port.unpublished"]


def test_taken_port_leaves_no_container_that_could_start_without_it(docker, tmp_path):
    """The created container of a failed bind would run unpublished after the next boot."""
    docker.fails["app"] = (
        "Error response from daemon: driver failed programming external connectivity on endpoint app (ddf5): "
        "Bind for 0.0.0.0:8022 failed: port is already allocated"
    )
    (result,) = apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    assert result.failed and codes(result) == ["port.taken"] and docker.names() == []
    found = result.findings[0]
    assert found.subject == "port:8022" and found.evidence["rc"] == 1 and "docker compose" in found.evidence["cmd"]
    assert sum(" up " in call for call in docker.calls) == 1, "a taken port stays taken: no retry"
    docker.fails.clear()
    assert actions(apply_stacks([stack_of(tmp_path)], docker.host(), DO)[0]) == {"app": "create"}


def test_host_address_that_is_not_up_yet_is_tried_again(docker, tmp_path):
    text = "driver failed programming external connectivity on endpoint app: listen tcp4 10.251.50.54:8022: bind: "
    docker.fails["app"] = text + "cannot assign requested address"
    (result,) = apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    assert codes(result) == ["port.address_not_up"]
    assert sum(" up " in call for call in docker.calls) == 4


def test_container_made_by_hand_is_adopted(docker, tmp_path):
    """Same project and service without our labels: made anew, and its Compose file is kept beside ours."""
    stack = stack_of(tmp_path)
    Path(stack.directory).mkdir(parents=True)
    Path(stack.compose_file).write_text("services: {app: {image: 'app:1'}}\n")
    docker.add(
        "app", labels={"com.docker.compose.project": "one", "com.docker.compose.service": "app"}, ports=["8022:8000"]
    )
    (result,) = apply_stacks([stack], docker.host(), DO)
    assert actions(result) == {"app": "recreate"}
    assert "made outside gpu-seats" in next(one["why"] for one in result.actions if one["action"] == "recreate")
    kept = Path(stack.compose_file + ".before-gpu-seats")
    assert kept.read_text() == "services: {app: {image: 'app:1'}}\n"


@pytest.mark.parametrize("proper_stands", [True, False])
def test_leftover_of_a_recreate_that_was_cut_short_is_removed(docker, tmp_path, proper_stands):
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    own = dict(docker.named("app")["Config"]["Labels"])
    if not proper_stands:
        docker.remove("app")
    docker.add(
        "0a1b2c3d4e5f_app", status="created", labels={**own, "com.docker.compose.replace": "app"}, networks=False
    )
    (result,) = apply_stacks([stack], docker.host(), DO)
    assert actions(result) == {"0a1b2c3d4e5f_app": "remove", "app": "none" if proper_stands else "create"}
    assert docker.names() == ["app"]


def test_replace_label_of_a_finished_recreate_is_no_leftover(docker, tmp_path):
    """Compose leaves the label on the container for good (seen with 2.26.1)."""
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    docker.named("app")["Config"]["Labels"]["com.docker.compose.replace"] = "f" * 64
    assert not apply_stacks([stack], docker.host(), DO)[0].changed


def test_orphan_of_own_stack_goes_and_a_stranger_stays(docker, tmp_path):
    two = {"app": compose_service("app"), "old": compose_service("old")}
    apply_stacks([stack_of(tmp_path, services=two)], docker.host(), DO)
    docker.add("stranger", labels={"com.docker.compose.project": "one", "com.docker.compose.service": "zzz"})
    docker.add("foreign", labels={"com.docker.compose.project": "two", "com.docker.compose.service": "old"})
    (result,) = apply_stacks([stack_of(tmp_path, services={"app": compose_service("app")})], docker.host(), DO)
    assert actions(result) == {"old": "remove", "app": "none"}
    assert docker.names() == ["app", "foreign", "stranger"]
    assert codes(result) == ["compose.stranger_in_project"] and not result.failed


def test_container_name_held_by_a_stranger_is_refused(docker, tmp_path):
    docker.add("app", labels={})
    (result,) = apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    assert result.failed and codes(result) == ["compose.container_name_taken"]
    assert tree(tmp_path) == {} and docker.names() == ["app"]


class TestOtherSpelling:
    """Old Compose dropped the dots of a directory's name: qwen3.5-122b ran as project qwen35-122b."""

    def stack(self, base, **more):
        return stack_of(base, "qwen3-5", project_aliases=["qwen35"], **more)

    def old(self, docker, **labels):
        return docker.add(
            "app", labels={"com.docker.compose.project": "qwen35", "com.docker.compose.service": "app", **labels}
        )

    def test_refused_before_anything_is_touched(self, docker, tmp_path):
        old = self.old(docker)
        (result,) = apply_stacks([self.stack(tmp_path)], docker.host(), DO)
        assert result.failed and codes(result) == ["compose.project_other_spelling"]
        assert docker.ids() == {"app": old["Id"]} and tree(tmp_path) == {}

    def test_taken_over_when_told(self, docker, tmp_path):
        old = self.old(docker)
        (result,) = apply_stacks([self.stack(tmp_path)], docker.host(), RunOptions(take_over=True))
        assert not result.failed and docker.names() == ["app"] and docker.ids()["app"] != old["Id"]

    def test_dormant_stack_only_warns(self, docker, tmp_path):
        self.old(docker)
        (result,) = apply_stacks([self.stack(tmp_path, runs={"app": "stopped"})], docker.host(), DO)
        assert not result.failed and [one.severity for one in result.findings] == ["warning"]

    def test_own_label_under_a_project_nobody_thought_of(self, docker, tmp_path):
        docker.add("x", labels={"com.docker.compose.project": "zzz", "gpu-seats.stack": "qwen3-5"})
        (result,) = apply_stacks([self.stack(tmp_path)], docker.host(), DO)
        assert result.failed and codes(result) == ["compose.project_other_spelling"]


class TestRunStates:
    def test_dormant_is_on_disk_and_stopped(self, docker, tmp_path):
        apply_stacks([stack_of(tmp_path)], docker.host(), DO)
        (result,) = apply_stacks([stack_of(tmp_path, runs={"app": "stopped"})], docker.host(), DO)
        assert actions(result) == {"app": "stop"} and docker.named("app")["State"]["Status"] == "exited"
        assert not apply_stacks([stack_of(tmp_path, runs={"app": "stopped"})], docker.host(), DO)[0].changed

    def test_dormant_is_not_created_and_its_image_not_pulled(self, docker, tmp_path):
        services = {"app": compose_service("app", "absent:1")}
        (result,) = apply_stacks([stack_of(tmp_path, services=services, runs={"app": "stopped"})], docker.host(), DO)
        assert not result.failed and docker.names() == [] and docker.calls == []
        assert Path(f"{tmp_path}/compose/one/compose.yaml").exists()

    @pytest.mark.parametrize(("status", "action"), [("running", "recreate"), ("exited", "none")])
    def test_on_demand_is_renewed_only_while_it_runs(self, docker, tmp_path, status, action):
        apply_stacks([stack_of(tmp_path)], docker.host(), DO)
        docker.named("app")["State"]["Status"] = status
        services = {"app": compose_service("app", "app:2", 8022)}
        (result,) = apply_stacks([stack_of(tmp_path, services=services, runs={"app": "keep"})], docker.host(), DO)
        assert actions(result) == {"app": action}

    def test_a_sibling_that_was_not_asked_for_is_left_alone_though_its_declaration_changed(self, docker, tmp_path):
        two = {"app": compose_service("app", "app:1", 8022), "other": compose_service("other")}
        apply_stacks([stack_of(tmp_path, services=two)], docker.host(), DO)
        before = docker.ids()["app"]
        changed = {"app": compose_service("app", "app:2", 8022), "other": compose_service("other")}
        (result,) = apply_stacks([stack_of(tmp_path, services=changed, runs={"app": "leave"})], docker.host(), DO)
        assert docker.ids()["app"] == before and actions(result)["app"] == "none"

    def test_retired_is_only_reported_by_a_deploy(self, docker, tmp_path):
        apply_stacks([stack_of(tmp_path)], docker.host(), DO)
        (result,) = apply_stacks([stack_of(tmp_path, runs={"app": "absent"})], docker.host(), DO)
        assert codes(result) == ["seat.retired_still_there"] and not result.changed and docker.names() == ["app"]


class TestImages:
    def test_missing_image_is_pulled_before_anything_is_touched(self, docker, tmp_path):
        docker.registry["new:1"] = image_id("new:1")
        stack = stack_of(tmp_path, services={"app": compose_service("app", "new:1")})
        (planned,) = apply_stacks([stack], docker.host(), CHECK)
        assert codes(planned) == ["compose.image_to_pull"] and planned.changed and docker.calls == []
        (result,) = apply_stacks([stack], docker.host(), DO)
        assert not result.failed and docker.calls[0].startswith("docker pull")

    def test_pull_that_fails_touches_nothing_and_hides_no_other_stack(self, docker, tmp_path):
        bad = stack_of(tmp_path, "bad", services={"b": compose_service("b", "gone:1")})
        results = apply_stacks([bad, stack_of(tmp_path)], docker.host(), DO)
        assert codes(results[0]) == ["image.missing"] and results[0].failed and not results[0].changed
        assert not results[1].failed and docker.names() == ["app"]
        assert not Path(bad.directory).exists()

    def test_never_pull_refuses(self, docker, tmp_path):
        stack = stack_of(tmp_path, services={"app": compose_service("app", "new:1")})
        for options in (RunOptions(pull="never", check_mode=True), RunOptions(pull="never")):
            (result,) = apply_stacks([stack], docker.host(), options)
            assert codes(result) == ["compose.image_missing"] and tree(tmp_path) == {} and docker.calls == []


def test_secret_file_is_private_from_the_start_and_never_in_a_diff(docker, tmp_path):
    path = f"{tmp_path}/conf/one/app.env"
    secret = {"path": path, "mode": "0600", "secret": True, "secret_content": "TOKEN='s3cret'\n"}
    (result,) = apply_stacks([stack_of(tmp_path, files=[secret])], docker.host(), DO)
    assert Path(path).stat().st_mode & 0o777 == 0o600
    secret["secret_content"] = "TOKEN='other'\n"
    (again,) = apply_stacks([stack_of(tmp_path, files=[secret])], docker.host(), DO)
    shown = str([result.diff, again.diff, again.actions])
    assert "s3cret" not in shown and "other'" not in shown and "(secret content changed)" in shown


def test_full_disk_leaves_the_old_file_and_the_containers(docker, tmp_path, monkeypatch):
    apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    before, ids = tree(tmp_path), docker.ids()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    changed = stack_of(tmp_path, services={"app": compose_service("app", "app:2")})
    (result,) = apply_stacks([changed], docker.host(), DO)
    assert codes(result) == ["compose.file_not_written"] and "No space left" in result.findings[0].message
    assert tree(tmp_path) == before and docker.ids() == ids


def test_one_stack_that_fails_does_not_stop_the_others(docker, tmp_path):
    docker.fails["b"] = "Error response from daemon: something nobody has seen"
    stacks = [stack_of(tmp_path, name, services={name: compose_service(name)}) for name in "abc"]
    results = apply_stacks(stacks, docker.host(), DO)
    assert [one.failed for one in results] == [False, True, False]
    assert docker.names() == ["a", "c"] and codes(results[1]) == ["compose.engine_refused"]


def test_seats_on_one_card_start_one_after_the_other(docker, tmp_path):
    """Each waits for the one before; a seat alone on its card does not wait."""
    data = [rendered(tmp_path, name, services={name: compose_service(name)}) for name in ("a", "b", "alone")]
    for stack, gpus in zip(data, (["GPU-0"], ["GPU-0", "GPU-1"], ["GPU-9"])):
        stack["services"][stack["name"]]["gpus"] = gpus
    events = []
    host = docker.host(wait_started=lambda stack, service: events.append((service.name, docker.names())))
    apply_stacks([wanted_stack(one) for one in data], host, RunOptions(sequence=("b/b", "a/a")))
    assert [name for name, _standing in events] == ["b"]
    assert "a" not in events[0][1], "a must not be started before b is up"
    assert docker.names() == ["a", "alone", "b"]


def up_by_hand(docker, stack, edit):
    """What an operator does at night: edit the Compose file on the host, `docker compose up -d`."""
    path = Path(stack.compose_file)
    data = json.loads(path.read_text())
    edit(data["services"])
    path.write_text(json.dumps(data))
    argv = ["docker", "compose", "--project-name", stack.project, "--file", str(path), "up", "--timeout", "30"]
    docker.run([*argv, "--force-recreate", *data["services"]], 30)


def test_container_made_by_hand_from_an_edited_file_is_made_anew(docker, tmp_path):
    """It carries every label of the deploy: by labels alone a hand's configuration would count as declared."""
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    up_by_hand(docker, stack, lambda services: services["app"].update(mem_limit="1g"))
    (planned,) = apply_stacks([stack], docker.host(), CHECK)
    (done,) = apply_stacks([stack], docker.host(), DO)
    assert actions(planned) == actions(done) == {"app": "recreate"}
    assert "by hand" in next(one["why"] for one in done.actions if one["action"] == "recreate")
    (again,) = apply_stacks([stack], docker.host(), DO)
    assert (again.changed, actions(again)) == (False, {"app": "none"})


def test_file_edited_and_put_back_is_no_reason_while_the_container_is_the_deploys_own(docker, tmp_path):
    stack = stack_of(tmp_path)
    apply_stacks([stack], docker.host(), DO)
    before = docker.ids()
    Path(stack.compose_file).write_text("{}")
    (done,) = apply_stacks([stack], docker.host(), DO)
    assert actions(done) == {"app": "none"} and docker.ids() == before


def test_note_of_an_older_deploy_does_not_condemn_what_a_killed_run_made(docker, tmp_path):
    """A run that dies between Compose and its note leaves a note with the older digest: no reason to load twice."""
    apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    newer = stack_of(tmp_path, services={"app": compose_service("app", image="app:2", port=8022)})

    def die(step):
        if step.startswith("up:"):
            raise Killed

    with pytest.raises(Killed):
        apply_stacks([newer], docker.host(checkpoint=die), DO)
    before = docker.ids()
    (done,) = apply_stacks([newer], docker.host(), DO)
    assert actions(done) == {"app": "none"} and docker.ids() == before


def test_seat_that_moves_to_another_stack_takes_its_container_name_along(docker, tmp_path):
    """Both stacks in one run: the container goes from the old project before the new one is made under its name."""
    both = {"a": compose_service("a"), "b": compose_service("b", port=8022)}
    apply_stacks([stack_of(tmp_path, "one", services=both)], docker.host(), DO)
    new = stack_of(tmp_path, "two", services={"b": compose_service("b", port=8022)})
    (alone,) = apply_stacks([new], docker.host(), CHECK)
    assert alone.failed and codes(alone) == ["compose.container_name_taken"]
    old = stack_of(tmp_path, "one", services={"a": compose_service("a")})
    planned = apply_stacks([new, old], docker.host(), CHECK)
    done = apply_stacks([new, old], docker.host(), DO)
    assert [actions(one) for one in planned] == [actions(one) for one in done]
    assert not any(one.failed for one in done)
    assert labels(docker.named("b"))["com.docker.compose.project"] == "two" and docker.names() == ["a", "b"]


def with_secret(base):
    secret = {"path": f"{base}/conf/one/app.env", "mode": "0600", "secret": True, "secret_content": "TOKEN='s3cret'\n"}
    return stack_of(base, files=[secret])


def test_secret_that_is_declared_no_more_leaves_the_disk_and_its_neighbours_stay(docker, tmp_path):
    """Who takes a token out of the declaration counts on it being gone; what others put beside it is not ours."""
    kept = with_secret(tmp_path)
    apply_stacks([kept], docker.host(), DO)
    keep_stacks([kept], check_mode=False)
    path = Path(kept.files[0].path)
    other = path.with_name("other.env")
    other.write_text("MINE=1\n")
    without = stack_of(tmp_path)
    (planned,) = apply_stacks([without], docker.host(), CHECK)
    assert path.exists() and planned.changed
    (done,) = apply_stacks([without], docker.host(), DO)
    assert done.actions == planned.actions and ("remove", str(path)) in [
        (one["action"], one["container"]) for one in done.actions
    ]
    assert not path.exists() and other.exists()
    (again,) = apply_stacks([without], docker.host(), DO)
    assert not again.changed
    (back,) = apply_stacks([without], docker.host(), RunOptions(rollback=True))
    assert not back.failed and "s3cret" in path.read_text()


def test_on_demand_container_is_not_renewed_beside_its_other_spelling(docker, tmp_path):
    """Its new container could not get the name that the container under the older project name holds."""
    stack = stack_of(tmp_path, runs={"app": "keep"}, project_aliases=["on-e"])
    own = {"gpu-seats.stack": "one", "com.docker.compose.service": "app"}
    docker.add("renamed", labels={**own, "com.docker.compose.project": "one", "gpu-seats.digest": "old"})
    docker.add("app", labels={**own, "com.docker.compose.project": "on-e"})
    before = docker.ids()
    (done,) = apply_stacks([stack], docker.host(), DO)
    assert done.failed and codes(done) == ["compose.project_other_spelling"] and docker.ids() == before


def test_stop_says_the_reason_of_the_plan(docker, tmp_path):
    """A tenant that makes room for a seat is not dormant: who reads the run must see why it was stopped."""
    apply_stacks([stack_of(tmp_path)], docker.host(), DO)
    data = rendered(tmp_path, runs={"app": "stopped"})
    data["services"]["app"]["why"] = "makes room on card 3 for big"
    (done,) = apply_stacks([wanted_stack(data)], docker.host(), DO)
    assert [(one["action"], one["why"]) for one in done.actions] == [("stop", "makes room on card 3 for big")]
