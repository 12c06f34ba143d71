"""Measures of episodes, from records made by hand."""

from collections import Counter

import pytest

from housewise.experiments.personalize import measures
from housewise.people.memory import About, Memory, Note
from housewise.systems.personalize.record import ActionEvent, HouseRecord, ModelCallRecord, PlanEvent
from tests.experiments.records import SHELF, TABLE, make_record, with_changes

SOFA = "living room 0 sofa 3"


def outcomes(record: HouseRecord) -> dict[str, int]:
    return dict(Counter(measures.explain_outcomes(record).values()))


@pytest.mark.parametrize(
    ("end", "ended", "seen", "outcome"),
    [
        (SHELF, "complete", True, "tidied"),
        (SOFA, "complete", True, "wrong place"),
        ("robot", "out of steps", True, "in hand"),
        (TABLE, "out of steps", False, "undiscovered"),
        (TABLE, "out of steps", True, "no steps left"),
        (TABLE, "complete", True, "left alone"),
    ],
)
def test_every_object_out_of_place_has_one_outcome(end: str, ended: str, seen: bool, outcome: str) -> None:
    record = make_record({"mug 1": end}, seen=seen, end_reason=ended)
    assert outcomes(record) == {outcome: 1}
    counts = (measures.undiscovered, measures.no_space, measures.no_steps_left, measures.left_alone)
    assert sum(count(record.record) for count in counts) == (outcome in ("undiscovered", "no steps left", "left alone"))


@pytest.mark.parametrize(
    ("reason", "ended", "outcome"),
    [
        ("no free space", "out of steps", "no space"),
        ("out of sight", "out of steps", "no steps left"),
        ("out of sight", "complete", "failed"),
    ],
)
def test_an_object_that_was_tried_has_the_reason_of_its_failure(reason: str, ended: str, outcome: str) -> None:
    tried = ActionEvent(plan=0, raw="", target="mug 1", status="failed", reason=reason, start=0, end=1)
    assert outcomes(with_changes(make_record({"mug 1": TABLE}, end_reason=ended), actions=[tried])) == {outcome: 1}


def test_correct_objects_have_no_outcome_unless_they_are_disturbed() -> None:
    ends = {"mug 1": SHELF, "mug 2": TABLE, "pen 1": SOFA, "pen 2": SHELF}
    record = make_record(ends, starts={"pen 1": SHELF, "pen 2": SHELF})
    assert outcomes(record) == {"tidied": 1, "left alone": 1, "disturbed": 1}


@pytest.mark.parametrize(("known", "outcome"), [(["mug 1"], "left alone"), ([], "no steps left")])
def test_what_was_known_when_all_seemed_done_was_left_alone(known: list[str], outcome: str) -> None:
    record = make_record({"mug 1": TABLE}, end_reason="out of steps")
    asked = ModelCallRecord(prompt=[{"role": "user", "content": "-"}], reply="mission complete")
    look = PlanEvent(
        plan=1, step=9, reply="step 1: go to sink", prior_calls=[asked], scene_graph={"kitchen 0": {TABLE: known}}
    )
    assert look.second_look and not record.plans[0].second_look
    assert outcomes(with_changes(record, plans=[*record.plans, look])) == {outcome: 1}


def test_understood_is_the_share_of_steps_with_an_action() -> None:
    share = measures.share_of_understood_steps
    assert share(make_record({"mug 1": SHELF}, statuses=()).record) is None
    assert share(make_record({"mug 1": SHELF}, statuses=("skipped", "skipped")).record) == 0.0


def test_what_a_memory_names_is_counted() -> None:
    wanted = Note(person="majority", kind="reaction", about=About(things=("mug",), receptacle="shelf"), value=1.0)
    memory = Memory("majority", [wanted])
    record = make_record({"mug 1": SHELF, "mug 2": TABLE, "cup 1": SHELF}).record
    assert measures.out_of_place(record) == 3
    assert measures.place_named(record, memory) == 2
    assert measures.named_placed(record, memory) == measures.unnamed_placed(record, memory) == 1
    assert measures.place_named(record, None) == 0 and measures.unnamed_placed(record, None) == 2
