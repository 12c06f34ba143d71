"""Scripted language steps and people for tests of CLIPR: a chat model and a respondent with prepared replies."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from housewise.agent.clipr.action_choice import split_batches
from housewise.agent.clipr.actions import ChooseActions, CliprObservation, NewRules, Play, Review
from housewise.agent.clipr.chat_steps import ChatSteps
from housewise.agent.clipr.language_steps import MethodUsage
from housewise.agent.clipr.methods import METHODS
from housewise.language.base import ChatModelError, ChatRequest, Reply
from housewise.people.respondent import Answer, Question, Respondent, RespondentLeft
from housewise.systems.clipr.record import DecisionEvent
from housewise.systems.clipr.world import ChoiceWorld
from housewise.worlds.choices.scenario import Scenario, Situation, presentation_order

INQUIRY = "DIMENSION: temperature | iced | hot\nDIMENSION: strength | weak\nQUESTION: Hot or\n iced?"
# A part of the system prompt or of the last line that only this step has.
STEPS = {
    "inquire": "You interview a person",
    "synthesize": "You turn an interview into rules",
    "choose": "You choose for a robot",
    "investigate": "should the failures be looked into",
    "feedback_question": "write the one short question that tells most",
    "should_update": "does the last answer say something",
    "update": "write the complete numbered list anew",
}


class ScriptedChatModel:
    """Plays a file's replies; remembers what it was asked."""

    def __init__(self, path: Path) -> None:
        self.name = "scripted"
        self.asked: list[tuple[str, str]] = []
        self._replies: dict[str, list[str]] = yaml.safe_load(path.read_text(encoding="utf-8"))

    @property
    def calls(self) -> Counter[str]:
        return Counter(step for step, _ in self.asked)

    def left(self) -> dict[str, list[str]]:
        return {step: replies for step, replies in self._replies.items() if replies}

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return [[Reply(self._next(request), prompt_tokens=7, completion_tokens=3)] for request in requests]

    def _next(self, request: ChatRequest) -> str:
        prompt = "\n".join(message.content for message in request.messages)
        flat = " ".join(prompt.split()).lower()
        steps = [step for step, sign in STEPS.items() if " ".join(sign.split()).lower() in flat]
        assert len(steps) == 1, (steps, prompt)
        self.asked.append((steps[0], prompt))
        replies = self._replies.get(steps[0], [])
        if not replies:
            raise ChatModelError(f"scripted: no reply left for {steps[0]}")
        return replies.pop(0)

    def close(self) -> None:
        pass


class Answering:
    """A person who gives prepared answers, and leaves when there are none."""

    name = "answering"

    def __init__(self, *answers: str) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)

    def answer(self, question: Question) -> Answer:
        self.asked.append(question.text)
        if not self._answers:
            raise RespondentLeft("answering: has left")
        return Answer(self._answers.pop(0))


@dataclass
class Played:
    """What became of a method, or of a part of it."""

    decisions: list[DecisionEvent] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    rules: list[NewRules] = field(default_factory=list)
    seen: list[CliprObservation] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)


def play(
    start: Callable[[CliprObservation], Play[None]],
    usage: MethodUsage,
    person: Respondent,
    scenarios: Sequence[Scenario],
    batch: int,
    method: str = "adaptive",
    examples: Sequence[Situation] = (),
) -> Played:
    """Play a method in the world of the system."""
    world = ChoiceWorld(examples, list(split_batches(scenarios, batch)), person, usage, METHODS[method])
    seen, played = world.reset(), Played()
    playing = start(seen)
    said = next(playing, None)
    while said is not None:
        played.seen.append(seen)
        if isinstance(said, Review):
            played.reviews.append(said)
        elif isinstance(said, NewRules):
            played.rules.append(said)
        else:
            if isinstance(said, ChooseActions):
                said = replace(said, deciding=(None,) * len(said.choices))
            step = world.step(said)
            seen = step.observation
            played.decisions += [event for event in step.events if isinstance(event, DecisionEvent)]
        try:
            said = playing.send(seen)
        except StopIteration:
            break
    played.scores = world.scores()
    return played


def scenario(name: str) -> Scenario:
    actions = ("pour iced tea", "pour hot tea", "pour cold milk")
    return Scenario(Situation(name, ("fridge", "kettle"), f"A tea for {name}.", actions), frozenset({0, 1}), 0)


def block(number: int, each: Scenario, action: int, size_seed: int = 0) -> str:
    """A block that chooses a candidate by its own number."""
    shown = presentation_order(each.id, "scripted", size_seed, len(each.situation.actions)).index(action)
    return f"SCENARIO {number}:\nAction: {shown + 1}\nReasoning: because\nConfidence: 7\n"


def reply(scenarios: list[Scenario], actions: list[int]) -> str:
    return "\n".join(block(i, s, a) for i, (s, a) in enumerate(zip(scenarios, actions, strict=True), 1))


def language(folder: Path, **replies: list[str]) -> tuple[ChatSteps, ScriptedChatModel]:
    path = folder / "replies.yaml"
    path.write_text(yaml.safe_dump(replies), encoding="utf-8")
    model = ScriptedChatModel(path)
    return ChatSteps(model), model
