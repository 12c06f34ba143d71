"""The placement kernel: what notes say about a placement, through things and places of similar meaning."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.personalize.placement_kernel import KERNEL, PlacementKernel, PlacementNote, placement_notes
from housewise.language.embedder import shared_minilm
from housewise.worlds.house.spoken_names import SpokenPlace
from tests.agent.personalize.helpers import LetterEmbedder, make_note

SINK, COUNTER, BED = SpokenPlace("sink", "kitchen"), SpokenPlace("counter", "kitchen"), SpokenPlace("bed", "bedroom")
NAMES = st.text("abcd", min_size=1, max_size=4)
NOTES = st.lists(
    st.builds(
        PlacementNote,
        things=st.lists(NAMES, max_size=2, unique=True).map(tuple),
        receptacle=NAMES,
        room=NAMES | st.just(""),
        value=st.floats(-1, 1),
    ),
    max_size=20,
)


def kernel(*notes: PlacementNote) -> PlacementKernel:
    return PlacementKernel(notes, shared_minilm())


@given(NOTES, NAMES, st.lists(NAMES, min_size=1, max_size=5))
def test_values_lie_between_those_of_the_notes_and_the_prior(
    notes: list[PlacementNote], kind: str, places: list[str]
) -> None:
    values = PlacementKernel(notes, LetterEmbedder("abcd")).values(kind, [SpokenPlace(name, "d") for name in places])
    known = [KERNEL.prior, *(note.value for note in notes)]
    assert len(values) == len(places)
    assert all(min(known) - 1e-9 <= value <= max(known) + 1e-9 for value in values)


def test_a_note_speaks_for_what_is_like_it_and_less_for_the_rest() -> None:
    known = kernel(PlacementNote(("mug",), "sink", "kitchen", 1.0))
    asked = [("mug", SINK), ("cup", SINK), ("pillow", SINK), ("pillow", BED)]
    values = [known.values(kind, [place])[0] for kind, place in asked]
    assert all(one > other for one, other in pairwise(values)) and values[-1] == pytest.approx(KERNEL.prior, abs=0.2)
    assert known.values("mug", [SINK]) > known.values("mug", [COUNTER]) > known.values("mug", [BED])


def test_a_negative_note_speaks_against_and_a_note_about_everything_against_all() -> None:
    assert kernel(PlacementNote(("mug",), "bed", "", -1.0)).values("cup", [BED]) < KERNEL.prior
    nothing_there = kernel(PlacementNote((), "bed", "", -1.0)).values("pillow", [BED, SINK])
    assert nothing_there[0] < nothing_there[1]


def test_of_notes_on_one_subject_the_newest_counts_and_those_with_conditions_do_not() -> None:
    about = {"things": ("mug",), "receptacle": "sink"}
    notes = [
        make_note(1.0, **about),
        make_note(-1.0, **about),
        make_note(1.0, things=("mug",), receptacle="bed", situation="in winter"),
        make_note("often", **about),
        make_note(1.0, things=("mug",)),
    ]
    assert placement_notes(notes) == [PlacementNote(("mug",), "sink", "", -1.0)]


def test_without_notes_or_places_there_is_only_the_prior() -> None:
    assert kernel().values("mug", [SINK, BED]).tolist() == [KERNEL.prior] * 2
    assert kernel(PlacementNote(("mug",), "sink", "", 1.0)).values("mug", []).tolist() == []


def test_notes_about_unlike_things_weigh_no_more_than_one_note_together() -> None:
    crowd = [PlacementNote((f"engine part {number}",), "counter", "kitchen", 1.0) for number in range(60)]
    bound = (KERNEL.prior * KERNEL.prior_weight + KERNEL.max_unlike) / (KERNEL.prior_weight + KERNEL.max_unlike)
    assert KERNEL.prior < kernel(*crowd).values("mug", [COUNTER])[0] <= bound + 1e-9
    unwanted = [note._replace(value=-1.0) for note in crowd]
    alike = [PlacementNote((thing,), "counter", "kitchen", 1.0) for thing in ("mug", "cup", "teacup")]
    at_counter, on_bed = kernel(*alike, *unwanted).values("mug", [COUNTER, BED])
    assert at_counter > on_bed


def test_two_notes_about_unlike_things_move_nothing() -> None:
    known = kernel(*(PlacementNote((thing,), "counter", "kitchen", 1.0) for thing in ("telescope", "violin")))
    for kind in ("apple", "pillow", "mug", "book"):
        at_counter, on_bed = known.values(kind, [COUNTER, BED])
        assert at_counter < on_bed + KERNEL.margin, kind
