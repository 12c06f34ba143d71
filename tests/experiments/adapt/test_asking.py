"""What asking and a memory are worth, for people of one's own."""

import json

import pytest

from housewise.language.embedder import has_minilm
from tests.commands import run_module

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


def test_asking_pays_and_a_memory_saves_questions(tmp_path):
    (tmp_path / "two.yaml").write_text(TWO, encoding="utf-8")
    out = tmp_path / "out.json"
    result = run_module(
        "housewise.experiments.adapt.asking",
        ["--people", tmp_path / "two.yaml", "--task", "3", "--task", "5", "--json", out],
    )
    assert result.returncode == 0, result.stderr
    figures = json.loads(out.read_text(encoding="utf-8"))
    cooks, memory = figures["cooks"], figures["same_task"]
    assert cooks["knows"]["satisfaction"]["mean"] == 1
    assert cooks["never asks"]["satisfaction"]["mean"] < cooks["asks at most 50"]["satisfaction"]["mean"]
    assert cooks["asks at most 2"]["questions"]["mean"] == 2
    assert memory["breakfast 3"]["questions"]["mean"] < memory["breakfast 1"]["questions"]["mean"] / 2
    other = figures["other_tasks"]
    assert other["breakfast 2"]["questions"]["mean"] < other["breakfast 1"]["questions"]["mean"]
    own, other = (memory[f"{whose} memory, no questions"]["satisfaction"]["mean"] for whose in ("own", "another's"))
    assert own > other
