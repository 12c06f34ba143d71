"""The robot's knowledge of the house: a graph of rooms, receptacles and objects that grows with what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import networkx as nx

from housewise.core.html_tables import html_table
from housewise.core.migrations.code_names import find_former_attribute
from housewise.worlds.house.name_resolution import Vocabulary
from housewise.worlds.house.spoken_names import HOUSE as HOUSE
from housewise.worlds.house.spoken_names import ROBOT as ROBOT


class NodeKind(str, Enum):
    """Kinds of nodes of the graph."""

    HOUSE = "house"
    ROOM = "room"
    RECEPTACLE = "receptacle"
    OBJECT = "object"
    ROBOT = "robot"


@dataclass(frozen=True)
class SymbolicObservation:
    """The rooms, receptacles and objects that one look at the house shows, by their spoken names.

    Attributes:
        receptacles: Room of each receptacle in view.
        objects: Receptacle of each object in view.
        holding: The object in the robot's hand, or None.
    """

    receptacles: Mapping[str, str]
    objects: Mapping[str, str]
    holding: str | None = None


# The methods that planners of version 0.1.0 call.
_FORMER_METHODS = {"inside": "contents_of", "place_of": "container_of"}


class SceneGraph:
    """A house as a tree of rooms, receptacles and objects, with the object in the robot's hand.

    ``graph`` is a networkx DiGraph. Its edges lead from a container to its contents, and each node has a ``kind``.

    Args:
        rooms: Names of the rooms, which the robot knows from the start.
    """

    def __init__(self, rooms: Iterable[str]) -> None:
        self.graph = nx.DiGraph()
        self.graph.add_node(HOUSE, kind=NodeKind.HOUSE)
        self.graph.add_node(ROBOT, kind=NodeKind.ROBOT)
        for room in rooms:
            self._attach(room, NodeKind.ROOM, HOUSE)

    def __getattr__(self, name: str) -> Any:
        return find_former_attribute(self, _FORMER_METHODS, name)

    def __repr__(self) -> str:
        held = f"{self.holding} in the hand" if self.holding else "nothing in the hand"
        known = f"{len(self.receptacles)} receptacles, {len(self.objects)} objects"
        return f"<SceneGraph: rooms {', '.join(self.rooms) or 'unknown'}; {known}; {held}>"

    def _repr_html_(self) -> str:
        """Return the graph as a table for notebooks, with a row for each receptacle and each room without one."""
        rows = [
            (room, place, ", ".join(things))
            for room, places in self.tree.items()
            for place, things in (places or {"": ()}).items()
        ]
        caption = f"in the hand: {self.holding or 'nothing'}"
        return html_table(caption, ("room", "receptacle", "objects"), rows)

    def copy(self) -> SceneGraph:
        """Return an independent copy."""
        other = SceneGraph(())
        other.graph = self.graph.copy()
        return other

    def copy_without(self, names: Iterable[str]) -> SceneGraph:
        """Return a copy without the named objects and receptacles, and without the contents of these receptacles."""
        other = self.copy()
        for name in names:
            other.graph.remove_nodes_from([*other.graph.successors(name), name] if name in other.graph else [])
        return other

    def sort_by_distance(self, distance: Callable[[str], float]) -> SceneGraph:
        """Return a copy with the nearest rooms first, and the nearest receptacles first in each room.

        Args:
            distance: Returns the distance in metres to a room or receptacle of a name. Equally distant ones keep
                their order.
        """
        other = SceneGraph(sorted(self.rooms, key=distance))
        for room in other.rooms:
            other.graph.nodes[room].update(self.graph.nodes[room])
            for place in sorted(self.contents_of(room), key=distance):
                other._attach(place, NodeKind.RECEPTACLE, room)
                for thing in self.contents_of(place):
                    other._attach(thing, NodeKind.OBJECT, place)
        if self.holding is not None:
            other._attach(self.holding, NodeKind.OBJECT, ROBOT)
            other.graph.graph.update(self.graph.graph)
        return other

    def update(self, observation: SymbolicObservation, receptacle_rooms: Mapping[str, str] | None = None) -> set[str]:
        """Add an observation.

        Args:
            observation: The observation to add.
            receptacle_rooms: Rooms of receptacles that the robot knows only from an object on them. An object on a
                receptacle of unknown room is ignored.

        Returns:
            The names that were not known before.
        """
        known = set(self.graph)
        for receptacle, room in observation.receptacles.items():
            self._attach(receptacle, NodeKind.RECEPTACLE, room)
        for item, receptacle in observation.objects.items():
            if receptacle not in self.graph:
                if receptacle not in (receptacle_rooms or {}):
                    continue
                self._attach(receptacle, NodeKind.RECEPTACLE, (receptacle_rooms or {})[receptacle])
            self._attach(item, NodeKind.OBJECT, receptacle)
        if observation.holding is not None and observation.holding != self.holding:
            self.graph.graph["origin"] = self.container_of(observation.holding)
            self._attach(observation.holding, NodeKind.OBJECT, ROBOT)
        return set(self.graph) - known

    def mark_visited(self, room: str) -> None:
        """Note that the robot went to a room, even if it did not arrive."""
        self.graph.nodes[room]["visited"] = True

    @property
    def visited_rooms(self) -> tuple[str, ...]:
        """The rooms that the robot was sent to, including those where it did not arrive."""
        return tuple(name for name, visited in self.graph.nodes(data="visited") if visited)

    @property
    def rooms(self) -> tuple[str, ...]:
        """Names of all rooms."""
        return self._nodes_of_kind(NodeKind.ROOM)

    @property
    def receptacles(self) -> tuple[str, ...]:
        """Names of the receptacles that were discovered."""
        return self._nodes_of_kind(NodeKind.RECEPTACLE)

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects that were discovered, with the one in the robot's hand."""
        return self._nodes_of_kind(NodeKind.OBJECT)

    @property
    def holding(self) -> str | None:
        """The object in the robot's hand, or None."""
        held = list(self.graph.successors(ROBOT))
        return held[0] if held else None

    @property
    def origin(self) -> str | None:
        """The receptacle from which the object in the hand was taken, or None if the hand is empty or it is unknown."""
        origin: str | None = None if self.holding is None else self.graph.graph.get("origin")
        return origin if origin in self.graph else None

    @property
    def vocabulary(self) -> Vocabulary:
        """The names that the robot knows."""
        return Vocabulary(self.rooms, self.receptacles, self.objects)

    @property
    def tree(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Objects by receptacle by room, in the order in which prompts list them."""
        return {room: {place: self.contents_of(place) for place in self.contents_of(room)} for room in self.rooms}

    @property
    def placed_objects(self) -> tuple[str, ...]:
        """The objects on receptacles, in the order in which prompts list them."""
        return tuple(thing for places in self.tree.values() for things in places.values() for thing in things)

    def kind_of(self, name: str) -> NodeKind | None:
        """Return the kind of the node of a name, or None if the name is unknown."""
        return self.graph.nodes[name]["kind"] if name in self.graph else None

    def container_of(self, name: str) -> str | None:
        """Return the receptacle (or the robot) that has an object, or the room of a receptacle; None if unknown."""
        above = list(self.graph.predecessors(name)) if name in self.graph else []
        return above[0] if above else None

    def contents_of(self, name: str) -> tuple[str, ...]:
        """Return the receptacles of a room or the objects of a receptacle."""
        return tuple(self.graph.successors(name))

    def _nodes_of_kind(self, kind: NodeKind) -> tuple[str, ...]:
        return tuple(name for name, found in self.graph.nodes(data="kind") if found == kind)

    def _attach(self, name: str, kind: NodeKind, under: str) -> None:
        """Make a node the child of one other node only."""
        if self.graph.has_edge(under, name):
            return
        self.graph.add_node(name, kind=kind)
        self.graph.remove_edges_from(list(self.graph.in_edges(name)))
        self.graph.add_edge(under, name)
