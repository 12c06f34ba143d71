"""Plays STARS in the loop of every system, with a model whose words are written down."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from housewise.agent.stars.experiment_conditions import CONDITIONS
from housewise.agent.stars.goal_memory import LearnedGoals
from housewise.agent.stars.goal_notes import goals_from_notes
from housewise.agent.stars.lessons import GoalSelector, LearnedGoal, ObjectLesson
from housewise.agent.stars.other_selectors import ShortlistSelector
from housewise.agent.stars.oversight import OversightUser, SimulatedUser
from housewise.agent.stars.planning import plan_goal
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.retrieval import RetrievalConfig
from housewise.agent.stars.search_tree import TreeThresholds
from housewise.agent.stars.stars_loop import GoalLearner, NumberedSelector
from housewise.agent.stars.tasks import StarsTask
from housewise.core.record import Header, Record
from housewise.core.record_files import RecordWriter
from housewise.core.settings import MAX_COUNT
from housewise.language.completion import Continuation, GenerationLimits, Token
from housewise.rollout.episode_loop import EpisodeLimits, EpisodeLoop
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_record
from housewise.systems.stars.agent import StarsAgent
from housewise.systems.stars.earlier_replies import EarlierReplies
from housewise.systems.stars.world import RoomWorld
from tests.agent.stars.analysers import load_task_and_analyser
from tests.agent.stars.scripted_completion import ScriptedModel, Written, steps


class KitchenModel(ScriptedModel):
    """Says of every object that it is in the fridge, or in the closet; repairs name the pantry, then nothing new."""

    def extend(self, prompt: str, branches: list[tuple[Token, ...]], bounds: GenerationLimits) -> list[Continuation]:  # type: ignore[override]
        self.prompts.append(prompt)
        noun = prompt.rpartition("Seen: ")[2].split()[0]
        start: Written = [(" the", 0.99), (" goal", 0.99), (" is", 0.99), (" that", 0.99), (" the", 0.99)]
        body = {
            "": [(f" {noun}", 0.95), (" is", 0.99), (" in", 0.97), (" the", 0.99), (" closet", 0.6, {" fridge": 0.3})],
            "repair": [(f" {noun}", 0.95), (" is", 0.99), (" in", 0.9), (" the", 0.99), (" pantry", 0.99)],
        }
        closing: Written = [(" and", 0.95), (" the", 0.99), (" {}", 0.99), (" is", 0.99), (" closed", 0.99)]
        replies = []
        for branch in branches:
            said = "".join(token.text for token in branch)
            if not said:
                place = "pantry" if "Reply: No" in prompt.rpartition("End of examples")[2] else "closet"
                key = "repair" if place == "pantry" else ""
                written = [*start, *body[key]]
            else:
                place, written = said.split()[-1], []
            replies.append(self._reply(steps([*written, *((text.format(place), p) for text, p in closing)])))
        return replies


def make_kitchen_model() -> KitchenModel:
    """One that always takes the second option."""
    return KitchenModel({}, choose=lambda prompt: [(" 2", 0.9)])


@dataclass(frozen=True)
class PlayedEpisode:
    """An episode.

    Attributes:
        record: as it was written.
        lessons: of the agent, one for each object.
    """

    record: Record
    lessons: Sequence[ObjectLesson]

    @property
    def scores(self) -> dict[str, float]:
        return self.record.result.scores

    @property
    def known(self) -> list[LearnedGoal]:
        """What its notes tell of goals."""
        return goals_from_notes(learned_notes(self.record))


def play_episode(
    folder: Path,
    task: str | StarsTask,
    condition: str,
    model: ScriptedModel,
    user: OversightUser | None = None,
    known: Iterable[LearnedGoal] = (),
    thresholds: TreeThresholds | None = None,
    said: Sequence[str] | None = None,
    selector: GoalSelector | None = None,
) -> PlayedEpisode:
    """Play a task.

    Args:
        folder: of the record.
        task: by name, or itself.
        condition: by name.
        model: is asked.
        user: who is asked; the simulated person of the task by default.
        known: goals that have been learned.
        thresholds: of the search tree.
        said: what the user says for the task; its own instructions by default.
        selector: chooses among goals; the model is asked a numbered question by default.
    """
    name = task if isinstance(task, str) else task.name
    usual, analyser = load_task_and_analyser(name)
    room_task, prompts = (usual if isinstance(task, str) else task), load_prompts()
    parts = CONDITIONS[condition]
    retrieval = RetrievalConfig(model, prompts, thresholds or TreeThresholds(min_branch_mean=0.5))
    learner = GoalLearner(
        room_task,
        analyser,
        parts,
        retrieval.make_retriever(room_task, analyser, parts),
        LearnedGoals(room_task, analyser, known),
        plan_goal,
        selector=(
            None if parts.choice == "likeliest" else ShortlistSelector(selector or NumberedSelector(model, prompts))
        ),
    )
    learner.dialogue.turns += room_task.instructions if said is None else said
    room = RoomWorld(room_task, learner, user or SimulatedUser(room_task), EarlierReplies(()))
    agent = StarsAgent(room_task, learner, prompts, "ann", room.lessons.append)
    writer = RecordWriter(folder, "episode")
    try:
        limits = EpisodeLimits(plans=MAX_COUNT, idle_plans=MAX_COUNT)
        EpisodeLoop(room, agent, writer, limits).play(Header(system="stars", task=name, agent=condition))
    finally:
        writer.close()
    return PlayedEpisode(read_record(folder / "episode.jsonl"), room.lessons)
