"""Random actions of the lab: they leave no contradiction, and reach every outcome that the rules know."""

import random

import pytest

from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, LabAction
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import draw_scenario
from housewise.worlds.lab.state import CIRCUITS, ROOMS, LabState
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import VARIANTS

SPACE = OpenSpace()


def check(state: LabState) -> None:
    """Check that a state does not contradict itself."""
    ids = [thing.id for thing in state.things]
    assert len(set(ids)) == len(ids) and state.powered <= set(CIRCUITS) and state.room in ROOMS
    for thing in state.things:
        if thing.id == state.held:
            assert (thing.container, thing.room) == (None, "") and "large" not in thing.flags
        elif thing.container is not None:
            assert thing.room == state[thing.container].room
        assert not {"hot", "cold"} <= thing.flags
        assert (thing.kind == "carrot") == (thing.original is not None)
    for id, contents in state.contents.items():
        assert len(contents) <= max(KINDS[state[id].kind].spots, 1)
        assert len({each.spot for each in contents}) == len(contents)


@pytest.mark.parametrize("seed", range(20))
def test_random_actions_leave_a_consistent_state(seed: int) -> None:
    rng = random.Random(seed)
    state = draw_scenario(VARIANTS[seed * 3], seed).state
    for _ in range(250):
        verb = rng.choice([verb for verb in ARGUMENTS if verb != "Speak"])
        here = [each.id for each in state.things if each.room == state.room] or [state.things[0].id]
        argument = {
            "metres": "1", "degrees": str(AMOUNTS.get(verb, (0,))[0]), "room": rng.choice(ROOMS),
            "thing": rng.choice(here),
        }[ARGUMENTS[verb]]  # fmt: skip
        if ARGUMENTS[verb] == "thing" and rng.random() < 0.7:
            state, _ = step(state, LabAction("GotoObject", argument), SPACE)
        after, outcome = step(state, LabAction(verb, argument), SPACE)
        assert outcome.succeeded == (not outcome.reason)
        if not outcome.succeeded:
            assert after == state or outcome.status == "KilledByHazard"
        check(after)
        state = state if after.ended else after
