"""Order and depth of repairs, selection, and the simulated user."""

import pytest

from housewise.agent.stars.analysis_and_repair import repair_candidates
from housewise.agent.stars.data_files import load_task
from housewise.agent.stars.lessons import GoalQuestion, StatedGoal, UserDialogue
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.other_selectors import AllRotationsSelector, RotatedSelector
from housewise.agent.stars.oversight import RespondentUser, SimulatedUser
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.responses import GoalAnalysis, GoalCandidate, Mismatch, MismatchKind, RetrievedGoal
from housewise.agent.stars.stars_loop import LikeliestSelector, NumberedSelector
from housewise.people.terminal_respondent import TerminalRespondent
from tests.agent.stars.conftest import Analyse
from tests.agent.stars.scripted_completion import ScriptedModel, Written

UNINTERPRETABLE, UNKNOWN, UNGROUNDED, AFFORDANCE = MismatchKind


def wrong(text: str, probability: float, *kinds: MismatchKind) -> GoalCandidate:
    return GoalCandidate(
        RetrievedGoal(text, probability, "initial"), GoalAnalysis(tuple(Mismatch(kind, text) for kind in kinds))
    )


def test_repairs_come_in_order_once_each_and_twice_in_a_chain() -> None:
    asked: list[str] = []

    def ask(candidate: GoalCandidate) -> list[RetrievedGoal]:
        asked.append(candidate.text)
        return [RetrievedGoal(f"{candidate.text}'", 0.1, "repair")]

    def analyse(text: str) -> GoalAnalysis:
        return GoalAnalysis((Mismatch(UNKNOWN, text),))

    first = [
        wrong("word", 0.9, UNKNOWN),
        wrong("both", 0.9, UNGROUNDED, AFFORDANCE),
        wrong("rack", 0.5, AFFORDANCE),
        wrong("sink", 0.6, AFFORDANCE),
        wrong("shelf", 0.9, UNGROUNDED),
        wrong("odd", 0.9, UNINTERPRETABLE),
        wrong("fine", 0.9),
    ]
    found = [*first, *(each for _, brought in repair_candidates(first, ask, analyse) for each in brought)]
    # Those of one mismatch, by kind and probability; what repairs bring (all unknown words) takes its place among them.
    assert asked == ["sink", "rack", "shelf", "word", "sink'", "rack'", "shelf'", "word'", "both", "both'"]
    assert [each.repairs for each in found[len(first) :]].count(2) == 5
    assert all(each.parent == each.text[:-1] for each in found[len(first) :])


def candidates(*goals: tuple[str, float]) -> list[GoalCandidate]:
    return [GoalCandidate(RetrievedGoal(text, probability, "initial"), GoalAnalysis()) for text, probability in goals]


GOALS = candidates(("the goal is b", 0.9), ("the goal is a", 0.95), ("the goal is c", 0.8))


def ask(answer: str, rotation: int = 0, **options: bool) -> tuple[ScriptedModel, object]:
    task, _ = load_task("tidy kitchen")
    model, usage = ScriptedModel({}, choose=lambda prompt: [(answer, 0.9)]), ModelUsage()
    rotated = RotatedSelector(model, load_prompts(), rotation)
    selector = NumberedSelector(model, load_prompts(), **options) if not rotation else rotated
    return model, selector.select(task, task["mug 2"], GOALS, usage)


def test_options_stand_in_ascending_order_and_the_number_counts() -> None:
    model, choice = ask(" 2")
    assert choice.options == ("the goal is c", "the goal is b", "the goal is a")  # type: ignore[attr-defined]
    assert choice.candidate.text == "the goal is b" and not choice.fallback  # type: ignore[attr-defined]
    [(system, prompt)] = model.questions
    assert "1. The goal is c.\n2. The goal is b.\n3. The goal is a.\n" in prompt and prompt.endswith("Number:")
    assert "used" not in system


def test_options_are_rotated() -> None:
    _, choice = ask("1", rotation=4)
    assert choice.options == ("the goal is b", "the goal is a", "the goal is c")  # type: ignore[attr-defined]
    assert choice.candidate.text == "the goal is b"  # type: ignore[attr-defined]


def test_hints_are_told_where_the_condition_says_so() -> None:
    model, _ = ask("1", hints=True)
    assert "have been used" in model.questions[0][0]


@pytest.mark.parametrize("answer", ["0", "4", "-1", "none of them", "1000", "", "²", "1e9"[1:]])
def test_an_answer_that_is_no_option_falls_back_to_the_likeliest_and_says_so(answer: str) -> None:
    _, choice = ask(answer)
    assert choice.fallback and choice.candidate.text == "the goal is a"  # type: ignore[attr-defined]
    assert choice.answer == answer  # type: ignore[attr-defined]


def test_one_candidate_needs_no_call() -> None:
    task, _ = load_task("tidy kitchen")
    model, usage = ScriptedModel({}), ModelUsage()
    assert NumberedSelector(model, load_prompts()).select(task, task["milk"], GOALS[:1], usage).candidate is GOALS[0]
    assert LikeliestSelector().select(task, task["milk"], GOALS, usage).candidate.text == "the goal is a"
    assert model.questions == [] and usage.calls == {}


def test_likelihood_over_all_rotations_does_not_lean_to_a_place() -> None:
    task, _ = load_task("tidy kitchen")

    def leaning(prompt: str) -> Written:
        # Says "1" whatever stands there, and is a little surer where it is c.
        first = prompt.rpartition("\n1. The goal is ")[2][0]
        sure = 0.7 if first == "c" else 0.6
        return [(" 1", sure, {" 2": 0.2, " 3": 0.1, " 99": 0.05, "one": 0.01})]

    usage = ModelUsage()
    choice = AllRotationsSelector(ScriptedModel({}, choose=leaning), load_prompts()).select(
        task, task["milk"], GOALS, usage
    )
    assert choice.candidate.text == "the goal is c" and usage.calls == {"selection": 3}
    silent = ScriptedModel({}, choose=lambda prompt: [("I", 0.9)])
    assert AllRotationsSelector(silent, load_prompts()).select(task, task["milk"], GOALS, ModelUsage()).fallback


@pytest.mark.parametrize(
    ("goal", "about", "answer"),
    [
        ("the mug is in the dishwasher and the dishwasher is closed", "mug 1", True),
        ("the mug is in the sink", "mug 1", True),
        ("the mug is in the sink and the fridge is closed", "mug 1", True),
        ("the mug is in the dishwasher", "mug 1", False),
        ("the mug is in the dishwasher and the fridge is closed", "mug 1", False),
        ("the mug is in the sink", "mug 2", False),
        ("the mug is under the sink", "mug 1", False),
        ("the mug is in the cupboard and the cupboard is closed", "mug 2", True),
        ("the milk is in the fridge and the fridge is closed", "ketchup", False),
        ("the cupboard is closed", "mug 2", False),
        ("the mug is in the cabinet", "mug 2", False),
        ("the mug is in the cupboard and the plate is in the sink and the cupboard is closed", "mug 2", False),
    ],
)
def test_the_simulated_user_wants_this_object_in_its_place_and_everything_closed(
    analyse: Analyse, goal: str, about: str, answer: bool
) -> None:
    task, _ = load_task("tidy kitchen")
    sentence = f"the goal is that {goal}"
    assert SimulatedUser(task).confirms(GoalQuestion(task[about], sentence, analyse(sentence, about))) is answer


def test_a_terminal_user_is_asked_the_question_until_it_is_answered(analyse: Analyse) -> None:
    task, _ = load_task("tidy kitchen")
    said, asked = iter(["perhaps", "YES."]), []
    person = TerminalRespondent(lambda text: asked.append(text) or next(said))  # type: ignore[func-returns-value]
    user = RespondentUser(person, None, task)  # type: ignore[arg-type]
    sentence = "The goal is that the mug is in the sink."
    assert user.confirms(GoalQuestion(task["mug 1"], sentence, analyse(sentence, "mug 1")))
    question = "For mug on counter: is it right that the goal is that the mug is in the sink? (yes/no) "
    assert asked == [question, f"Please answer yes or no. {question}"]


def test_a_dialogue_counts_turns_and_words() -> None:
    talk = UserDialogue(["Tidy kitchen."])
    talk.answer(True)
    talk.answer(False)
    sentence = "If the object is a mug then the goal is that the object is in the garbage."
    talk.goal(StatedGoal(sentence))
    assert (talk.questions, talk.yes, talk.stated, talk.words, len(talk.turns)) == (2, 1, 1, 2 + 2 + 17, 4)
    talk.goal(StatedGoal(sentence, ("put it away", "garbage")))
    assert (talk.stated, talk.words, talk.turns[-2:]) == (2, 2 + 2 + 17 + 4, ["put it away", "garbage"])
