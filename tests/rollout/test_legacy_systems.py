"""Systems and views that were written for former names keep working, with a warning."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from housewise.core.record import Header
from housewise.language.base import ChatModel
from housewise.people.memory import Memory
from housewise.report.views import base
from housewise.rollout.episode import EpisodeContext, EpisodeSetup, Job, Task
from housewise.rollout.settings import RunSettings
from housewise.rollout.system import System


def test_a_system_with_the_former_names_and_signature_is_adapted() -> None:
    with pytest.warns(DeprecationWarning) as warned:

        class Former(System[RunSettings]):
            name = "former"
            remembers = True

            def tasks(self) -> Sequence[Task]:
                return [Task("one")]

            def material(self, job: Job) -> str:
                return f"data of {job.name}"

            def open(  # type: ignore[override]
                self, job: Job, models: Mapping[str, ChatModel], memory: Memory | None, material: str, progress: Any
            ) -> EpisodeSetup:
                progress(0, 1, material)
                return EpisodeSetup(world=job.earlier, agent=(models, memory))  # type: ignore[arg-type]

    messages = [str(each.message) for each in warned]
    assert any("remembers is now called uses_memory" in message for message in messages)
    assert any("open now takes one EpisodeContext" in message for message in messages)
    system = Former(RunSettings(system="former"))
    assert system.uses_memory is True
    [job] = system.jobs()
    told: list[tuple[int, int, str]] = []
    memory = Memory("ann")
    context = EpisodeContext(job, {}, memory, system.job_data(job), lambda *progress: told.append(progress))
    with pytest.warns(DeprecationWarning, match="interrupted_events"):
        setup = system.open(context)  # type: ignore[call-arg, arg-type]
    assert told == [(0, 1, f"data of {job.name}")]
    assert setup.agent == ({}, memory)  # type: ignore[comparison-overlap]


def test_a_system_with_the_current_names_is_left_alone(recwarn: pytest.WarningsRecorder) -> None:
    class Current(System[RunSettings]):
        name = "current"

        def tasks(self) -> Sequence[Task]:
            return []

        def open(self, context: EpisodeContext) -> EpisodeSetup:
            raise AssertionError

    assert not list(recwarn)
    assert Current(RunSettings(system="current")).uses_memory is False


def test_a_view_with_the_former_names_is_adapted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Former:
        measure, standing = "done", ""

        def title(self, header: Header) -> str:
            return header.task

        def shown(self, *arguments: object) -> tuple[object, ...]:
            return arguments

    monkeypatch.setattr(base, "plugin_names", lambda group: ["former"])
    monkeypatch.setattr(base, "open_plugin", lambda *_, **__: Former())
    with pytest.warns(DeprecationWarning, match="make_content"):
        view = base.find_view("former")
    assert view.score_heading == "done"
    assert view.make_content(1, 2, 3, None, None) == (1, 2, 3, None, None)  # type: ignore[arg-type, comparison-overlap]
