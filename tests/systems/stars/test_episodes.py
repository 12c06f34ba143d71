"""Whole episodes on the real tasks, with a model whose words are written down and a user who knows the gold goals."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from housewise.agent.stars.goal_memory import GoalGeneralisation, LearnedGoals, keep_latest
from housewise.agent.stars.lessons import LearnedGoal, StatedGoal
from housewise.agent.stars.other_selectors import MAX_OPTIONS, RatingSelector
from housewise.agent.stars.oversight import RespondentUser, SimulatedUser, TerminalOversightUser
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.search_tree import TreeThresholds
from housewise.agent.stars.tasks import TaskObject
from housewise.core.errors import UserError
from housewise.language.completion import Continuation, GenerationLimits, TextScore, Token
from housewise.people.terminal_respondent import TerminalRespondent
from housewise.systems.stars.record import (
    GoalAnswerEvent,
    GoalEvent,
    RecalledEvent,
    RepairEvent,
    RetrievedEvent,
    SelectionEvent,
    StarsPlanEvent,
)
from tests.agent.stars.analysers import load_task_and_analyser
from tests.agent.stars.scripted_completion import ScriptedModel, Written, steps
from tests.systems.stars.scripted_episodes import (
    KitchenModel,
    PlayedEpisode,
    make_kitchen_model,
    play_episode,
)


class Refusing(ScriptedModel):
    """A server that fails when it is asked."""

    def extend(self, prompt: str, branches: object, bounds: GenerationLimits) -> list[Continuation]:  # type: ignore[override]
        raise AssertionError("a model was asked")


@pytest.fixture(scope="module")
def confirmed(tmp_path_factory: pytest.TempPathFactory) -> list[LearnedGoal]:
    """What is learned in the kitchen with a user."""
    return play_episode(tmp_path_factory.mktemp("kitchen"), "tidy kitchen", "STARS+O", make_kitchen_model()).known


def test_baseline_uses_what_cannot_be_understood_and_moves_nothing(tmp_path: Path) -> None:
    episode = play_episode(tmp_path, "store groceries", "ST", make_kitchen_model())
    likeliest = [event.responses[0] for event in episode.record.of_type(RetrievedEvent)]
    assert {line.mismatches[0].kind for line in likeliest} == {"unknown-word"} and len(likeliest) == 15
    assert episode.scores["completion_percent"] == pytest.approx(100 * 3 / 18)
    assert episode.scores["words"] == 28 and episode.scores["proposed"] == 0


def test_repairs_make_every_object_storable(tmp_path: Path) -> None:
    model = make_kitchen_model()
    episode = play_episode(tmp_path, "store groceries", "STAR", model)
    mended = Counter(event.thing for event in episode.record.of_type(RepairEvent) if event.responses)
    assert len(mended) == 15 and all(not event.mismatches for event in episode.record.of_type(GoalEvent))
    assert len([prompt for prompt in model.prompts if "I do not know the word closet" in prompt]) == 15
    # The pantry is what repairs bring, and likelier: the pantry's own five objects are in place, all is closed.
    assert (episode.scores["in_place"], episode.scores["closed"]) == (5, 3)


def test_oversight_completes_the_task_with_questions_and_stated_goals(tmp_path: Path) -> None:
    model = make_kitchen_model()
    episode = play_episode(tmp_path, "store groceries", "STARS+O", model)
    scores, answers = episode.scores, Counter(event.text for event in episode.record.of_type(GoalAnswerEvent))
    assert scores["completion_percent"] == 100
    assert scores["stated"] == 2  # cups and plates belong in the cupboard, which nobody offered
    assert answers["yes"] == 13 and answers["no"] == 8 + 2 * 2  # the pantry is offered first
    stated = sum(len(lesson.stated.split()) for lesson in episode.lessons if lesson.stated)
    assert scores["words"] == 28 + scores["proposed"] + stated
    assert len(episode.known) == 15 and all(note.confirmed for note in episode.known)
    # Two options for a question; where one was refused only one is left, and nobody is asked.
    assert len(model.questions) == 15
    asked = [event.usage.calls for event in episode.record.of_type(SelectionEvent) if event.answer is not None]
    assert asked == [{"selection": 1}] * 15


def test_a_place_in_answer_to_a_question_is_the_goal_and_no_other_goal_is_offered(tmp_path: Path) -> None:
    task, analyser = load_task_and_analyser("store groceries")
    first, *others = task.objects
    said = iter(["help", "in the fridge and the fridge is closed"])
    asked: list[str] = []
    person = TerminalRespondent(lambda question: asked.append(question) or next(said, "yes"))  # type: ignore[func-returns-value]
    user = TerminalOversightUser(person, analyser, task)
    episode = play_episode(tmp_path, "store groceries", "STARS+O", make_kitchen_model(), user)
    place = "in the fridge and the fridge is closed"
    goal = f"If the object is a {first.thing.noun} then the goal is that the object is {place}"
    answers = episode.record.of_type(GoalAnswerEvent)
    assert (answers[0].text, answers[0].said) == (goal, ["help", place])
    assert "no goal that I understand" in asked[1] and asked[1].endswith("(yes/no, or where it belongs) ")
    assert answers[1].thing == others[0].thing.name and episode.lessons[0].stated == goal
    assert episode.record.of_type(GoalEvent)[0].source == "person" and episode.scores["stated"] == 1


def test_second_time_needs_neither_model_nor_user(tmp_path: Path) -> None:
    learned = play_episode(tmp_path / "first", "store groceries", "STARS+O", make_kitchen_model()).known
    task, analyser = load_task_and_analyser("store groceries")
    nobody = RespondentUser(TerminalRespondent(lambda question: pytest.fail(question)), analyser, task)
    again = play_episode(
        tmp_path / "second", "store groceries", "STARS+O", Refusing({}), nobody, learned, said=["Store groceries."]
    )
    scores = again.scores
    assert scores["completion_percent"] == 100
    assert (scores["total_tokens"], scores["proposed"], scores["words"]) == (0, 0, 2)
    recalled = again.record.of_type(RecalledEvent)
    assert len(recalled) == 15 and all(event.by_policy for event in recalled)


def test_two_mugs_have_goals_of_their_own(confirmed: list[LearnedGoal]) -> None:
    mugs = {note.place: note.statement for note in confirmed if note.noun == "mug"}
    assert mugs["dish rack"].endswith("the object is in the cupboard and the cupboard is closed")
    assert mugs["counter"].endswith("the object is in the dishwasher and the dishwasher is closed")


def test_goals_are_carried_over_as_the_settings_say(confirmed: list[LearnedGoal]) -> None:
    notes = [note for note in confirmed if note.noun == "milk"]
    task, analyser = load_task_and_analyser("tidy kitchen")
    juice, half, state = task["apple-juice"], task["half-and-half"], task.start()
    assert LearnedGoals(task, analyser, notes).recall(juice, state) is None
    drinks = LearnedGoals(task, analyser, notes, GoalGeneralisation(max_kind_levels=1)).recall(juice, state)
    assert drinks is not None and "apple-juice" in str(drinks.path[-2])
    # On the counter, where nothing was learned of drinks.
    assert LearnedGoals(task, analyser, notes, GoalGeneralisation(max_kind_levels=1)).recall(half, state) is None
    anywhere = GoalGeneralisation(max_kind_levels=1, other_places=True)
    elsewhere = LearnedGoals(task, analyser, notes, anywhere).recall(half, state)
    assert elsewhere is not None and not elsewhere.by_policy
    assert str(elsewhere.path[-2]) == "put half-and-half in fridge"


def test_a_goal_whose_fixture_is_gone_is_not_recalled(confirmed: list[LearnedGoal]) -> None:
    task, analyser = load_task_and_analyser("tidy kitchen")
    without = replace(
        task,
        fixtures=tuple(fixture for fixture in task.fixtures if fixture.name != "fridge"),
        objects=tuple(found for found in task.objects if "fridge" not in found.wanted) + (
            replace(task["milk"], wanted=("counter",)),
        ),
        closed=tuple(name for name in task.closed if name != "fridge"),
    )  # fmt: skip
    assert LearnedGoals(without, analyser, confirmed).recall(without["milk"], without.start()) is None
    assert LearnedGoals(without, analyser, confirmed).recall(without["mug 2"], without.start()) is not None


def test_a_goal_that_someone_wrote_into_the_memory_is_checked_all_the_same(confirmed: list[LearnedGoal]) -> None:
    task, analyser = load_task_and_analyser("tidy kitchen")
    [note] = [note for note in confirmed if note.noun == "milk"]
    for statement in ("if the object is a milk then the goal is that the object is in the moon", "rm -rf", ""):
        written = keep_latest([*confirmed, replace(note, statement=statement)])
        assert LearnedGoals(task, analyser, written).recall(task["milk"], task.start()) is None
    # A policy that is nonsense is not followed: a new plan is made.
    written = keep_latest([*confirmed, replace(note, policy=({"verb": "explode", "thing": "fridge"}, {"weight": "1"}))])
    assert len(written) == len(confirmed)
    found = LearnedGoals(task, analyser, written).recall(task["milk"], task.start())
    assert found is not None and not found.by_policy and str(found.path[-1]) == "close fridge"


class Chatterbox(ScriptedModel):
    """Never says the same twice, and finds everything else it might have said as likely."""

    said = 0

    def extend(self, prompt: str, branches: list[tuple[Token, ...]], bounds: GenerationLimits) -> list[Continuation]:  # type: ignore[override]
        return [self._reply(steps([self._word() for _ in range(5)])) for _ in branches]

    def _word(self) -> tuple[str, float, dict[str, float]]:
        self.said += 5
        return (f" word{self.said}", 0.2, {f" word{self.said + more}": 0.2 for more in range(1, 5)})


@pytest.mark.parametrize("condition", ["STS", "STARS", "STARS+O"])
def test_a_model_that_goes_on_and_on_is_asked_so_often_and_no_more(tmp_path: Path, condition: str) -> None:
    task, _ = load_task_and_analyser("organize office")
    model, asked = Chatterbox({}), list[int]()

    def choose(question: str) -> Written:
        asked.append(len(re.findall(r"^\d+\. ", question.rpartition("Seen: ")[2], re.MULTILINE)))
        return [("1", 1.0)]

    model.choose = choose
    pen = replace(task, objects=(task["pen"],))
    episode = play_episode(tmp_path, pen, condition, model, thresholds=TreeThresholds(min_branch_mean=0, max_calls=60))
    assert episode.scores["retrieved"] > 40 and episode.scores["calls"] <= 60 + 60 + 1
    assert asked == ([MAX_OPTIONS] if condition == "STS" else [])


class RatingModel(KitchenModel):
    """Finds a text the likelier the shorter it is."""

    def score_texts(self, prompt: str, texts: list[str]) -> list[TextScore]:
        return [TextScore(1 / len(text), 7) for text in texts]


def test_goals_that_are_viable_by_construction_need_no_repair_and_no_words_of_the_model(tmp_path: Path) -> None:
    model = RatingModel({})
    episode = play_episode(tmp_path, "organize office", "grounded+S+O", model)
    assert episode.scores["completion_percent"] == 100 and model.batches == []
    retrieved = episode.record.of_type(RetrievedEvent)
    for event in retrieved:
        assert len(event.responses) == 8 and all(line.viable for line in event.responses)
        assert event.usage.prompt_tokens["rating"] == 7 * event.usage.calls["rating"] > 0
    assert len(retrieved) == 12


def test_a_goal_is_selected_by_how_likely_a_model_finds_it(tmp_path: Path) -> None:
    model = RatingModel({})
    episode = play_episode(
        tmp_path, "store groceries", "STARS-rated", model, selector=RatingSelector(model, load_prompts())
    )
    selections = [event for event in episode.record.of_type(SelectionEvent) if event.options]
    assert selections and model.questions == []
    for event in selections:
        assert len(event.chosen) == min(map(len, event.options))
        assert event.usage.calls == {"selection": len(event.options)}


def test_a_model_that_rates_nothing_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot score texts"):
        play_episode(tmp_path, "organize office", "grounded", KitchenModel({}))


def test_a_user_who_states_nonsense_leaves_the_object_where_it_is(tmp_path: Path) -> None:
    task, _ = load_task_and_analyser("organize office")

    class Contrary(SimulatedUser):
        def states(self, about: TaskObject) -> StatedGoal:
            return StatedGoal("the desk is lava " * 100_000)

    # There is neither a fridge nor a pantry in the office.
    episode = play_episode(tmp_path, "organize office", "STARS+O", make_kitchen_model(), Contrary(task))
    scores = episode.scores
    assert (scores["in_place"], scores["proposed"], scores["stated"]) == (0, 0, 12) and episode.known == []


def test_a_record_has_every_response_choice_and_answer(tmp_path: Path) -> None:
    episode: PlayedEpisode = play_episode(tmp_path, "store groceries", "STARS+O", make_kitchen_model())
    record = episode.record
    repairs = {event.refused_goal: event for event in record.of_type(RepairEvent) if event.thing == "cream"}
    [mended] = [event for wrong, event in repairs.items() if wrong.endswith("closet is closed")]
    assert "the goal is that the cream is in the pantry and the pantry is closed" in [
        line.text for line in mended.responses
    ]
    assert [event.text for event in record.of_type(GoalAnswerEvent) if event.thing == "cream"] == ["no", "yes"]
    [plan] = [event.acts for event in record.of_type(StarsPlanEvent) if event.thing == "cream"]
    assert plan is not None and plan[-1] == "close fridge"
    yes_or_no = [event for event in record.of_type(GoalAnswerEvent) if event.text in ("yes", "no")]
    assert len(yes_or_no) == episode.scores["proposed"] and episode.scores["completion_percent"] == 100
    assert not list(tmp_path.glob("*.partial"))
