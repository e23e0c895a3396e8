"""Properties of the decision over random hosts: it converges, it is idempotent, and it never touches a stranger."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_seats.apply.docker_state import ONEOFF, PROJECT, SERVICE, HostState, ImageState, Standing
from gpu_seats.apply.reconcile import decide
from gpu_seats.apply.wanted import LABEL_DIGEST, LABEL_STACK, WantedService, WantedStack

PROJECTS = ("mine", "mi-ne", "other", "")
SERVICES = ("a", "b", "gone", "")
NAMES = ("a", "b", "c", "0a1b2c3d4e5f_a", "0a1b2c3d4e5f_b", "x1", "x2", "x3")
IMAGES = {"i:1": ImageState("sha256:1"), "i:2": ImageState("sha256:2")}


@st.composite
def containers(draw):
    """Up to four containers with names that are unique, as the engine holds it."""
    found = []
    for number, name in enumerate(draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))):
        labels = {
            PROJECT: draw(st.sampled_from(PROJECTS)),
            SERVICE: draw(st.sampled_from(SERVICES)),
            LABEL_STACK: draw(st.sampled_from(("mine", "other", ""))),
            LABEL_DIGEST: draw(st.sampled_from(("1", "2", ""))),
            ONEOFF: draw(st.sampled_from(("False", "False", "True"))),
        }
        image = draw(st.sampled_from(("i:1", "i:2")))
        ports = draw(st.sampled_from(({}, {"8000/tcp": (":8000",)})))
        found.append(
            Standing(
                id=f"{number:064d}",
                name=name,
                status=draw(st.sampled_from(("running", "exited", "created", "paused", "restarting", "dead"))),
                image=image,
                image_id=IMAGES[image].id,
                labels={key: value for key, value in labels.items() if value},
                inspected=True,
                network_mode="d",
                networks=draw(st.sampled_from(({}, {"d": ""}))),
                wanted_ports=ports,
                published_ports=draw(st.sampled_from(({}, ports))),
            )
        )
    return tuple(found)


@st.composite
def stacks(draw):
    services = {
        name: WantedService(
            name,
            container=name,
            run=draw(st.sampled_from(("up", "stopped", "keep", "leave", "absent"))),
            digest=draw(st.sampled_from(("1", "2"))),
            image=draw(st.sampled_from(("i:1", "i:2"))),
        )
        for name in draw(st.sampled_from((("a",), ("a", "b"))))
    }
    return WantedStack("mine", "mine", "/x", "text", services, project_aliases=("mi-ne",))


def carried_out(decision, host):
    """The host after the decision's actions, as Docker and Compose do them."""
    standing = {one.id: one for one in host.containers}
    for number, action in enumerate(decision.actions):
        if action.action in ("remove", "recreate"):
            standing.pop(action.container_id)
        if action.action == "stop":
            standing[action.container_id] = dataclasses.replace(standing[action.container_id], status="exited")
        if action.action == "start":
            standing[action.container_id] = started(standing[action.container_id])
        if action.action in ("create", "recreate"):
            service = decision.stack.services[action.service]
            assert all(one.name != service.container for one in standing.values()), "the engine would refuse the name"
            made = Standing(
                id=f"new{number}",
                name=service.container,
                status="running",
                image=service.image,
                image_id=IMAGES[service.image].id,
                labels={
                    PROJECT: decision.stack.project,
                    SERVICE: service.name,
                    LABEL_STACK: decision.stack.name,
                    LABEL_DIGEST: service.digest,
                },
                inspected=True,
                network_mode="d",
                networks={"d": ""},
            )
            standing[made.id] = made
    return HostState(tuple(standing.values()), host.images)


def started(one):
    return dataclasses.replace(one, status="running", published_ports=one.wanted_ports)


@settings(max_examples=120, deadline=None)
@given(stacks(), containers(), st.booleans())
def test_a_decision_that_was_carried_out_leaves_nothing_to_do(stack, found, take_over):
    host = HostState(found, IMAGES)
    decision = decide(stack, host, take_over)
    after = carried_out(decision, host)
    again = decide(stack, after, take_over)
    assert again.refused == decision.refused
    assert not again.changes, again.actions
    if not decision.refused:
        for service in stack.services.values():
            alive = [one for one in after.containers if (one.project, one.service) == ("mine", service.name)]
            if service.run == "up":
                (one,) = [one for one in alive if not one.oneoff]
                assert one.status == "running" and not one.lost_ports and one.name == service.container


@settings(max_examples=120, deadline=None)
@given(stacks(), containers(), st.booleans())
def test_containers_of_others_are_never_acted_on(stack, found, take_over):
    decision = decide(stack, HostState(found, IMAGES), take_over)
    touched = {action.container_id for action in decision.actions if action.action != "none"} - {""}
    for one in found:
        ours = one.project == "mine" and (one.service in stack.services or one.labels.get(LABEL_STACK) == "mine")
        same_stack = take_over and (one.project == "mi-ne" or one.labels.get(LABEL_STACK) == "mine")
        if one.id in touched:
            assert (ours or same_stack) and not one.oneoff


@settings(max_examples=60, deadline=None)
@given(stacks(), containers())
def test_a_refused_stack_has_no_action_and_a_reason(stack, found):
    decision = decide(stack, HostState(found, IMAGES))
    if decision.refused:
        assert decision.actions == () and any(one.fails for one in decision.findings)


@settings(max_examples=60, deadline=None)
@given(stacks(), containers())
def test_retiring_removes_absent_services_only(stack, found):
    decision = decide(stack, HostState(found, IMAGES), retire=True)
    by_id = {one.id: one for one in found}
    for action in decision.actions:
        assert action.action in ("remove", "none") and stack.services[action.service].run == "absent"
        if action.action == "remove":
            assert by_id[action.container_id].project in ("mine", "mi-ne")
