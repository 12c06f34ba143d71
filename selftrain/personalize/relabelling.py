"""Relabels replies with the judgements that they should have contained, according to all reactions of people.

A reward praises a reply for the one object that it moved, although it judged twenty. A reply without effect teaches
nothing, although it may have said where objects do not belong. But people react to every object that is picked up or
put down, and their wishes hold for all objects and places of the same kinds. So reactions are counted by kind, and all
judgements are relabelled with them, as in Hindsight Experience Replay (arXiv 1707.01495) and DAgger (arXiv 1011.0686).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.judgement_text import (
    Judgements,
    objects_to_judge,
    parse_judgements,
    split_judgements,
)
from housewise.agent.personalize.planner import Attempt, hide_hopeless_targets
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext
from housewise.agent.personalize.scripted_planner import ScriptedPlanner, planner_for_judgements
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.record_demonstrations import executed_reply, judgement_spans, make_demonstration
from housewise.systems.personalize.agent import list_attempts
from housewise.systems.personalize.record import ActionEvent, HouseRecord, PlanEvent
from housewise.worlds.house.generator import CategoryPlaces
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.scene_graph import ROBOT, SceneGraph, SymbolicObservation
from housewise.worlds.house.spoken_names import remove_numbers


class PreferenceVotes:
    """What is known of people's preferences, as votes by kind of object and kind of place.

    Args:
        records: Records of episodes. Judgements of the demonstrator count as well.
        context: Writes the prompts of the planner.
    """

    def __init__(self, records: Iterable[HouseRecord], context: NotesContext) -> None:
        self._votes: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
        for record in records:
            for action in record.actions:
                self._add_reactions(action)
            if record.header.agent == Demonstrator.name:
                for plan in record.plans:
                    self._add_demonstration(PlanSituation(record, plan, context))

    def __len__(self) -> int:
        """Return the number of (kind of object, kind of place) pairs with votes."""
        return len(self._votes)

    def is_wanted(self, thing: str, place: str) -> bool | None:
        """Return whether people want an object in a place, or None where that is not known."""
        votes = self._votes.get(_kinds(thing, place))
        return None if votes is None else votes[True] > votes[False]

    def placeable_kinds(self, scene: Scene) -> list[CategoryPlaces]:
        """Return the kinds of objects with a known right place in a house, for lessons.

        Places without votes count as wrong: people want an object in few kinds of places of a house (9 of 100 for the
        tasks of Merom_1 and Pomaria_2).
        """
        names = {place.key: place.name for place in scene.usable_receptacles}
        kinds = []
        for thing in dict.fromkeys(thing for thing, _ in self._votes):
            verdicts = {key: bool(self.is_wanted(thing, name)) for key, name in names.items()}
            sides = (tuple(key for key, verdict in verdicts.items() if verdict is side) for side in (True, False))
            kinds.append(CategoryPlaces(thing, *sides))
        return [kind for kind in kinds if kind.correct]

    def _add_reactions(self, action: ActionEvent) -> None:
        for thing, (before, after) in action.moves.items():
            if after == ROBOT:
                self._vote(thing, before, action.reward < 0)
            elif before == ROBOT:
                self._vote(thing, after, action.reward > 0)

    def _add_demonstration(self, situation: PlanSituation) -> None:
        graph = situation.prompt_graph
        for thing, place in situation.judgements.items():
            here = graph.container_of(thing)
            if thing != graph.holding and here is not None:
                self._vote(thing, here, place == here)
            if place is not None:
                self._vote(thing, place, True)

    def _vote(self, thing: str, place: str, is_right: bool) -> None:
        self._votes[_kinds(thing, place)][is_right] += 1


def relabel(
    record: HouseRecord,
    context: NotesContext,
    votes: PreferenceVotes,
    knowledge: PreferenceKnowledge | None = None,
) -> Iterator[EpisodeDemonstration]:
    """Yield every executed reply of an episode with relabelled judgements, as far as preferences are known.

    Judgements of objects with votes are replaced. The others stay as in the reply, and are not learned. The steps are
    those of a demonstrator that believes these judgements.

    Args:
        record: Record of a planner with a judging prompt.
        context: Writes the prompts as they were in the episode.
        votes: What people want.
        knowledge: Recalled notes in the prompts, or None if there were none.
    """
    for plan in record.plans:
        situation = PlanSituation(record, plan, context, knowledge)
        if situation.is_reproducible:
            yield situation.relabel(votes)


class PlanSituation:
    """What a planner knew when it was asked for a plan, and its reply.

    Args:
        record: Record of the episode.
        plan: The plan.
        context: Writes the prompt as it was in the episode.
        knowledge: Recalled notes in the prompt, or None if there were none.
    """

    def __init__(
        self,
        record: HouseRecord,
        plan: PlanEvent,
        context: NotesContext,
        knowledge: PreferenceKnowledge | None = None,
    ) -> None:
        earlier = [action for action in record.actions if action.plan < plan.plan]
        self._record, self._plan, self._context, self._knowledge = record, plan, context, knowledge
        self._attempts = tuple(list_attempts(earlier))
        self._graph = _graph(plan, earlier, self._attempts)
        self.prompt_graph: SceneGraph = hide_hopeless_targets(self._graph, self._attempts, context.template.most_tries)
        """The state of the house in the prompt."""
        self._called = context.template.prompt_names(self.prompt_graph)
        self.judgements: Judgements = parse_judgements(split_judgements(plan.reply)[0], self.prompt_graph, self._called)
        """The judgements of the reply."""

    @property
    def is_reproducible(self) -> bool:
        """Whether the prompt of the record can be written again exactly."""
        messages = self._context.messages(self.prompt_graph, self._knowledge)
        return [message.turn for message in messages] == list(self._plan.prompt)

    def relabel(self, votes: PreferenceVotes) -> EpisodeDemonstration:
        """Return a demonstration with the reply as it should have been; see relabel."""
        known = self._known_placements(votes)
        plan = Demonstrator(planner_for_judgements({**self.judgements, **known}), self._context).plan(
            self._graph, self._attempts
        )
        lines = zip(judgement_spans(plan.text), objects_to_judge(self.prompt_graph), strict=True)
        pair = make_demonstration(
            self._record,
            self._plan,
            executed_reply(self._record, self._plan),
            self._context.template.prefix,
            plan.text,
        )
        changes = {
            "given": tuple(line for line, thing in lines if thing not in known),
            "mistaken": sum(self.judgements.get(thing) != place for thing, place in known.items()),
            "complete": plan.complete,
            # The text is the demonstrator's, and complete.
            "cut": False,
        }
        return pair.model_copy(update=changes)

    def _known_placements(self, votes: PreferenceVotes) -> dict[str, str]:
        """Return where objects belong, as far as votes are known for their current place and for a right one."""
        scripted = ScriptedPlanner(lambda thing, place: votes.is_wanted(thing, place) is True, listed=True)
        return {
            thing: place
            for thing, place in scripted.judgements(self.prompt_graph, self._attempts).items()
            if place is not None
            and (
                thing == self.prompt_graph.holding
                or votes.is_wanted(thing, self.prompt_graph.container_of(thing) or "") is not None
            )
        }


def _graph(plan: PlanEvent, earlier: Sequence[ActionEvent], attempts: Sequence[Attempt]) -> SceneGraph:
    graph = SceneGraph(plan.scene_graph)
    places = {place: things for known in plan.scene_graph.values() for place, things in known.items()}
    rooms = {place: room for room, known in plan.scene_graph.items() for place in known}
    objects = {thing: place for place, things in places.items() for thing in things}
    held = None
    for thing, (_, after) in (move for action in earlier for move in action.moves.items()):
        held = thing if after == ROBOT else None
    graph.update(SymbolicObservation(rooms, objects, held))
    for attempt in attempts:
        if attempt.action.kind == ActionKind.GO_TO and attempt.action.target in graph.rooms:
            graph.mark_visited(attempt.action.target)
    return graph


def _kinds(thing: str, place: str) -> tuple[str, str]:
    return remove_numbers(thing), remove_numbers(place)
