"""The judge that scores placements, and the judgements that follow from the scores."""

import math
from collections.abc import Sequence

import pytest

from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.lettered_questions import LetteredQuestion, score_options
from housewise.agent.personalize.placement_candidates import PlacementCandidates
from housewise.agent.personalize.placement_judge import ConfidenceThresholds
from housewise.agent.personalize.planner import Attempt, Plan, Planner
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.core import console
from housewise.core.errors import UserError
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, TokenLogprob
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from tests.agent.personalize.helpers import (
    JUDGING,
    LetterModel,
    RecordingModel,
    house,
    llm_planner,
    make_note,
    recalled,
    visits,
)

ENTERED = visits("kitchen 0", "hall 1")


class ScoringModel(RecordingModel):
    """Returns the given probabilities for some texts, and nearly 0 for all others."""

    def __init__(self, *replies: str, **likely: float) -> None:
        super().__init__(*(replies or [" mission complete"] * 3))
        self.likely = {words.replace("_", " "): each for words, each in likely.items()}
        self.scored: list[tuple[str, tuple[str, ...]]] = []

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        self.scored.append((request.prefix, tuple(continuations)))
        return [math.log(self.likely.get(text.strip(), 1e-9)) for text in continuations]


def scoring_planner(
    model: ChatModel,
    confidence: float = 0.0,
    knowledge: PreferenceKnowledge | None = None,
    context: NotesContext = JUDGING,
    unfamiliar: float | None = None,
    familiar: frozenset[str] | None = None,
) -> Planner:
    judging = JudgingSettings(score_placements=True, confidence=confidence, confidence_unfamiliar=unfamiliar)
    return llm_planner(model, context, knowledge, judging=judging, familiar=familiar)


def judged(
    model: ScoringModel,
    confidence: float = 0.5,
    graph: SceneGraph | None = None,
    attempts: Sequence[Attempt] = ENTERED,
    knowledge: PreferenceKnowledge | None = None,
) -> Plan:
    return scoring_planner(model, confidence, knowledge).plan(graph or house(), attempts)


def hall() -> SceneGraph:
    """A hall with a mug on its chest, and two shelves."""
    graph = SceneGraph(["hall 1"])
    graph.update(
        SymbolicObservation(dict.fromkeys(("hall 1 chest 3", "hall 1 shelf 4", "hall 1 shelf 5"), "hall 1"), {})
    )
    graph.update(SymbolicObservation({"hall 1 chest 3": "hall 1"}, {"mug 1": "hall 1 chest 3"}))
    return graph


@pytest.mark.parametrize(("confidence", "verdict"), [(0.1, "hall shelf"), (0.3, "fine")])
def test_the_likeliest_other_place_is_compared_with_where_a_thing_is(confidence: float, verdict: str) -> None:
    model = ScoringModel(fine=0.4, elsewhere=0.5, hall_shelf=0.1)
    plan = judged(model, confidence)
    assert plan.text.startswith(f"\nmug on kitchen sink: {verdict}\n")
    assert plan.scores["mug 1 on hall 1 shelf 4"] == pytest.approx(math.log(0.1))
    assert plan.scores["mug 1 on kitchen 0 sink 2"] == pytest.approx(math.log(0.4))


@pytest.mark.parametrize(
    ("likely", "confidence", "verdict"),
    [(0.1, None, "fine"), (0.3, None, "fine"), (0.5, None, "hall shelf"), (0.1, 0.0, "hall shelf")],
)
def test_without_a_confidence_a_more_probable_place_is_taken(
    likely: float, confidence: float | None, verdict: str
) -> None:
    model = ScoringModel(fine=0.4, hall_shelf=likely)
    judging = JudgingSettings(score_placements=True, confidence=confidence)
    plan = llm_planner(model, JUDGING, judging=judging).plan(house(), ENTERED)
    assert plan.text.startswith(f"\nmug on kitchen sink: {verdict}\n")


def test_a_plan_that_is_asked_for_again_keeps_the_scores_of_its_judgements() -> None:
    model = ScoringModel(" pick up mug", " go to mug", hall_shelf=0.6)
    judging = JudgingSettings(score_placements=True, confidence=0.5)
    plan = llm_planner(model, JUDGING, wrappers=("check_feasibility",), judging=judging).plan(house(), ENTERED)
    assert len(model.requests) == 2 and plan.text.endswith("step 1: go to mug")
    assert plan.scores["mug 1 on hall 1 shelf 4"] == pytest.approx(math.log(0.6))


def test_with_others_alike_a_model_may_be_less_sure_and_of_strange_kinds_surer() -> None:
    plain, alike = PlacementCandidates("sink", ("sink",)), PlacementCandidates("sink", ("sink",), has_similar=True)
    thresholds = ConfidenceThresholds(0.4, 0.2, 1.0, frozenset({"mug"}))
    asked = (("mug 1", plain), ("mug 1", alike), ("ladle 2", plain), ("ladle 2", alike))
    assert [thresholds.threshold_for(*each) for each in asked] == [0.4, 0.2, 1.0, 0.2]
    for same in (
        ConfidenceThresholds(0.7),
        ConfidenceThresholds(0.7, familiar=frozenset({"mug"})),
        ConfidenceThresholds(0.7, unfamiliar=0.9),
    ):
        assert {same.threshold_for(*each) for each in asked} == {0.7}
    assert ConfidenceThresholds(0.0, 0.2) and ConfidenceThresholds(unfamiliar=1.0)
    assert not ConfidenceThresholds(0.0, 0.0) and not ConfidenceThresholds()
    assert JudgingSettings(confidence_similar=0.2).is_restricting
    assert JudgingSettings(confidence_unfamiliar=1.0).is_restricting
    assert not JudgingSettings(confidence_similar=0.0).is_restricting


def test_a_model_leaves_alone_what_it_was_not_taught_to_judge() -> None:
    model = ScoringModel(fine=0.1, hall_shelf=0.9)
    plan = scoring_planner(model, 0.5, unfamiliar=1.0, familiar=frozenset({"mug"})).plan(house(), ENTERED)
    assert plan.text.startswith("\nmug on kitchen sink: hall shelf\ncap on hall chest: fine\n")


def test_what_is_asked_goes_on_from_what_has_been_judged_before() -> None:
    model = ScoringModel(fine=0.1, hall_shelf=0.9)
    judged(model)
    (first, texts), (second, _) = model.scored
    assert first == "Objects:\nmug on kitchen sink:" and {" fine\n", " elsewhere\n"} <= set(texts)
    assert second == f"{first} hall shelf\ncap on hall chest:"


def test_of_a_kind_of_place_one_is_rated() -> None:
    model = ScoringModel(fine=0.9)
    judged(model, graph=hall(), attempts=visits("hall 1"))
    assert model.scored == [("Objects:\nmug on hall chest:", (" hall shelf 4\n", " fine\n", " elsewhere\n"))]


@pytest.mark.parametrize(("elsewhere", "verdict"), [(0.1, "hall shelf"), (0.5, "elsewhere")])
def test_what_may_belong_in_a_room_still_to_be_entered_waits(elsewhere: float, verdict: str) -> None:
    model = ScoringModel(hall_shelf=0.3, fine=0.01, elsewhere=elsewhere)
    assert judged(model, attempts=visits("kitchen 0")).text.startswith(f"\nmug on kitchen sink: {verdict}\n")
    assert judged(model).text.startswith("\nmug on kitchen sink: hall shelf\n")


def test_what_is_in_the_hand_goes_to_the_likeliest_place_at_once() -> None:
    plan = judged(ScoringModel(hall_shelf=0.01), 0.9, house("mug 1"), ())
    assert plan.text.startswith("\nmug in hand: hall shelf\n")


def test_what_is_unwanted_where_it_is_goes_to_the_likeliest_place() -> None:
    knows = recalled(make_note(-1.0, things=("mug",), receptacle="sink"))
    plan = judged(ScoringModel(fine=0.9, hall_shelf=0.01), 0.9, knowledge=knows)
    assert plan.text.startswith("\nmug on kitchen sink: hall shelf\ncap on hall chest: fine\n")


def test_what_is_known_is_done_before_anything_is_rated() -> None:
    model = ScoringModel(fine=0.1, hall_shelf=0.9)
    knows = recalled(make_note(1.0, things=("mug",), receptacle="shelf", room="hall"))
    plan = judged(model, knowledge=knows)
    assert plan.text.startswith("\nmug on kitchen sink: hall shelf\ncap on hall chest: fine\n") and not model.scored
    done = house()
    done.update(SymbolicObservation({}, {"mug 1": "hall 1 shelf 4"}))
    assert "cap on hall chest: hall shelf\n" in judged(model, graph=done, knowledge=knows).text


def test_who_remembers_something_enters_all_rooms_before_it_guesses() -> None:
    model = ScoringModel(hall_shelf=0.9, hall_chest=0.9)
    knows = recalled(make_note(-1.0, things=("cap",), receptacle="chest"))
    plan = judged(model, attempts=visits("kitchen 0"), knowledge=knows)
    assert plan.text.startswith("\nmug on kitchen sink: fine\ncap on hall chest: elsewhere\n") and not model.scored


def test_what_it_has_put_somewhere_stays_there() -> None:
    put = Attempt(HighLevelAction(ActionKind.PLACE, "mug 1", "kitchen 0 sink 2"), True)
    plan = judged(ScoringModel(hall_shelf=0.9), 0.0, attempts=[*ENTERED, put])
    assert plan.text.startswith("\nmug on kitchen sink: fine\n")


def test_the_same_is_rated_once_in_an_episode() -> None:
    model = ScoringModel(fine=0.9)
    planner = scoring_planner(model, 0.5)
    for _ in range(2):
        planner.plan(house(), ENTERED)
    assert len(model.scored) == 2


def test_in_another_order_the_same_is_rated_once_and_the_first_place_of_its_kind_is_taken() -> None:
    model, nearest = ScoringModel(hall_shelf_4=0.9), {"hall 1 shelf 4": 1.0, "hall 1 shelf 5": 2.0}
    judging = JudgingSettings(score_placements=True, constrain_to_judgements=True)
    planner = llm_planner(model, JUDGING, route=lambda start, end: nearest.get(end, 3.0), judging=judging)
    planner.plan(hall(), visits("hall 1"))
    assert '"place mug on hall shelf 4"' in model.requests[0].grammar.replace("\\nstep 6: ", '" "')
    nearest["hall 1 shelf 4"] = 2.5
    planner.plan(hall(), visits("hall 1"))
    assert "place mug on hall shelf 5" in model.requests[1].grammar and len(model.scored) == 1


def test_a_server_is_asked_one_question_with_letters_about_each_thing_all_at_once() -> None:
    graph = house()
    graph.update(SymbolicObservation({"kitchen 0 sink 2": "kitchen 0"}, {"plate 2": "kitchen 0 sink 2"}))
    model = LetterModel("hall shelf")
    planner = scoring_planner(model)
    plan = planner.plan(graph, ENTERED)
    [questions] = model.asked
    assert ["Where does mug belong? It is on kitchen sink." in text for text in questions] == [True, False, False]
    assert "kitchen sink, where it is" in questions[0] and "a place that has not been seen yet" in questions[0]
    assert "\nmug on kitchen sink: hall shelf\n" in plan.text
    planner.plan(graph, ENTERED)
    assert len(model.asked) == 1, "scores are kept"


def test_many_options_are_compared_in_parts() -> None:
    options = [f"shelf {number}" for number in range(45)] + ["elsewhere"]
    model = LetterModel("shelf 44")
    [scores] = score_options(model, (Message("system", "Tidy."),), [LetteredQuestion("Where?", options)])
    assert [text.count(": elsewhere") for text in model.asked[0]] == [1, 1, 1]
    assert len(scores) == 46 and max(range(46), key=scores.__getitem__) == 44


def test_a_server_without_log_probabilities_is_named() -> None:
    with pytest.raises(UserError, match=r"returns no log-probabilities .* score_placements=false"):
        scoring_planner(RecordingModel(" A")).plan(house(), ENTERED)


class ThinkingModel(LetterModel):
    """A server's model whose replies begin with its thoughts."""

    def _answer(self, question: str) -> Reply:
        tokens = (TokenLogprob(text, math.log(share)) for text, share in (("<think>", 0.9), ("The", 0.05)))
        return Reply("<think>", alternatives=(tuple(tokens),))


def test_a_model_that_answers_without_letters_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_note.cache_clear()
    messages = (Message("system", "Tidy."),)
    questions = [LetteredQuestion(f"Where does mug {number} belong?", ["shelf", "chest"]) for number in range(2)]
    [scores, _] = score_options(ThinkingModel("shelf"), messages, questions)
    errors = capsys.readouterr().err
    assert scores[0] == scores[1] and errors.count("note: ") == 1
    assert "enable_thinking: false" in errors and "score_placements=false" in errors
    score_options(LetterModel("shelf"), messages, questions)
    assert not capsys.readouterr().err


def test_a_prompt_without_judgements_is_asked_as_ever() -> None:
    plain = NotesContext(NotesTemplate.load("planner"))
    plan = scoring_planner(RecordingModel(" go to mug 1"), context=plain).plan(house(), [])
    assert [str(step.action) for step in plan.steps] == ["go to mug 1"]
