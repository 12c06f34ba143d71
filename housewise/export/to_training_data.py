"""Exports sessions of BASIS as training data for other trainers: LLaMA-Factory, TRL and OpenAI's fine-tuning API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.formatting import plural
from housewise.export.manifest import ExportedEpisode, Manifest
from housewise.export.writer import ExportWriter
from housewise.language.control_tokens import break_turns
from housewise.playback.session_replay import read_initial_state
from housewise.selftrain.basis.session_examples import TEST, KeptSessions, SessionLessonsConfig
from housewise.selftrain.examples import Demonstration

EXAMPLES = "train.jsonl"
"""File of the examples, one a line."""
DATASET_INFO = "dataset_info.json"
DATASET = "housewise"
"""Name of the data set in ``dataset_info.json``."""

_PLACEHOLDER = re.compile(r"<(?=(?:image|video|audio)>)")

Turn = dict[str, str]


def conversation(example: Demonstration) -> list[Turn]:
    """Return prompt and reply as messages.

    Texts cannot hold control tokens. Pictures are not exported yet; this is the place for them, before the text of the
    last message of the user.
    """
    reply = {"role": "assistant", "content": f"{example.prefix}{example.reply}"}
    return break_turns([*example.prompt, reply])


class TrainingDataWriter(ExportWriter):
    """Writes one example per turn of the assistant in sessions that are learned; see ``ExportWriter``.

    The prompts are those of a chat model, and settings are those of ``SessionLessonsConfig``.
    """

    needs_playback = False

    def configure(self, settings: Sequence[str]) -> None:
        """See ``ExportWriter.configure``."""
        self._config = SessionLessonsConfig.load(overrides=settings)
        chosen = self._config.agent
        for key in ("planner", "shuffled_descriptions", "remembers_descriptions"):
            if (value := getattr(chosen, key)) != getattr(SessionLessonsConfig().agent, key):
                given = value if isinstance(value, str) else str(value).lower()
                raise UserError(
                    f"{key}={given}: does not concern examples, which are those of planner=llm; leave it out"
                )
        self.notes = {"settings": self._config.model_dump(mode="json")}

    def write(self, episodes: Iterator[ExportedEpisode], folder: Path, manifest: Manifest) -> None:
        """See ``ExportWriter.write``."""
        folder.mkdir()
        lessons, counts, source, tests = self._config.lessons(), KeptSessions(), Path(), 0
        with (folder / EXAMPLES).open("w", encoding="utf-8") as file:
            for episode in episodes:
                source = episode.path.parents[1]
                attempt = lessons.learned_attempt(episode.record, episode.path)
                initial = read_initial_state(episode.record, episode.path)
                counts.add(initial.variant, attempt is not None, lessons.guide(episode.record.header))
                tests += initial.split == TEST
                if attempt is None:
                    manifest.leave_out(episode.record.name, "no attempt reached the goal")
                    continue
                examples = lessons.demonstrations(episode.record, episode.path)
                file.writelines(json.dumps(self.row(each), ensure_ascii=False) + "\n" for each in examples)
                manifest.add(episode, attempt=attempt, examples=len(examples))
        counts.check(source)
        manifest.warnings += counts.warnings(source)
        if tests:
            sessions = f"{source}: {plural(tests, 'session')} of test scenarios"
            manifest.warnings.append(f"{sessions}; do not learn from them what is measured there")
        self.finish(folder)

    def row(self, example: Demonstration) -> dict[str, Any]:
        """Return the line of an example, in the form of the API: messages, of which the last one is learned."""
        return {"messages": conversation(example)}

    def finish(self, folder: Path) -> None:
        """Write what the format needs beside the examples."""


class OpenAIWriter(TrainingDataWriter):
    """Writes JSON Lines for OpenAI's fine-tuning API, which is the plain form."""


class TrlWriter(TrainingDataWriter):
    """Writes TRL's conversational prompt-completion format. ``SFTTrainer`` learns the completion."""

    def row(self, example: Demonstration) -> dict[str, Any]:
        """See ``TrainingDataWriter.row``."""
        *prompt, reply = conversation(example)
        return {"prompt": prompt, "completion": [reply]}


class LlamaFactoryWriter(TrainingDataWriter):
    """Writes a data set of LLaMA-Factory in its ``sharegpt`` format, with messages as OpenAI has them."""

    description: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "file_name": EXAMPLES,
            "formatting": "sharegpt",
            "columns": {"messages": "messages"},
            "tags": {
                "role_tag": "role",
                "content_tag": "content",
                "user_tag": "user",
                "assistant_tag": "assistant",
                "system_tag": "system",
            },
        }
    )

    def row(self, example: Demonstration) -> dict[str, Any]:
        """See ``TrainingDataWriter.row``.

        LLaMA-Factory counts placeholders of pictures in all texts. One that somebody wrote gets a space, as control
        strings do.
        """
        turns = conversation(example)
        return {"messages": [{**turn, "content": _PLACEHOLDER.sub("< ", turn["content"])} for turn in turns]}

    def finish(self, folder: Path) -> None:
        """See ``TrainingDataWriter.finish``."""
        write_json(folder / DATASET_INFO, {DATASET: dict(self.description)})
