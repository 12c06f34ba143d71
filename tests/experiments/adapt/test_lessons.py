from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.experiments.adapt.lessons import lessons
from housewise.selftrain.examples import EpisodeDemonstration, Preference, write_examples

SAID = (
    {"role": "user", "content": "Prepare tea."},
    {"role": "assistant", "content": 'Action: Ask "Which mug?"'},
    {"role": "user", "content": "They say: the blue one."},
)


def test_whole_conversations_count_by_every_turn_and_others_by_their_reply(tmp_path: Path) -> None:
    pairs = [
        EpisodeDemonstration(prompt=SAID, prefix="Action:", reply=" Open fridge", turns=True),
        EpisodeDemonstration(prompt=SAID, prefix="Action:", reply=' Ask "Any milk?"'),
    ]
    write_examples(tmp_path / "pairs.jsonl", pairs)
    assert lessons(tmp_path) == {"replies": 3, "questions": 2}


def test_preferences_count_by_what_is_chosen_and_what_is_rejected(tmp_path: Path) -> None:
    preferences = [
        Preference(prompt=SAID, prefix="Action:", chosen=" Open fridge", rejected=' Ask "Any milk?"'),
        Preference(prompt=SAID, prefix="Action:", chosen=' Ask "Which tea?"', rejected=' Ask "Any milk?"'),
        Preference(prompt=SAID, prefix="Action:", chosen=' Ask "Which tea?"', rejected=" Declare Done"),
    ]
    write_examples(tmp_path / "preferences.jsonl", preferences)
    assert lessons(tmp_path) == {"replies": 3, "questions": 2, "rejected_questions": 2}


def test_who_was_not_trained_has_none_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    assert lessons(tmp_path) is None
    (tmp_path / "pairs.jsonl").write_text("{}\n")
    with pytest.raises(UserError, match=r"pairs\.jsonl"):
        lessons(tmp_path)
