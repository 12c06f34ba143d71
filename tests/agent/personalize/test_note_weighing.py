"""Weighing notes against the model's scores of placements."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.personalize.note_weighing import NoteWeighing
from housewise.agent.personalize.placement_candidates import PlacementCandidates, placements_by_kernel
from housewise.agent.personalize.placement_scores import Choice, PlacementScorer
from housewise.agent.personalize.planner import Plan
from housewise.agent.personalize.preference_knowledge import NoKnowledge, RecalledPreferences
from housewise.agent.personalize.prompt_notes import RememberingContext, RememberingTemplate
from housewise.agent.personalize.wrappers.compose import PlannerConfig, make_llm_planner
from housewise.agent.personalize.wrappers.judging_planner import JudgingConfig
from housewise.people.memory import Memory, Note
from tests.agent.personalize.helpers import JUDGING, PLACES, LetterEmbedder, house, make_note, visits
from tests.agent.personalize.test_scoring_judge import ScoringModel

ENTERED = visits("kitchen 0", "hall 1")
LETTERS = LetterEmbedder("abcdefghijklmnopqrstuvwxyz")
SURE = {"hall_shelf": 0.9, "fine": 0.01, "elsewhere": 0.01, "kitchen_shelf": 0.02, "hall_chest": 0.03}


def recalled(*notes: Note) -> RecalledPreferences:
    return RecalledPreferences(Memory("ada", notes), PLACES, LETTERS)


def planned(model: ScoringModel, *notes: Note, context: RememberingContext = JUDGING) -> Plan:
    config = PlannerConfig(judging=JudgingConfig(score_placements=True, weigh_notes=True))
    return make_llm_planner(model, context, config=config, knowledge=recalled(*notes)).plan(house(), ENTERED)


AGREEING = [
    make_note(1.0, things=(kind,), receptacle="shelf", room="hall") for kind in ("fork", "plate", "bowl", "jug", "pan")
]
CONTRARY = [
    make_note(value, things=(kind,), receptacle=receptacle, room=room)
    for kind in ("vase", "book", "pen", "doll", "lamp", "box", "ball", "kite")
    for value, receptacle, room in ((1.0, "sink", "kitchen"), (-1.0, "shelf", "hall"))
]


def test_a_model_that_agrees_with_the_notes_decides_what_they_do_not() -> None:
    assert planned(ScoringModel(**SURE), *AGREEING).text.startswith("\nmug on kitchen sink: hall shelf\n")


def test_a_model_that_contradicts_the_notes_does_not_decide() -> None:
    assert planned(ScoringModel(**SURE), *CONTRARY).text.startswith("\nmug on kitchen sink: fine\n")


def test_what_the_notes_say_of_an_object_comes_before_the_model() -> None:
    note = make_note(1.0, things=("mug",), receptacle="chest", room="hall")
    assert planned(ScoringModel(**SURE), *AGREEING, note).text.startswith("\nmug on kitchen sink: hall chest\n")


def test_the_model_scores_placements_without_having_read_a_note() -> None:
    class Reader(ScoringModel):
        read = ""

        def score(self, request, continuations):  # type: ignore[no-untyped-def]
            self.read += "".join(message.content for message in request.messages)
            return super().score(request, continuations)

    model, context = Reader(**SURE), RememberingContext(RememberingTemplate.load("remembering"))
    planned(model, make_note(1.0, things=("mugg",), receptacle="chest", room="hall"), context=context)
    assert "what this person wants" in context.messages(house(), recalled(*AGREEING))[-1].content
    assert model.read and "what this person wants" not in model.read


def test_trust_comes_from_noted_kinds_scored_as_if_in_the_hand() -> None:
    model = ScoringModel(**SURE)
    planned(model, *AGREEING)
    assert {"\nfork in hand:", "\npan in hand:"} <= {prefix[prefix.rindex("\n") :] for prefix, _ in model.scored}


def test_without_notes_the_model_is_asked_as_ever() -> None:
    texts = []
    for weigh in (False, True):
        config = PlannerConfig(judging=JudgingConfig(score_placements=True, weigh_notes=weigh))
        texts.append(make_llm_planner(ScoringModel(**SURE), JUDGING, config=config).plan(house(), ENTERED).text)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("margin", [0.0, 0.5])
@given(likely=st.lists(st.floats(1e-9, 1), min_size=5, max_size=5))
def test_a_smaller_margin_moves_more_and_a_receptacle_is_one_of_the_candidates(
    margin: float, likely: list[float]
) -> None:
    model = ScoringModel(**dict(zip(SURE, likely, strict=True)))
    scorer, graph = PlacementScorer(model, JUDGING.template), house()
    options = PlacementCandidates("kitchen 0 sink 2", tuple(PLACES))
    messages = JUDGING.messages(graph, NoKnowledge())
    scores = scorer.scores(graph, "mug 1", options, messages, {})
    chosen, best = NoteWeighing(scorer, recalled(*AGREEING), margin=margin).choose(
        Choice(graph, "mug 1", options, scores, messages)
    )
    assert chosen in PLACES and best in PLACES and best != options.here


def test_a_model_without_an_opinion_leaves_the_choice_to_the_kernel() -> None:
    graph, names = house(), tuple(PLACES)
    notes = [make_note(1.0, things=("mag",), receptacle="chest", room="hall")]
    model = ScoringModel(**dict.fromkeys((*SURE, "kitchen_sink"), 0.2))
    scorer, messages = PlacementScorer(model, JUDGING.template), JUDGING.messages(graph, NoKnowledge())
    options = PlacementCandidates("kitchen 0 sink 2", names)
    scores = scorer.scores(graph, "mug 1", options, messages, {})
    assert all(math.isclose(score, math.log(0.2)) for score in scores.values())
    chosen, _ = NoteWeighing(scorer, recalled(*notes), margin=0.0).choose(
        Choice(graph, "mug 1", options, scores, messages)
    )
    assert (chosen,) == placements_by_kernel(graph, "mug 1", recalled(*notes), {}) == ("hall 1 chest 3",)
