"""What a killed run leaves is repaired; the last good deploy comes back; retired seats leave nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_docker_host import FakeDockerHost, Killed, codes, compose_service, rendered, stack_of

from gpu_seats.apply.last_good import rollback_target
from gpu_seats.apply.stacks_run import RunOptions, apply_stacks, keep_stacks, retire_stacks
from gpu_seats.apply.wanted import wanted_stack

CHECK = RunOptions(check_mode=True)
DO = RunOptions()


@pytest.fixture
def docker():
    return FakeDockerHost()


class TestKilledRun:
    """A run that ends at any step leaves nothing that the next run does not repair."""

    def steps(self, tmp_path):
        seen = []
        docker = self.standing(tmp_path / "dry")
        apply_stacks([self.wanted(tmp_path / "dry")], docker.host(checkpoint=seen.append), DO)
        return seen

    def standing(self, base):
        docker = FakeDockerHost()
        services = {name: compose_service(name) for name in ("app", "old", "late")}
        runs = {"late": "stopped"}
        apply_stacks([stack_of(base, services=services)], docker.host(), DO)
        docker.remove("late")
        assert runs
        return docker

    def wanted(self, base):
        services = {"app": compose_service("app", "app:2", 8022), "late": compose_service("late", port=8023)}
        secret = {"path": f"{base}/conf/one/app.env", "mode": "0600", "secret": True, "secret_content": "A='1'\n"}
        return stack_of(base, services=services, files=[secret])

    def test_every_step(self, tmp_path):
        steps = self.steps(tmp_path)
        assert len(steps) >= 6
        for number in range(len(steps)):
            base = tmp_path / str(number)
            docker, left = self.standing(base), [number]

            def kill(_name, left=left):
                if left[0] == 0:
                    raise Killed
                left[0] -= 1

            with pytest.raises(Killed):
                apply_stacks([self.wanted(base)], docker.host(checkpoint=kill), DO)
            (repaired,) = apply_stacks([self.wanted(base)], docker.host(), DO)
            assert not repaired.failed and docker.names() == ["app", "late"]
            assert docker.named("app")["Config"]["Image"] == "app:2"
            assert not apply_stacks([self.wanted(base)], docker.host(), DO)[0].changed
            assert not list(base.rglob(".gpu-seats-new.*"))

    def test_temporary_file_of_a_killed_run_is_swept(self, docker, tmp_path):
        stack = stack_of(tmp_path)
        Path(stack.directory).mkdir(parents=True)
        left = Path(stack.directory) / ".gpu-seats-new.compose.yaml.4194305"
        left.write_text("half")
        apply_stacks([stack], docker.host(), DO)
        assert not left.exists()


class TestLastGood:
    def secret(self, base, value):
        return {"path": f"{base}/conf/one/app.env", "mode": "0600", "secret": True, "secret_content": f"A='{value}'\n"}

    def good(self, base, **more):
        checks = [{"seat": "app", "service": "app", "served_name": "good"}]
        return stack_of(base, files=[self.secret(base, "old")], checks=checks, **more)

    def bad(self, base):
        checks = [{"seat": "app", "service": "app", "served_name": "bad"}]
        services = {"app": compose_service("app", "app:3", 8022)}
        return stack_of(base, services=services, files=[self.secret(base, "new")], checks=checks)

    def test_kept_once_privately_and_known_as_kept(self, docker, tmp_path):
        stack = self.good(tmp_path)
        (result,) = apply_stacks([stack], docker.host(), DO)
        assert result.last_good is False
        assert [one.changed for one in keep_stacks([stack], True)] == [True]
        assert not Path(stack.directory, ".last-good").exists()
        assert [one.changed for one in keep_stacks([stack], False)] == [True]
        assert [one.changed for one in keep_stacks([stack], False)] == [False]
        assert apply_stacks([stack], docker.host(), DO)[0].last_good is True
        kept = Path(stack.directory, ".last-good")
        assert kept.stat().st_mode & 0o777 == 0o700
        assert {oct(path.stat().st_mode & 0o777) for path in kept.rglob("*") if path.is_file()} == {"0o600"}

    def test_rollback_brings_back_files_secrets_containers_and_checks(self, docker, tmp_path):
        good = self.good(tmp_path)
        apply_stacks([good], docker.host(), DO)
        keep_stacks([good], False)
        apply_stacks([self.bad(tmp_path)], docker.host(), DO)
        assert docker.named("app")["Config"]["Image"] == "app:3"
        (result,) = apply_stacks([self.bad(tmp_path)], docker.host(), RunOptions(rollback=True))
        assert docker.named("app")["Config"]["Image"] == "app:1" and result.changed and result.last_good
        assert Path(f"{tmp_path}/conf/one/app.env").read_text() == "A='old'\n"
        assert [check["served_name"] for check in result.checks] == ["good"]

    def test_rollback_without_a_good_deploy_touches_nothing(self, docker, tmp_path):
        apply_stacks([self.bad(tmp_path)], docker.host(), DO)
        ids = docker.ids()
        (result,) = apply_stacks([self.bad(tmp_path)], docker.host(), RunOptions(rollback=True))
        assert codes(result) == ["compose.no_last_good"] and result.failed and docker.ids() == ids

    def test_rollback_of_a_verified_deploy_goes_to_the_one_before_and_stays_there(self, docker, tmp_path):
        """A deploy can answer and still be worse; a second rollback must not swap back to it."""
        for stack in (self.good(tmp_path), self.bad(tmp_path)):
            apply_stacks([stack], docker.host(), DO)
            keep_stacks([stack], False)
        (planned,) = apply_stacks([self.bad(tmp_path)], docker.host(), RunOptions(rollback=True, check_mode=True))
        assert planned.changed and docker.named("app")["Config"]["Image"] == "app:3"
        (result,) = apply_stacks([self.bad(tmp_path)], docker.host(), RunOptions(rollback=True))
        assert docker.named("app")["Config"]["Image"] == "app:1" and result.changed and result.last_good
        (again,) = apply_stacks([self.bad(tmp_path)], docker.host(), RunOptions(rollback=True))
        assert not again.changed and docker.named("app")["Config"]["Image"] == "app:1"

    def test_rollback_that_was_cut_short_goes_on_where_it_was(self, docker, tmp_path):
        for stack in (self.good(tmp_path), self.bad(tmp_path)):
            apply_stacks([stack], docker.host(), DO)
            keep_stacks([stack], False)
        assert rollback_target(self.bad(tmp_path).directory, promote=True).services["app"].image == "app:1"
        (result,) = apply_stacks([self.bad(tmp_path)], docker.host(), RunOptions(rollback=True))
        assert not result.failed and docker.named("app")["Config"]["Image"] == "app:1"

    @pytest.mark.parametrize("cut", ["after_old_is_set_aside", "before_swap"])
    def test_swap_that_was_cut_short_loses_nothing(self, docker, tmp_path, cut):
        good = self.good(tmp_path)
        keep_stacks([good], False)
        base = Path(good.directory)
        if cut == "after_old_is_set_aside":
            (base / ".last-good").rename(base / ".previous-good")
        (base / ".last-good.new").mkdir()
        (base / ".last-good.new" / "compose.yaml").write_text("half")
        (result,) = apply_stacks([self.bad(tmp_path)], docker.host(), RunOptions(rollback=True))
        assert not result.failed and docker.named("app")["Config"]["Image"] == "app:1"
        assert keep_stacks([self.bad(tmp_path)], False)[0].changed
        assert keep_stacks([self.bad(tmp_path)], False)[0].changed is False


class TestRetire:
    def test_containers_go_and_files_are_archived(self, docker, tmp_path):
        apply_stacks([stack_of(tmp_path)], docker.host(), DO)
        docker.add("other", labels={"com.docker.compose.project": "two"})
        retired = stack_of(tmp_path, runs={"app": "absent"})
        (planned,) = retire_stacks([retired], docker.host(), CHECK)
        assert planned.changed and docker.names() == ["app", "other"] and Path(retired.directory).exists()
        (result,) = retire_stacks([retired], docker.host(), DO)
        assert docker.names() == ["other"] and not Path(retired.directory).exists()
        assert Path(result.archived, "compose.yaml").exists() and "/.retired/one-" in result.archived
        (again,) = retire_stacks([retired], docker.host(), DO)
        assert not again.changed and not again.failed

    def test_other_seats_of_the_stack_stay_as_they_are(self, docker, tmp_path):
        two = {"app": compose_service("app"), "old": compose_service("old")}
        apply_stacks([stack_of(tmp_path, services=two)], docker.host(), DO)
        kept = docker.ids()["app"]
        data = rendered(tmp_path, services={"app": compose_service("app", "app:2")})
        data["services"]["old"] = {"container": "old", "run": "absent", "digest": "", "image": "", "seat": "old"}
        (result,) = retire_stacks([wanted_stack(data)], docker.host(), DO)
        assert docker.ids() == {"app": kept} and not result.failed
