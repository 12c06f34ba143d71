"""People who leave, who say nothing, and who have said enough: the episode goes on with what there is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.chat_steps import ChatSteps
from housewise.agent.clipr.critic_settings import CriticSettings
from housewise.agent.clipr.elicitation import RememberedConversation
from housewise.agent.clipr.language_steps import ActionChoice, DialogueTurn
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_without_rules,
    recall_answers,
    recall_conversation,
    recall_rules,
    rule_notes,
    rules_written_note,
)
from housewise.agent.clipr.method_inputs import MethodInputs
from housewise.agent.clipr.methods import METHODS
from housewise.agent.clipr.rules import Rule, parse_rule
from housewise.core.record import Event, Header, Result
from housewise.language.base import ChatRequest, Reply, Sampling
from housewise.people.choices.profiles import read_profile
from housewise.people.memory import Memory
from housewise.people.respondent import Question
from housewise.rollout.episode_loop import EpisodeLimits, EpisodeLoop
from housewise.rollout.note_events import NoteEvent, NoteForgottenEvent
from housewise.systems.clipr.agent import CliprAgent, find_cited_rule
from housewise.systems.clipr.record import CliprAnswerEvent, CliprQuestionEvent, DecisionEvent, ReviewEvent, RulesEvent
from housewise.systems.clipr.system import open_chat_person
from housewise.systems.clipr.world import ChoiceWorld
from tests.agent.clipr.scripted_steps import INQUIRY, Answering, language, reply, scenario

SCENARIOS = [scenario(f"s{number}") for number in range(4)]


class Kept:
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def play(
    folder: Path, person: Answering, memory: Memory | None = None, budget: int = 5, **replies: list[str]
) -> tuple[Kept, Result]:
    """An episode of two batches of two, reviewed after both, with a chat model whose replies are given."""
    chat, model = language(folder, **replies)
    method, known = METHODS["adaptive"], recall_conversation(memory, "kitchen") if memory else RememberedConversation()
    inputs = MethodInputs(Inference(chat, 2), budget, CriticSettings(batch=2, feedback_interval=4), known)
    world = ChoiceWorld([scenario("e").situation], [SCENARIOS[:2], SCENARIOS[2:]], person, chat.usage, method)
    kept = Kept()
    agent = CliprAgent(method.play, inputs, "kitchen", memory)
    result = EpisodeLoop(world, agent, kept, EpisodeLimits(50, 50)).play(Header(system="clipr", task="kitchen"))
    assert not model.left() and isinstance(chat, ChatSteps)
    return kept, result


def batches(first: list[int], second: list[int]) -> list[str]:
    return [reply(SCENARIOS[:2], first), reply(SCENARIOS[2:], second)]


def test_who_leaves_during_the_interview_and_the_review_ends_neither(tmp_path: Path) -> None:
    kept, result = play(
        tmp_path,
        Answering("iced"),
        inquire=[INQUIRY] * 2,
        synthesize=["1. For tea: prefer iced tea."],
        choose=batches([0, 0], [1, 0]),
        investigate=["YES"],
        feedback_question=["Why?"],
    )
    assert [event.left for event in kept.of(CliprAnswerEvent)] == [False, True, True]
    assert [event.during for event in kept.of(CliprQuestionEvent)] == ["interview", "interview", "review"]
    assert [event.outcome for event in kept.of(ReviewEvent)] == ["left"]
    assert [line.text for event in kept.of(RulesEvent) for line in event.rules] == ["For tea: prefer iced tea."]
    assert (result.end_reason, result.scores["accuracy"], result.scores["questions"]) == ("complete", 0.75, 3)
    assert (result.scores["calls"], result.usage.prompt_tokens) == (7, 49)


def test_who_says_nothing_has_no_rules_and_is_served_all_the_same(tmp_path: Path) -> None:
    choose = batches([0, 0], [0, 0])
    kept, result = play(
        tmp_path, Answering("", ""), Memory("ada"), inquire=[INQUIRY] * 2, choose=choose, investigate=["NO"]
    )
    assert not kept.of(RulesEvent) and not kept.of(NoteEvent)
    assert {each.rule for each in kept.of(DecisionEvent)} == {None}
    assert result.scores["accuracy"] == 1.0 and [each.outcome for each in kept.of(ReviewEvent)] == ["not worth it"]


@pytest.mark.parametrize(
    ("again", "outcome", "versions"), [([0, 0, 0, 0], "accepted", 3), ([1, 1, 1, 1], "rejected", 2)]
)
def test_a_memory_is_gone_on_with_and_a_review_has_to_stand_the_test(
    tmp_path: Path, again: list[int], outcome: str, versions: int
) -> None:
    answer = answer_note("ada", "kitchen", DialogueTurn("Hot or iced?", "iced"))
    rule, ended = parse_rule("For tea: prefer hot tea."), rules_written_note("ada", "kitchen", answer.time)
    memory = Memory("ada", [answer, *rule_notes("ada", "kitchen", [rule]), ended])
    kept, result = play(
        tmp_path,
        Answering("milk", "iced, as I said"),
        memory,
        2,
        inquire=[INQUIRY],
        synthesize=["1. For milk: prefer cold."],
        choose=[*batches([1, 0], [1, 0]), reply(SCENARIOS[:2], again[:2]), reply(SCENARIOS[2:], again[2:])],
        investigate=["YES"],
        feedback_question=["Which tea?"],
        should_update=["YES"],
        update=["1. For tea: prefer iced tea.\n2. For milk: prefer cold."],
    )
    assert [event.origin for event in kept.of(RulesEvent)] == ["memory", "interview", "review"][:versions]
    (review,) = kept.of(ReviewEvent)
    assert (review.outcome, review.before, review.after) == (outcome, 0.5, 1.0 if outcome == "accepted" else 0.0)
    assert result.scores["accuracy"] == 0.5, "every choice counts as it was made first"
    notes = [event.note for event in kept.of(NoteEvent)]
    said = {note.text: note.id for note in notes if note.kind == "answer" and note.value is None}
    rules = {note.text: note.derived_from for note in notes if note.kind == "rule"}
    expected = {"For milk: prefer cold.": (said["milk"],)}
    if outcome == "accepted":
        expected["For tea: prefer iced tea."] = (said["iced, as I said"],)
    assert rules == expected
    gone = [event.note.text for event in kept.of(NoteForgottenEvent)]
    assert gone == (["For tea: prefer hot tea."] if outcome == "accepted" else [])
    for event in [*kept.of(NoteForgottenEvent), *kept.of(NoteEvent)]:
        event.apply(memory)
    assert len(recall_answers(memory, "kitchen")) == 3 and not answers_without_rules(memory, "kitchen")
    newest = "For tea: prefer iced tea." if outcome == "accepted" else "For tea: prefer hot tea."
    assert newest in [rule.text for rule in recall_rules(memory, "kitchen")]
    assert len(recall_rules(memory, "kitchen")) == 2, "the newer of two that contradict each other counts"


def test_a_remembered_rule_that_a_review_dropped_does_not_come_back(tmp_path: Path) -> None:
    answer = answer_note("ada", "kitchen", DialogueTurn("What do you like?", "quiet and iced"))
    known = [parse_rule("For tea: prefer iced tea."), Rule(text="Smile.")]
    ended = rules_written_note("ada", "kitchen", answer.time)
    memory = Memory("ada", [answer, *rule_notes("ada", "kitchen", known), ended])
    kept, _ = play(
        tmp_path,
        Answering("milk", "no smiles please"),
        memory,
        2,
        inquire=[INQUIRY],
        synthesize=["1. For milk: prefer cold."],
        choose=[*batches([1, 0], [1, 0]), reply(SCENARIOS[:2], [0, 0]), reply(SCENARIOS[2:], [0, 0])],
        investigate=["YES"],
        feedback_question=["Smile?"],
        should_update=["YES"],
        update=["1. For tea: prefer iced tea.\n2. For milk: prefer cold."],
    )
    for event in [*kept.of(NoteForgottenEvent), *kept.of(NoteEvent)]:
        event.apply(memory)
    rules = [rule.text for rule in recall_rules(memory, "kitchen")]
    assert rules == ["For tea: prefer iced tea.", "For milk: prefer cold."]


def test_the_rule_that_decided_is_told_by_words_or_number() -> None:
    rules = [parse_rule("For tea: prefer iced."), Rule(text="Smile.")]
    said = {"For tea: prefer iced.": 1, "by rule 2": 2, "Rules 7": None, "rule 0": None, "because": None, "": None}
    assert {words: find_cited_rule(ActionChoice(0, words), rules) for words in said} == said


@pytest.mark.parametrize("adversarial", [False, True])
def test_a_chat_model_speaks_for_a_person_and_hears_the_questions_alone(adversarial: bool) -> None:
    asked: list[ChatRequest] = []

    class Speaker:
        name = "speaker"

        def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
            asked.extend(requests)
            return [[Reply(f"Answer {len(asked)}.")]]

        def close(self) -> None: ...

    profile = read_profile("kitchen")
    person = open_chat_person(Speaker(), profile, adversarial, Sampling())
    assert [person.answer(Question(each)).text for each in ("Tea?", "Soup?")] == ["Answer 1.", "Answer 2."]
    assert person.name == ("kitchen (adversarial)" if adversarial else "kitchen")
    first, second = asked
    assert [message.content for message in second.messages[1:]] == ["Tea?", "Answer 1.", "Soup?"]
    system = first.messages[0].content
    assert all(topic.likes[0] in system and topic.dislikes[0] in system for topic in profile.topics)
    assert ("misleads" in system) is adversarial
