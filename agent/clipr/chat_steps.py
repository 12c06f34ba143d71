"""The language steps by a chat model, with the prompts of ``housekeep_configs/clipr/prompts.yaml``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from housewise.agent.clipr.language_steps import (
    ActionChoice,
    DialogueTurn,
    Dimension,
    Guidance,
    Inquiry,
    JudgedChoice,
    LabelledExample,
    MethodUsage,
)
from housewise.agent.clipr.prompt_templates import CliprPrompts, format_transcript
from housewise.agent.clipr.rules import Rule, format_rules, parse_rules
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling
from housewise.language.words import flatten_if_broken, one_line
from housewise.worlds.choices.scenario import Situation

TEMPERATURE = 0.2
_ROLES: tuple[Literal["system"], Literal["user"]] = ("system", "user")

_BLOCK = re.compile(
    r"^\s*SCENARIO\s+(?P<number>\d{1,4})\s*:\s*\n\s*Action:\s*(?P<action>\d{1,4})\s*\n"
    r"\s*Reasoning:[ \t]*(?P<reasoning>[^\n]*)\n"
    r"\s*Confidence:\s*(?P<confidence>\d{1,2})\s*$",
    re.MULTILINE,
)
_DIMENSION = re.compile(r"^\s*DIMENSION:\s*(.+)$", re.MULTILINE)
_QUESTION = re.compile(r"^\s*QUESTION:\s*(.+)", re.MULTILINE | re.DOTALL)
_PAUSE = re.compile(r"PAUSE:\s*true\s*$", re.IGNORECASE)


def parse_choices(reply: str, situations: Sequence[Situation]) -> list[ActionChoice]:
    """Parse the blocks of a reply into one choice per situation.

    Parsing is strict. ``action`` is None if a block is missing or repeated, names an action that does not exist, or
    states a confidence outside 1 to 10.
    """
    blocks: dict[int, list[re.Match[str]]] = {}
    for found in _BLOCK.finditer(reply):
        blocks.setdefault(int(found["number"]), []).append(found)
    choices = []
    for number, situation in enumerate(situations, 1):
        block = blocks.get(number, [])
        choices.append(_parse_block(block[0], situation) if len(block) == 1 else ActionChoice(None))
    return choices


def _parse_block(block: re.Match[str], situation: Situation) -> ActionChoice:
    action, confidence = int(block["action"]), int(block["confidence"])
    if not 1 <= action <= len(situation.actions) or not 1 <= confidence <= 10:
        return ActionChoice(None, block["reasoning"])
    return ActionChoice(action - 1, block["reasoning"].strip(), confidence)


class ChatSteps:
    """Performs every language step with one chat model and counts the calls.

    Args:
        model: Chat model.
        sampling: Sampling parameters. Defaults to temperature 0.2 and 2048 tokens, enough for the blocks of a batch.
    """

    def __init__(self, model: ChatModel, sampling: Sampling | None = None) -> None:
        self.name = model.name
        self.usage = MethodUsage()
        self._model = model
        self._prompts = CliprPrompts()
        self._sampling = sampling or Sampling(temperature=TEMPERATURE, max_tokens=2048)

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn], left: int) -> Inquiry:
        """See Interviewer.inquire. A reply that contains no question means that enough is known."""
        reply = self._ask(
            "inquire",
            scenarios=self._prompts.scenarios(examples),
            left=left,
            transcript=format_transcript(dialogue),
        )
        dimensions = []
        for found in _DIMENSION.finditer(reply):
            name, *values = (part.strip() for part in found.group(1).split("|"))
            dimensions.append(Dimension(name, tuple(values)))
        if _PAUSE.search(reply):
            return Inquiry(tuple(dimensions), None)
        asked = _QUESTION.search(reply)
        question = asked.group(1) if asked else _DIMENSION.sub("", reply)
        return Inquiry(tuple(dimensions), one_line(question) or None)

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn]) -> tuple[Rule, ...]:
        """See Interviewer.synthesize."""
        scenarios = self._prompts.scenarios(examples)
        return parse_rules(self._ask("synthesize", scenarios=scenarios, transcript=format_transcript(dialogue)))

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        """See LanguageSteps.choose. The reply has to follow the block format; see parse_choices."""
        reply = self._ask(
            "choose",
            rules=format_rules(guidance.rules),
            transcript=format_transcript(guidance.transcript),
            notes="\n".join(map(flatten_if_broken, guidance.notes)),
            examples=self._prompts.scenarios(guidance.examples) if guidance.examples else "",
            answers=self._prompts.answers(guidance.answers),
            count=len(situations),
            scenarios=self._prompts.scenarios(situations),
        )
        return parse_choices(reply, situations)

    def investigate(self, correct: int, total: int) -> bool:
        """See LanguageSteps.investigate."""
        return self._ask_yes_no("investigate", correct=correct, total=total, percent=_percent(correct, total))

    def feedback_question(self, rules: Sequence[Rule], decisions: Sequence[JudgedChoice]) -> str | None:
        """See LanguageSteps.feedback_question. The reply NO ends the review."""
        correct = sum(decision.right for decision in decisions)
        reply = self._ask(
            "feedback_question",
            rules=format_rules(rules),
            correct=correct,
            total=len(decisions),
            percent=_percent(correct, len(decisions)),
            decisions=[
                {
                    "situation": decision.situation,
                    "chosen": "-" if decision.action is None else decision.situation.actions[decision.action],
                    "right": decision.right,
                    "reasoning": flatten_if_broken(decision.reasoning)[:200],
                }
                for decision in decisions
            ],
        )
        question = one_line(reply)
        return None if not question or re.fullmatch(r"\W*NO\W*", question, re.IGNORECASE) else question

    def should_update(self, rules: Sequence[Rule], exchange: DialogueTurn) -> bool:
        """See LanguageSteps.should_update."""
        return self._ask_yes_no("should_update", rules=format_rules(rules), transcript=format_transcript([exchange]))

    def update(
        self, rules: Sequence[Rule], exchange: DialogueTurn, decisions: Sequence[JudgedChoice]
    ) -> tuple[Rule, ...]:
        """See LanguageSteps.update. Rules whose sentence is unchanged keep their typed parts."""
        known = {rule.text.lower(): rule for rule in rules}
        new = parse_rules(self._ask("update", rules=format_rules(rules), transcript=format_transcript([exchange])))
        return tuple(known.get(rule.text.lower(), rule) for rule in new)

    def open_question(self, dialogue: Sequence[DialogueTurn], left: int) -> str | None:
        """See LanguageSteps.open_question."""
        return one_line(self._ask("open_question", transcript=format_transcript(dialogue), left=left)) or None

    def summarize(self, answers: Sequence[LabelledExample]) -> tuple[Rule, ...]:
        """See LanguageSteps.summarize."""
        return parse_rules(self._ask("summarize", answers=self._prompts.answers(answers)))

    def aggregate(self, preferences: Sequence[str]) -> str:
        """See LanguageSteps.aggregate."""
        return self._ask("aggregate", notes="\n".join(map(flatten_if_broken, preferences)))

    def induce(self, situation: Situation, chosen: int | None, right: int) -> str:
        """See LanguageSteps.induce."""
        return self._ask(
            "induce",
            scenarios=self._prompts.scenarios([situation]),
            chosen="-" if chosen is None else situation.actions[chosen],
            right=situation.actions[right],
        )

    def rationalize(self, example: LabelledExample) -> str:
        """See LanguageSteps.rationalize: thoughts on all actions first, then the reason for the correct one."""
        scenarios = self._prompts.scenarios([example.situation])
        thoughts = self._ask("rationalize", "options", scenarios=scenarios)
        right = example.situation.actions[example.action]
        return self._ask("rationalize", "reason", scenarios=scenarios, thoughts=thoughts, right=right)

    def _ask_yes_no(self, *step: str, **values: object) -> bool:
        """Return whether the model's reply begins with YES. A truncated explanation after it does not matter."""
        return bool(re.match(r"\W*YES\b", self._reply(*step, **values).text, re.IGNORECASE))

    def _ask(self, *step: str, **values: object) -> str:
        return self._reply(*step, **values).complete_lines

    def _reply(self, *step: str, **values: object) -> Reply:
        messages = tuple(Message(role, self._prompts.fill(*step, role, **values)) for role in _ROLES)
        reply = self._model.complete([ChatRequest(messages, self._sampling)])[0][0]
        self.usage.add([reply])
        return reply


def _percent(correct: int, total: int) -> str:
    return f"{100 * correct / total:.0f}" if total else "0"
