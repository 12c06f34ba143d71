"""What self-training remembers of a person: a memory that demonstrations and attempts add to, phase after phase."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt import PromptTemplate
from housewise.people.memory import MemoryFolder
from housewise.rollout.run_memory import continued_memory_settings
from housewise.rollout.settings import MemorySettings
from housewise.systems.personalize.record import HouseRecord
from housewise.systems.personalize.settings import HouseTaskSettings, PersonalizeSettings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import HouseTask, load_task

DEMONSTRATE, IMITATE, UNTRAINED = "demonstrate", "imitate", "untrained"


class PhaseMemories:
    """The memory after each phase, in the folder of the run that added to it last; there is none where none is named.

    Args:
        run: settings of all runs; their memory is the one that all begins with.
        folder: of the self-training.
    """

    def __init__(self, run: PersonalizeSettings, folder: Path) -> None:
        self._run, self._folder = run, folder
        self._notes_in_prompts = PromptTemplate.load(run.agent.prompt).mentions_notes

    def adding(self, phase: str, folder: Path) -> dict[str, Any]:
        """Settings of a run that adds to the memory that there is after a phase, in a copy of its own.

        Args:
            phase: by name.
            folder: of the run.

        Raises:
            UserError: when there is no such memory.
        """
        memory = self._after(phase)
        return {} if memory.start is None else {"memory": continued_memory_settings(memory, folder)}

    def unchanged(self, phase: str) -> dict[str, Any]:
        """Settings of a run that goes by the memory that there is after a phase, and learns nothing."""
        memory = self._after(phase)
        return {} if memory.start is None else {"memory": {**memory.model_dump(), "learn": "never"}}

    def told(self, record: HouseRecord, folder: Path, tasks: HouseTaskSettings) -> PreferenceKnowledge | None:
        """What the prompts of an episode told of notes; None where they tell nothing of them.

        Args:
            record: of the episode.
            folder: of its run.
            tasks: of its run.
        """
        person = self._run.memory.start
        if person is None or not self._notes_in_prompts:
            return None
        played, begun = record.setting, MemoryFolder(folder / "memory_at_start")
        task = HouseTask.of(played.scene, played.episode, played.task_set, tasks.person)
        return Personalize(self._run).knowledge(begun.load(person), load_task(task, tasks).scene)

    def _after(self, phase: str) -> MemorySettings:
        named = self._run.memory
        if phase == UNTRAINED:
            return named
        run = self._folder / (DEMONSTRATE if phase == IMITATE else f"{phase}/grow")
        return named.model_copy(update={"folder": str(run / "memory"), "new": False})
