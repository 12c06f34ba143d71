"""What stands in the way, from records made by hand."""

import pytest

from housewise.experiments.personalize.obstacles import FATES, obstacles
from housewise.systems.personalize.record import ActionEvent, ModelCallRecord, PlanEvent
from tests.experiments.records import SHELF, TABLE, make_record, with_changes

SOFA = "living room 0 sofa 3"


@pytest.mark.parametrize(
    ("end", "ended", "seen", "fate"),
    [
        (SHELF, "complete", True, "tidied"),
        (SOFA, "complete", True, "wrong place"),
        ("robot", "out of steps", True, "in the hand"),
        (TABLE, "out of steps", False, "undiscovered"),
        (TABLE, "out of steps", True, "no steps left"),
        (TABLE, "complete", True, "left alone"),
    ],
)
def test_every_misplaced_thing_has_one_fate(end: str, ended: str, seen: bool, fate: str) -> None:
    things = obstacles([make_record({"mug 1": end}, seen=seen, end_reason=ended)])["things"]
    assert {name: share for name, share in things.items() if share} == {fate: 1.0}


@pytest.mark.parametrize(("reason", "fate"), [("no free space", "no space"), ("out of sight", "failed")])
def test_what_was_tried_in_vain_has_the_reason(reason: str, fate: str) -> None:
    record = make_record({"mug 1": TABLE})
    tried = ActionEvent(plan=0, raw="", target="mug 1", status="failed", reason=reason, start=0, end=1)
    assert obstacles([with_changes(record, actions=[tried])])["things"][fate] == 1.0


def test_shares_are_of_what_was_misplaced_and_what_was_right_is_told_apart() -> None:
    ends = {"mug 1": SHELF, "mug 2": TABLE, "pen 1": SOFA, "pen 2": SHELF}
    found = obstacles([make_record(ends, starts={"pen 1": SHELF, "pen 2": SHELF})])
    assert found["things"]["tidied"] == found["things"]["left alone"] == found["things"]["disturbed"] == 0.5
    assert sum(found["things"][fate] for fate in FATES) == 1.0


def test_steps_and_endings_are_shares() -> None:
    statuses = ("succeeded", "failed", "skipped", "skipped")
    records = [
        make_record({"mug 1": SHELF}, statuses=statuses),
        make_record({"mug 1": SHELF}, end_reason="out of steps"),
    ]
    found = obstacles(records)
    assert found["steps"] == {"failed": 0.2, "not understood": 0.4, "succeeded": 0.4}
    assert found["endings"] == {"complete": 0.5, "out of steps": 0.5}


def test_kinds_that_were_not_learned_are_told_apart() -> None:
    ends = {"mug 1": SHELF, "mug 2": TABLE, "tea pot 1": SHELF, "pen 1": TABLE}
    found = obstacles([make_record(ends)], familiar={"mug", "tea pot"})
    assert found["unfamiliar"] == {"share": 0.25, "tidied": 0.0, "familiar tidied": pytest.approx(2 / 3)}
    assert "unfamiliar" not in obstacles([make_record(ends)])


def test_nothing_played_has_no_shares() -> None:
    assert obstacles([]) == {"things": {}, "steps": {}, "endings": {}}


@pytest.mark.parametrize(("known", "fate"), [(["mug 1"], "left alone"), ([], "no steps left")])
def test_what_was_known_when_all_seemed_done_was_left_alone(known: list[str], fate: str) -> None:
    record = make_record({"mug 1": TABLE}, end_reason="out of steps")
    asked = ModelCallRecord(prompt=[{"role": "user", "content": "-"}], reply="mission complete")
    look = PlanEvent(
        plan=1, step=9, reply="step 1: go to sink", prior_calls=[asked], scene_graph={"kitchen 0": {TABLE: known}}
    )
    assert look.second_look and not record.plans[0].second_look
    things = obstacles([with_changes(record, plans=[*record.plans, look])])["things"]
    assert things[fate] == 1.0
