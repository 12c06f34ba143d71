"""A report on BASIS: the transcript with map and pictures, errors of the assistant, sessions side by side, search."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from housewise.playback.guidance_errors import find_guidance_errors
from housewise.playback.session_replay import read_attempts, read_initial_state, replay_session
from housewise.playback.spoken_claims import false_states
from housewise.report import write_report
from housewise.rollout.record_reader import read_record
from housewise.systems.basis.record import GuidanceEvent, LabActionEvent
from housewise.worlds.lab.scenarios import draw_scenario, find_variant
from tests.housewise.report.pages import EVIL, Page, assert_words_stay_words
from tests.record_lines import changed_lines
from tests.systems.command_runs import run_system

VARIANT = "make_carrot__banana__simple"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one scenario, with the oracle and without an assistant."""
    folder = tmp_path_factory.mktemp("lab")
    shared = (f"variant={VARIANT}", "mistakes=0", "max_actions=30")
    run_system("basis", *shared, "--out", folder / "oracle")
    run_system("basis", *shared, "max_actions=4", "attempts=2", "planner=silent", "--out", folder / "silent")
    return folder


@pytest.fixture
def edited(played: Path, tmp_path: Path) -> Path:
    """A copy of the run with the oracle."""
    return Path(shutil.copytree(played / "oracle", tmp_path / "edited"))


def record_path(folder: Path) -> Path:
    (path,) = (folder / "episodes").glob("*.jsonl")
    return path


def page_path(folder: Path) -> Path:
    (path,) = (folder / "report").glob("*.html")
    return path


def page_of(folder: Path) -> Page:
    write_report(folder)
    return Page(page_path(folder))


def test_the_page_has_the_map_the_transcript_and_what_the_person_saw(edited: Path) -> None:
    page, record = page_of(edited), read_record(record_path(edited))
    actions, guidance = record.of_type(LabActionEvent), record.of_type(GuidanceEvent)
    assert all(text in page.text for each in actions for text in (each.thought, *each.subgoals))
    assert all(text in page.text for each in guidance for text in (each.thought, each.speech))
    assert "Turn the banana into a carrot." in page.text and "pick up the banana" in page.text
    assert "QUANTUM" in page.text and "the person at the end" in page.text and "not reached" not in page.text
    spoken = sum(bool(each.speech) for each in guidance)
    assert spoken <= len(page.all("img")) < len(actions)
    assert all((image["src"] or "").startswith("data:image/") and image["alt"] for image in page.all("img"))


def test_words_stay_words(edited: Path) -> None:
    with changed_lines(record_path(edited)) as lines:
        for data in (line["data"] for line in lines if line["type"] in ("lab_action", "guidance")):
            data |= {name: EVIL for name in ("thought", "speech", "message") if name in data}
            if data.get("verb") == "Speak":
                data["argument"] = EVIL
    assert_words_stay_words(page_of(edited), images=True)
    index = Page(edited / "report.html")
    assert len(index.all("script")) == 1 and not index.all("img")


@pytest.mark.parametrize(
    ("change", "note", "has_map"),
    [
        ({"status": "TargetOutOfRange"}, "turn 2: ActionSuccessful instead of TargetOutOfRange", True),
        ({"verb": "Dance"}, "No map and no pictures of this session: attempt 1, turn 2: this version has no", False),
        ({"variant": "make_tea"}, "No map and no pictures of this session: there is no variant 'make_tea'", False),
    ],
)
def test_a_record_of_another_version_keeps_its_words(
    edited: Path, change: dict[str, str], note: str, has_map: bool
) -> None:
    with changed_lines(record_path(edited)) as lines:
        (lines[0]["data"]["initial_state"] if "variant" in change else lines[3]["data"]).update(change)
    page = page_of(edited)
    assert note in page.text and ("the person at the end" in page.text) == has_map
    assert "Errors of the assistant" not in page.text
    assert all(each.speech in page.text for each in read_record(record_path(edited)).of_type(GuidanceEvent))


CONE = "Put the banana on the carrot maker. It is the machine: round gray base under a cone at the ceiling."


def errors_with(edited: Path, speeches: dict[int, str], greeting: str = "") -> set[tuple[int, str]]:
    """Return turn and label of each error if the assistant had spoken otherwise after some turns."""
    with changed_lines(record_path(edited)) as lines:
        guidance = [line["data"] for line in lines if line["type"] == "guidance"]
        for turn, speech in speeches.items():
            guidance[turn - 1]["speech"] = speech
        if greeting:
            lines[1]["data"]["argument"] = greeting
    path = record_path(edited)
    record = read_record(path)
    attempts = read_attempts(record)
    replay = replay_session(read_initial_state(record, path), attempts)
    assert not replay.differences
    return {(error.turn, error.label) for error in find_guidance_errors(attempts, replay)}


def test_the_oracle_makes_no_errors(edited: Path) -> None:
    assert errors_with(edited, {}) == set()


# After turn 3 the banana is in view, in the warehouse; at turn 5 the person picks it up.
@pytest.mark.parametrize(
    ("turn", "speech", "label"),
    [
        (3, "There is the laser cannon, in front of you.", "wrong thing"),
        (3, CONE, "wrong thing"),
        (3, "Please pick up the hammer.", "wrong advice"),
        (5, "Go to the break room. Put the banana on the carrot maker.", "wrong place"),
        (3, "Go to the break room. Please pick up the banana.", "overlooked thing"),
        (3, "Pick up the banana. The time machine is open.", "wrong state"),
        (3, "", "unannounced thing"),
        (5, "", "unannounced step"),
        (1, "", "unanswered question"),
    ],
)
def test_an_error_is_found_where_it_is_made(edited: Path, turn: int, speech: str, label: str) -> None:
    assert {found for found in errors_with(edited, {turn: speech}) if found[0] == turn} == {(turn, label)}


@pytest.mark.parametrize(
    ("speech", "false"),
    [
        ("There is no power in the quantum lab.", False),
        ("There is power in the quantum lab.", True),
        ("There is no power in the reception.", True),
        ("Pull the lever to restore the power in the quantum lab.", False),
        ("First restore the power in the quantum lab.", False),
        ("There isn't power in the quantum lab.", False),
        ("The fuse box is open.", True),
        ("Open the fuse box.", False),
        ("The open soda can is large.", True),
        ("You can see whether the open soda can is large.", False),
        ("Is the open soda can large?", False),
    ],
)
def test_only_statements_can_be_false(speech: str, false: bool) -> None:
    state = draw_scenario(find_variant("fire_laser_to_heat__open_soda_can__power"), 0, "training").state
    state = replace(state, powered=state.powered - {"warehouse"})
    assert bool(list(false_states(speech, state))) == false


def test_advice_before_a_task_is_named_is_an_error(edited: Path) -> None:
    assert (1, "unfounded advice") in errors_with(edited, {1: "Please pick up the hammer."}, greeting="Hello there.")


def test_a_repetition_is_an_error_unless_it_was_asked_for(edited: Path) -> None:
    again = "Please pick up the yellow banana."
    assert {each for each in errors_with(edited, dict.fromkeys((1, 2, 3), again)) if each[1] == "repetition"} == {
        (2, "repetition"), (3, "repetition"),
    }  # fmt: skip


def test_sessions_of_a_scenario_stand_side_by_side(played: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(played, tmp_path / "both"))
    index = Page(write_report(folder))
    (path,) = (folder / "report" / "side-by-side").glob("*.html")
    page, record = Page(path), read_record(record_path(folder / "oracle"))
    assert "silent · silent · run 0" in page.text and "oracle · oracle · run 0" in page.text
    assert all(each.speech in page.text for each in record.of_type(GuidanceEvent))
    # Thirty turns of the oracle's session at most, eight of the other one in two attempts; equal turns share a row.
    silent = read_record(record_path(folder / "silent")).of_type(LabActionEvent)
    assert len(page.all("tr")) == 1 + len(record.of_type(LabActionEvent)) + len(silent) // 2
    links = [link["href"] for link in index.all("a")]
    assert links.count("report/side-by-side/" + path.name) == 2
    for run in ("oracle", "silent"):
        own = next((folder / "report" / run).glob("*.html"))
        assert f"../side-by-side/{path.name}" in [link["href"] for link in Page(own).all("a")]
    before = path.stat().st_mtime_ns
    write_report(folder)
    assert path.stat().st_mtime_ns == before


def test_what_went_wrong_and_what_was_said_are_in_the_index(played: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(played, tmp_path / "both"))
    index = Page(write_report(folder))
    assert "4 unanswered question" in index.text
    words = " ".join(row.get("data-words") or "" for row in index.all("tr"))
    assert "tall gray panels with vents" in words and "Turn the banana into a carrot" in words
