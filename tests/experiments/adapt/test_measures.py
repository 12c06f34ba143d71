"""Measures and functions of ADAPT's experiments."""

import json
from pathlib import Path

import pytest

from housewise.core.errors import DataError, UserError
from housewise.experiments.adapt import measures
from housewise.experiments.adapt.answers import QUESTIONS, read_questions, understand_questions
from housewise.experiments.adapt.lessons import count_lessons
from housewise.experiments.adapt.verifiers import check_verifiers, cook_for
from housewise.language.embedder import has_minilm
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.selftrain.examples import EpisodeDemonstration, Preference, write_examples
from tests.people.kitchen.sixteen import ADAPT_PEOPLE
from tests.systems.command_runs import adapt, record_of

needs_minilm = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")


@pytest.mark.slow
def test_nearly_half_of_the_wishes_are_those_of_the_warm_up() -> None:
    wishes = [wish for person in load_profiles(ADAPT_PROFILES) for wish in person.preferences]
    known = [(wish.wants_text, wish.if_text, wish.tasks) in measures.warm_up_wishes() for wish in wishes]
    assert (sum(known), len(known)) == (106, 228)


@pytest.mark.slow
@needs_minilm
def test_what_answers_were_worth(tmp_path: Path) -> None:
    for planner in ("always", "never"):
        adapt("person=juan", "task=[4]", f"planner={planner}", "--out", tmp_path / planner)
    asked, never = (record_of(tmp_path / planner, "juan-4-run0") for planner in ("always", "never"))
    telling, told, satisfied = (
        each(asked) for each in (measures.answers_telling, measures.wishes_told, measures.satisfied_told)
    )
    assert telling and told and satisfied
    assert 0 < telling[0] < 1, "some questions find that people are flexible"
    assert telling[1] == asked.result.scores["questions"] and told[1] == asked.result.scores["applicable"]
    assert told[0] > 0.5 and satisfied == (1.0, round(told[0] * told[1]))
    assert measures.answers_telling(never) is None and measures.satisfied_told(never) is None
    others = measures.satisfied_others(never)
    assert others == (never.result.scores["satisfaction"], never.result.scores["applicable"]) and others[0] < 1
    shared, new = measures.satisfied_shared(never), measures.satisfied_new(never)
    assert shared and new and shared[1] + new[1] == others[1]
    assert shared[0] * shared[1] + new[0] * new[1] == pytest.approx(others[0] * others[1])
    parts = [measures.satisfied_at_20, measures.satisfied_at_40, measures.satisfied_at_60, measures.satisfied_at_80]
    curve = [part(asked) for part in parts]
    assert curve == sorted(curve) and curve[0] < curve[-1] <= asked.result.scores["satisfaction"]
    where = [measures.questions_few, measures.questions_some, measures.questions_many]
    found = [value for each in where if (value := each(asked)) is not None]
    assert found == [asked.result.scores["questions"]], "each breakfast has one number of wishes"


def test_a_breakfast_is_filed_wish_by_wish() -> None:
    person = ADAPT_PEOPLE["maya"]
    breakfast = cook_for(person, 7, seed=1)
    assert breakfast.failed == 0
    filed = {*breakfast.satisfied, *breakfast.open, *breakfast.given_up}
    assert filed <= {preference.id for preference in person.preferences if 7 in preference.tasks}
    assert "8.13" in breakfast.satisfied


def test_the_oracle_satisfies_all_that_can_be_satisfied() -> None:
    found = list(check_verifiers(scenes=1, seed=100))
    sums = {name: sum(value.value for value in found if value.measure == name) for name in ("satisfied", "aimed_at")}
    assert sums["satisfied"] == sums["aimed_at"] > 500
    assert len({value.task for value in found}) == 128


@pytest.mark.slow
@needs_minilm
def test_unseen_questions_are_understood() -> None:
    found = list(understand_questions("unseen_sixth_hand"))
    shares = {name: [value.value for value in found if value.measure == name] for name in ("found", "flexible")}
    assert len(found) == 120
    assert all(sum(share) / len(share) >= 0.85 for share in shares.values())
    assert list(understand_questions("unseen_sixth_hand", limit=3)) == found[:3]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (
            '{"person": "nobody", "task": 1, "question": "Salt?", "preference": null}',
            "line 1: nobody is named 'nobody'",
        ),
        ('{"person": "juan", "task": 9, "question": "Salt?", "preference": null}', "line 1: there is no task 9"),
        ('{"person": "juan", "task": 1, "question": "Salt?", "preference": "1.3"}', "juan has no preference '1.3'"),
        ('{"person": "juan", "task": 1, "preference": null}', "line 1: field question"),
        ('{"person": "juan", "task": 1, "question": "Salt?", "pref": "1"}', "line 1: field preference: Field required"),
        ("no json", "line 1"),
        ("", "has no questions"),
    ],
)
def test_questions_that_cannot_be_put_are_refused_in_one_line(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "mine.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        list(understand_questions(str(tmp_path / "mine.jsonl")))
    assert complaint in str(error.value) and "\n" not in str(error.value)


def test_lines_end_where_json_lines_do(tmp_path: Path) -> None:
    asked = {"person": "juan", "task": 1, "question": "Salt\u2028or pepper?", "preference": None}
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(asked, ensure_ascii=False) + "\n", encoding="utf-8-sig")
    assert [each.question for each in read_questions(file, load_profiles(ADAPT_PROFILES))] == ["Salt\u2028or pepper?"]


def test_no_unseen_question_is_in_another_set() -> None:
    sets = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in QUESTIONS.glob("*.jsonl")}
    assert len(sets) == 7 and all(50 <= len(lines) <= 200 for lines in sets.values())
    words = [json.loads(line)["question"] for lines in sets.values() for line in lines]
    unseen = [json.loads(line)["question"] for name in sets if name.startswith("unseen") for line in sets[name]]
    assert len(unseen) == 220 and all(words.count(question) == 1 for question in unseen)


TURNS = (
    {"role": "user", "content": "Prepare tea."},
    {"role": "assistant", "content": 'Action: Ask "Which mug?"'},
    {"role": "user", "content": "They say: the blue one."},
)


def test_questions_among_what_was_learned_are_counted(tmp_path: Path) -> None:
    for name in ("own-asking", "no-reflection"):
        (tmp_path / "fold" / name).mkdir(parents=True)
    pairs = [
        EpisodeDemonstration(prompt=TURNS, prefix="Action:", reply=" Open fridge", turns=True),
        EpisodeDemonstration(prompt=TURNS, prefix="Action:", reply=' Ask "Any milk?"'),
    ]
    write_examples(tmp_path / "fold/own-asking/pairs.jsonl", pairs)
    preferences = [
        Preference(prompt=TURNS, prefix="Action:", chosen=" Open fridge", rejected=' Ask "Any milk?"'),
        Preference(prompt=TURNS, prefix="Action:", chosen=' Ask "Which tea?"', rejected=' Ask "Any milk?"'),
        Preference(prompt=TURNS, prefix="Action:", chosen=' Ask "Which tea?"', rejected=" Declare Done"),
    ]
    write_examples(tmp_path / "fold/no-reflection/preferences.jsonl", preferences)

    def counts(learner: str) -> dict[str, float]:
        return {value.measure: value.value for value in count_lessons(str(tmp_path), learner)}

    assert counts("own asking") == {"replies": 3, "asked": 2}, "of a conversation every turn counts"
    assert counts("no reflection") == {"replies": 3, "asked": 2, "rejected_questions": 2}
    with pytest.raises(UserError, match="holds no trained learner"):
        counts("no DPO")
    (tmp_path / "fold/own-asking/pairs.jsonl").write_text("{}\n")
    with pytest.raises(UserError, match=r"pairs\.jsonl"):
        counts("own asking")
