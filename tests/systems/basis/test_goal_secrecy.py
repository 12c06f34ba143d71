"""Nothing of the assistant's depends on the person's goal until the person has spoken."""

from dataclasses import replace

import pytest

from housewise.agent.basis.chat_assistant import ChatAssistant
from housewise.agent.basis.knowledge import ALL_KNOWLEDGE
from housewise.agent.basis.scripted_oracle import ScriptedOracle
from housewise.agent.basis.views import AssistantTurn, build_oracle_view
from housewise.language.replay import ReplayChatModel
from housewise.people.lab.views import UserTurn, UserView
from housewise.systems.basis.agents import model_view
from housewise.systems.basis.earlier_turns import EarlierTurns
from housewise.systems.basis.world import OUT_UNHEARD, LabSession
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.goals import check_goal
from housewise.worlds.lab.scenarios import LabScenario, draw_scenario
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import BY_NAME, VARIANTS

SCENARIO = draw_scenario(BY_NAME["make_carrot__banana__simple"], 0)
OTHERS = [
    replace(SCENARIO, variant=each)
    for each in VARIANTS
    if each.precondition == "simple" and each.goal != SCENARIO.goal and not check_goal(each.goal, SCENARIO.state)
]
LOOKING = 8


class LatePerson:
    """Looks round in some rooms, whatever their task, and then says it."""

    name = "late"

    def act(self, view: UserView) -> UserTurn:
        """See ``LabUser.act``."""
        rooms = ("reception", "quantum lab", "warehouse", "robotics lab")
        done = len(view.history)
        if done >= LOOKING:
            return UserTurn("", LabAction("Speak", f"My task: {view.goal}"))
        look = LabAction("RotateRight", "90")
        return UserTurn("", look if done % 2 else LabAction("GotoRoom", rooms[done // 2]))


def assistants_side(scenario: LabScenario) -> list[tuple[str, ...]]:
    """The prompts of chat models, and what the oracle says, at each turn."""
    session = LabSession(scenario, OpenSpace(), lambda _: LatePerson(), 50, 1, (), EarlierTurns())
    oracle, sides = ScriptedOracle(), []
    session.reset()
    turn = oracle_turn = None
    for _ in range(LOOKING + 1):
        seen = session.step(turn).observation
        oracle_turn = oracle.turn(build_oracle_view(seen.state, seen.surroundings, seen.turns))
        prompts = (
            "\n".join(
                message.content
                for message in ChatAssistant(ReplayChatModel([]), size=size).messages(
                    model_view(perception, ALL_KNOWLEDGE, size == "compact")(seen)
                )
            )
            for perception in ("words", "truth")
            for size in ("full", "compact")
        )
        sides.append((*prompts, oracle_turn.thought, oracle_turn.speech or ""))
        turn = oracle_turn
    return sides


@pytest.mark.parametrize(("actions", "reason"), [(LOOKING, OUT_UNHEARD), (LOOKING + 1, "out of actions")])
def test_a_session_says_if_the_person_never_said_what_they_want(actions: int, reason: str) -> None:
    session = LabSession(SCENARIO, OpenSpace(), lambda _: LatePerson(), actions, 1, (), EarlierTurns())
    session.reset()
    ends = [session.step(AssistantTurn("")).end_reason for _ in range(actions)]
    assert ends == [*[""] * (actions - 1), reason]


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: other.goal.task)
def test_another_goal_changes_nothing_until_the_person_has_spoken(other: LabScenario) -> None:
    assert other.state is SCENARIO.state and other.mission != SCENARIO.mission
    *before, after = assistants_side(SCENARIO)
    *before_other, after_other = assistants_side(other)
    assert before == before_other
    assert any(speech for *_, speech in before), "the oracle has asked"
    assert all(one != two for one, two in zip(after[:4], after_other[:4], strict=True))
    assert after[-1] != after_other[-1]
