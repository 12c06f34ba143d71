"""Judgements as JSON: the prompt, the schema, the parser, and plans that follow."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.base import History
from housewise.agent.personalize.json_judge import judgement_schema, parse_json_judgements
from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.wrappers.compose import PlannerConfig, make_llm_planner
from housewise.core.errors import UserError
from housewise.language.base import Sampling
from housewise.people.house.reaction_notes import reaction_note
from housewise.systems.personalize.plan_events import make_plan_event
from housewise.worlds.house.spoken_names import SpokenPlace
from tests.agent.personalize.helpers import CutModel, RecordingModel, house, recalled

NOTES = NotesTemplate.load("notes")
CONTEXT = NotesContext(NOTES.model_copy(update={"rules": None}))
CONFIG = PlannerConfig(judging=JudgingSettings(as_json=True))
THINGS = ("mug 1", "cap 1")
SHELF = "kitchen 0 shelf 5"


@pytest.mark.parametrize(
    "text",
    [
        '{"mug 1": "kitchen 0 shelf 5", "cap 1": "fine"}',
        '{"mug 1":"kitchen 0 shelf 5","cap 1":"fine"}',
        'Sure!\n```json\n{\n  "mug 1": "kitchen 0 shelf 5",\n  "cap 1": "fine"\n}\n```\nAnything else?',
        '{"judgements": {"the mug": "Kitchen 0 Shelf 5", "cap 1": "hall 1 chest 3"}}',
        '[{"object": "mug 1", "place": "kitchen 0 shelf 5"}, {"object": "cap 1", "place": "fine"}]',
        '{"mug 1": "kitchen 0 shelf 5", "cap 1": "fine", "cap 2": "kitchen 0 si',
        '{"m\\u0075g 1": "kitchen 0 shelf 5", "cap 1": "fine"}',
        "mug 1: kitchen 0 shelf 5\ncap 1: fine",
        "- mug 1 belongs on kitchen 0 shelf 5.\n- **cap 1** -> fine",
    ],
)
def test_judgements_are_read_in_many_forms(text: str) -> None:
    assert parse_json_judgements(text, THINGS, house()) == {"mug 1": SHELF, "cap 1": "hall 1 chest 3"}


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("", {}),
        ("I cannot help with that.", {}),
        ('{"mug 1": null, "cap 1": 3}', {}),
        ('{"mug 1": "the moon", "sword 9": "fine", "kitchen 0 sink 2": "hall 1 chest 3"}', {}),
        ('{"mug 1": "elsewhere"}', {"mug 1": None}),
        ('{"mug 1": "fine", "mug 1": "elsewhere"}', {"mug 1": "kitchen 0 sink 2"}),
        ("[" * 10_000 + '"mug 1": "fine"', {"mug 1": "kitchen 0 sink 2"}),
        ('"\\' * 200_000, {}),
        ("mug: " * 100_000, {}),
        ("- - -\n" * 50_000, {}),
    ],
)
def test_what_is_not_a_known_object_with_a_known_place_is_ignored(text: str, judged: dict[str, str | None]) -> None:
    assert parse_json_judgements(text, THINGS, house()) == judged


@given(
    st.text(max_size=300) | st.lists(st.sampled_from(['"', "\\", ":", "{", "mug 1", "fine", "\n", ","])).map("".join)
)
def test_any_text_is_read(text: str) -> None:
    assert set(parse_json_judgements(text, THINGS, house())) <= set(THINGS)


def test_the_schema_names_the_objects_and_the_places() -> None:
    schema = json.loads(judgement_schema(THINGS, house()))
    assert schema["required"] == list(THINGS) == list(schema["properties"]) and not schema["additionalProperties"]
    assert schema["$defs"]["place"]["enum"] == ["fine", *house().receptacles, "elsewhere"]


def test_the_plan_is_asked_for_with_the_judgements_in_plain_words() -> None:
    knows = recalled(reaction_note("ada", "cup", SpokenPlace("shelf", "hall"), True))
    model = RecordingModel(f'{{"mug 1": "{SHELF}", "cap 1": "fine"}}', " pick up mug 1")
    plan = make_llm_planner(model, CONTEXT, config=CONFIG, knowledge=knows).plan(house(), [])
    judging, planning = model.requests
    assert json.loads(judging.json_schema or "")["required"] == list(THINGS) and not judging.prefix
    question = judging.messages[1].content
    assert "mug 1, which is on kitchen 0 sink 2\ncap 1, which is on hall 1 chest 3\n" in question and "JSON" in question
    assert f"mug 1 belongs on {SHELF}.\ncap 1 is where it belongs." in planning.messages[1].content
    assert planning.json_schema is None and planning.prefix == "step 1:"
    assert [str(step.action) for step in plan.steps] == ["pick up mug 1"] and len(plan.prior_calls) == 1


def test_every_request_for_judgements_is_drawn_with_a_seed_of_its_own() -> None:
    model = RecordingModel(*["{}", " mission complete"] * 3)
    planner = make_llm_planner(model, CONTEXT, Sampling(seed=40, max_tokens=7), config=CONFIG)
    for _ in range(3):
        planner.plan(house(), [])
    samplings = [request.sampling for request in model.requests if request.json_schema]
    assert [sampling.seed for sampling in samplings] == [40, 41, 42]
    assert {sampling.max_tokens for sampling in samplings} == {48 * 2 + 256}, "enough for two objects"


def test_known_placements_are_not_asked_about_and_unwanted_ones_not_followed() -> None:
    shelf, sink = SpokenPlace("shelf", "hall"), SpokenPlace("sink", "kitchen")
    knows = recalled(reaction_note("ada", "cap", shelf, True), reaction_note("ada", "mug", sink, False))
    model = RecordingModel('{"mug 1": "fine", "cap 1": "fine"}', " mission complete")
    make_llm_planner(model, CONTEXT, config=CONFIG, knowledge=knows).plan(house(), [])
    judging, planning = model.requests
    assert json.loads(judging.json_schema or "")["required"] == ["mug 1"]
    told = planning.messages[1].content
    assert "cap 1 belongs on hall 1 shelf 4." in told
    assert "mug 1 belongs on a receptacle that you do not know of yet." in told


def test_a_held_object_is_judged_alone_and_a_plan_can_be_restricted_to_the_judgement() -> None:
    config = PlannerConfig(grounded=True, judging=JudgingSettings(as_json=True, constrain_to_judgements=True))
    model = RecordingModel(f"mug 1: {SHELF}", " go to kitchen 0")
    planner = make_llm_planner(model, CONTEXT, config=config, knowledge=recalled())
    plan = planner.plan(house("mug 1"), [])
    assert "mug 1, which you hold" in model.requests[0].messages[1].content
    assert model.requests[1].grammar is not None and f"place mug 1 on {SHELF}" in model.requests[1].grammar
    assert plan.choice_count is not None


def test_a_prompt_without_texts_for_json_is_refused() -> None:
    from housewise.systems.personalize.planners import open_planner
    from housewise.systems.personalize.settings import house_settings

    settings = {"prompt": "paper", "judging": {"as_json": True}}
    with pytest.raises(UserError, match="prompt paper cannot ask for judgements as JSON; set prompt=notes"):
        open_planner(house_settings(settings=settings).agent)


@pytest.mark.parametrize(
    "setting",
    [
        {"confidence": 0.5},
        {"confidence_similar": 0.5},
        {"confidence_unfamiliar": 0.5},
        {"score_placements": True},
        {"weigh_notes": True},
    ],
)
def test_settings_that_judgements_in_json_ignore_are_refused(setting: dict[str, object]) -> None:
    from housewise.systems.personalize.settings import house_settings

    (name,) = setting
    with pytest.raises(UserError, match=f"as_json follows all judgements; leave .*{name}.* out"):
        house_settings(settings={"prompt": "notes", "judging": {"as_json": True, **setting}})


@pytest.mark.parametrize(
    ("reply", "judged", "unjudged_objects"),
    [
        (f'{{"mug 1": "{SHELF}", "cap 1": "hall 1 sh', f"mug 1 belongs on {SHELF}.", ("cap 1",)),
        (f"mug 1: {SHELF}\ncap 1: hall 1 shelf 4", f"mug 1 belongs on {SHELF}.", ("cap 1",)),
        ("mug 1: hall 1 shelf 4", "", THINGS),
    ],
)
def test_only_judgements_that_were_read_count_if_the_reply_was_cut(
    reply: str, judged: str, unjudged_objects: tuple[str, ...]
) -> None:
    model = CutModel(reply, " mission complete")
    plan = make_llm_planner(model, CONTEXT, config=CONFIG, knowledge=recalled()).plan(house(), [])
    told = model.requests[1].messages[1].content
    assert judged in told and "where it belongs" not in told
    assert plan.unjudged_objects == unjudged_objects
    assert make_plan_event(plan, History(), house(), [], 0.0).unjudged_objects == [*unjudged_objects]


def test_a_reply_without_judgements_leaves_them_out_of_the_prompt_of_the_plan() -> None:
    model = RecordingModel("I cannot tell.", " mission complete")
    make_llm_planner(model, CONTEXT, config=CONFIG, knowledge=recalled()).plan(house(), [])
    assert model.requests[1].messages == CONTEXT.messages(house(), recalled())
