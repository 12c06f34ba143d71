import pytest

from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation


@pytest.fixture
def graph() -> SceneGraph:
    graph = SceneGraph(["kitchen 0", "hall 1", "attic 2"])
    graph.update(
        SymbolicObservation(
            {"kitchen 0 sink 2": "kitchen 0", "hall 1 table 3": "hall 1"}, {"mug 1": "kitchen 0 sink 2"}
        )
    )
    return graph
