"""Prompt templates for goals, repairs and selections, with their words in YAML files (STARS, prompts)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import field_validator

from housewise.agent.stars.data_files import read_data_file
from housewise.agent.stars.responses import Mismatch, MismatchKind
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core.template_text import Template, template_text
from housewise.core.validation import StrictModel

PROMPTS = "prompts"
_REASONS = ("unknown-word", "ungrounded-object", "grabbable", "receptacle", "surface", "state")


class _Example(StrictModel):
    task: str
    room: str
    seen: str
    goal: str
    plan: str


class _RepairExample(StrictModel):
    wrong: str
    what: str = ""
    thing: str = ""


class _SelectionPrompts(Template):
    system: str
    example: str
    question: str = template_text("task", "room", "seen", "options")
    hints: str = ""

    def system_message(self, hints: bool) -> str:
        """Return the system message, with or without facts about the house."""
        return "\n".join(filter(None, (self.system, self.hints if hints else "")))

    def question_with(self, task: str, room: str, seen: str, options: str) -> str:
        """Return an example of the question, and the question with its context and numbered options."""
        question: str = self.question.format(task=task, room=room, seen=seen, options=options)
        return self.example + question.rstrip("\n")


class StarsPrompts(Template):
    """Templates for goals, repairs and selections in one wording.

    Attributes:
        chat: System message for chat models, which makes them continue the text.
    """

    name: str
    chat: str = ""
    opening: str
    closing: str
    example: str = template_text("task", "room", "seen", "exchange", "plan")
    job: str = template_text("task", "room", "seen", "exchange")
    goal: str
    goal_end: str
    accepted: str
    refused: str = template_text("reason")
    stop: tuple[str, ...]
    reasons: Mapping[str, str]
    examples: Mapping[str, _Example]
    mended: Mapping[str, _RepairExample]
    mended_goal: str
    mended_plan: str
    selection: _SelectionPrompts

    @field_validator("reasons", "mended")
    @classmethod
    def _all_reasons(cls, found: Mapping[str, object]) -> Mapping[str, object]:
        if missing := [reason for reason in _REASONS if reason not in found]:
            raise ValueError(f"{missing[0]} is missing")
        return found

    @field_validator("examples")
    @classmethod
    def _some_examples(cls, found: Mapping[str, _Example]) -> Mapping[str, _Example]:
        if not found:
            raise ValueError("at least one example is needed")
        return found

    def prompt_with(self, examples: Sequence[str], task: StarsTask, about: TaskObject, exchange: str) -> str:
        """Return a prompt: examples, and then the task at hand with what has been said of its goal.

        Args:
            examples: Examples of other tasks; see ``example_of``.
            task: The task.
            about: The object.
            exchange: Ends where the model continues.
        """
        job = self.job.format(task=task.name, room=task.room.noun, seen=about.description, exchange=exchange)
        # The prompt has no trailing space, because the space belongs to the first token of the goal.
        return "".join((self.opening, *examples, self.closing, job)).rstrip()

    def example_of(self, each: _Example, exchange: str, plan: str | None = None) -> str:
        """Return an example: a task, what was said of its goal, and the plan."""
        return self.example.format(
            task=each.task, room=each.room, seen=each.seen, exchange=exchange, plan=each.plan if plan is None else plan
        )

    def good_goal(self, goal: str) -> str:
        """Return a goal that the robot accepts."""
        return f"{self.goal}{goal}{self.goal_end}{self.accepted}"

    def bad_goal(self, goal: str, reason: str) -> str:
        """Return a goal that the robot refuses, with the reason."""
        return f"{self.goal}{goal}{self.goal_end}{self.refused.format(reason=reason)}"

    def repair_example(self, mismatch: Mismatch) -> str:
        """Return a refused goal with a mismatch of the same kind, for an example of its repair."""
        key = _reason_key(mismatch)
        return self.bad_goal(self.mended[key].wrong, self._reason(key, self.mended[key].what, self.mended[key].thing))

    def reason(self, mismatch: Mismatch) -> str:
        """Return why a goal is refused, in the robot's words."""
        return self._reason(_reason_key(mismatch), mismatch.what or "", mismatch.thing or "")

    def _reason(self, key: str, what: str, thing: str) -> str:
        return self.reasons[key].replace("{what}", what).replace("{thing}", thing)


def load_prompts(name_or_path: str = PROMPTS) -> StarsPrompts:
    """Load bundled templates by name, or a file.

    Raises:
        UserError: The templates do not exist or are malformed. The message names file, field and remedy.
    """
    return read_data_file(name_or_path, StarsPrompts)[0]


def _reason_key(mismatch: Mismatch) -> str:
    if mismatch.kind is not MismatchKind.AFFORDANCE:
        return str(mismatch.kind.value)
    return mismatch.what if mismatch.what and mismatch.what in _REASONS else "state"
