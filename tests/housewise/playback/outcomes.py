"""Outcomes of three objects: one placed correctly, one still held, one never discovered."""

from housewise.playback.object_outcomes import HAND, ObjectOutcome


def make_outcome(name: str, start: str, end: str, *wanted: str, found: bool = True) -> ObjectOutcome:
    return ObjectOutcome(name, start, end, wanted, found)


MUG = make_outcome("mug 1", "kitchen 0 sink 1", "kitchen 0 shelf 2", "kitchen 0 shelf 2")
BOOK = make_outcome("book 1", "kitchen 0 shelf 2", HAND, "kitchen 0 shelf 2")
SOAP = make_outcome("soap 1", "bathroom 0 sink 3", "bathroom 0 sink 3", "kitchen 0 sink 1", found=False)
