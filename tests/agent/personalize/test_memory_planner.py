"""Guessed placements: by similar kinds, at random, and never against known preferences."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.personalize.memory_planner import MemoryPlanner, PlacementGuesser
from housewise.agent.personalize.placement_candidates import placements_by_kernel, placements_of_similar_kinds
from housewise.agent.personalize.planner import Attempt
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.scripted_planner import ScriptedPlanner, WantsFunction
from housewise.language.embedder import shared_minilm
from housewise.people.memory import About, Memory, Note
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from housewise.worlds.house.spoken_names import SpokenPlace
from tests.agent.personalize.helpers import LetterEmbedder

SIMILAR = placements_of_similar_kinds
SINK, SHELF, CHEST, RACK = "kitchen 0 sink 2", "kitchen 0 shelf 5", "hall 1 chest 3", "hall 1 rack 4"
PLACES = {
    SINK: SpokenPlace("sink", "kitchen"),
    SHELF: SpokenPlace("shelf", "kitchen"),
    CHEST: SpokenPlace("chest", "hall"),
    RACK: SpokenPlace("rack", "hall"),
}


def told(thing: str, place: str, value: float = 1.0) -> Note:
    where = PLACES[place]
    about = About(things=(thing,), receptacle=where.receptacle, room=where.room)
    return Note(person="ada", kind="reaction", text="told", about=about, value=value)


def knowing(*notes: Note) -> PreferenceKnowledge:
    return PreferenceKnowledge(Memory("ada", notes), PLACES, LetterEmbedder("abcdlopuw"))


def house(place: str = CHEST, holding: str | None = None) -> SceneGraph:
    graph = SceneGraph(["kitchen 0", "hall 1"])
    rooms = {name: " ".join(name.split()[:2]) for name in PLACES}
    graph.update(SymbolicObservation(rooms, {"cap 1": place}, holding))
    return graph


def tried(kind: ActionKind, thing: str, place: str | None, succeeded: bool) -> Attempt:
    return Attempt(HighLevelAction(kind, thing, place), succeeded)


CUP_AND_PAD = (told("cup", RACK), told("pad", SHELF))


def test_a_thing_goes_where_the_kind_nearest_in_meaning_is_wanted() -> None:
    similar = PlacementGuesser(knowing(*CUP_AND_PAD), likely=SIMILAR)
    assert similar.guess_places(house(), []) == {"cap 1": (RACK,)}
    assert similar.guess_places(house(holding="cap 1"), []) == {"cap 1": (RACK,)}
    assert PlacementGuesser(knowing(*CUP_AND_PAD)).guess_places(house(), []) == {}


def test_where_it_is_known_to_be_wrong_or_placing_has_failed_the_next_kind_tells() -> None:
    wrong = PlacementGuesser(knowing(*CUP_AND_PAD, told("cap", RACK, -1.0)), likely=SIMILAR)
    assert wrong.guess_places(house(), []) == {"cap 1": (SHELF,)}
    failed = tried(ActionKind.PLACE, "cap 1", RACK, False)
    assert PlacementGuesser(knowing(*CUP_AND_PAD), likely=SIMILAR).guess_places(house(), [failed]) == {
        "cap 1": (SHELF,)
    }


def test_it_stays_where_similar_things_are_wanted_unless_it_is_known_to_be_wrong_there() -> None:
    assert PlacementGuesser(knowing(*CUP_AND_PAD), likely=SIMILAR, random_seed=0).guess_places(house(SHELF), []) == {}
    wrong = knowing(*CUP_AND_PAD, told("cap", SHELF, -1.0))
    assert PlacementGuesser(wrong, likely=SIMILAR).guess_places(house(SHELF), []) == {"cap 1": (RACK,)}


def test_the_kernel_moves_a_thing_only_if_notes_speak_clearly_for_another_place() -> None:
    def guesses(*notes: Note, holding: str | None = None, attempts: Sequence[Attempt] = ()) -> Mapping[str, object]:
        knows = PreferenceKnowledge(Memory("ada", notes), PLACES, shared_minilm())
        return PlacementGuesser(knows, likely=placements_by_kernel).guess_places(house(holding=holding), attempts)

    clear = (told("hat", RACK), told("scarf", RACK), told("hat", CHEST, -1.0))
    assert guesses(*clear) == guesses(*clear, holding="cap 1") == {"cap 1": (RACK,)}
    assert guesses(*clear, attempts=[tried(ActionKind.PLACE, "cap 1", RACK, False)]) == {}
    assert guesses() == guesses(told("dog", SINK, -1.0)) == guesses(told("hat", RACK), told("hat", CHEST)) == {}


def test_nothing_is_guessed_of_what_is_known() -> None:
    for place in (CHEST, RACK):
        knows = knowing(*CUP_AND_PAD, told("cap", place))
        assert PlacementGuesser(knows, likely=SIMILAR, random_seed=0).guess_places(house(), []) == {}


def test_what_finds_no_room_where_it_belongs_goes_where_similar_things_do_or_back() -> None:
    full = [tried(ActionKind.PLACE, "cap 1", RACK, False)]
    knows = knowing(*CUP_AND_PAD, told("cap", RACK))
    held = house(holding="cap 1")
    assert PlacementGuesser(knows).guess_places(held, full) == {"cap 1": (CHEST,)}
    assert PlacementGuesser(knows, likely=SIMILAR).guess_places(held, full) == {"cap 1": (SHELF,)}
    assert PlacementGuesser(knows).guess_places(held, []) == PlacementGuesser(knows).guess_places(house(), full) == {}
    unwanted = knowing(told("cap", RACK), told("cap", CHEST, -1.0))
    assert PlacementGuesser(unwanted).guess_places(held, full) == {}


def test_what_similar_things_tell_nothing_of_stays_unless_chances_are_taken() -> None:
    knows = knowing(told("bowl", RACK))
    assert PlacementGuesser(knows, likely=SIMILAR).guess_places(house(), []) == {}
    drawn = [
        PlacementGuesser(knows, likely=SIMILAR, random_seed=seed).guess_places(house(), [])["cap 1"]
        for seed in range(40)
    ]
    assert drawn == [PlacementGuesser(knows, random_seed=seed).guess_places(house(), [])["cap 1"] for seed in range(40)]
    assert {place for (place,) in drawn} == {SINK, SHELF, RACK}


def test_a_thing_is_put_by_chance_once() -> None:
    placed = tried(ActionKind.PLACE, "cap 1", RACK, True)
    assert PlacementGuesser(PreferenceKnowledge(), random_seed=0).guess_places(house(RACK), [placed]) == {}


WISHES = st.dictionaries(
    st.tuples(st.sampled_from(["cap", "cup", "pad"]), st.sampled_from(list(PLACES))), st.booleans()
)


@given(
    WISHES,
    st.sampled_from(list(PLACES)),
    st.booleans(),
    st.sampled_from([None, 0, 1]),
    st.sets(st.sampled_from(list(PLACES))),
)
def test_no_guess_goes_against_what_is_known(
    wishes: dict[tuple[str, str], bool], here: str, similar: bool, chance: int | None, failed: set[str]
) -> None:
    knows = knowing(*(told(thing, place, 1.0 if wanted else -1.0) for (thing, place), wanted in wishes.items()))
    attempts = [tried(ActionKind.PLACE, "cap 1", place, False) for place in failed]
    for guessed in (
        PlacementGuesser(knows, SIMILAR if similar else None, chance).guess_places(house(here), attempts).values()
    ):
        assert True not in {wishes.get(("cap", place)) for place in PLACES if place not in failed}
        assert not set(guessed) & {here, *failed} and False not in {wishes.get(("cap", place)) for place in guessed}


def test_known_things_are_moved_before_anything_is_guessed() -> None:
    graph = house()
    graph.update(SymbolicObservation({}, {"pan 1": SINK}, None))
    for room in graph.rooms:
        graph.mark_visited(room)
    seen = [tried(ActionKind.GO_TO, name, None, True) for name in (*graph.rooms, *PLACES)]

    def scripted(wants: WantsFunction, thorough: bool) -> ScriptedPlanner:
        return ScriptedPlanner(wants, thorough=thorough, listed=True)

    planner = MemoryPlanner("store", PlacementGuesser(knowing(told("pan", SHELF)), random_seed=3), scripted)
    moved = planner.plan(graph, seen).steps[-1].action
    assert moved is not None and (moved.target, moved.destination) == ("pan 1", SHELF)
    graph.update(SymbolicObservation({}, {"pan 1": SHELF}, None))
    guessed = planner.plan(graph, seen).steps[-1].action
    assert guessed is not None and guessed.target == "cap 1" and guessed.destination in {SINK, SHELF, RACK}
    graph.update(SymbolicObservation({}, {"cap 1": guessed.destination or ""}, None))
    assert planner.plan(graph, [*seen, Attempt(guessed, True)]).complete
