import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.worlds.house.scene_graph import HOUSE, ROBOT, NodeKind, SceneGraph, SymbolicObservation

ROOMS = ("kitchen 0", "bedroom 0")
PLACES = {"kitchen 0 counter 1": "kitchen 0", "kitchen 0 sink 2": "kitchen 0", "bedroom 0 bed 3": "bedroom 0"}
OBJECTS = ("mug 1", "plate 1", "sock 1")


@pytest.fixture
def graph() -> SceneGraph:
    return SceneGraph(ROOMS)


def test_at_first_only_the_rooms_are_known(graph: SceneGraph) -> None:
    assert graph.rooms == ROOMS
    assert graph.receptacles == graph.objects == ()
    assert graph.holding is None
    assert graph.container_of("kitchen 0") == HOUSE
    assert graph.contents_of("kitchen 0") == ()


def test_unseen_names_are_unknown(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation(PLACES, {"mug 1": "kitchen 0 sink 2"}))
    assert graph.kind_of("plate 1") is None
    assert graph.container_of("plate 1") is None
    assert "plate 1" not in graph.vocabulary.objects
    assert graph.vocabulary.resolve("plate").problem == "unknown: plate"


def test_observations_add_receptacles_and_objects(graph: SceneGraph) -> None:
    new = graph.update(SymbolicObservation({"kitchen 0 counter 1": "kitchen 0"}, {"mug 1": "kitchen 0 counter 1"}))
    assert new == {"kitchen 0 counter 1", "mug 1"}
    assert (
        graph.update(SymbolicObservation({"kitchen 0 counter 1": "kitchen 0"}, {"mug 1": "kitchen 0 counter 1"}))
        == set()
    )
    assert graph.kind_of("kitchen 0 counter 1") == NodeKind.RECEPTACLE and graph.kind_of("mug 1") == NodeKind.OBJECT
    assert graph.container_of("mug 1") == "kitchen 0 counter 1"
    assert graph.container_of("kitchen 0 counter 1") == "kitchen 0"
    assert graph.contents_of("kitchen 0 counter 1") == ("mug 1",)
    assert graph.vocabulary.objects == ("mug 1",)


def test_objects_add_their_receptacle(graph: SceneGraph) -> None:
    assert graph.update(SymbolicObservation({}, {"sock 1": "bedroom 0 bed 3"}), PLACES) == {"sock 1", "bedroom 0 bed 3"}
    assert graph.container_of("bedroom 0 bed 3") == "bedroom 0"


def test_a_moved_object_has_one_receptacle(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation(PLACES, {"mug 1": "kitchen 0 sink 2"}))
    graph.update(SymbolicObservation({}, {"mug 1": "bedroom 0 bed 3"}))
    assert graph.container_of("mug 1") == "bedroom 0 bed 3"
    assert graph.contents_of("kitchen 0 sink 2") == ()


def test_names_out_of_view_stay_known(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation(PLACES, {"mug 1": "kitchen 0 sink 2"}))
    assert graph.update(SymbolicObservation({}, {})) == set()
    assert graph.container_of("mug 1") == "kitchen 0 sink 2"


def test_a_held_object_leaves_its_receptacle(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation(PLACES, {"mug 1": "kitchen 0 sink 2"}))
    graph.update(SymbolicObservation({}, {}, holding="mug 1"))
    assert graph.holding == "mug 1" and graph.container_of("mug 1") == ROBOT
    assert graph.contents_of("kitchen 0 sink 2") == ()
    graph.update(SymbolicObservation({}, {"mug 1": "kitchen 0 counter 1"}))
    assert graph.holding is None and graph.container_of("mug 1") == "kitchen 0 counter 1"


def test_the_origin_is_known_while_an_object_is_held(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation(PLACES, {"mug 1": "kitchen 0 sink 2"}))
    assert graph.origin is None
    for _ in range(2):
        graph.update(SymbolicObservation({}, {}, holding="mug 1"))
        assert graph.origin == graph.copy().origin == graph.sort_by_distance(len).origin == "kitchen 0 sink 2"
    assert graph.copy_without(["kitchen 0 sink 2"]).origin is None
    graph.update(SymbolicObservation({}, {"mug 1": "kitchen 0 counter 1"}))
    assert graph.origin is None
    graph.update(SymbolicObservation({}, {}, holding="mug 1"))
    assert graph.origin == "kitchen 0 counter 1"


def test_an_object_first_seen_in_the_hand_has_no_origin(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation(PLACES, {}, holding="mug 1"))
    assert graph.holding == "mug 1" and graph.origin is None


VIEWS = st.builds(
    SymbolicObservation,
    st.dictionaries(st.sampled_from(sorted(PLACES)), st.none()).map(lambda seen: {key: PLACES[key] for key in seen}),
    st.dictionaries(st.sampled_from(OBJECTS), st.sampled_from(sorted(PLACES))),
    st.none(),
)


@given(st.lists(VIEWS, max_size=12))
def test_knowledge_is_a_tree_that_only_grows(views: list[SymbolicObservation]) -> None:
    graph, known = SceneGraph(ROOMS), {HOUSE, ROBOT, *ROOMS}
    last: dict[str, str] = {}
    for view in views:
        new = graph.update(view, PLACES)
        assert set(graph.graph) == known | new and not known & new
        known |= new
        last.update(view.objects)
        assert {thing: graph.container_of(thing) for thing in graph.objects} == last
        assert all(graph.container_of(place) == PLACES[place] for place in graph.receptacles)
        assert all(graph.graph.in_degree(node) == (node not in (HOUSE, ROBOT)) for node in graph.graph)
    assert set(graph.receptacles) == {key for view in views for key in (*view.receptacles, *view.objects.values())}


@given(st.lists(VIEWS, max_size=12), st.dictionaries(st.sampled_from([*ROOMS, *PLACES]), st.floats(0, 9)))
def test_sorting_by_distance_keeps_all_knowledge(views: list[SymbolicObservation], metres: dict[str, float]) -> None:
    graph = SceneGraph(ROOMS)
    for view in views:
        graph.update(view, PLACES)
    graph.mark_visited(ROOMS[0])
    ordered = graph.sort_by_distance(lambda name: metres.get(name, 0.0))
    assert set(ordered.graph.edges) == set(graph.graph.edges) and dict(ordered.graph.nodes) == dict(graph.graph.nodes)
    assert (ordered.holding, ordered.visited_rooms) == (graph.holding, graph.visited_rooms)
    for names in (ordered.rooms, *map(ordered.contents_of, ordered.rooms)):
        assert list(names) == sorted(names, key=lambda name: metres.get(name, 0.0))


def test_notebooks_show_objects_by_receptacle_and_room(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation(PLACES, {"mug 1": "kitchen 0 sink 2", "<b>": "kitchen 0 sink 2"}, "sock 1"))
    shown = graph._repr_html_()
    assert "<td>kitchen 0</td><td>kitchen 0 sink 2</td><td>mug 1, &lt;b&gt;</td>" in shown
    assert "<td>kitchen 0</td><td>kitchen 0 counter 1</td><td></td>" in shown and "in the hand: sock 1" in shown
    assert "<td>kitchen 0</td><td></td><td></td>" in SceneGraph(ROOMS)._repr_html_()
