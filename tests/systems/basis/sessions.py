"""Sessions in the lab that tests play in their own process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from housewise.agent.base import History
from housewise.core.record import Event
from housewise.language.base import ChatModel
from housewise.people.memory import Memory
from housewise.rollout.run import Run
from housewise.rollout.system import EpisodeContext
from housewise.systems.basis.record import GuidanceEvent, LabActionEvent
from housewise.systems.basis.settings import BasisSettings, BasisTaskSettings
from housewise.systems.basis.system import Basis

SIMPLE = "fire_freezeray__none__simple"
FAR = "print__action_figure__simple"
"""A variant that takes more actions than ``short_sessions`` allows."""


def play(
    settings: BasisSettings, models: Mapping[str, ChatModel] | None = None, memory: Memory | None = None
) -> tuple[dict[str, float], list[object]]:
    """Play the first session of a run, and return its scores and events."""
    system = Basis(settings)
    context = EpisodeContext(system.jobs()[0], models or {}, memory, None, lambda *_: None)
    setup = system.open(context)
    seen, history, events, over = setup.world.reset(), History[object](), [], False
    while not over:
        decision = setup.agent.decide(seen, history)
        result = setup.world.step(decision.actions[0])
        events += [*decision.events, *result.events]
        seen, over = result.observation, result.over
        history.decisions += 1
    return dict(setup.world.scores()), events


def with_tasks(**tasks: object) -> BasisSettings:
    """Settings of a session of a simple variant, whose person makes no mistakes."""
    return BasisSettings(tasks=BasisTaskSettings(variant=(SIMPLE,), mistakes=0.0, **tasks))


def short_sessions() -> BasisSettings:
    """Settings of four sessions: one succeeds at once, one in the second attempt, and those of FAR never."""
    tasks = BasisTaskSettings(variant=(SIMPLE, FAR), scenarios=2, attempts=3, max_actions=8)
    return BasisSettings(tasks=tasks)


def record_sessions(folder: Path) -> Path:
    """Play the sessions of ``short_sessions`` into a folder, and return it."""
    Run(Basis(short_sessions()), folder).play()
    return folder


def turns(events: Sequence[Event]) -> list[Any]:
    """What was done and said."""
    acted = [event.model_dump(exclude={"usage"}) for event in events if isinstance(event, LabActionEvent)]
    spoken = [
        event.model_dump(exclude={"usage", "oracle_speech"}) for event in events if isinstance(event, GuidanceEvent)
    ]
    return [acted, spoken]
