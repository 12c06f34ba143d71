"""Records made by hand: a house with a mug that belongs on the shelf, and whatever else a test puts into it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from housewise.core.record import Header, Record, Result
from housewise.core.record_files import RecordWriter
from housewise.systems.personalize.record import ActionEvent, HouseRecord, InitialState, PlanEvent

SHELF, TABLE = "kitchen 0 shelf 1", "kitchen 0 table 2"


def make_record(
    ends: Mapping[str, str],
    starts: Mapping[str, str] | None = None,
    statuses: tuple[str, ...] = ("succeeded",),
    seen: bool = True,
    **changes: Any,
) -> HouseRecord:
    """An episode in which everything belongs on the shelf.

    Args:
        ends: where things end.
        starts: where they start, unless on the table.
        statuses: of its steps.
        seen: whether the robot knows of everything.
        **changes: to the first and the last line.
    """
    placements = {name: (starts or {}).get(name, TABLE) for name in ends}
    wrong = [name for name, place in placements.items() if place != SHELF]
    change = sum(place == SHELF for place in ends.values()) - (len(ends) - len(wrong))
    at = {"scene": "Merom_1_int", "episode": 1} | {key: changes[key] for key in ("scene", "episode") if key in changes}
    header = {"repetition": 0, "person": "ada"} | {
        key: changes[key] for key in ("repetition", "person") if key in changes
    }
    scores = {"success_rate": change / len(wrong), "unique_placements": 1}
    scores |= {key: changes[key] for key in scores if key in changes}
    counts = {status: statuses.count(status) for status in ("succeeded", "failed", "skipped")}
    known = {"kitchen 0": {TABLE: list(ends)}} if seen else {}
    setting = InitialState(
        **at,
        simulator="raycast",
        rooms=["kitchen 0"],
        placements=placements,
        correct={name: [SHELF] for name in ends},
    )
    actions = [ActionEvent(plan=0, raw="", status=status, start=0, end=1) for status in statuses]
    record = Record(
        Header(
            **header,
            system="personalize",
            task=f"{setting.scene}-{setting.episode:04d}",
            group=setting.scene,
            agent="llm",
            settings={"tasks": {"person": header["person"]}},
            initial_state=setting.model_dump(),
        ),
        (PlanEvent(plan=0, step=0, reply="", scene_graph=known), *actions),
        Result(
            end_reason=changes.get("end_reason", "complete"),
            scores=dict.fromkeys(("plans", "steps"), 0)
            | scores
            | {
                "correct_start": len(ends) - len(wrong),
                "correct_end": sum(place == SHELF for place in ends.values()),
                "misplaced_start": len(wrong),
                "objects": len(ends),
                "actions": len(statuses),
                "executability": counts["succeeded"] / len(statuses) if statuses else 0,
            }
            | counts,
            final={"placements": dict(ends)},
        ),
    )
    return HouseRecord.from_record(record, Path("by hand"))


def with_changes(record: HouseRecord, **changes: Any) -> HouseRecord:
    """A record with other parts.

    Args:
        record: as it was.
        **changes: to ``plans`` and ``actions``, or to fields of the header, the setting, the scores or the final state.
    """
    header, result, events = record.header, record.result, [*record.plans, *record.actions]
    if "plans" in changes or "actions" in changes:
        events = [*changes.pop("plans", record.plans), *changes.pop("actions", record.actions)]
    setting, scores, final = dict(header.initial_state), dict(result.scores), dict(result.final)
    for key, value in changes.items():
        where = next((part for part in (setting, scores, final) if key in part and key != "placements"), None)
        if where is not None:
            where[key] = value
        elif key == "ends":
            final["placements"] = value
        elif key == "placements":
            setting["placements"] = value
        elif key in Header.model_fields:
            header = header.model_copy(update={key: value})
        else:
            result = result.model_copy(update={key: value})
    named = {"task": f"{setting['scene']}-{setting['episode']:04d}"} if {"scene", "episode"} & changes.keys() else {}
    header = header.model_copy(update={**named, "initial_state": setting})
    result = result.model_copy(update={"scores": scores, "final": final})
    return HouseRecord.from_record(Record(header, tuple(events), result), Path("by hand"))


def save(record: HouseRecord, folder: Path) -> None:
    """Write a record as a run does."""
    writer = RecordWriter(folder, record.name)
    for line in (record.header, *record.record.events, record.result):
        writer.write(line)
