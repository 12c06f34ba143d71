"""Weighing notes against the model's scores of placements."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.note_weighing import NoteWeighing
from housewise.agent.personalize.placement_candidates import PlacementCandidates
from housewise.agent.personalize.placement_scores import Choice, PlacementScorer
from housewise.agent.personalize.planner import Plan
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.language.base import ChatRequest
from housewise.language.embedder import Vectors
from housewise.people.memory import Memory, Note
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from tests.agent.personalize.helpers import (
    JUDGING,
    PLACES,
    LetterModel,
    RecordingModel,
    house,
    llm_planner,
    make_note,
    visits,
)

ENTERED = visits("kitchen 0", "hall 1")
WANTED = {
    **dict.fromkeys(("fork", "plate", "bowl", "jug"), "hall chest"),
    **dict.fromkeys(("pan", "vase", "book", "pen"), "kitchen shelf"),
    **dict.fromkeys(("doll", "lamp", "box", "kite"), "kitchen sink"),
}
NOTES = [
    make_note(1.0, things=(kind,), receptacle=place.split()[1], room=place.split()[0]) for kind, place in WANTED.items()
]
OTHERS = {"hall chest": "kitchen sink", "kitchen shelf": "hall chest", "kitchen sink": "kitchen shelf"}
AGREES = {**WANTED, "mug": "hall shelf"}
CONTRADICTS = {**{kind: OTHERS[place] for kind, place in WANTED.items()}, "mug": "hall shelf"}


class OneHotEmbedder:
    """Embeds texts so that different ones have nothing in common."""

    name = "one-hot"

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [self._known.setdefault(text, len(self._known)) for text in texts]
        return np.eye(200, dtype=np.float32)[rows]


class OpinionatedModel(RecordingModel):
    """Is nearly sure where each kind of object belongs."""

    def __init__(self, opinions: dict[str, str], probability: float = 0.9) -> None:
        super().__init__(*[" mission complete"] * 3)
        self.opinions, self.probability = opinions, probability
        self.scored: list[str] = []
        self.read = ""

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        line = request.prefix.rpartition("\n")[2]
        self.scored.append(line)
        self.read += "".join(message.content for message in request.messages)
        place = self.opinions.get(line.split()[0])
        return [float(np.log(self.probability if text.strip() == place else 0.02)) for text in continuations]


def recalled(*notes: Note) -> PreferenceKnowledge:
    return PreferenceKnowledge(Memory("ada", notes), PLACES, OneHotEmbedder())


def planned(
    model: RecordingModel,
    *notes: Note,
    graph: SceneGraph | None = None,
    context: NotesContext = JUDGING,
    familiar: frozenset[str] | None = None,
) -> Plan:
    judging = JudgingSettings(score_placements=True, weigh_notes=True)
    planner = llm_planner(model, context, recalled(*notes), judging=judging, familiar=familiar)
    return planner.plan(graph or house(), ENTERED)


@pytest.mark.parametrize(("opinions", "verdict"), [(AGREES, "hall shelf"), (CONTRADICTS, "fine")])
def test_what_notes_leave_open_a_model_decides_if_it_agrees_with_the_notes(
    opinions: dict[str, str], verdict: str
) -> None:
    """The opinion about the mug and the notes are the same; only the opinions about noted kinds differ."""
    assert planned(OpinionatedModel(opinions), *NOTES).text.startswith(f"\nmug on kitchen sink: {verdict}\n")


def test_a_model_is_trusted_less_with_kinds_that_it_was_not_trained_on() -> None:
    plan = planned(OpinionatedModel(AGREES), *NOTES, familiar=frozenset(WANTED))
    assert plan.text.startswith("\nmug on kitchen sink: fine\n")


def test_what_the_notes_say_of_an_object_comes_before_the_model() -> None:
    note = make_note(1.0, things=("mug",), receptacle="chest", room="hall")
    assert planned(OpinionatedModel(AGREES), *NOTES, note).text.startswith("\nmug on kitchen sink: hall chest\n")


def test_an_object_that_is_wrong_where_it_is_goes_to_the_best_place_without_a_margin() -> None:
    note = make_note(-1.0, things=("mug",), receptacle="sink", room="kitchen")
    plan = planned(OpinionatedModel(CONTRADICTS), *NOTES, note)
    assert plan.text.startswith("\nmug on kitchen sink: ") and not plan.text.startswith("\nmug on kitchen sink: fine")


def test_the_model_scores_placements_without_having_read_a_note() -> None:
    model, context = OpinionatedModel(AGREES), NotesContext(NotesTemplate.load("remembering"))
    planned(model, *NOTES, context=context)
    assert "what this person wants" in context.messages(house(), recalled(*NOTES))[-1].content
    assert model.read and "what this person wants" not in model.read


def test_trust_is_estimated_again_only_when_other_receptacles_are_seen() -> None:
    model, small = OpinionatedModel(AGREES), SceneGraph(["kitchen 0", "hall 1"])
    small.update(SymbolicObservation({"kitchen 0 sink 2": "kitchen 0"}, {}))
    weighing = NoteWeighing(PlacementScorer(model, JUDGING.template), recalled(*NOTES))
    messages = JUDGING.messages(small)
    at_first = weighing.trust(small, messages)
    later = weighing.trust(house(), messages)
    asked = len(model.scored)
    assert later.familiar > at_first.familiar and weighing.trust(house(), messages) == later
    assert len(model.scored) == asked and "fork in hand:" in model.scored


def test_newer_notes_about_other_houses_do_not_take_the_place_of_those_that_bear_on_this_one() -> None:
    model = OpinionatedModel(AGREES)
    strange = [f"relic {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    others = [make_note(1.0, things=(kind,), receptacle="altar", room="church") for kind in strange]
    weighing = NoteWeighing(PlacementScorer(model, JUDGING.template), recalled(*NOTES, *others))
    plain = NoteWeighing(PlacementScorer(model, JUDGING.template), recalled(*NOTES))
    messages = JUDGING.messages(house())
    assert weighing.trust(house(), messages) == plain.trust(house(), messages)


def test_without_notes_the_model_is_asked_as_ever() -> None:
    models = [OpinionatedModel(AGREES), OpinionatedModel(AGREES)]
    for model, weigh in zip(models, (False, True), strict=True):
        judging = JudgingSettings(score_placements=True, weigh_notes=weigh)
        llm_planner(model, JUDGING, recalled(), judging=judging).plan(house(), ENTERED)
    assert models[0].scored == models[1].scored and models[0].requests == models[1].requests


@given(st.floats(0.02, 0.98), st.sampled_from([*PLACES, None]))
def test_the_chosen_receptacle_is_a_candidate_and_another_one_of_the_same_kind_is_never_better(
    probability: float, here: str | None
) -> None:
    twin = "kitchen 0 sink 9"
    graph = house(holding=None if here else "mug 1")
    graph.update(SymbolicObservation({twin: "kitchen 0"}, {"mug 1": here} if here else {}, graph.holding))
    places = PreferenceKnowledge(Memory("ada", NOTES), {**PLACES, twin: PLACES["kitchen 0 sink 2"]}, OneHotEmbedder())
    scorer = PlacementScorer(OpinionatedModel({**AGREES, "mug": "kitchen sink"}, probability), JUDGING.template)
    options = PlacementCandidates(here, (*PLACES, twin))
    messages = JUDGING.messages(graph)
    scores = scorer.scores(graph, "mug 1", options, messages, {})
    chosen, best = NoteWeighing(scorer, places).choose(Choice(graph, "mug 1", options, scores, messages))
    assert chosen in options.places and best != here
    if here == "kitchen 0 sink 2":
        assert twin not in (chosen, best)


def test_a_server_is_asked_about_all_noted_kinds_at_once() -> None:
    model = LetterModel("hall chest")
    assert planned(model, *NOTES).text.startswith("\nmug on kitchen sink: ")
    [_about_objects, about_noted_kinds] = model.asked
    assert len(about_noted_kinds) == len(WANTED) and "It is in hand." in about_noted_kinds[0]
