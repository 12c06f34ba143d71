"""Controls without a language model go by what a learner is told."""

from dataclasses import replace

import pytest

from housewise.agent.basis.knowledge import ALL_KNOWLEDGE, NO_KNOWLEDGE, KnowledgeSwitches
from housewise.agent.basis.learner_controls import NearestTurn, build_limited_view, limit_state, situation_text
from housewise.agent.basis.scripted_oracle import ScriptedOracle
from housewise.agent.basis.views import AssistantView, Perception, build_assistant_view
from housewise.language.base import Message
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import CIRCUITS
from tests.agent.personalize.helpers import LetterEmbedder
from tests.people.lab.small_lab import SPACE, one_of_each, turn
from tests.worlds.lab.labs import scenario

STATE = one_of_each()
NOWHERE = replace(STATE, room="main office")
SAY = turn(NOWHERE, LabAction("Speak", "I have to turn an apple into a carrot."))


def test_without_knowledge_only_what_is_in_view_is_known() -> None:
    known = limit_state(STATE, SPACE, (), "truth", NO_KNOWLEDGE)
    in_view = {each.id for each in SPACE.glimpses(STATE)}
    holders = {STATE[id].container for id in in_view} - {None}
    assert {thing.id for thing in known.things} == in_view | holders


def test_words_hide_what_a_picture_does_not_show() -> None:
    hot = STATE.with_thing(*(thing.with_flags("hot", "infected") for thing in STATE.things))
    assert not {"hot", "infected"} & {
        f for each in limit_state(hot, SPACE, (), "words", NO_KNOWLEDGE).things for f in each.flags
    }
    assert limit_state(hot, SPACE, (), "truth", NO_KNOWLEDGE) != limit_state(STATE, SPACE, (), "truth", NO_KNOWLEDGE)


@pytest.mark.parametrize("perception", ["words", "truth"])
def test_what_was_not_mentioned_changes_nothing(perception: Perception) -> None:
    far = next(each for each in NOWHERE.things if each.room != NOWHERE.room and each.kind == "hammer")
    moved = NOWHERE.with_thing(replace(far, room="warehouse", container=None))
    for turns in ((), (SAY,)):
        views = [build_limited_view(state, SPACE, turns, perception, ALL_KNOWLEDGE) for state in (NOWHERE, moved)]
        first, second = (ScriptedOracle().turn(view) for view in views)
        assert first == second
    asked = (turn(NOWHERE, LabAction("Speak", "Turn the hammer into a carrot.")),)
    views = [build_limited_view(state, SPACE, asked, perception, ALL_KNOWLEDGE) for state in (NOWHERE, moved)]
    assert ScriptedOracle().turn(views[0]) != ScriptedOracle().turn(views[1])


def test_devices_are_known_by_their_cards() -> None:
    cards = KnowledgeSwitches(False, True, False)
    known = {each.kind for each in limit_state(NOWHERE, SPACE, (), "truth", cards).things}
    assert {kind.key for kind in KINDS.values() if kind.room and not kind.is_common} <= known


@pytest.mark.parametrize("perception", ["words", "truth"])
@pytest.mark.parametrize("environment", [True, False])
@pytest.mark.parametrize(("variant", "remedy"), [("power", "fuse box"), ("remove_blocker", "robotic arm")])
def test_obstacles_in_other_rooms_are_known_by_environment_knowledge_only(
    variant: str, remedy: str, environment: bool, perception: Perception
) -> None:
    hindered = replace(scenario(f"fire_laser__none__{variant}").state, room="main office")
    free = replace(hindered, powered=frozenset(CIRCUITS), blocked=frozenset())
    asked, known = (turn(free, LabAction("Speak", "Fire the laser.")),), KnowledgeSwitches(environment=environment)
    views = (build_limited_view(state, SPACE, asked, perception, known) for state in (hindered, free))
    speech, other = (ScriptedOracle().turn(view).speech or "" for view in views)
    assert (remedy in speech) == environment and (speech == other) != environment


def prompt(view: AssistantView) -> tuple[Message, ...]:
    return (Message("user", f"{view.history_text}\n---\n{view.observation}"),)


def test_the_most_similar_turn_is_repeated() -> None:
    asked = [turn(STATE, LabAction("Speak", f"{each} please")) for each in ("apples", "bananas")]
    views = [build_assistant_view(STATE, SPACE, (each,), "words", is_brief=True) for each in asked]
    replies = ['<Speak>"Take the apple."</Speak>', "<Speak>N/A</Speak>"]
    nearest = NearestTurn(
        [prompt(each) for each in views], replies, LetterEmbedder("abcdefghijklmnopqrstuvwxyz"), prompt
    )
    assert [nearest.turn(each).speech for each in views] == ["Take the apple.", None]
    assert situation_text(prompt(views[0])).splitlines()[0].startswith('You: "')


def test_situations_are_compared_by_the_last_task_and_not_by_words_about_the_advised_thing() -> None:
    said = [("Fire the laser.", "Open the fuse box."), ("The fuse box is open now.", None), *[("OK.", None)] * 5]
    turns = [turn(STATE, LabAction("Speak", text), speech=speech) for text, speech in said]
    [task, *_] = situation_text(prompt(build_assistant_view(STATE, SPACE, turns, "words", is_brief=True))).splitlines()
    assert task == 'User: "Fire the laser."'


def test_short_prompts_count_the_silent_turns() -> None:
    looked = turn(STATE, LabAction("RotateRight", "90"))
    spoken = looked.with_speech("Go on.")
    for turns, told in (
        ((looked,), ""),
        ((spoken, looked), ""),
        ((spoken, looked, looked), " Silent for 1 turn."),
        ((looked, spoken, looked, looked, looked), " Silent for 2 turns."),
    ):
        text = build_assistant_view(STATE, SPACE, turns, "words", is_brief=True).state_text
        assert text.partition(".")[2] == told
