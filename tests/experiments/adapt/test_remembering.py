"""What a memory is worth: to scripted cooks for people of one's own, and to a model behind a server."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.language.embedder import has_minilm
from tests.commands import run_module
from tests.language.conftest import Body, ChatServer, Handler, says
from tests.servers import serving

pytestmark = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")

TWO = """
people:
  - name: zoe
    preferences:
      - {id: "1", text: "I sit at the desk, always.", category: place, tasks: all, dishes: [], wants: served_at(desk)}
      - {id: "2", text: "Honey goes on what is sweet.", category: addition, tasks: sweet, dishes: [cereal, yoghurt],
         if: available(honey), wants: "together(honey, sweet_base)"}
  - name: ulf
    preferences:
      - {id: "1", text: "I sit outside on the patio.", category: place, tasks: all, dishes: [],
         wants: served_at(patio_table)}
"""
QUESTION = "Where do you want to eat?"


def remembering(folder: Path, *words: object) -> Any:
    (folder / "two.yaml").write_text(TWO, encoding="utf-8")
    fixed = ["--people", folder / "two.yaml", "--task", "3", "--task", "5", "--out", folder / "out"]
    run_module("housewise.experiments.adapt.remembering", [*fixed, "--json", folder / "out.json", *words], code=0)
    return json.loads((folder / "out.json").read_text(encoding="utf-8"))


def test_a_memory_saves_scripted_cooks_questions_and_another_persons_does_not_help(tmp_path: Path) -> None:
    scripted = remembering(tmp_path)["scripted"]
    same, other, whose = (scripted[part] for part in ("same_task", "other_tasks", "whose"))
    assert same["breakfast 3"]["questions"]["mean"] < same["breakfast 1"]["questions"]["mean"] / 2
    first, second = other["breakfast 1"], other["breakfast 2"]
    assert first["more"]["questions"]["mean"] == 0 and first["with a memory"] == first["without"]
    assert second["with a memory"]["questions"]["mean"] < second["without"]["questions"]["mean"]
    assert second["more"] == other["after the first"]["more"]
    own, another, none = (whose[name] for name in ("their own answers", "the next person's", "none"))
    assert own["questions"]["mean"] == another["questions"]["mean"] == 0 and own["n"] == another["n"] == none["n"] == 4
    assert own["satisfaction"]["mean"] > max(each["satisfaction"]["mean"] for each in (another, none))
    played = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.jsonl")}
    assert remembering(tmp_path)["scripted"] == scripted
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.jsonl")} == played


def cooks(handler: Handler, body: Body) -> None:
    """Asks where it may and was told nothing."""
    told, grammar = body["messages"][0]["content"], str(body["structured_outputs"]["grammar"])
    asks = "Ask " in grammar and QUESTION not in told and len(body["messages"]) < 3
    says(f'Action: Ask "{QUESTION}"' if asks else "Action: Declare Done")(handler, body)


def test_a_model_is_played_beside_them(tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        server.play(cooks)
        figures = remembering(tmp_path, "--model", "m", "--base-url", server.url, "--workers", "2")
    assert list(figures)[:2] == ["scripted", "model"]
    model = figures["model"]
    asked = {
        place: {side: row["questions"]["mean"] for side, row in sides.items() if side != "more"}
        for place, sides in model["other_tasks"].items()
    }
    assert asked["breakfast 1"] == {"with a memory": 1, "without": 1}
    assert asked["breakfast 2"] == {"with a memory": 0, "without": 1}
    assert [row["questions"]["mean"] for row in model["same_task"].values()] == [1, 0, 0]
    assert figures["settings"]["models"]["agent"]["model"] == "m" and server.url not in str(figures["settings"])
    assert all(model["whose"][whose]["questions"]["mean"] == 0 for whose in ("their own answers", "none"))


def test_memories_are_swapped_between_two_people(tmp_path: Path) -> None:
    done = run_module("housewise.experiments.adapt.remembering", ["--person", "mark", "--out", tmp_path / "out"])
    assert done.returncode == 2 and "takes two people or more" in done.stderr and not (tmp_path / "out").exists()
