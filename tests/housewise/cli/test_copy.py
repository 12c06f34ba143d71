"""``housewise copy``: bundled files as a starting point."""

from pathlib import Path

import pytest

from housewise.people.kitchen.profile_files import load_profiles
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.terminal.catalogue import bundled_files
from tests.commands import housewise, one_line, output
from tests.in_process import call_housewise


@pytest.mark.parametrize(("kind", "files", "name"), [("person", "people", "ada"), ("prompt", "prompts", "judging")])
def test_a_copy_is_the_bundled_file_and_is_accepted_where_the_name_is(
    kind: str, files: str, name: str, tmp_path: Path
) -> None:
    copied = tmp_path / "mine.yaml"
    assert str(copied) in output(call_housewise("copy", kind, name, copied))
    assert copied.read_bytes() == bundled_files(files)[name].read_bytes()
    option = {"person": ["--person", copied], "prompt": [f"prompt={copied}"]}[kind]
    run = housewise("run", "--houses", "1", "--planner", "scripted", *option, "--out", tmp_path / "run", "max_steps=5")
    assert run.returncode == 0, run.stderr


def test_a_person_of_the_kitchen_is_copied(tmp_path: Path) -> None:
    output(call_housewise("copy", "person", "nalini", tmp_path))
    assert [person.name for person in load_profiles(tmp_path / "nalini.yaml")] == ["nalini"]


def test_it_goes_into_a_folder_under_its_own_name(tmp_path: Path) -> None:
    output(call_housewise("copy", "config", "tidy", tmp_path))
    assert load_selftraining(tmp_path / "tidy.yaml") == load_selftraining(Path("tidy"))


def test_a_file_that_exists_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "mine.yaml"
    kept.write_text("mine")
    assert "exists already; name another file" in one_line(call_housewise("copy", "person", "ada", kept))
    assert kept.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("person", "../ada"), "no person '../ada' is bundled"),
        (("person", "ada", "/nowhere/mine.yaml"), "/nowhere/mine.yaml: cannot be written"),
    ],
)
def test_what_cannot_be_copied_is_one_line(words: tuple[str, ...], message: str) -> None:
    assert message in one_line(call_housewise("copy", *words))
