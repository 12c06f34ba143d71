"""The main results in small: a tiny model is warmed up, cooks, reflects and learns, and goes on where it was."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.experiments.adapt.rows import frontier
from housewise.experiments.adapt.study import AGENTS, PUBLISHED, split
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.tables import TABLES
from housewise.language.embedder import has_minilm
from housewise.selftrain.examples import EpisodeDemonstration, Preference, read_examples
from tests.commands import run_module, started_module
from tests.people.kitchen.sixteen import ADAPT_PEOPLE
from tests.selftrain.tiny import save_talker

needs_minilm = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
PLAYED = (
    "Never Ask",
    "STaR-GATE",
    "Reflection-DPO",
    "Reflection-DPO, paraphrased",
    "no DPO",
    "oracle questions",
    "warm-up without questions",
    "Teacher",
)
TINY = [
    f"{section}.{key}={value}"
    for section in ("warm_up.training", "imitation", "preference")
    for key, value in (
        ("max_example_tokens", 100_000),
        ("device", "cpu"),
        ("dtype", "float32"),
        ("checkpoint_steps", 1),
    )
]


class Small:
    """The command with a tiny model."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out, self.json = folder, folder / "out", folder / "results.json"
        self.model = f"local:{save_talker(folder / 'tiny')}"

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        return run_module("housewise.experiments.adapt.main_results", self.words(*more), self.env)

    def killed_after_a_row(self) -> None:
        """Begin, and be killed once there are figures."""
        with started_module("housewise.experiments.adapt.main_results", self.words(), self.env) as begun:
            while begun.poll() is None and not self.json.exists():
                time.sleep(0.1)

    def words(self, *more: str) -> list[str]:
        chosen = [word for name in PLAYED for word in ("--agent", name)]
        files = ["--out", str(self.out), "--json", str(self.json)]
        return ["--quick", "--model", self.model, *files, *chosen, *TINY, *more]

    @property
    def env(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HOUSE")}
        return {**kept, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}

    @property
    def figures(self) -> Any:
        return json.loads(self.json.read_text(encoding="utf-8"))

    def learned(self) -> dict[str, int]:
        """When each model was trained."""
        return {str(path.parent.name): path.stat().st_mtime_ns for path in self.out.rglob("model.json")}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    made = Small(tmp_path_factory.mktemp("small"))
    made.killed_after_a_row()
    assert list(made.figures["rows"]) == ["Never Ask"] and made.figures["rows_left"] == len(PLAYED) - 1
    done = made.run("--figure", str(made.folder / "pareto.png"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"row 1 of {len(PLAYED)}: Never Ask, fold 0" in done.stdout
    assert "published *" in done.stdout and "another scale" in done.stdout
    return made


@needs_minilm
def test_every_agent_has_its_row(small: Small) -> None:
    figures = small.figures
    assert tuple(figures["rows"]) == PLAYED and figures["rows_left"] == 0
    for row in figures["rows"].values():
        for side in ("seen", "unseen"):
            assert row[side]["n"] == 1 and 0 <= row[side]["satisfaction"]["mean"] <= 1
        assert set(row["over_time"]) == {"0.2", "0.4", "0.6", "0.8", "1"}
        assert row["over_time"]["1"] == pytest.approx(row["unseen"]["satisfaction"]["mean"])
    teacher = figures["rows"]["Teacher"]
    rate = teacher["unseen"]["satisfaction"]["mean"]
    assert rate > 0
    nothing = {"answers": None, "wishes": 0, "satisfied": None}
    assert teacher["heard"] == {**nothing, "satisfied_unheard": pytest.approx(rate)}
    assert figures["rows"]["Never Ask"]["unseen"]["questions"]["mean"] == 0
    assert list(figures["ahead_of"]) == [name for name in PLAYED if name != "Reflection-DPO"]
    ours, teacher = figures["rows"]["Reflection-DPO"]["unseen"], figures["rows"]["Teacher"]["unseen"]
    for score in ("satisfaction", "questions"):
        more = figures["ahead_of"]["Teacher"][score]["mean"]
        assert more == pytest.approx(ours[score]["mean"] - teacher[score]["mean"])
    assert figures["ahead_of"]["Teacher"]["folds"]["0"]["questions"] == pytest.approx(more)
    assert figures["ahead_of"]["Teacher"]["over_folds"]["questions"]["mean"] == pytest.approx(more)
    assert figures["ahead_of"]["Reflection-DPO, paraphrased"]["n"] == 1
    assert figures["rows"]["Teacher"]["information"] == "every wish, what it finds"
    assert figures["at_equal_questions"]["questions"] >= 0 and figures["quick"] is True
    assert figures["published_on_another_scale"]["rows"]["Reflection-DPO"]["unseen"] == [42.9, 1.6]
    assert {"commit", "command", "machine"} <= set(figures)


@needs_minilm
def test_documents_have_a_table_of_it(small: Small, tmp_path: Path) -> None:
    (tmp_path / "adapt").mkdir()
    (tmp_path / "adapt" / "main_fold_0.json").write_text(small.json.read_text(encoding="utf-8"), encoding="utf-8")
    figures = small.figures
    seen = {**figures, "rows": {"Teacher": figures["rows"]["Teacher"]}}
    (tmp_path / "adapt" / "main_seen.json").write_text(json.dumps(seen), encoding="utf-8")
    _, _, *lines = TABLES["adapt"](FigureFiles(tmp_path)).splitlines()
    cells = {name: rest for name, *rest in (line.strip("| ").split(" | ") for line in lines)}
    assert tuple(cells) == PLAYED
    unseen = small.figures["rows"]["Reflection-DPO"]["unseen"]
    rate = seen["rows"]["Teacher"]["seen"]["satisfaction"]["mean"]
    assert cells["Teacher"][0] == "every wish, what it finds" and cells["Reflection-DPO"][1] == "–"
    assert cells["Teacher"][1].startswith(f"{rate:.1%}".removesuffix("%"))
    assert cells["Reflection-DPO"][2].startswith(f"{unseen['satisfaction']['mean']:.1%}".removesuffix("%"))
    assert cells["Reflection-DPO"][4:] == ["1", "–", "42.9", "9.5"] and cells["Reflection-DPO, paraphrased"][-1] == "–"


@needs_minilm
def test_documents_have_a_table_of_several_folds(small: Small, tmp_path: Path) -> None:
    (tmp_path / "adapt").mkdir()
    (tmp_path / "adapt" / "main_folds.json").write_text(small.json.read_text(encoding="utf-8"), encoding="utf-8")
    columns, _, *lines = TABLES["adapt folds"](FigureFiles(tmp_path)).splitlines()
    assert "| fold 0 | over folds |" in columns
    cells = {name: rest for name, *rest in (line.strip("| ").split(" | ") for line in lines)}
    assert tuple(cells) == PLAYED
    unseen = small.figures["rows"]["Teacher"]["unseen"]
    assert cells["Teacher"][1] == f"{unseen['satisfaction']['mean']:.1%}".replace("%", " %")
    assert cells["Teacher"][4] == "1" and cells["Reflection-DPO"][-2:] == ["–", "–"]


@needs_minilm
def test_what_was_learned_from_is_kept(small: Small) -> None:
    fold = small.out / "with-questions" / "fold-0"
    reflections = [json.loads(path.read_text()) for path in (fold / "reflections").glob("*.json")]
    assert len(reflections) == 1 and reflections[0]["data"]
    assert all("delta_t" in datum and "delta_q" in datum for datum in reflections[0]["data"])
    oracle = small.figures["oracle_reflection"]["0"]
    assert oracle == json.loads((fold / "oracle-reflections.json").read_text())
    found = small.figures["reflection"]["0"]
    assert found["compared"] == oracle["compared"] == len(reflections[0]["data"])
    assert found == json.loads((fold / "reflections.json").read_text())
    assert found["steps"] >= found["compared"] == found["questions"] + found["actions"] + found["dropped"]
    preferences = read_examples(fold / "Reflection-DPO" / "preferences.jsonl", Preference)
    pairs = read_examples(fold / "no-DPO" / "pairs.jsonl", EpisodeDemonstration)
    assert [each.chosen for each in preferences] == [pair.reply for pair in pairs]
    shown = small.figures["lessons"]
    assert shown["Reflection-DPO"]["0"]["replies"] == len(preferences) == shown["no DPO"]["0"]["replies"]
    assert shown["Reflection-DPO"]["0"]["questions"] == shown["no DPO"]["0"]["questions"] <= found["questions"]
    assert set(shown) == {"STaR-GATE", "Reflection-DPO", "no DPO", "oracle questions"}
    [best] = read_examples(fold / "STaR-GATE" / "pairs.jsonl", EpisodeDemonstration)
    assert best.turns and best.prefix == "Action:"
    quiet = read_examples(small.out / "without-questions" / "warm-up" / "pairs.jsonl", EpisodeDemonstration)
    said = [turn["content"] for pair in quiet if pair.turns for turn in pair.prompt if turn["role"] == "assistant"]
    assert said and not any(each.startswith("Action: Ask ") for each in said)
    config = json.loads((fold / "Reflection-DPO" / "adapter" / "adapter_config.json").read_text())
    told = json.loads((small.out / "with-questions" / "warm-up" / "adapter" / "adapter_settings.json").read_text())
    assert told == {"system": "adapt", "prompt": "short"}, "whoever uses the adapter asks it as it was taught"
    assert config["r"] == 4 and sorted(config["target_modules"]) == ["q_proj", "v_proj"]


@needs_minilm
def test_what_is_there_is_not_done_again_and_what_is_missing_is(small: Small) -> None:
    before, figures, seconds = small.learned(), small.figures["rows"], small.figures["seconds"]
    (small.out / "with-questions" / "fold-0" / "no-DPO" / "model.json").unlink()
    next((small.out / "with-questions" / "fold-0" / "reflections").glob("*.json")).unlink()
    assert small.run().returncode == 0
    after = small.learned()
    assert {name for name in after if after[name] != before.get(name)} == {"no-DPO"}
    assert small.figures["rows"] == figures
    assert small.figures["seconds"] > seconds, "what earlier commands spent counts as well"


@needs_minilm
def test_other_settings_are_refused_in_one_line(small: Small) -> None:
    for word in ("warm_up.each=2", "preference.beta=0.5", "run.task=[5]"):
        done = small.run(word)
        assert done.returncode == 2
        said = " ".join(done.stderr.split())
        assert f"holds a training with other settings ({word.partition('=')[0]})" in said and "Traceback" not in said
    assert "no such agent" in small.run("--agent", "Reflexion-DPO").stderr


@needs_minilm
def test_without_anybody_to_warm_up_for_the_named_model_is_gone_on_from(small: Small, tmp_path: Path) -> None:
    words = ["--quick", "--model", small.model, "--out", tmp_path / "out", "--json", tmp_path / "results.json"]
    words += ["--agent", "Baseline", *TINY, "--no-seen", "warm_up.people=0"]
    done = run_module("housewise.experiments.adapt.main_results", words, code=0)
    assert not list((tmp_path / "out").rglob("model.json")), "nothing is trained"
    [(name, row)] = json.loads((tmp_path / "results.json").read_text())["rows"].items()
    assert name == "Baseline" and (row["seen"]["n"], row["unseen"]["n"]) == (0, 1)
    done = run_module("housewise.experiments.adapt.main_results", [*words, "--agent", "warm-up without questions"])
    assert done.returncode == 2 and "there is no warm-up" in " ".join(done.stderr.split())


@needs_minilm
def test_the_shipped_model_is_gone_on_from_where_none_is_named(tmp_path: Path) -> None:
    words = ["--out", tmp_path / "out", "--json", tmp_path / "results.json", "--fold", "0", "--no-seen"]
    done = run_module(
        "housewise.experiments.adapt.main_results", [*words, "--agent", "scripted, at most 2", "run.task=[3]"]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "results.json").read_text())
    assert figures["settings"]["run"]["models"]["agent"]["adapter"] == "breakfast"
    assert figures["settings"]["warm_up"]["people"] == 0
    assert figures["rows"]["scripted, at most 2"]["unseen"]["questions"]["mean"] == 2


@needs_minilm
def test_people_without_other_words_are_not_paraphrased(small: Small, tmp_path: Path) -> None:
    people = tmp_path / "people"
    done = run_module("housewise.experiments.adapt.invent", ["--people", "2", "--out", people], code=0)
    words = ["--people", people, "--out", tmp_path / "out", *TINY, "--model", small.model]
    words += ["--agent", "Reflection-DPO, paraphrased"]
    done = run_module("housewise.experiments.adapt.main_results", words)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and "not every wish of these people has a paraphrase; leave it out" in said


def test_folds_are_those_of_the_paper_for_its_people_and_others_for_others() -> None:
    names = list(ADAPT_PEOPLE)
    splits = split(names)
    assert [len(each.seen) for each in splits] == [12] * 4
    assert sorted(name for each in splits for name in each.unseen) == sorted(names)
    assert splits[0].unseen == ("lisa", "samantha", "mark", "leila")
    assert [each.unseen for each in split(["a", "b", "c"])] == [("a",), ("b",), ("c",)]
    with pytest.raises(UserError, match="at least two people"):
        split(["a"])
    assert set(PUBLISHED["rows"]) <= set(AGENTS)


def test_the_frontier_is_what_nobody_beats_with_fewer_questions() -> None:
    points = [(0.0, 0.3), (2.0, 0.2), (2.0, 0.5), (5.0, 0.5), (9.0, 0.8)]
    assert frontier(points) == [(0.0, 0.3), (2.0, 0.5), (9.0, 0.8)]
