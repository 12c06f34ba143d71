"""The verifiers' command, run as a user runs it."""

import json

from housewise.experiments.adapt.verifiers import cook_for
from tests.commands import run_module
from tests.people.kitchen.sixteen import ADAPT_PEOPLE

MINE = """
name: zoe
preferences:
  - id: one
    text: My tea has oat milk in it, and the milk goes in first.
    category: order
    tasks: tea
    dishes: [tea]
    if: available(milk_1)
    wants: before(milk_1, tea)
  - id: two
    text: I eat at the desk.
    category: place
    tasks: all
    dishes: []
    wants: served_at(desk)
  - id: three
    text: Eggs are poached and come in a fancy bowl or on a fancy plate.
    category: preparation
    tasks: eggs
    dishes: [eggs]
    wants: made("poached", of=egg) and (used(fancy) or not available(fancy))
"""


def run(*arguments):
    return run_module("housewise.experiments.adapt.verifiers", arguments)


def test_people_of_one_s_own(tmp_path):
    (tmp_path / "zoe.yaml").write_text(MINE, encoding="utf-8")
    out = tmp_path / "out.json"
    result = run("--people", str(tmp_path / "zoe.yaml"), "--scenes", "2", "--json", str(out))
    assert result.returncode == 0, result.stderr
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["scripted_cook"] >= 0.97
    assert figures["n"] + sum(one["times"] for one in figures["given_up"]) == figures["applicable"]
    assert (figures["people"], figures["breakfasts"]) == (1, 16)
    assert figures["n"] >= 16 + 6
    assert "16 breakfasts" in result.stdout


def test_a_breakfast_is_filed_wish_by_wish():
    person = ADAPT_PEOPLE["maya"]
    breakfast = cook_for(person, 7, seed=1)
    assert breakfast.failed == 0
    filed = {*breakfast.satisfied, *breakfast.open, *breakfast.given_up}
    assert filed <= {preference.id for preference in person.preferences if 7 in preference.tasks}
    assert "8.13" in breakfast.satisfied


def test_nobody_s_file_is_refused(tmp_path):
    result = run("--people", str(tmp_path / "nobody.yaml"))
    assert result.returncode != 0
    assert "no such file or folder" in result.stderr + result.stdout
    assert "Traceback" not in result.stderr
