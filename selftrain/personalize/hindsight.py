"""Hindsight: what replies should have been, going by how people reacted to this and to all other attempts.

A reply that moved one thing to its place is praised for that one thing, although it judged twenty, and a reply that did
no good teaches nothing at all, although it did tell where things do not belong. But people react to every thing that is
picked up or put down, and what they want of a mug on a bed they want of mugs on beds in general. So reactions are
remembered, and all that was said is corrected by them (after Hindsight Experience Replay, arXiv 1707.01495, and
relabelling by a known expert, DAgger, arXiv 1011.0686).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.placement_judgement import (
    Judgements,
    objects_to_judge,
    parse_judgements,
    split_judgements,
)
from housewise.agent.personalize.planner import Attempt, hide_hopeless_targets
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt import ContextGenerator
from housewise.agent.personalize.scripted_planner import ScriptedPlanner, planner_for_judgements
from housewise.selftrain.personalize.pairs import Pair, followed, judged_lines, pair_of
from housewise.systems.personalize.record import ActionEvent, HouseRecord, PlanEvent
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.generator import Kind
from housewise.worlds.house.names import without_numbers
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.scene_graph import ROBOT, SceneGraph, View


class Experience:
    """What has been learned of where people want things, by kinds of things, rooms and places.

    Args:
        records: of episodes. Of those that the demonstrator played its judgements count as well.
        context: puts into words what a planner was asked.
    """

    def __init__(self, records: Iterable[HouseRecord], context: ContextGenerator) -> None:
        self._votes: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
        for record in records:
            for action in record.actions:
                self._react(action)
            if record.header.agent == Demonstrator.name:
                for plan in record.plans:
                    self._shown(Situation(record, plan, context))

    def __len__(self) -> int:
        """How many kinds of things in kinds of places something is known of."""
        return len(self._votes)

    def liked(self, thing: str, place: str) -> bool | None:
        """Whether people want a thing where it is said to be; None when that is not known."""
        votes = self._votes.get(_kinds(thing, place))
        return None if votes is None else votes[True] > votes[False]

    def kinds(self, scene: Scene) -> list[Kind]:
        """The things of which a right place in a house is known, for lessons.

        Of what nobody has reacted to it is assumed that people do not want it: of the kinds of places in a house they
        want a thing in few (in 9 of 100, for the tasks of Merom_1 and Pomaria_2).
        """
        names = {place.key: place.name for place in scene.receptacles if place.usable and place.room is not None}
        kinds = []
        for thing in dict.fromkeys(thing for thing, _ in self._votes):
            liked = {key: bool(self.liked(thing, name)) for key, name in names.items()}
            sides = (tuple(key for key, verdict in liked.items() if verdict is side) for side in (True, False))
            kinds.append(Kind(thing, *sides))
        return [kind for kind in kinds if kind.correct]

    def _react(self, action: ActionEvent) -> None:
        for thing, (before, after) in action.moved.items():
            if after == ROBOT:
                self._vote(thing, before, action.reward < 0)
            elif before == ROBOT:
                self._vote(thing, after, action.reward > 0)

    def _shown(self, situation: Situation) -> None:
        graph = situation.told
        for thing, place in situation.judgements.items():
            here = graph.place_of(thing)
            if thing != graph.holding and here is not None:
                self._vote(thing, here, place == here)
            if place is not None:
                self._vote(thing, place, True)

    def _vote(self, thing: str, place: str, liked: bool) -> None:
        self._votes[_kinds(thing, place)][liked] += 1


def corrected(
    record: HouseRecord, context: ContextGenerator, experience: Experience, knowledge: PreferenceKnowledge | None = None
) -> Iterator[Pair]:
    """Every reply that an episode followed, as it should have been, as far as that is known.

    What is known of an object is judged so, and what is not as the reply did; that part is not learned. The steps are
    those that the demonstrator takes who believes these judgements.

    Args:
        record: of a planner with a judging prompt.
        context: as it was when the episode was played.
        experience: what people want.
        knowledge: what the prompts told of a memory; None where they told nothing.
    """
    for plan in record.plans:
        situation = Situation(record, plan, context, knowledge)
        if situation.restored:
            yield situation.corrected(experience)


class Situation:
    """What a planner knew when it was asked for a plan, and what it answered.

    Args:
        record: of the episode.
        plan: of that episode.
        context: as it was when the episode was played.
        knowledge: what the prompt told of a memory; None where it told nothing.
    """

    def __init__(
        self,
        record: HouseRecord,
        plan: PlanEvent,
        context: ContextGenerator,
        knowledge: PreferenceKnowledge | None = None,
    ) -> None:
        earlier = [action for action in record.actions if action.plan < plan.plan]
        self._record, self._plan, self._context, self._knowledge = record, plan, context, knowledge
        self._attempts = tuple(attempt for action in earlier if (attempt := _attempt(action)) is not None)
        self._graph = _graph(plan, earlier, self._attempts)
        self.told: SceneGraph = hide_hopeless_targets(self._graph, self._attempts, context.template.most_tries)
        """What the prompt told."""
        self._called = context.template.prompt_names(self.told)
        self.judgements: Judgements = parse_judgements(split_judgements(plan.reply)[0], self.told, self._called)
        """What the reply said."""

    @property
    def restored(self) -> bool:
        """Whether the prompt can be told again as it was."""
        messages = self._context.messages(self.told, self._knowledge)
        return [message.turn for message in messages] == list(self._plan.prompt)

    def corrected(self, experience: Experience) -> Pair:
        """A pair with what the reply should have said; see corrected()."""
        known = self._known(experience)
        plan = Demonstrator(planner_for_judgements({**self.judgements, **known}), self._context).plan(
            self._graph, self._attempts
        )
        lines = zip(judged_lines(plan.text), objects_to_judge(self.told), strict=True)
        pair = pair_of(
            self._record,
            self._plan,
            followed(self._record, self._plan),
            self._context.template.prefix,
            plan.text,
        )
        changes = {
            "given": tuple(line for line, thing in lines if thing not in known),
            "mistaken": sum(self.judgements.get(thing) != place for thing, place in known.items()),
            "complete": plan.complete,
            # These are the demonstrator's words, to the end.
            "cut": False,
        }
        return pair.model_copy(update=changes)

    def _known(self, experience: Experience) -> dict[str, str]:
        """Where things should be, as far as it is known of where they are and of a right place."""
        scripted = ScriptedPlanner(lambda thing, place: experience.liked(thing, place) is True, listed=True)
        return {
            thing: place
            for thing, place in scripted.judgements(self.told, self._attempts).items()
            if place is not None
            and (thing == self.told.holding or experience.liked(thing, self.told.place_of(thing) or "") is not None)
        }


def _graph(plan: PlanEvent, earlier: Sequence[ActionEvent], attempts: Sequence[Attempt]) -> SceneGraph:
    graph = SceneGraph(plan.known)
    places = {place: things for known in plan.known.values() for place, things in known.items()}
    rooms = {place: room for room, known in plan.known.items() for place in known}
    objects = {thing: place for place, things in places.items() for thing in things}
    held = None
    for thing, (_, after) in (move for action in earlier for move in action.moved.items()):
        held = thing if after == ROBOT else None
    graph.update(View(rooms, objects, held))
    for attempt in attempts:
        if attempt.action.kind == ActionKind.GO_TO and attempt.action.target in graph.rooms:
            graph.enter(attempt.action.target)
    return graph


def _attempt(action: ActionEvent) -> Attempt | None:
    if action.kind is None or action.target is None:
        return None
    tried = HighLevelAction(ActionKind(action.kind), action.target, action.destination)
    return Attempt(tried, action.status == "succeeded", action.reason)


def _kinds(thing: str, place: str) -> tuple[str, str]:
    return without_numbers(thing), without_numbers(place)
