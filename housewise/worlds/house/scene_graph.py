"""What the robot knows of the house: a graph that grows only from what it has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

import networkx as nx

from housewise.worlds.house.name_resolution import Vocabulary
from housewise.worlds.house.spoken_names import HOUSE as HOUSE
from housewise.worlds.house.spoken_names import ROBOT as ROBOT


class NodeKind(str, Enum):
    """What a node of the graph stands for."""

    HOUSE = "house"
    ROOM = "room"
    RECEPTACLE = "receptacle"
    OBJECT = "object"
    ROBOT = "robot"


@dataclass(frozen=True)
class View:
    """What one look tells, with names as spoken.

    Attributes:
        receptacles: room of each receptacle in view.
        objects: receptacle of each object in view.
        holding: the object in the hand, None for nothing.
    """

    receptacles: Mapping[str, str]
    objects: Mapping[str, str]
    holding: str | None = None


class SceneGraph:
    """A house as a tree: house, rooms, receptacles, objects (and what the robot holds).

    ``graph`` is a networkx DiGraph whose edges lead from the container to the contained; nodes carry ``kind``.

    Args:
        rooms: names of the rooms, which the robot knows beforehand.
    """

    def __init__(self, rooms: Iterable[str]) -> None:
        self.graph = nx.DiGraph()
        self.graph.add_node(HOUSE, kind=NodeKind.HOUSE)
        self.graph.add_node(ROBOT, kind=NodeKind.ROBOT)
        for room in rooms:
            self._hang(room, NodeKind.ROOM, HOUSE)

    def __repr__(self) -> str:
        held = f"{self.holding} in the hand" if self.holding else "nothing in the hand"
        known = f"{len(self.receptacles)} receptacles, {len(self.objects)} objects"
        return f"<SceneGraph: rooms {', '.join(self.rooms) or 'unknown'}; {known}; {held}>"

    def copy(self) -> SceneGraph:
        """The same knowledge, which then grows by itself."""
        other = SceneGraph(())
        other.graph = self.graph.copy()
        return other

    def without(self, names: Iterable[str]) -> SceneGraph:
        """The same knowledge but for some receptacles, with what is on them, and some objects."""
        other = self.copy()
        for name in names:
            other.graph.remove_nodes_from([*other.graph.successors(name), name] if name in other.graph else [])
        return other

    def nearest_first(self, distance: Callable[[str], float]) -> SceneGraph:
        """The same knowledge, with rooms, and the receptacles in each, in another order.

        Args:
            distance: metres to a room or a receptacle, by name; of those that are as far the order stays.
        """
        other = SceneGraph(sorted(self.rooms, key=distance))
        for room in other.rooms:
            other.graph.nodes[room].update(self.graph.nodes[room])
            for place in sorted(self.inside(room), key=distance):
                other._hang(place, NodeKind.RECEPTACLE, room)
                for thing in self.inside(place):
                    other._hang(thing, NodeKind.OBJECT, place)
        if self.holding is not None:
            other._hang(self.holding, NodeKind.OBJECT, ROBOT)
            other.graph.graph.update(self.graph.graph)
        return other

    def update(self, view: View, rooms_of: Mapping[str, str] | None = None) -> set[str]:
        """Take in a look.

        Args:
            view: what was seen.
            rooms_of: room of receptacles that are known only through an object seen on them; an object on a receptacle
                of which nobody knows the room is left out.

        Returns:
            Names that were not known before.
        """
        known = set(self.graph)
        for receptacle, room in view.receptacles.items():
            self._hang(receptacle, NodeKind.RECEPTACLE, room)
        for thing, receptacle in view.objects.items():
            if receptacle not in self.graph:
                if receptacle not in (rooms_of or {}):
                    continue
                self._hang(receptacle, NodeKind.RECEPTACLE, (rooms_of or {})[receptacle])
            self._hang(thing, NodeKind.OBJECT, receptacle)
        if view.holding is not None and view.holding != self.holding:
            self.graph.graph["origin"] = self.place_of(view.holding)
            self._hang(view.holding, NodeKind.OBJECT, ROBOT)
        return set(self.graph) - known

    def enter(self, room: str) -> None:
        """Remember that the robot went to a room, whether or not it got there."""
        self.graph.nodes[room]["entered"] = True

    @property
    def entered(self) -> tuple[str, ...]:
        """The rooms that the robot went to on purpose, whether or not it got there."""
        return tuple(name for name, entered in self.graph.nodes(data="entered") if entered)

    @property
    def rooms(self) -> tuple[str, ...]:
        return self._of(NodeKind.ROOM)

    @property
    def receptacles(self) -> tuple[str, ...]:
        return self._of(NodeKind.RECEPTACLE)

    @property
    def objects(self) -> tuple[str, ...]:
        return self._of(NodeKind.OBJECT)

    @property
    def holding(self) -> str | None:
        """The object in the hand."""
        held = list(self.graph.successors(ROBOT))
        return held[0] if held else None

    @property
    def origin(self) -> str | None:
        """The receptacle from which the object in the hand was taken; None where there is none, or it is not known."""
        origin: str | None = None if self.holding is None else self.graph.graph.get("origin")
        return origin if origin in self.graph else None

    @property
    def vocabulary(self) -> Vocabulary:
        """The names that the robot knows."""
        return Vocabulary(self.rooms, self.receptacles, self.objects)

    @property
    def tree(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Objects by receptacle by room, in the order in which prompts list them."""
        return {room: {place: self.inside(place) for place in self.inside(room)} for room in self.rooms}

    @property
    def listed(self) -> tuple[str, ...]:
        """The objects that stand somewhere, in the order in which prompts list them."""
        return tuple(thing for places in self.tree.values() for things in places.values() for thing in things)

    def kind(self, name: str) -> NodeKind | None:
        """What a name stands for, None when it is not known."""
        return self.graph.nodes[name]["kind"] if name in self.graph else None

    def place_of(self, name: str) -> str | None:
        """What contains a thing: the receptacle of an object (or the robot), the room of a receptacle."""
        above = list(self.graph.predecessors(name)) if name in self.graph else []
        return above[0] if above else None

    def inside(self, name: str) -> tuple[str, ...]:
        """What a room or a receptacle contains."""
        return tuple(self.graph.successors(name))

    def _of(self, kind: NodeKind) -> tuple[str, ...]:
        return tuple(name for name, found in self.graph.nodes(data="kind") if found == kind)

    def _hang(self, name: str, kind: NodeKind, under: str) -> None:
        """Put a node under another one, and under no other."""
        if self.graph.has_edge(under, name):
            return
        self.graph.add_node(name, kind=kind)
        self.graph.remove_edges_from(list(self.graph.in_edges(name)))
        self.graph.add_edge(under, name)
