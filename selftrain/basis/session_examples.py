"""Training examples from sessions of BASIS: what the assistant is given at a turn, and what it replied (paper, 4.2).

The attempt of a session that reached the goal is learned, one example per turn of the assistant. What the assistant was
given is not in the record: the attempt is played again, and the prompts are built as in a session.

The scripted oracle can also correct sessions that a model guided: at each turn it says what it would have said, as in
DAgger (arXiv 1011.0686). The model then learns to go on from its own mistakes, which the oracle's sessions never show.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from housewise.agent.basis.scripted_oracle import OracleSettings, ScriptedOracle
from housewise.agent.basis.views import AssistantView, build_oracle_view
from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.formatting import join_names, plural
from housewise.core.record import Header, Record
from housewise.core.record_files import FINISHED
from housewise.core.settings_loading import LoadableSettings
from housewise.core.validation import validate_model
from housewise.language.base import Message
from housewise.people.lab.reply_tags import remove_ids, write_tag
from housewise.playback.session_replay import SessionTurn, read_attempts, read_initial_state, replay_session
from housewise.rollout.record_reader import read_record, read_summary
from housewise.selftrain.examples import SessionDemonstration
from housewise.systems.basis.agents import BuildView
from housewise.systems.basis.assistants import prompt_builder, usual_description, view_builder
from housewise.systems.basis.record import BasisFinalState, BasisInitialState, GuidanceEvent
from housewise.systems.basis.settings import BasisAgentSettings
from housewise.systems.basis.world import SessionObservation
from housewise.worlds.lab.history import clip_speech
from housewise.worlds.lab.variants import BY_NAME

BuildPrompt = Callable[[AssistantView], tuple[Message, ...]]
"""Builds the prompt of a turn from what the assistant knows."""

Replies = Literal["recorded", "oracle"]
"""Replies that are learned; see ``SessionLessonsConfig.replies``."""

TEST, ORACLE = "test", "oracle"
_SYSTEM = "basis"
_REMEDY = "delete the file to run the episode again"
_MAX_NAMED = 5
"""Number of variants without a session that are named."""


class SessionLessonsConfig(LoadableSettings):
    """What an assistant that learns from sessions is given, and what it replies."""

    agent: BasisAgentSettings = BasisAgentSettings(planner="llm")
    """What the assistant is given, as in a run: perception, knowledge and the size of the prompts; and whether a reply
    has its thoughts before its speech (``reasoning``)."""

    replies: Replies = "recorded"
    """Which replies are learned. recorded: what the assistant said in attempts that reached the goal. oracle: what the
    scripted oracle would have said in the first attempt of every session, to correct a model that guided in it."""

    def lessons(self, routine_share: float = 1.0) -> SessionLessons:
        """Return what makes the examples, with the prompts of a chat model.

        Args:
            routine_share: See SessionLessons.
        """
        learner = self.agent.model_copy(update={"planner": "llm"})
        view = view_builder(learner, usual_description(learner))
        oracle = OracleSettings(self.agent.wording, judges_other=True) if self.replies == "oracle" else None
        return SessionLessons(view, prompt_builder(learner), learner.reasoning, routine_share, oracle)


@dataclass(frozen=True)
class SessionLessons:
    """Makes the examples of sessions; equal records give equal examples.

    Attributes:
        build_view: Builds what the assistant may know, such as ``model_view("words", knowledge)``.
        build_prompt: Builds the prompt of a turn.
        with_thoughts: Whether a reply has the assistant's thoughts.
        routine_share: Share of the turns that are learned, among those at which the assistant thinks of the same next
            step as at the turn before. They are drawn at random. Of corrected sessions, only turns at which both the
            assistant and the oracle are silent count among them.
        oracle: Options of the scripted oracle whose replies are learned. None learns what the assistant said.
    """

    build_view: BuildView
    build_prompt: BuildPrompt
    with_thoughts: bool = True
    routine_share: float = 1.0
    oracle: OracleSettings | None = None

    def learned_attempt(self, record: Record, path: Path) -> int | None:
        """Return the number of the attempt that is learned, from 1; None if none is.

        If the oracle corrects, it is the first one. Otherwise see ``kept_attempt``.

        Raises:
            UserError: The record is of another system, or damaged.
        """
        kept = kept_attempt(record, path)
        return kept if self.oracle is None else 1

    def guide(self, header: Header) -> str:
        """Return the planner whose replies are learned of a session."""
        return header.agent if self.oracle is None else ORACLE

    def demonstrations(self, record: Record, path: Path) -> list[SessionDemonstration]:
        """Return an example for each turn of the assistant in the attempt that is learned; none without one.

        Recorded replies of a model that could not be read are not learned.

        Args:
            record: Record of the session.
            path: Path of the record, for messages.

        Raises:
            UserError: The record is of another system, or of another version of the lab.
        """
        attempt = self.learned_attempt(record, path)
        if attempt is None:
            return []
        initial = read_initial_state(record, path)
        turns: Iterable[tuple[SessionTurn, SessionObservation]] = replay_observations(record, path, attempt)
        scenario = f"{initial.variant} {initial.seed}"
        if self.oracle is None:
            turns = self._drop_routine(turns, scenario)
        else:
            turns = self._correct(turns, scenario, ScriptedOracle(self.oracle, record.header.seed + attempt))
        return [
            SessionDemonstration(
                prompt=tuple(message.turn for message in self.build_prompt(self.build_view(observation))),
                reply=format_reply(turn.guidance, self.with_thoughts),
                variant=initial.variant,
                seed=initial.seed,
                attempt=attempt,
                turn=turn.number,
            )
            for turn, observation in turns
            # After the last action nobody speaks.
            if turn.guidance is not None and turn.guidance.is_parsed
        ]

    def _drop_routine(
        self, turns: Iterable[tuple[SessionTurn, SessionObservation]], scenario: str
    ) -> Iterator[tuple[SessionTurn, SessionObservation]]:
        """Yield the turns with a new next step or none, and some of the others."""
        before: str | None = None
        for turn, observation in turns:
            step = next_step(turn.guidance.thought) if turn.guidance else None
            if step is None or step != before or self._is_drawn(turn, scenario):
                yield turn, observation
            before = step

    def _correct(
        self, turns: Iterable[tuple[SessionTurn, SessionObservation]], scenario: str, oracle: ScriptedOracle
    ) -> Iterator[tuple[SessionTurn, SessionObservation]]:
        """Yield turns with what the oracle would have said: those at which anybody would speak, and some others."""
        for turn, observation in turns:
            if turn.guidance is None:
                continue
            right = oracle.turn(build_oracle_view(observation.state, observation.surroundings, observation.turns))
            if right.speech or turn.speech or self._is_drawn(turn, scenario):
                guidance = GuidanceEvent(thought=right.thought, speech=right.speech or "")
                yield replace(turn, guidance=guidance), observation

    def _is_drawn(self, turn: SessionTurn, scenario: str) -> bool:
        return random.Random(f"{scenario} {turn.number}").random() < self.routine_share


def next_step(thought: str) -> str | None:
    """Return the next step in a thought of the scripted oracle, such as "Open time machine"; None if it has none."""
    found = re.search(r"\bNext: ([^:.]+)[:.]", thought)
    return found[1] if found else None


def kept_attempt(record: Record, path: Path) -> int | None:
    """Return the number of the attempt that reached the goal, from 1; None if none did.

    Raises:
        UserError: The record is of another system, or damaged.
    """
    check_system(record.header.system, path)
    final = validate_model(BasisFinalState, record.result.final, path, _REMEDY)
    return final.successes.index(True) + 1 if True in final.successes else None


def check_system(system: str, path: Path) -> None:
    """Check that a record is of a session of BASIS.

    Raises:
        UserError: It is of another system.
    """
    if system != _SYSTEM:
        raise UserError(f"{path}: field system: is an episode of {system}; name a run of --system {_SYSTEM}")


def replay_observations(record: Record, path: Path, attempt: int) -> list[tuple[SessionTurn, SessionObservation]]:
    """Play an attempt again, and return its turns with what views of the assistant are built from.

    Args:
        record: Record of the session.
        path: Path of the record, for messages.
        attempt: Number of the attempt, from 1.

    Raises:
        UserError: The attempt takes another course than in the record, as in another version of the lab.
    """
    attempts = read_attempts(record)
    if attempt > len(attempts):
        raise UserError(f"{path}: field attempt: has no actions of attempt {attempt}; {_REMEDY}")
    turns = attempts[attempt - 1]
    try:
        replay = replay_session(read_initial_state(record, path), [turns])
    except (UserError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise UserError(f"{path}: cannot be played again ({error}); {_REMEDY}") from error
    if replay.differences:
        raise UserError(
            f"{path}: takes another course when it is played again ({replay.summary_of_differences}), as a session of "
            f"another version does; {_REMEDY}, or use the version that it was played with"
        )
    played = [each.turn for each in replay.attempts[0]]
    return [
        (
            turn,
            SessionObservation(
                each.after,
                replay.space,
                (*played[:number], played[number].with_speech(None)),
                attempt,
            ),
        )
        for number, (turn, each) in enumerate(zip(turns, replay.attempts[0], strict=True))
    ]


def format_reply(guidance: GuidanceEvent, with_thoughts: bool) -> str:
    """Return a turn of the assistant as a reply in the form that the prompts ask for; silence is ``N/A``.

    Ids of things are left out of thoughts: an assistant that sees no metadata cannot know them.
    """
    # Quotation marks within would end the speech.
    spoken = clip_speech(guidance.speech).replace('"', "'")
    speech = f'"{spoken}"' if spoken else "N/A"
    thought = write_tag("Think", remove_ids(clip_speech(guidance.thought))) + "\n" if with_thoughts else ""
    return thought + write_tag("Speak", speech)


@dataclass
class KeptSessions:
    """Counts the kept sessions of each variant.

    Attributes:
        sessions: Number of sessions by variant.
        kept: Number of sessions that are learned by variant.
        guides: Number of sessions whose replies are learned by the planner that gave them.
    """

    sessions: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    guides: Counter[str] = field(default_factory=Counter)

    def add(self, variant: str, is_kept: bool, guide: str = ORACLE) -> None:
        """Count a session.

        Args:
            variant: Its variant.
            is_kept: Whether it is learned.
            guide: Planner whose replies are learned of it.
        """
        self.sessions[variant] = self.sessions.get(variant, 0) + 1
        self.kept[variant] = self.kept.get(variant, 0) + is_kept
        self.guides[guide] += is_kept

    def check(self, source: Path) -> None:
        """Check that there is anything to learn.

        Args:
            source: The run, for the message.

        Raises:
            UserError: No session was kept.
        """
        if not any(self.kept.values()):
            total = sum(self.sessions.values())
            raise UserError(
                f"{source}: field successes: none of {plural(total, 'session')} reached its goal, so there is nothing "
                "to learn; play more with tasks.scenarios, or more often with tasks.attempts"
            )

    def warnings(self, source: Path) -> list[str]:
        """Return a line for each variant without a kept session, and for each guide but the scripted oracle."""
        unlearned = [
            f"{source}: variant {variant}: none of {plural(self.sessions[variant], 'session')} reached the goal, so "
            "nothing is learned of it; play more with tasks.scenarios, or more often with tasks.attempts"
            for variant, kept in self.kept.items()
            if not kept
        ]
        others = [
            f"{source}: {plural(count, 'learned session')} with planner={guide}, whose replies are learned; "
            f"name a run of planner={ORACLE}, or export with replies={ORACLE} to learn what the oracle would have said"
            for guide, count in self.guides.items()
            if count and guide != ORACLE
        ]
        return [*unlearned, *others]


def session_demonstrations(
    folders: Iterable[Path],
    lessons: SessionLessons,
    tell: Callable[[str], None] = lambda line: None,
    first: int = 0,
    variants: Collection[str] = (),
) -> Iterator[list[SessionDemonstration]]:
    """Yield the examples of each learned session of some runs, ordered by scenario, those of a scenario at random.

    The first sessions cover all variants, and no variant comes last, so that a caller may stop early.

    Args:
        folders: Folders of runs.
        lessons: Makes the examples.
        tell: Receives a line about each variant without a kept session, about variants without any session, and about
            sessions that another planner than the oracle guided.
        first: Number of the scenario that comes first. Those with smaller numbers follow the others.
        variants: Variants that are learned. Empty for all.

    Raises:
        UserError: A record cannot be used, a scenario is for tests, there is no session of the variants, or none was
            kept.
    """
    found: list[Path] = []
    played: set[str] = set()
    for folder in folders:
        counts, kept = _find_learned(folder, lessons, first, variants)
        counts.check(folder)
        for line in counts.warnings(folder):
            tell(line)
        found += kept
        played |= counts.sessions.keys()
    if missing := sorted({*(variants or BY_NAME)} - played):
        named = join_names(missing, _MAX_NAMED)
        tell(f"no session of {plural(len(missing), 'variant')} ({named}), so nothing is learned of them")
    for path in found:
        yield lessons.demonstrations(read_record(path), path)


def _find_learned(
    folder: Path, lessons: SessionLessons, first: int, variants: Collection[str]
) -> tuple[KeptSessions, list[Path]]:
    """Count the sessions of a run, and return those that are learned in their order; see session_demonstrations."""
    counts, kept = KeptSessions(), []
    for path in _session_files(folder):
        header, result = read_summary(path)
        check_system(header.system, path)
        initial = validate_model(BasisInitialState, header.initial_state, path, _REMEDY)
        if variants and initial.variant not in variants:
            continue
        if initial.split == TEST:
            raise UserError(f"{path}: field split: is a scenario for tests; play sessions with split=training")
        final = validate_model(BasisFinalState, result.final, path, _REMEDY)
        is_kept = lessons.oracle is not None or any(final.successes)
        counts.add(initial.variant, is_kept, lessons.guide(header))
        if is_kept:
            chance = random.Random(f"{initial.seed} {initial.variant}").random()
            kept.append((initial.seed < first, initial.seed, chance, path))
    if not counts.sessions:
        raise UserError(f"{folder}: no session of variant {', '.join(sorted(variants))}; leave run.variant out")
    return counts, [path for *_, path in sorted(kept)]


def _session_files(folder: Path) -> list[Path]:
    paths = find_paths(folder / "episodes", f"*{FINISHED}")
    if not paths:
        raise UserError(f"{folder}: no finished episodes in it; name the folder of a run (it has episodes/ in it)")
    return paths
