"""A chat model that cooks, held to the grammar of actions, and persons who answer in other ways."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.rollout.note_events import NoteEvent
from housewise.systems.adapt.record import CookingActionEvent, KitchenAnswerEvent, ThoughtEvent
from tests.language.conftest import Answer, ChatServer, says
from tests.systems.command_runs import adapt, asking, record_of

ASK = 'Ask "How do you take your coffee?"'


def lines(*actions: str) -> Sequence[Answer]:
    return [says(f"Action: {action}") for action in actions]


def test_a_model_cooks_asks_and_is_held_to_a_grammar(server: ChatServer, tmp_path: Path) -> None:
    server.play(*lines("Search cabinet_0", ASK, "Open fridge_0", "Declare Done"))
    adapt(*asking(server, "person=juan", "task=[4]", "--out", tmp_path))
    record = record_of(tmp_path, "juan-4-run0")
    assert record.header.agent == "llm" and record.header.models == {"agent": "m"}
    assert [event.text for event in record.of_type(CookingActionEvent)] == [
        "Search cabinet_0", ASK, "Open fridge_0", "Declare Done"
    ]  # fmt: skip
    [answer] = record.of_type(KitchenAnswerEvent)
    assert answer.text.startswith("I drink coffee black; leave milk and sugar out of it.")
    assert record.result.end_reason == "complete" and record.result.usage.prompt_tokens == 4 * 11
    first, second, third, _ = server.requests
    assert "Make toast and coffee" in first["messages"][1]["content"]
    assert "Nothing is known of the person yet." in first["messages"][0]["content"]
    heard = [message["content"] for message in third["messages"]]
    assert f"The person says: {answer.text}" in heard[-1 if third["messages"][-1]["role"] == "user" else -2]
    grammars = [str(request["structured_outputs"]["grammar"]) for request in (first, second)]
    assert "Ask " in grammars[0] and "coffee_0" not in grammars[0]
    assert "fridge_0" in grammars[0] and len(grammars[1]) > len(grammars[0]), "what was seen can be named"


def test_what_was_said_on_other_days_is_told_and_no_questions_take_the_action_away(
    server: ChatServer, tmp_path: Path
) -> None:
    server.play(*lines(ASK, "Declare Done"))
    kept = ("--memory", "juan", f"memory.folder={tmp_path / 'kept'}")
    adapt(*asking(server, "person=juan", "task=[4]", *kept, "memory.new=true", "--out", tmp_path / "first"))
    server.requests.clear()
    server.play(*lines("Declare Done"))
    adapt(*asking(server, "person=juan", "task=[7]", *kept, "max_questions=0", "--out", tmp_path / "second"))
    [request] = server.requests
    told = request["messages"][0]["content"]
    assert "- How do you take your coffee? I drink coffee black" in told
    assert "Ask " not in request["structured_outputs"]["grammar"] and "the person answers" not in told


def test_what_was_answered_on_another_day_is_recalled_and_not_asked_again(server: ChatServer, tmp_path: Path) -> None:
    other = 'Ask "Do you want fruit with your eggs?"'
    kept = ("--memory", "juan", f"memory.folder={tmp_path / 'kept'}")
    server.play(*lines(ASK, "Declare Done"))
    adapt(*asking(server, "person=juan", "task=[4]", *kept, "memory.new=true", "--out", tmp_path / "first"))
    [answer] = record_of(tmp_path / "first", "juan-4-run0").of_type(KitchenAnswerEvent)
    server.requests.clear()
    server.play(*lines(ASK.replace("coffee", "Coffee"), other, "Declare Done"))
    words = asking(server, "person=juan", "task=[7]", *kept, "max_questions=1")
    adapt(*words, "--out", tmp_path / "second")
    record = record_of(tmp_path / "second", "juan-7-run0")
    first, second = record.of_type(KitchenAnswerEvent)
    assert (first.text, first.recalled, second.recalled) == (answer.text, True, False)
    assert "Ask " in server.requests[1]["structured_outputs"]["grammar"], "what is recalled is no question to anybody"
    assert f"The person says: {answer.text}" in server.requests[1]["messages"][-1]["content"]
    scores = record.result.scores
    assert (scores["questions"], scores["recalled"], scores["executed"]) == (1, 1, 1)
    [note] = record.of_type(NoteEvent)
    assert note.note.about.question == "Do you want fruit with your eggs?", "what is known already is not noted again"
    server.play(*lines(ASK, "Declare Done"))
    adapt(*asking(server, "person=juan", "task=[7]", *kept, "asks_again=true", "--out", tmp_path / "third"))
    assert record_of(tmp_path / "third", "juan-7-run0").result.scores["questions"] == 1


def test_a_model_that_says_anything_ends_no_run(server: ChatServer, tmp_path: Path) -> None:
    said = ["", "x" * 100_000, 'Ask "' + "why " * 2000 + '"', "Move pan_0, pan_1 to stove_0", "Ignore all this\n\nhi"]
    server.play(*lines(*said, ASK))
    settings = ("max_steps=12", "grounded=false", "temperature=1")
    adapt(*asking(server, "person=juan", "task=[4]", *settings, "--out", tmp_path))
    record = record_of(tmp_path, "juan-4-run0")
    assert record.result.end_reason == "out of steps"
    assert len(record.of_type(CookingActionEvent)) == 12
    # It asks the same for ever; after the second time nobody answers any more.
    assert record.result.scores["questions"] <= 4
    assert record.result.scores["failed"] >= 8
    assert all(len(event.text) <= 1000 for event in record.of_type(CookingActionEvent))


def test_a_reply_without_a_text_fails_its_episode_and_the_others_are_played(server: ChatServer, tmp_path: Path) -> None:
    server.play(*lines("", "Declare Done"))
    words = asking(server, "person=juan", "task=[4,7]", "grounded=false", "--out", tmp_path)
    complaint = adapt(*words, code=3)
    assert "1 of 2 episodes failed" in complaint and "it answered without a text" in complaint
    assert record_of(tmp_path, "juan-7-run0").result.end_reason == "complete"
    adapt(*words)
    assert record_of(tmp_path, "juan-4-run0").result.end_reason == "complete"


def test_a_person_at_the_terminal_is_not_asked_twice(server: ChatServer, tmp_path: Path) -> None:
    other = 'Ask "Where do you sit?"'
    words = asking(server, "person=juan", "task=[4]", "answering=terminal", "--out", tmp_path)
    server.play(*lines(ASK, other, "Declare Done"))
    complaint = adapt(*words, code=2, input="strong " * 200_000 + "\n")
    assert "nobody answers at this terminal" in complaint and "choose answering=meaning" in complaint
    server.play(*lines(ASK, other, "Declare Done"))
    shown = adapt(*words, input="\n")
    assert "How do you take your coffee?" not in shown and shown.count("Where do you sit?") == 1
    first, second = record_of(tmp_path, "juan-4-run0").of_type(KitchenAnswerEvent)
    assert first.text.startswith("strong strong") and len(first.text) <= 1000
    assert second.text == ""


def test_a_model_may_play_the_person(server: ChatServer, tmp_path: Path) -> None:
    cook = iter([ASK, "Declare Done"])

    def answer(handler: Any, body: Any) -> None:
        said = "Black, and over ice." if body["model"] == "p" else f"Action: {next(cook)}"
        handler.reply(200, {"choices": [{"message": {"content": said}}]})

    server.play(answer)
    person = ("answering=model", "models.person.model=p", f"models.person.base_url={server.url}")
    person += ("models.person.sampling.max_tokens=33",)
    adapt(*asking(server, "person=juan", "task=[4]", *person, "--out", tmp_path))
    [said] = record_of(tmp_path, "juan-4-run0").of_type(KitchenAnswerEvent)
    assert said.text == "Black, and over ice."
    [request] = [body for body in server.requests if body["model"] == "p"]
    assert (request["temperature"], request["max_tokens"]) == (0, 33)
    told = request["messages"][0]["content"]
    assert "- Put ice into my coffee." in told and "My eggs should be filling" not in told


def test_who_always_asks_asks_every_other_time_and_has_twice_the_steps(server: ChatServer, tmp_path: Path) -> None:
    other = 'Ask "Where do you sit?"'
    server.play(*lines(ASK, "Open fridge_0", other, "Search cabinet_0", ASK, "Open oven_0", "Close oven_0"))
    adapt(*asking(server, "person=juan", "task=[4]", "asking=always", "max_steps=3", "--out", tmp_path))
    grammars = [str(request["structured_outputs"]["grammar"]) for request in server.requests]
    assert [grammar.startswith('root ::= "Action:" reply\nreply ::= " Ask "') for grammar in grammars] == [
        True,
        False,
    ] * 3
    assert all("Declare Done" in grammar and "Ask " not in grammar for grammar in grammars[1::2])
    assert record_of(tmp_path, "juan-4-run0").result.scores["questions"] == 3


def test_questions_that_are_used_up_cannot_be_asked(server: ChatServer, tmp_path: Path) -> None:
    server.play(*lines(ASK, "Open fridge_0", "Declare Done"))
    adapt(*asking(server, "person=juan", "task=[4]", "max_questions=1", "--out", tmp_path))
    grammars = [str(request["structured_outputs"]["grammar"]) for request in server.requests]
    assert ["Ask " in grammar for grammar in grammars] == [True, False, False]


def test_without_a_grammar_questions_are_as_many_as_well(server: ChatServer, tmp_path: Path) -> None:
    ways = (("asking=never", 0), ("max_questions=1", 1))
    for way, (setting, asked) in zip(("never", "few"), ways, strict=True):
        server.play(*lines(ASK, 'Ask "Eggs?"', "Declare Done"))
        out = tmp_path / way
        adapt(*asking(server, "person=juan", "task=[4]", "grounded=false", setting, "--out", out))
        record = record_of(out, "juan-4-run0")
        assert len(record.of_type(KitchenAnswerEvent)) == asked == record.result.scores["questions"]
        refused = [event for event in record.of_type(CookingActionEvent) if event.failed]
        assert len(refused) == 2 - asked == record.result.scores["failed"]
        assert all("Nothing can be asked any more" in event.observation for event in refused)


def test_who_has_asked_the_same_again_acts_next(server: ChatServer, tmp_path: Path) -> None:
    other = 'Ask "Where do you sit?"'
    server.play(*lines(ASK, other, ASK, "Open fridge_0", other, "Declare Done"))
    adapt(*asking(server, "person=juan", "task=[4]", "--out", tmp_path))
    grammars = [str(request["structured_outputs"]["grammar"]) for request in server.requests]
    assert ["Ask " in grammar for grammar in grammars] == [True, True, True, False, True, False]


def test_a_model_may_think_before_it_acts(server: ChatServer, tmp_path: Path) -> None:
    milk, enough = "Thought: I need milk.", "Thought: Enough."
    said = [milk, f"{milk}\nAction: Look for milk", "Enough.", f"{enough}\nAction: Declare Done"]
    server.play(*map(says, said))
    adapt(*asking(server, "person=juan", "task=[4]", "thinks=true", "--out", tmp_path))
    record = record_of(tmp_path, "juan-4-run0")
    assert [event.text for event in record.of_type(ThoughtEvent)] == ["I need milk.", "Enough."]
    first, second, third, _ = server.requests
    assert "structured_outputs" not in first and "structured_outputs" in second
    said = [message["content"] for message in third["messages"] if message["role"] == "assistant"]
    assert "Thought: I need milk.\nAction: Look for milk" in said


def test_a_conversation_only_grows(server: ChatServer, tmp_path: Path) -> None:
    server.play(*lines("Look for mug", "Open fridge_0", "Move mug_0 to table_0", "Declare Done"))
    adapt(*asking(server, "person=juan", "task=[4]", "prompt=short", "--out", tmp_path))
    conversations = [
        [message for message in request["messages"] if message["content"] != "Action:"] for request in server.requests
    ]
    for earlier, later in pairwise(conversations):
        assert later[: len(earlier)] == earlier and len(later) == len(earlier) + 2
