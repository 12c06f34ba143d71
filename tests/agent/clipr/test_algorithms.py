"""Algorithms 1 and 2 with a chat model whose replies a file fixes: every branch once, every call counted."""

from pathlib import Path

import pytest

from housewise.agent.clipr.action_choice import Inference, choose_all
from housewise.agent.clipr.actions import AskPerson, CliprObservation, NewRules
from housewise.agent.clipr.adaptive import choose_adaptively, is_gate_open
from housewise.agent.clipr.chat_steps import ChatSteps
from housewise.agent.clipr.conversation import converse
from housewise.agent.clipr.critic_settings import CriticSettings
from housewise.agent.clipr.elicitation import RememberedConversation, elicit, learn_rules
from housewise.agent.clipr.language_steps import DialogueTurn, Dimension, Guidance
from housewise.agent.clipr.rules import parse_rules
from housewise.worlds.choices.scenario import Scenario, presentation_order
from tests.agent.clipr.scripted_steps import INQUIRY, Answering, Played, block, language, play, reply, scenario

EXAMPLES = [scenario("e1").situation, scenario("e2").situation]


def test_elicitation_ends_when_enough_is_known(tmp_path: Path) -> None:
    chat, model = language(
        tmp_path,
        inquire=[INQUIRY, "Fine, thank you.\nPAUSE: true"],
        synthesize=["1. For tea: prefer iced tea.\n2. Smile."],
    )
    playing = learn_rules(chat, EXAMPLES, max_questions=10)
    asked = next(playing)
    assert isinstance(asked, AskPerson) and asked.question.text == "Hot or iced?"
    assert asked.unresolved == (Dimension("temperature", ("iced", "hot")), Dimension("strength", ("weak",)))
    reported = playing.send(CliprObservation((), (), "iced"))
    assert isinstance(reported, NewRules) and reported.origin == "interview"
    with pytest.raises(StopIteration) as ended:
        next(playing)
    rules = ended.value.value
    assert reported.rules == rules and [rule.text for rule in rules] == ["For tea: prefer iced tea.", "Smile."]
    assert [rule.typed for rule in rules] == [True, False]
    assert model.calls == {"inquire": 2, "synthesize": 1} and chat.usage.calls == 3
    assert (chat.usage.tokens.prompt_tokens, chat.usage.tokens.completion_tokens) == (21, 9)
    synthesis = model.asked[-1][1]
    assert "Person: iced" in synthesis and "pour hot tea" in synthesis, "rules come from dialogue and examples"


def test_elicitation_ends_after_max_questions_in_at_most_one_call_more(tmp_path: Path) -> None:
    chat, model = language(tmp_path, inquire=[INQUIRY] * 3, synthesize=["1. Prefer iced tea."])
    person = Answering("a", "b", "c", "d")
    converse(learn_rules(chat, EXAMPLES, max_questions=3, synthesize_from_examples=False), person)
    assert model.calls == {"inquire": 3, "synthesize": 1} and len(person.asked) == 3 and not model.left()
    assert "pour hot tea" not in model.asked[-1][1], "the ablation writes rules from the dialogue alone"


def test_remembered_answers_are_written_once_and_newer_rules_replace_those_that_they_contradict(tmp_path: Path) -> None:
    said = (DialogueTurn("Tea?", "hot"), DialogueTurn("Milk?", "no"))
    old = parse_rules("1. For tea: prefer hot tea.\n2. For milk: avoid milk.")
    chat, model = language(tmp_path, synthesize=["1. For tea: prefer iced tea."])
    rules = converse(learn_rules(chat, EXAMPLES, 2, RememberedConversation(said, said[:1], old)), Answering())
    assert model.calls == {"synthesize": 1} and "Person: no" not in model.asked[-1][1]
    assert [rule.text for rule in rules] == ["For milk: avoid milk.", "For tea: prefer iced tea."]
    chat, model = language(tmp_path)
    assert converse(learn_rules(chat, EXAMPLES, 2, RememberedConversation(said, (), old)), Answering()) == old


def test_an_answer_of_a_megabyte_is_cut(tmp_path: Path) -> None:
    chat, _ = language(tmp_path, inquire=[INQUIRY])
    (turn,) = converse(elicit(chat, EXAMPLES, 1), Answering("tea " * 300_000))
    assert len(turn.answer) < 2100


def test_unreadable_blocks_are_asked_again_once_alone(tmp_path: Path) -> None:
    scenarios = [scenario(f"s{n}") for n in range(5)]
    first = "\n".join(
        [
            block(1, scenarios[0], 0),
            "SCENARIO 2:\nAction: 9\nReasoning: out of range\nConfidence: 5",
            "SCENARIO 3:\nAction: iced tea\nReasoning: not a number\nConfidence: 5",
            block(4, scenarios[3], 0) + block(4, scenarios[3], 1),
        ]
    )
    again = [block(1, scenarios[1], 0), "I would rather not.", block(1, scenarios[3], 2), ""]
    chat, model = language(tmp_path, choose=[first, *again])
    inference = Inference(chat, batch_size=5)
    decisions = play(
        lambda seen: choose_all(inference, seen, Guidance()), chat.usage, Answering(), scenarios, 5
    ).decisions
    assert [decision.action for decision in decisions] == [0, 0, None, 2, None]
    assert [decision.right for decision in decisions] == [True, True, False, False, False]
    assert [decision.satisfies for decision in decisions] == [True, True, False, False, False]
    assert (chat.usage.calls, chat.usage.unreadable) == (5, 2)
    assert "There are 5 scenarios" in model.asked[0][1] and "There are 1 scenarios" in model.asked[1][1]


def test_candidates_are_shuffled_by_scenario_and_model() -> None:
    orders = {tuple(presentation_order(f"s{n}", model, 0, 4)) for n in range(40) for model in ("one", "other")}
    assert len(orders) > 15
    assert presentation_order("s1", "one", 0, 4) == presentation_order("s1", "one", 0, 4)


@pytest.mark.parametrize(
    ("batch", "history", "sensitivity", "fires"),
    [
        (1.0, [], 1.0, True),
        (1.0, [1.0], 1.0, True),
        (0.8, [0.8, 0.8], 1.0, False),
        (0.7, [0.8, 0.8], 1.0, True),
        (0.7, [0.6, 1.0], 1.0, False),
        (0.5, [0.6, 1.0], 1.0, True),
        (0.5, [0.6, 1.0], 2.0, False),
    ],
)
def test_the_gate_asks_for_two_batches_and_a_drop_beyond_tau_sigma(
    batch: float, history: list[float], sensitivity: float, fires: bool
) -> None:
    assert is_gate_open(batch, history, sensitivity) is fires


OLD = parse_rules("1. For tea: prefer hot tea.")
QUESTION, ANSWER = "How do you take your tea?", "iced"
SETTINGS = CriticSettings(batch=2, feedback_interval=4, recent_choices=3)


def adapt(folder: Path, person: Answering, batches: list[list[int]], **replies: list[str]):  # type: ignore[no-untyped-def]
    scenarios = [scenario(f"s{n}") for n in range(2 * len(batches))]
    made = [reply(scenarios[2 * n : 2 * n + 2], actions) for n, actions in enumerate(batches)]
    again = replies.pop("again", [])
    choose = [*made[:2], *again, *made[2:]]  # feedback is considered after the second batch
    chat, model = language(folder, choose=choose, **replies)
    run = revise(chat, person, scenarios, SETTINGS)
    assert not model.left(), model.left()
    return run, model, chat


def revise(chat: ChatSteps, person: Answering, scenarios: list[Scenario], settings: CriticSettings) -> Played:
    inference = Inference(chat, settings.batch)
    return play(
        lambda seen: choose_adaptively(inference, settings, seen, OLD), chat.usage, person, scenarios, settings.batch
    )


def replayed(actions: list[int]) -> list[str]:
    """The replies of the accuracy gate for the four scenarios that are processed by then."""
    scenarios = [scenario(f"s{n}") for n in range(4)]
    return [reply(scenarios[:2], actions[:2]), reply(scenarios[2:], actions[2:])]


def test_the_critic_ends_at_each_of_its_judgements(tmp_path: Path) -> None:
    wrong = [[1, 1], [1, 1]]
    run, model, _ = adapt(tmp_path, Answering(), wrong, investigate=["NO, that is fine"])
    assert [review.outcome for review in run.reviews] == ["not worth it"]
    assert model.calls == {"choose": 2, "investigate": 1}
    shown = model.asked[-1][1]
    assert "0 of 2 choices (0 %)" in shown and "A tea for" not in shown, "aggregate accuracy and nothing else"

    run, model, _ = adapt(tmp_path, Answering(), wrong, investigate=["YES"], feedback_question=["NO."])
    assert run.reviews[0].outcome == "no question" and model.calls["feedback_question"] == 1
    assert model.asked[-1][1].count("A tea for") == SETTINGS.recent_choices, "the last K decisions"

    run, model, _ = adapt(tmp_path, Answering(), wrong, investigate=["YES"], feedback_question=[QUESTION])
    assert run.reviews[0].outcome == "left" and run.scores["questions"] == 1

    person = Answering(ANSWER)
    run, model, _ = adapt(
        tmp_path, person, wrong, investigate=["yes"], feedback_question=[QUESTION], should_update=["NO"]
    )
    assert run.reviews[0].outcome == "no update" and run.reviews[0].exchange == DialogueTurn(QUESTION, ANSWER)
    assert person.asked == [QUESTION] and not run.rules
    assert model.calls == {"choose": 2, "investigate": 1, "feedback_question": 1, "should_update": 1}

    run, _, _ = adapt(
        tmp_path,
        Answering(ANSWER),
        wrong,
        investigate=["YES"],
        feedback_question=[QUESTION],
        should_update=["YES"],
        update=["1. For tea: prefer hot tea."],
    )
    assert run.reviews[0].outcome == "unchanged"


@pytest.mark.parametrize(("least", "outcomes"), [(None, ["not worth it", "gate closed"]), (0.6, ["not worth it"] * 2)])
def test_accuracy_that_is_low_from_the_start_opens_the_gate_if_a_minimum_says_so(
    tmp_path: Path, least: float | None, outcomes: list[str]
) -> None:
    scenarios = [scenario(f"s{n}") for n in range(8)]
    chat, _ = language(
        tmp_path,
        choose=[reply(scenarios[start : start + 2], [0, 1]) for start in (0, 2, 4, 6)],
        investigate=["NO"] * outcomes.count("not worth it"),
    )
    run = revise(chat, Answering(), scenarios, SETTINGS.model_copy(update={"min_accuracy": least}))
    assert [review.outcome for review in run.reviews] == outcomes


ASKED = {"investigate": ["YES"], "feedback_question": [QUESTION], "should_update": ["YES"]}


def test_an_update_that_helps_is_accepted_and_used_from_then_on(tmp_path: Path) -> None:
    run, model, chat = adapt(
        tmp_path,
        Answering(ANSWER),
        [[1, 1], [1, 0], [0, 0], [0, 1]],
        **ASKED,
        update=["1. For tea: prefer iced tea."],
        again=replayed([0, 0, 1, 1]),
    )
    first, second = run.reviews
    assert (first.outcome, first.before, first.after) == ("accepted", 0.25, 0.5)
    (new,) = run.rules
    assert new.origin == "review" and [rule.text for rule in new.rules] == ["For tea: prefer iced tea."]
    # The batches before had 0.0, 0.5 and 1.0: their mean less one deviation is 0.09, and the last has 0.5.
    assert second.outcome == "gate closed" and second.accuracy == 0.5
    assert [decision.right for decision in run.decisions] == [False, False, False, True, True, True, True, False], (
        "a scenario's score is that of its first answer"
    )
    prompts = [prompt for step, prompt in model.asked if step == "choose"]
    assert all("prefer hot tea" in prompt for prompt in prompts[:2])
    assert all("prefer iced tea" in prompt for prompt in prompts[2:])
    # 4 batches + investigate, question, should update, update + 2 batches of the accuracy gate.
    assert chat.usage.calls == 4 + 4 + 2 == run.scores["calls"] and run.scores["questions"] == 1
