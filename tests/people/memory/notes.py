"""Random notes with few different names, so that many are about the same subject."""

from hypothesis import strategies as st

from housewise.people.memory import About, Note, Source

KINDS = ("reaction", "rule", "answer", "goal")
TIMES = tuple(f"2026-11-23T14:05:0{second}.000Z" for second in range(4))

abouts = st.builds(
    About,
    things=st.lists(st.sampled_from(["mug", "shoe", "lamp"]), max_size=2).map(tuple),
    room=st.sampled_from([None, "kitchen", "bedroom"]),
    receptacle=st.sampled_from([None, "sink", "bed"]),
    task=st.sampled_from([None, "tidy"]),
    subtask=st.sampled_from([None, "clear"]),
    situation=st.sampled_from([None, "guests are coming", "clear: sink (metal)"]),
    question=st.sampled_from([None, "guests are coming"]),
)
notes = st.builds(
    Note,
    person=st.just("ada"),
    kind=st.sampled_from(KINDS),
    text=st.sampled_from(["not there", "fine"]),
    about=abouts,
    value=st.sampled_from([None, 1.0, -1.0, "left"]),
    source=st.none() | st.builds(Source, record=st.just("house-0"), line=st.integers(1, 3)),
    time=st.sampled_from(TIMES),
)


def reaction(thing: str, place: str, value: float, time: str = TIMES[0], **fields: object) -> Note:
    """Return Ada's reaction to a thing in a place."""
    about = About(things=(thing,), receptacle=place)
    return Note.model_validate(
        {"person": "ada", "kind": "reaction", "text": f"{thing} on {place}", "about": about, "value": value}
        | {"time": time, **fields}
    )
