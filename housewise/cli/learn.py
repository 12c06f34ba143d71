"""``housewise learn``: ask a person questions and remember the rules that they confirm."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable
from housewise.terminal.options import BaseUrlOption, MemoryOptions, ModelOption, option

if TYPE_CHECKING:
    from housewise.agent.clipr.terminal_interview import Interview

TOPICS = ("kitchen", "house")


def learn(
    target: MemoryOptions,
    topic: Annotated[str, option("TOPIC", "Topic: kitchen, or house (where things belong).")] = "kitchen",
    max_questions: Annotated[int, option("N", "Maximum number of questions.", min=1, max=10)] = 10,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
) -> None:
    """Ask a person at most ten questions, and remember what they want as rules.

    Examples:

      housewise learn ada

      housewise learn ada --topic house

      housewise learn ada --model my-model --base-url http://localhost:8000/v1

    Answer by number or in your own words. A question about the house covers several groups of things, and "as usual"
    stands for the usual places. You see how each rule was understood, and it is kept once you say yes. At any prompt
    you can say: don't care, don't have it, back (to the last question), skip, help, quit. The same command resumes the
    conversation later. housewise run --memory PERSON follows the rules: those about the house in houses, those about
    the kitchen with --system clipr. With --model a chat model asks, and reads the answers.
    """
    from housewise.cli.rule_conversation import RuleConversation

    check_writable(target.folder.notes_path(target.person).parent)
    interview = _open_interview(topic, model, base_url)
    RuleConversation(target.person, topic, interview, target.folder, max_questions, sys.stdin, Console()).hold()


def _open_interview(topic: str, model: str | None, base_url: str | None) -> Interview:
    from housewise.agent.clipr.terminal_interview import ModelInterview, kitchen_interview

    if topic not in TOPICS:
        raise UserError(f"--topic {topic}: nothing is asked about that; {suggest_names(topic, TOPICS)}")
    if model is None:
        if base_url is not None:
            raise UserError("--base-url: is the address of a model's server; give --model too")
        from housewise.agent.clipr.house_questions import HouseConversation
        from housewise.language.embedder import MiniLM

        return HouseConversation(MiniLM()) if topic == "house" else kitchen_interview(MiniLM())
    if topic == "house":
        raise UserError("--topic house has questions of its own; leave out --model")
    from housewise.agent.clipr.chat_steps import ChatSteps
    from housewise.language import open_model
    from housewise.worlds.choices.kitchen_choices import read_kitchen_choices

    examples = [example.situation for example in read_kitchen_choices().examples]
    return ModelInterview(ChatSteps(open_model(model, base_url=base_url)), examples)
