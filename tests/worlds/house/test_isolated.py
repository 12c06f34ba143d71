"""A simulator in a process of its own does what it does here, and its death is told of in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from housewise.core.errors import UserError
from housewise.worlds.house.env import RearrangementEnv, Task
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import Action, Observation, Simulator
from housewise.worlds.house.simulator.isolated import IsolatedSimulator
from housewise.worlds.house.simulator.raycast import RaycastSimulator

DANCE = [Action.MOVE_FORWARD, Action.TURN_LEFT, Action.LOOK_DOWN, Action.GRAB_RELEASE, Action.MOVE_FORWARD]


class Doomed(RaycastSimulator):
    """Takes its process with it, as OpenGL without a driver does."""

    def act(self, action: Action) -> bool:
        os._exit(3)


class Clumsy(RaycastSimulator):
    """Has a mistake in it."""

    def act(self, action: Action) -> bool:
        raise ZeroDivisionError("oops")


def refusing() -> Simulator:
    raise UserError("no such thing; get one")


def exiting() -> Simulator:
    os._exit(4)


def isolated(opener: type[RaycastSimulator]) -> IsolatedSimulator:
    return IsolatedSimulator(opener, mesh, "do this")


def mesh(scene: Scene) -> object:
    return scene.navmesh


@pytest.fixture
def apart() -> Iterator[IsolatedSimulator]:
    simulator = isolated(RaycastSimulator)
    yield simulator
    simulator.close()


def test_it_does_what_the_simulator_does(toy: Task, apart: IsolatedSimulator) -> None:
    here, there = (RearrangementEnv(simulator, [toy]) for simulator in (RaycastSimulator(), apart))
    for _ in range(2):
        first, second = here.reset()[0], there.reset()[0]
        assert all(np.array_equal(first[name], second[name]) for name in first)
        for action in DANCE:
            (first, *told), (second, *heard) = here.step(action), there.step(action)
            assert all(np.array_equal(first[name], second[name]) for name in first)
            assert told == heard
    assert apart.aimed_at(5.0) == here.simulator.aimed_at(5.0)
    assert isinstance(apart.observe(), Observation) and apart.keys == here.simulator.keys


def test_objects_move_in_the_other_process(toy: Task, apart: IsolatedSimulator) -> None:
    env = RearrangementEnv(apart, [toy])
    env.reset()
    apart.stand(apart.body.at((0.5, 0.5)))
    assert tuple(apart.body.point) == (0.5, 0.5)
    thing = toy.episode.objects[0].key
    apart.move_object(thing, None)
    assert thing not in apart.visible()


def test_a_death_is_told_of_with_what_to_do(toy: Task) -> None:
    env = RearrangementEnv(isolated(Doomed), [toy])
    env.reset()
    with pytest.raises(UserError, match=r"ended \(exit code 3\); do this"):
        env.step(Action.MOVE_FORWARD)


def test_a_death_at_the_start_too() -> None:
    with pytest.raises(UserError, match=r"exit code 4\); do this"):
        IsolatedSimulator(exiting, mesh, "do this")  # type: ignore[arg-type]


def test_what_the_user_has_to_know_comes_through() -> None:
    with pytest.raises(UserError, match=r"^no such thing; get one$"):
        IsolatedSimulator(refusing, mesh, "do this")  # type: ignore[arg-type]


def test_mistakes_come_through_with_their_traceback(toy: Task) -> None:
    simulator = isolated(Clumsy)
    env = RearrangementEnv(simulator, [toy])
    env.reset()
    with pytest.raises(RuntimeError, match="ZeroDivisionError: oops"):
        env.step(Action.MOVE_FORWARD)
    assert simulator.visible() is not None
    simulator.close()
    simulator.close()
