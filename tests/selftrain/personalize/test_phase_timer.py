"""What long work says of its phases."""

import pytest

from housewise.core.formatting import format_duration
from housewise.selftrain.personalize import phase_timer as module
from housewise.selftrain.personalize.phase_timer import PhaseTimer
from housewise.selftrain.personalize.planned_phases import PlannedPhase


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (7.6, "8 s"), (43, "45 s"), (99, "100 s"), (480, "8 min"), (5000, "85 min"), (9000, "2.5 h")],
)
def test_durations_are_rough(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


def test_each_phase_has_its_place_and_the_time_left_goes_by_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    ahead = [
        PlannedPhase("show", 6, 60.0),
        PlannedPhase("lessons"),
        PlannedPhase("a: train", is_training=True),
        PlannedPhase("a: train", 4, 240.0),
        PlannedPhase("b: train", is_training=True),
    ]
    seen = PhaseTimer(ahead)
    assert seen.announcement == "5 phases with 10 episodes, roughly 5 min and 2 trainings left"
    assert seen.begin("show") == "1 of 5: "
    now += 180.0  # three times as long as expected
    seen.end(played=6)
    assert seen.begin("lessons") == "2 of 5: "
    now += 600.0  # not a training
    seen.end()
    # A name may be that of a training and of what is measured.
    assert seen.begin("a: train") == "3 of 5: "
    now += 60.0
    seen.end()
    assert seen.begin("a: train") == "4 of 5: "
    assert seen.time_left == ", roughly 9 min left"
    # What is not in the plan, such as phases of before that are looked up, has no place and moves none.
    assert (seen.begin("elsewhere"), seen.end()) == ("", None)
    assert seen.begin("b: train") == "5 of 5: "


def test_nothing_is_said_of_phases_that_are_not_known() -> None:
    unknown = PhaseTimer([])
    assert (unknown.begin("anything"), unknown.time_left) == ("", "")
    assert PhaseTimer([PlannedPhase("ask", 3, None)]).time_left == ""
