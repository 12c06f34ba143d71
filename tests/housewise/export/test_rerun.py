import io
import json
import shutil
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from housewise.core.errors import UserError
from housewise.export import export_run
from housewise.export.episode_playback import Playback
from housewise.systems.personalize.record import HouseRecord
from tests.commands import run_module
from tests.housewise.export.conftest import HOSTILE, STEPS
from tests.housewise.report.conftest import play

pytest.importorskip("rerun", reason="rerun-sdk is not installed: pip install 'housewise[rerun]'")

Columns = dict[str, list[Any]]
"""Values by ``entity:component`` or timeline, as a recording has them."""


def read(path: Path) -> dict[str, list[Columns]]:
    """The chunks of a recording by entity, read by the library of either age."""
    found: dict[str, list[Columns]] = {}
    try:
        from rerun.chunk import RrdReader

        for chunk in RrdReader(path).stream().to_chunks():
            columns = chunk.to_record_batch().to_pydict()
            found.setdefault(chunk.entity_path, []).append(columns)
    except ImportError:
        dataframe = pytest.importorskip("rerun.dataframe", reason="this rerun-sdk cannot read recordings")
        recording = dataframe.load_recording(path)
        for entity in {column.entity_path for column in recording.schema().component_columns()}:
            for timeline in ("step", "event"):
                columns = recording.view(index=timeline, contents=entity).select().read_all().to_pydict()
                if columns.get(timeline):
                    found[entity] = [columns]
                    break
            still = recording.view(index="step", contents=entity).select_static().read_all().to_pydict()
            found.setdefault(entity, []).append(still)
    return found


def values(chunks: list[Columns], component: str) -> list[Any]:
    """All values of a component, with the step at which they were logged."""
    rows = []
    for columns in chunks:
        for name, column in columns.items():
            if name.split(":")[-1] == component:
                steps = columns.get("step") or [None] * len(column)
                rows += [(step, row[0]) for step, row in zip(steps, column, strict=True) if row]
    return sorted(rows, key=lambda row: row[0] if row[0] is not None else -1)


@pytest.fixture(scope="module")
def recordings(run: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("rerun") / "recordings"
    with warnings.catch_warnings():
        # The library only warns of what it cannot take.
        warnings.simplefilter("error")
        assert export_run(run, "rerun", out) == 2
    return sorted(out.glob("*.rrd"))


def test_each_episode_is_a_recording_of_what_was_seen(
    recordings: list[Path], played: list[Playback], records: list[HouseRecord]
) -> None:
    assert [path.name for path in recordings] == [f"{record.name}.rrd" for record in records]
    for path, playback in zip(recordings, played, strict=True):
        chunks = read(path)
        pictures = values(chunks["/world/camera/image"], "blob")
        assert [step for step, _ in pictures] == list(range(STEPS + 1))
        for number in (0, STEPS):
            blob = pictures[number][1]
            data = blob if isinstance(blob, bytes) else bytes(blob)
            assert np.array_equal(np.asarray(Image.open(io.BytesIO(data))), playback.frames[number].picture)


def test_the_robot_and_the_house_are_where_they_are(
    recordings: list[Path], played: list[Playback], records: list[HouseRecord]
) -> None:
    for path, playback, record in zip(recordings, played, records, strict=True):
        chunks = read(path)
        places = values(chunks["/world/robot"], "translation")
        assert len(places) == STEPS + 1
        for (_, place), frame in zip(places, playback.frames, strict=True):
            assert list(place) == pytest.approx(frame.feet.position, abs=1e-5)
        assert len(values(chunks["/world/furniture"], "centers")) == 1
        held = [frame.state[-1] for frame in playback.frames]
        moves = sum(before != after for before, after in pairwise(held))
        assert len(values(chunks["/world/things"], "labels")) == 1 + moves
        rewards = [reward for _, reward in values(chunks["/reward/step"], "scalars")]
        assert sum(rewards) == sum(line.reward for line in record.actions) and len(rewards) == STEPS
        (success,) = values(chunks["/scores/success_rate"], "scalars")
        assert success[1] == record.success_rate


def test_plans_and_steps_are_text_at_their_time(recordings: list[Path], records: list[HouseRecord]) -> None:
    for path, record in zip(recordings, records, strict=True):
        chunks = read(path)
        said = values(chunks["/events/plan"], "text")
        assert {(step, text) for step, text in said} == {(plan.step, plan.reply) for plan in record.plans}
        assert len(values(chunks["/action"], "text")) == STEPS


def test_a_system_without_pictures_has_its_events_and_scores(foreign: Path, tmp_path: Path) -> None:
    export_run(foreign, "rerun", tmp_path / "out")
    (path,) = (tmp_path / "out").glob("*.rrd")
    chunks = read(path)
    texts = {text for entity, found in chunks.items() if "events" in entity for _, text in values(found, "text")}
    assert "said: good" in texts and "eaten" in texts
    assert any(HOSTILE.partition(" \x1b")[0] in text and "\x1b" not in text for text in texts)
    assert values(chunks["/scores/taste"], "scalars")[0][1] == 0.5
    assert not any("TextDocument" in name for found in chunks.values() for columns in found for name in columns)


def test_records_with_equal_headers_are_named_by_their_files(foreign: Path, tmp_path: Path) -> None:
    (record,) = (foreign / "episodes").iterdir()
    again = record.with_name("soup-again.jsonl")
    again.write_text(record.read_text().replace("0.5", "0.25"))
    assert export_run(foreign, "rerun", tmp_path / "out") == 2
    assert {path.stem for path in (tmp_path / "out").glob("*.rrd")} == {"soup-run0", "soup-again"}
    manifest = json.loads((tmp_path / "out" / "housewise.json").read_text())
    scores = {episode["record"]: episode["scores"]["taste"] for episode in manifest["episodes"]}
    assert scores == {"soup-run0": 0.5, "soup-again": 0.25}


def test_the_same_house_of_two_runs_is_two_recordings(run: Path, recordings: list[Path], tmp_path: Path) -> None:
    chunk = pytest.importorskip("rerun.chunk", reason="this rerun-sdk does not tell what is in a recording")
    again = play(tmp_path / "elsewhere" / run.name, houses=2, max_steps=STEPS)
    for folder, out in ((run, "same"), (again, "again")):
        export_run(folder, "rerun", tmp_path / out)
    ids, blueprints = [], []
    for path in (recordings[0], tmp_path / "same" / recordings[0].name, tmp_path / "again" / recordings[0].name):
        stored = chunk.RrdReader(path)
        ids += [entry.recording_id for entry in stored.recordings()]
        blueprints += stored.blueprints()
        properties = read(path)["/__properties/housewise"][0]
        assert (properties["run"], properties["record"]) == ([[run.name]], [[path.stem]])
    assert ids[0] == ids[1] != ids[2] and len(ids) == len(blueprints) == 3
    manifest = json.loads((tmp_path / "again" / "housewise.json").read_text())
    assert {episode["file"]: episode["recording_id"] for episode in manifest["episodes"]}[path.name] == ids[2]


def test_what_is_left_out_is_told_and_everybody_can_read_the_rest(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "episodes", tmp_path / "run" / "episodes")
    first, second = sorted((tmp_path / "run" / "episodes").iterdir())
    first.rename(f"{first}.failed")
    (tmp_path / "run" / "episodes" / "cellar-run0.jsonl.partial").write_text("")
    told: list[str] = []
    assert export_run(tmp_path / "run", "rerun", tmp_path / "out", tell=told.append) == 1
    assert told == [f"left out, failed: 1 ({first.stem})", "left out, unfinished: 1 (cellar-run0)"]
    manifest = json.loads((tmp_path / "out" / "housewise.json").read_text())
    assert manifest["left_out"] == {"failed": [first.stem], "unfinished": ["cellar-run0"]}
    assert [episode["record"] for episode in manifest["episodes"]] == [second.stem]
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in (tmp_path / "out").rglob("*"))
    second.rename(f"{second}.failed")
    with pytest.raises(UserError, match=rf"no finished episodes in it; there are .*{second.stem} \(failed\)"):
        export_run(tmp_path / "run", "rerun", tmp_path / "none")


def test_an_interrupted_export_leaves_nothing_and_a_whole_one_is_not_replaced(run: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        export_run(run, "rerun", out, progress=interrupt)
    assert not list(tmp_path.iterdir())
    out.mkdir()
    with pytest.raises(UserError, match="is there already"):
        export_run(run, "rerun", out)
    assert not list(out.iterdir())


def test_the_command_exports_into_the_runs_folder(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd [b] run"
    shutil.copytree(run / "episodes", folder / "episodes")
    first, second = (run_module("housewise.cli", ["export", folder]) for _ in range(2))
    assert first.returncode == 0 and first.stdout.splitlines()[-1] == f"rerun: {folder / 'rerun'}"
    assert len(list((folder / "rerun").glob("*.rrd"))) == 2
    assert second.returncode == 2 and "is there already" in second.stderr
