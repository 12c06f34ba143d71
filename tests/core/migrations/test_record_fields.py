"""Former names of record fields: every one of them is read, and two names at once are refused."""

from typing import Any

import pytest
from pydantic import BaseModel

from housewise.core.errors import UserError
from housewise.core.migrations.record_fields import FRAME_FIELDS, SYSTEM_FIELDS, rename_former_fields
from housewise.core.record import Header, Result
from housewise.core.record_files import FRAME
from housewise.rollout.system import find_system
from housewise.systems.adapt.record import AdaptFinalState, AdaptInitialState
from housewise.systems.clipr.record import ChoiceInitialState
from housewise.systems.personalize.record import AlternativeReply

STATES: dict[tuple[str, str], type[BaseModel]] = {
    ("personalize", "plan.alternatives"): AlternativeReply,
    ("clipr", "header.initial_state"): ChoiceInitialState,
    ("adapt", "header.initial_state"): AdaptInitialState,
    ("adapt", "result.final"): AdaptFinalState,
}
FIELDS = [
    (system, place, former, current)
    for system, places in {"any": FRAME_FIELDS, **SYSTEM_FIELDS}.items()
    for place, names in places.items()
    for former, current in names.items()
]


@pytest.mark.parametrize(("system", "place", "former", "current"), FIELDS)
def test_a_former_field_is_read_as_the_current_one(system: str, place: str, former: str, current: str) -> None:
    events = {} if system == "any" else {event.type: event for event in find_system(system).events}
    fields = STATES.get((system, place), {**FRAME, **events}.get(place, BaseModel)).model_fields
    assert current in fields and former not in fields
    kind, _, part = place.partition(".")

    def rename(content: dict[str, Any]) -> Any:
        renamed = rename_former_fields(system, kind, {part: content} if part else content, "a.jsonl: line 3")
        return renamed[part] if part else renamed

    assert rename({former: 1, "other": 2}) == {current: 1, "other": 2}
    assert rename({current: 1}) == {current: 1}
    with pytest.raises(UserError, match=rf"^a\.jsonl: line 3: {place}: {former} is the former name of {current}, and"):
        rename({former: 1, current: 1})


def test_each_part_of_a_list_is_renamed_and_the_rest_is_left_as_it_is() -> None:
    plan = {"tried": [{"done": ["a"]}, "odd", {"succeeded_steps": ["b"]}], "known": {"done": {"known": []}}}
    assert rename_former_fields("personalize", "plan", plan, "") == {
        "alternatives": [{"succeeded_steps": ["a"]}, "odd", {"succeeded_steps": ["b"]}],
        "scene_graph": {"done": {"known": []}},
    }
    assert rename_former_fields("pantry", "plan", plan, "") == plan
    assert rename_former_fields("adapt", "result", {"final": None}, "") == {"final": None}


def test_former_names_of_planners_are_read_as_the_current_ones() -> None:
    found = [rename_former_fields("personalize", "header", {"agent": name}, "")["agent"] for name in ("store", "llm")]
    assert found == ["memory_lookup", "llm"]
    assert rename_former_fields("stars", "header", {"agent": "nearest"}, "") == {"agent": "nearest"}


def test_headers_and_results_still_have_their_former_attributes() -> None:
    header = Header(system="adapt", task="a", repetition=2, initial_state={"person": "ada"})
    with pytest.warns(DeprecationWarning, match=r"Header\.run is now repetition"):
        assert header.run == 2  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"Header\.setting is now initial_state"):
        assert header.setting == {"person": "ada"}  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"Result\.ended is now end_reason"):
        assert Result(end_reason="complete", scores={}).ended == "complete"  # type: ignore[attr-defined]
    assert not hasattr(header, "known") and not hasattr(Header, "run")
