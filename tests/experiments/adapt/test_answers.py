"""Questions put to the person who answers by meaning, by the command that users run."""

import json

import pytest

from housewise.experiments.adapt.answers import OWN, read_questions
from housewise.language.embedder import has_minilm
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from tests.commands import run_module

pytestmark = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
MODULE = "housewise.experiments.adapt.answers"


def test_the_unseen_questions_are_understood(tmp_path):
    """Those of all hands together."""
    out, unseen = tmp_path / "out.json", tmp_path / "unseen.jsonl"
    unseen.write_text("".join(path.read_text(encoding="utf-8") for path in sorted(OWN.glob("unseen*.jsonl"))))
    result = run_module(MODULE, ["--questions", unseen, "--json", out], code=0)
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["n"] == 220
    assert figures["found"] >= 0.85
    assert figures["flexible"] >= 0.85
    assert "220 questions" in result.stdout


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
        (
            '{"person": "juan", "task": 1, "question": "Salt?", "pref": "1.1"}',
            "line 1: field preference: Field required",
        ),
        ("no json", "line 1"),
        ("", "has no questions"),
    ],
)
def test_questions_that_cannot_be_put_are_refused_in_one_line(tmp_path, line, complaint):
    (tmp_path / "mine.jsonl").write_text(line + "\n", encoding="utf-8")
    result = run_module(MODULE, ["--questions", tmp_path / "mine.jsonl"])
    assert result.returncode != 0
    assert complaint in " ".join((result.stderr + result.stdout).split())
    assert "Traceback" not in result.stderr


def test_lines_end_where_json_lines_do(tmp_path):
    asked = {"person": "juan", "task": 1, "question": "Salt\u2028or pepper?", "preference": None}
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(asked, ensure_ascii=False) + "\n", encoding="utf-8-sig")
    assert [each.question for each in read_questions(file, load_profiles(ADAPT_PROFILES))] == ["Salt\u2028or pepper?"]


def test_the_own_questions_are_as_many_as_the_documents_say():
    lines = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in OWN.glob("*.jsonl")}
    assert {name: len(each) for name, each in lines.items()} == {
        "development": 100,
        "development_third_hand": 150,
        "development_varied": 200,
        "unseen": 50,
        "development_fifth_hand": 150,
        "unseen_another_hand": 50,
        "unseen_sixth_hand": 120,
    }
    asked = [json.loads(line) for each in lines.values() for line in each]
    assert len({(each["person"], each["task"], each["question"]) for each in asked}) == len(asked)
    words = [each["question"] for each in asked]
    unseen = [json.loads(line)["question"] for name in lines if name.startswith("unseen") for line in lines[name]]
    assert all(words.count(question) == 1 for question in unseen)
