"""What the controller hands over is checked before anything is touched; Docker's state is read as it writes it."""

from __future__ import annotations

import pytest
from fake_docker_host import rendered

from gpu_seats.apply.docker_state import ImageState, Standing, image_state, inspected_container, listed_container
from gpu_seats.apply.start_order import Start, chains
from gpu_seats.apply.wanted import BadRequestError, WantedService, wanted_file, wanted_stack


def test_rendered_stack(tmp_path):
    data = rendered(tmp_path)
    compose_file = {"path": f"{tmp_path}/compose/one/compose.yaml", "content": data["compose_text"], "mode": "0644"}
    data["files"] = [compose_file]
    data["checks"] = [{"service": "app", "gpus": ["GPU-1"], "timeouts": {"load": 33}}]
    stack = wanted_stack(data)
    assert stack.compose_file == f"{tmp_path}/compose/one/compose.yaml"
    assert [one.path for one in stack.all_files] == [stack.compose_file], "the Compose file is written once"
    assert (stack.services["app"].gpus, stack.services["app"].load_s) == (("GPU-1",), 33)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"directory": "opt"}, "is not an absolute path"),
        ({"compose_text": ""}, "stacks[one].compose_text: a text is needed"),
        ({"services": {"app": {"run": "maybe"}}}, "allowed are up, stopped, keep, leave, absent"),
        ({"services": {"app": {"run": "up", "container": "app"}}}, "stacks[one].services.app.digest"),
    ],
)
def test_bad_stack_says_where_and_what(tmp_path, change, words):
    with pytest.raises(BadRequestError) as caught:
        wanted_stack({**rendered(tmp_path), **change})
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"path": "x", "content": ""}, "is not an absolute path"),
        ({"path": "/x", "content": "", "mode": "rw"}, "not an octal number"),
        ({"path": "/x", "secret": True, "content": "TOKEN=s"}, "has no secret_content"),
        ({"path": "/x", "secret": True, "secret_content": "TOKEN=s", "mode": "0644"}, "lets others read it; use 0600"),
    ],
)
def test_bad_file_never_shows_its_content(entry, words):
    with pytest.raises(BadRequestError) as caught:
        wanted_file(entry, "files")
    assert words in str(caught.value) and "TOKEN" not in str(caught.value)


def test_listed_and_inspected_container():
    row = {"Id": "a" * 64, "Names": ["/other/alias", "/app"], "Image": "i:1", "ImageID": "sha256:1", "State": "running"}
    assert listed_container(row).name == "app"
    bare = inspected_container({"Id": "a", "Name": "/app"})
    assert (bare.status, bare.labels, bare.lost_ports, bare.exit_code) == ("", {}, (), None)


@pytest.mark.parametrize("mode", ["host", "none", "container:abc"])
def test_without_a_network_of_its_own_no_port_is_lost(mode):
    data = {"Id": "a", "State": {"Status": "running"}, "HostConfig": {"NetworkMode": mode}}
    data["HostConfig"]["PortBindings"] = {"8000/tcp": [{"HostIp": "", "HostPort": "8000"}]}
    assert inspected_container(data).lost_ports == ()


@pytest.mark.parametrize(
    ("image", "container_image", "label", "same"),
    [
        ({"Id": "sha256:1"}, "sha256:1", "", True),
        ({"Id": "sha256:2"}, "sha256:1", "", False),
        ({"Id": "sha256:9", "RepoDigests": ["r/x@sha256:1"]}, "sha256:1", "", True),
        ({"Id": "sha256:9", "Descriptor": {"digest": "sha256:1"}}, "sha256:7", "sha256:1", True),
        ({"Id": "sha256:9"}, "sha256:1", "sha256:7", False),
    ],
)
def test_image_of_a_container_in_both_image_stores(image, container_image, label, same):
    """Engine 29 names images by the digest of their index, older ones by that of their configuration."""
    labels = {"com.docker.compose.image": label} if label else {}
    one = Standing("a", "app", "running", "x:1", container_image, labels)
    assert image_state(image).made(one) is same


def test_image_that_is_not_there_and_container_without_one():
    assert image_state(None) is None
    assert ImageState("sha256:1").made(Standing("a", "app", "running", "x:1", ""))


def service(name, *gpus):
    return Start("s", WantedService(name, name, "up", "1", "i:1", gpus=gpus))


def names(found):
    return [[start.service.name for start in chain] for chain in found]


def test_chains_join_what_shares_a_card_also_through_a_third():
    starts = [service("a", "0"), service("b", "1"), service("c"), service("d", "0", "1"), service("e", "2")]
    assert names(chains(starts)) == [["a", "b", "d"]]
    assert names(chains(starts, ("s/d", "s/b"))) == [["d", "b", "a"]]
    assert chains([service("a", "0"), service("b", "1"), service("c"), service("c2")]) == []
