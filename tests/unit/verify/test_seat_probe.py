"""One look at a seat: the real steps against a container in memory and a real HTTP server on loopback."""

from __future__ import annotations

import json
import math

import pytest
from fake_seat import (
    CARD,
    CHAT,
    DIGEST,
    LISTING,
    WELL,
    FakeEngine,
    check,
    container,
    free_port,
    outside,
    served,
    sleeps,
)

from gpu_seats.apply.made import CONFIG_HASH, MADE_FILE, WORKING_DIRECTORY
from gpu_seats.observe.engine_api import EngineRefusedError, EngineUnreachableError
from gpu_seats.verify.seat_probe import look, look_at_all
from gpu_seats.verify.seat_steps import seat_check


def seen_with(answers, waited_s=0.0, data=None, log="", **more):
    with served(answers) as server:
        port = server.server_port
        engine = FakeEngine(data or container(port), log)
        seen = look(check(port, **more), outside(engine), waited_s)
        return seen, server.asked


def codes(seen):
    return [one.code for one in seen.findings]


def steps(seen):
    return {step.step: step.status for step in seen.steps}


def test_a_seat_that_answers_is_ready():
    seen, asked = seen_with(WELL)
    assert seen.state == "ready" and seen.findings == [] and seen.awaited == ""
    assert list(steps(seen)) == ["container", "gpus", "port", "health", "model", "completion"]
    assert set(steps(seen).values()) == {"ok"}
    request = json.loads(asked[-1][3])
    assert asked[-1][1] == "/v1/chat/completions" and request["model"] == "model-x" and request["max_tokens"] <= 64
    assert 29 <= seen.elapsed_s <= 35


class TestContainer:
    def test_missing_is_awaited_and_then_failed(self):
        engine = FakeEngine(None)
        early = look(check(), outside(engine), waited_s=1)
        late = look(check(), outside(engine), waited_s=6)
        assert (early.state, early.findings) == ("loading", [])
        assert (late.state, codes(late)) == ("failed", ["seat.container_missing"])

    @pytest.mark.parametrize("status", ["exited", "dead", "paused", "removing"])
    def test_ended_fails_at_once(self, status):
        seen = look(check(), outside(FakeEngine(container(status=status, exit_code=1))), waited_s=0)
        assert (seen.state, codes(seen)) == ("failed", ["seat.container_ended"])

    def test_root_cause_comes_first_and_is_what_is_said(self):
        """The last line of a crash names only its end; the cause stands far above."""
        log = "\n".join(
            [
                "(EngineCore pid=77) ERROR 11-30 10:00:00 [core.py:900] torch.OutOfMemoryError: CUDA out of memory. "
                "Tried to allocate 466.00 MiB. GPU 0 has a total capacity of 94.97 GiB of which 403.00 MiB is free.",
                *["(APIServer pid=1) more traceback"] * 50,
                "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. "
                "Failed core proc(s): {'EngineCore_0': 1}",
            ]
        )
        seen = look(check(), outside(FakeEngine(container(status="exited", exit_code=1), log)))
        assert codes(seen)[:2] == ["engine.out_of_memory", "seat.container_ended"]
        assert "466.00 MiB" in seen.awaited and seen.source == "engine log"
        assert {one.subject for one in seen.findings} == {"seat:x"}

    def test_restart_loop_fails_at_once(self):
        seen = look(check(), outside(FakeEngine(container(status="restarting", restarts=3, exit_code=1))))
        assert (seen.state, codes(seen)) == ("failed", ["seat.restart_loop"])

    def test_restarts_while_loading_fail_before_the_load_limit(self):
        """RestartCount climbs while each start looks like loading: waiting longer is no use."""
        port = free_port()
        engine = FakeEngine(container(port, restarts=2, age_s=3))
        seen = look(check(port), outside(engine))
        assert (seen.state, codes(seen)) == ("failed", ["seat.restart_loop"])

    def test_the_cause_of_a_restart_loop_is_what_ended_the_start_before(self):
        """Protects: while it loads once more, "restart loop" alone would send the operator to look for the cause."""
        port = free_port()
        start = "(APIServer pid=1) INFO 11-30 10:0{}:00 [api_server.py:1896] vLLM API server version 0.30.0\n"
        engine = FakeEngine(container(port, restarts=3, age_s=1), start.format(1))
        engine.earlier_log = (
            f"{start.format(0)}"
            "(EngineCore pid=77) ERROR 11-30 10:00:09 [core.py:900] torch.OutOfMemoryError: CUDA out of memory. "
            "Tried to allocate 466.00 MiB. GPU 0 has a total capacity of 94.97 GiB of which 403.00 MiB is free.\n"
            "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. "
            "Failed core proc(s): {'EngineCore_0': 1}\n"
        )
        seen = look(check(port), outside(engine))
        assert (seen.state, codes(seen)[:2]) == ("failed", ["engine.out_of_memory", "seat.restart_loop"])
        assert seen.findings[0].severity == "error"
        assert "466.00 MiB" in seen.awaited and "started again 3 times" in seen.awaited

    def test_old_restarts_of_a_seat_that_serves_do_not_count(self):
        with served(WELL) as server:
            engine = FakeEngine(container(server.server_port, restarts=5))
            assert look(check(server.server_port), outside(engine)).state == "ready"

    def test_container_of_another_declaration_is_told_and_still_verified(self):
        seen, _asked = seen_with(WELL, digest="d2")
        assert seen.state == "ready" and codes(seen) == ["seat.not_as_declared"]

    def test_container_remade_by_hand_under_the_labels_of_the_deploy_is_told(self, tmp_path):
        """Its digest is the declared one; only Compose's hash says that its configuration is another."""
        note = {"x": {"digest": DIGEST, "config_hash": "made"}}
        (tmp_path / MADE_FILE).write_text(json.dumps(note))
        with served(WELL) as server:
            for config_hash, told in (("made", []), ("edited", ["seat.not_as_declared"])):
                one = container(server.server_port)
                one["Config"]["Labels"].update(
                    {WORKING_DIRECTORY: str(tmp_path), CONFIG_HASH: config_hash, "com.docker.compose.service": "x"}
                )
                assert codes(look(check(server.server_port), outside(FakeEngine(one)))) == told

    def test_engine_that_does_not_answer_is_no_crash(self):
        class Down(FakeEngine):
            def inspect(self, container):
                raise EngineUnreachableError("no_socket", "/var/run/docker.sock is not there")

        seen = look(check(), outside(Down(None)))
        assert (seen.state, codes(seen)) == ("failed", ["compose.engine_unreachable"])


class TestCards:
    @pytest.mark.parametrize(
        ("listing", "code"),
        [
            ((255, "Failed to initialize NVML: Unknown Error\n"), "gpu.container_lost_device"),
            ((0, LISTING.replace("5e7a0002", "5e7a0001")), "seat.gpus_differ"),
            ((0, LISTING + LISTING.replace("GPU 0", "GPU 1").replace("5e7a0002", "5e7a0003")), "seat.gpus_differ"),
            ((6, "No devices were found\n"), "gpu.no_devices"),
            (EngineUnreachableError("timeout", "nothing"), "command.hung"),
        ],
    )
    def test_wrong_or_lost_cards_fail(self, listing, code):
        seen = look(check(), outside(FakeEngine(container(), listing=listing)))
        assert seen.state == "failed" and code in codes(seen) and seen.steps[-1].step == "gpus"

    @pytest.mark.parametrize(
        "listing", [(137, ""), (0, ""), EngineRefusedError(409, "container is restarting", "exec")]
    )
    def test_a_container_that_ends_meanwhile_says_nothing_of_its_cards(self, listing):
        """Protects: a crash while the cards are asked is told by its cause and not as a wrong card."""

        class Crashing(FakeEngine):
            def execute(self, container_name, command, limit_s=15.0):
                self.data = container(restarts=1, age_s=0.0)
                return super().execute(container_name, command, limit_s)

        log = "(EngineCore pid=77) ERROR 11-30 10:00:00 [core.py:900] KeyError: 'model.layers.0.w13'"
        log += "\n(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above."
        seen = look(check(), outside(Crashing(container(age_s=3.0), log, listing)))
        assert seen.state == "failed" and not {"seat.gpus_differ", "seat.gpus_unknown"} & set(codes(seen))
        assert codes(seen)[0].startswith("engine.")
        waits = look(check(), outside(Crashing(container(age_s=3.0), "", listing)))
        assert (waits.state, codes(waits)) == ("loading", [])

    def test_a_seat_without_cards_is_not_asked(self):
        with served(WELL) as server:
            engine = FakeEngine(container(server.server_port))
            seen = look(check(server.server_port, gpus=[]), outside(engine))
        assert seen.state == "ready" and engine.executed == 0 and steps(seen)["gpus"] == "skipped"

    def test_an_image_without_nvidia_smi_is_unknown_not_wrong(self):
        with served(WELL) as server:
            listing = (127, 'exec: "nvidia-smi": executable file not found in $PATH')
            engine = FakeEngine(container(server.server_port), listing=listing)
            seen = look(check(server.server_port), outside(engine))
        assert seen.state == "ready" and codes(seen) == ["seat.gpus_unknown"]

    def test_cards_seen_well_are_not_asked_again(self):
        with served(WELL) as server:
            engine = FakeEngine(container(server.server_port))
            (seen,) = look_at_all([check(server.server_port)], outside(engine), passed={"x": ["gpus"]})
        assert seen.state == "ready" and engine.executed == 0


class TestPort:
    def test_healthy_without_a_published_port_is_awaited_shortly_then_failed(self):
        young = look(check(), outside(FakeEngine(container(published=False, age_s=0.5))))
        old = look(check(), outside(FakeEngine(container(published=False, age_s=30))))
        assert (young.state, young.findings) == ("loading", [])
        assert (old.state, codes(old)) == ("failed", ["port.unpublished"])
        assert "healthy" in old.findings[0].message

    def test_other_port_than_declared(self):
        seen = look(check(8022), outside(FakeEngine(container(8021))))
        assert (seen.state, codes(seen)) == ("failed", ["port.moved"])

    def test_healthy_inside_and_silent_outside_is_the_ports_fault(self):
        """After a firewall flush the engine's own socket takes connections and never reads them."""
        with served(WELL) as inside, served({"/health": (200, sleeps(0.6))}) as silent:
            data = container(silent.server_port)
            data["NetworkSettings"]["Networks"] = {"x_default": {"IPAddress": "127.0.0.1"}}
            declared = {
                "engine": "llamacpp",
                "container_port": inside.server_port,
                "timeouts": {"health": 0.3, "load": 9},
            }
            ports = {f"{inside.server_port}/tcp": [{"HostIp": "", "HostPort": str(silent.server_port)}]}
            data["HostConfig"]["PortBindings"] = data["NetworkSettings"]["Ports"] = ports
            seen = look(check(silent.server_port, gpus=[], **declared), outside(FakeEngine(data)))
        assert (seen.state, codes(seen)) == ("failed", ["port.unreachable"])
        assert list(steps(seen)) == ["container", "gpus", "port"]

    def test_service_without_a_model_is_ready_when_its_port_opens(self):
        with served({}) as server:
            service = check(server.server_port, engine="none", task="none", served_name=None, health_path=None, gpus=[])
            seen = look(service, outside(FakeEngine(container(server.server_port))))
        assert seen.state == "ready"
        port = free_port()
        service = check(port, engine="none", task="none", served_name=None, health_path=None, gpus=[])
        waits = look(service, outside(FakeEngine(container(port))))
        assert waits.state == "loading"
        late = look(service, outside(FakeEngine(container(port, age_s=200))))
        assert codes(late) == ["port.nobody_inside"] and late.state == "failed"


class TestHealth:
    def test_refused_is_loading_and_the_log_says_how_far(self):
        """vLLM listens only when it is ready."""
        port = free_port()
        log = (
            "(APIServer pid=1) INFO 11-30 10:00:00 [api_server.py:1] vLLM API server version 0.30.0\n"
            "Loading safetensors checkpoint shards:  56% Completed | 5/9 [00:10<00:08,  2.00s/it]\n"
        )
        seen = look(check(port), outside(FakeEngine(container(port), log)))
        assert (seen.state, seen.awaited, seen.source) == ("loading", "loading weights 5/9", "engine log")

    def test_503_is_loading(self):
        """llama.cpp listens at once and says 503 until the model is there."""
        seen, _asked = seen_with(
            {"/health": (503, {"error": {"message": "Loading model"}})}, engine="llamacpp", gpus=[]
        )
        assert seen.state == "loading" and "Loading model" in seen.awaited

    def test_connection_that_is_dropped_is_loading(self):
        """A userland proxy accepts for a container in which nobody listens yet."""
        seen, _asked = seen_with({"/health": (None, b"")})
        assert seen.state == "loading" and "nobody answers inside" in seen.awaited

    def test_load_limit(self):
        port = free_port()
        seen = look(check(port), outside(FakeEngine(container(port, age_s=101))))
        assert (seen.state, codes(seen)) == ("failed", ["seat.load_timeout"])

    def test_a_cause_in_the_log_ends_the_waiting(self):
        """The container still runs, its engine has said why it will not."""
        port = free_port()
        log = "ERROR 11-30 10:00:00 [x.py:1] ValueError: No available memory for the cache blocks. Try increasing it\n"
        seen = look(check(port), outside(FakeEngine(container(port), log)))
        assert seen.state == "failed" and codes(seen)[0] == "engine.no_kv_memory"

    def test_a_cause_of_an_earlier_start_does_not(self):
        port = free_port()
        engine = FakeEngine(
            container(port, restarts=1), "INFO 11-30 10:00:00 [x.py:1] vLLM API server version 0.30.0\n"
        )
        engine.earlier_log = "ERROR 11-30 09:00:00 [x.py:1] ValueError: No available memory for the cache blocks.\n"
        assert look(check(port), outside(engine)).state == "loading"

    def test_silence_of_an_engine_that_says_it_serves_is_a_hang(self):
        log = "INFO:     Application startup complete.\n"
        limits = {"health": 0.3, "load": 100}
        answers = {"/health": (200, sleeps(0.6))}
        hung, _asked = seen_with(answers, log=log, timeouts=limits)
        assert (hung.state, codes(hung)) == ("failed", ["seat.hangs"])
        loading, _asked = seen_with(
            answers, log="INFO 11-30 10:00:00 [x.py:1] Starting to load model x\n", timeouts=limits
        )
        assert (loading.state, loading.findings) == ("loading", [])

    def test_an_error_status_fails(self):
        seen, _asked = seen_with({"/health": (404, b"nope")})
        assert (seen.state, codes(seen)) == ("failed", ["seat.unhealthy"])


class TestAnswers:
    def test_wrong_model_name(self):
        seen, _asked = seen_with({**WELL, "/v1/models": (200, {"data": [{"id": "other"}]})})
        assert (seen.state, codes(seen)) == ("failed", ["seat.wrong_model_name"])
        assert "serves other, model-x is declared" in seen.awaited

    @pytest.mark.parametrize("body", [b"<html>", {"data": None}, {"data": []}, []])
    def test_no_list_of_models(self, body):
        seen, _asked = seen_with({**WELL, "/v1/models": (200, body)})
        assert seen.state == "failed" and codes(seen) == ["seat.wrong_model_name"]

    def test_engine_that_wants_a_key(self):
        seen, _asked = seen_with({**WELL, "/v1/models": (401, {"error": "Unauthorized"})})
        assert codes(seen) == ["seat.needs_key"]

    def test_a_hang_has_its_own_finding(self):
        seen, _asked = seen_with({**WELL, "/v1/chat/completions": (200, sleeps(0.8))})
        assert (seen.state, codes(seen)) == ("failed", ["seat.hangs"])

    @pytest.mark.parametrize("status", [400, 500])
    def test_an_error_instead_of_a_completion(self, status):
        seen, _asked = seen_with({**WELL, "/v1/chat/completions": (status, {"error": {"message": "boom"}})})
        assert codes(seen) == ["seat.completion_failed"] and "boom" in seen.awaited

    def test_reasoning_without_content_counts(self):
        answer = {"choices": [{"message": {"content": None}}], "usage": {"completion_tokens": 16}}
        assert seen_with({**WELL, "/v1/chat/completions": (200, answer)})[0].state == "ready"

    @pytest.mark.parametrize(
        "answer",
        [{}, {"choices": []}, {"choices": [{"message": {"content": ""}}], "usage": {"completion_tokens": 0}}, [CHAT]],
    )
    def test_an_empty_completion_is_none(self, answer):
        assert codes(seen_with({**WELL, "/v1/chat/completions": (200, answer)})[0]) == ["seat.completion_failed"]

    @pytest.mark.parametrize(
        ("task", "path", "answer"),
        [
            ("completion", "/v1/completions", {"choices": [{"text": "ok"}]}),
            ("embedding", "/v1/embeddings", {"data": [{"embedding": [0.1, -0.2]}]}),
            ("rerank", "/v1/rerank", {"results": [{"relevance_score": 0.1}, {"relevance_score": 0.9}]}),
            ("rerank", "/rerank", {"results": [{"relevance_score": 0.1}, {"relevance_score": 0.9}]}),
            ("reward", "/classify", {"data": [{"probs": [0.7]}]}),
            ("reward", "/pooling", {"data": [{"data": [[0.7], [0.2]]}]}),
            ("transcription", "/v1/audio/transcriptions", {"text": ""}),
        ],
    )
    def test_each_task_has_its_own_request(self, task, path, answer):
        answers = {"/health": WELL["/health"], "/v1/models": WELL["/v1/models"], path: (200, answer)}
        seen, asked = seen_with(answers, task=task)
        assert seen.state == "ready" and asked[-1][1] == path

    @pytest.mark.parametrize(
        ("task", "path", "answer"),
        [
            ("embedding", "/v1/embeddings", {"data": [{"embedding": [0.0, 0.0]}]}),
            ("embedding", "/v1/embeddings", {"data": [{"embedding": [math.nan]}]}),
            ("embedding", "/v1/embeddings", {"data": []}),
            ("rerank", "/v1/rerank", {"results": [{"relevance_score": 0.1}]}),
            ("reward", "/classify", {"data": [{"probs": []}]}),
            ("transcription", "/v1/audio/transcriptions", {"error": "no"}),
        ],
    )
    def test_an_answer_that_holds_nothing_is_none(self, task, path, answer):
        answers = {"/health": WELL["/health"], "/v1/models": WELL["/v1/models"], path: (200, answer)}
        assert codes(seen_with(answers, task=task)[0]) == ["seat.completion_failed"]

    def test_transcription_sends_a_sound(self):
        answers = {**WELL, "/v1/audio/transcriptions": (200, {"text": "x"})}
        _seen, asked = seen_with(answers, task="transcription")
        _method, _path, kind, body = asked[-1]
        assert kind.startswith("multipart/form-data; boundary=")
        assert b"RIFF" in body and b"WAVEfmt" in body and b"model-x" in body
        assert body.endswith(b"--\r\n") and kind.partition("boundary=")[2].encode() in body


def test_a_seat_that_hangs_does_not_hold_up_the_others():
    class Both(FakeEngine):
        def inspect(self, name):
            return container(int(name))

    with served({**WELL, "/v1/chat/completions": (200, sleeps(0.8))}) as slow, served(WELL) as well:
        checks = [check(port, seat=str(port), container=str(port)) for port in (slow.server_port, well.server_port)]
        looks = look_at_all(checks, outside(Both(None)))
    assert [one.state for one in looks] == ["failed", "ready"]


def test_a_check_without_its_container_is_an_error():
    with pytest.raises(ValueError, match="container is missing"):
        seat_check({"seat": "x"})


def test_what_a_look_hands_over_is_plain_data():
    seen, _asked = seen_with({**WELL, "/v1/models": (200, {"data": []})})
    data = json.loads(json.dumps(seen.as_dict()))
    assert data["state"] == "failed" and data["source"] == "model" and data["seat"] == "x"
    assert data["findings"][0]["remedy"] and data["steps"][1] == {
        "step": "gpus",
        "status": "ok",
        "text": f"sees 1 card(s): {CARD}",
        "seconds": 0.0,
        "silent": False,
    }
