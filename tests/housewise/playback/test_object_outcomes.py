from pathlib import Path

from housewise.playback.object_outcomes import list_object_outcomes, summarize_outcomes, wish_subject
from housewise.systems.personalize.record import read_house_records
from tests.housewise.playback.outcomes import BOOK, MUG, SOAP


def test_an_episode_is_summarized_in_a_sentence() -> None:
    assert summarize_outcomes([MUG], "Ada wants") == "1 of 1 misplaced object ended where Ada wants them."
    assert summarize_outcomes([MUG, BOOK, SOAP], wish_subject("majority")) == (
        "1 of 2 misplaced objects ended where most people want them; 1 correct one was taken away; 1 was never found; "
        "the robot still holds book 1."
    )
    assert wish_subject("annotator-3") == "Annotator 3 wants"


def test_each_outcome_has_a_description_and_a_status() -> None:
    assert [thing.description for thing in (MUG, BOOK, SOAP)] == ["put right", "still in the hand", "never found"]
    assert (MUG.start_status, MUG.end_status, SOAP.end_status) == ("wrong", "right", "unseen")


def test_outcomes_agree_with_the_scores_of_the_record(run_folder: Path) -> None:
    for record in read_house_records(run_folder / "episodes"):
        found = list_object_outcomes(record)
        assert sum(thing.is_correct for thing in found) == record.result.scores["correct_end"]
        assert sum(not thing.was_correct for thing in found) == record.result.scores["misplaced_start"]
