"""The memory of the person during a self-training: each phase's run adds its notes to a copy of the memory before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesTemplate
from housewise.language.adapters import IMITATE
from housewise.people.memory import MemoryFolder
from housewise.rollout.run_memory import continued_memory_settings
from housewise.rollout.settings import MemorySettings
from housewise.selftrain.personalize.planned_phases import DEMONSTRATE, UNTRAINED
from housewise.systems.personalize.record import HouseRecord
from housewise.systems.personalize.settings import HouseTaskSettings, PersonalizeSettings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import HouseTask, load_task


class PhaseMemories:
    """Finds the memory after each phase: a copy in the folder of the last run that added notes to it.

    Without a memory in the settings of the runs, the settings and the knowledge that this class returns are empty.

    Args:
        run: Settings of all runs. Their memory is the one that the self-training starts from.
        folder: Folder of the self-training.
    """

    def __init__(self, run: PersonalizeSettings, folder: Path) -> None:
        self._run, self._folder = run, folder
        self._has_notes_in_prompts = NotesTemplate.load(run.agent.prompt).mentions_notes

    def learning_settings(self, phase: str, folder: Path) -> dict[str, Any]:
        """Return settings of a run that adds notes to its own copy of the memory after a phase.

        Args:
            phase: Name of the phase.
            folder: Folder of the run.

        Raises:
            UserError: There is no such memory.
        """
        memory = self._memory_after(phase)
        return {} if memory.start is None else {"memory": continued_memory_settings(memory, folder)}

    def frozen_settings(self, phase: str) -> dict[str, Any]:
        """Return settings of a run that reads the memory after a phase and adds nothing."""
        memory = self._memory_after(phase)
        return {} if memory.start is None else {"memory": {**memory.model_dump(), "learn": "never"}}

    def recalled_knowledge(
        self, record: HouseRecord, folder: Path, tasks: HouseTaskSettings
    ) -> PreferenceKnowledge | None:
        """Return the knowledge that the prompts of an episode contained, or None if prompts contain no notes.

        Args:
            record: Record of the episode.
            folder: Folder of its run.
            tasks: Tasks of its run.
        """
        person = self._run.memory.start
        if person is None or not self._has_notes_in_prompts:
            return None
        setting, memories = record.initial_state, MemoryFolder(folder / "memory_at_start")
        task = HouseTask.from_episode(setting.scene, setting.episode, setting.task_set, tasks.person)
        return Personalize(self._run).knowledge(memories.load(person), load_task(task, tasks).scene)

    def _memory_after(self, phase: str) -> MemorySettings:
        """Return the settings of the memory after a phase. Before all phases it is the initial one."""
        memory = self._run.memory
        if phase == UNTRAINED:
            return memory
        run = self._folder / (DEMONSTRATE if phase == IMITATE else f"{phase}/grow")
        return memory.model_copy(update={"folder": str(run / "memory"), "new": False})
