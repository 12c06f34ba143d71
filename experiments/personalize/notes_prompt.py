"""The prompt ``notes`` for a memory of 200 notes, with the notes that it quotes and why, for docs/personalize.md.

Run ``python -m housewise.experiments.personalize.notes_prompt`` in the project's folder to write it there.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.core.exit_codes import run_cli
from housewise.core.files import write_text
from housewise.experiments.clipr.house_memories import make_memory
from housewise.experiments.documents.marks import markdown
from housewise.language.embedder import shared_minilm
from housewise.people.memory import Memory, Note
from housewise.selftrain.personalize.lessons import generate_lessons, random_memory
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.systems.personalize.settings import house_settings
from housewise.worlds.house.generator import find_category_places, generate_house
from housewise.worlds.house.preferences import load_preferences
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import spoken_places

COUNT = 200
_PAGE = Path("docs") / "personalize.md"
_START, _END = "<!-- prompt of 200 notes -->\n", "<!-- end of the prompt -->"
_PERSON, _SEED = "ada", 7
_RULES = (
    "Dry food belongs on the top cabinet in the kitchen or on the pantry's shelf, not on the counter.",
    "Tools belong on the shelf or the bottom cabinet in the utility room.",
)
"""What a larger model may conclude; the bundled one writes no usable rules."""


def noted_house(count: int = COUNT) -> tuple[SceneGraph, PreferenceKnowledge]:
    """Return what a robot has seen of a generated house, and what it knows of a simulated person.

    Args:
        count: Number of notes: ten answers, the rules of them, and reactions.
    """
    person, scene = load_preferences(_PERSON), generate_house(_SEED)
    interview = make_memory(house_settings(settings={"person": _PERSON, "rng_stream": _SEED}), "rules")
    places = spoken_places(scene)
    keys = {place.key: places[place.name] for place in scene.usable_receptacles}
    kinds = find_category_places(scene, person)
    reactions = _sort(random_memory(kinds, keys, (0.5, 0.5), np.random.default_rng(_SEED)).notes)
    random.Random(_SEED).shuffle(reactions)
    memory = Memory(_PERSON, _date([*_sort(interview.notes), *reactions][:count]))
    config = LessonsConfig(houses=1, each=1, places=(6, 6), things=(4, 4), unseen=True)
    [lesson] = generate_lessons(_SEED, config, person)
    return lesson.graph, PreferenceKnowledge(memory, places, shared_minilm())


def draw() -> str:
    """Return the prompt and the reasons for its notes, in Markdown."""
    graph, known = noted_house()
    known.rules = _RULES
    context = NotesContext(NotesTemplate.load("notes"))
    words = context.template.quotes
    assert words is not None
    placements = {thing: graph.container_of(thing) for thing in graph.placed_objects}
    notes = known.relevant_notes(placements, words.max_notes)
    rows = [(each.thing, f"{each.similarity:.2f}", words.quote(each.note).removeprefix("- ")) for each in notes]
    system, user = context.messages(graph, known)
    table = markdown(("because of", "similarity", "note"), rows)
    return f"```\n{system.content}\n\n{user.content}\n```\n\n{table}\n"


def fill_in(page: str) -> str:
    """Return the text of a page with the prompt between its marks."""
    between = re.compile(f"{re.escape(_START)}.*?{re.escape(_END)}", re.DOTALL)
    return between.sub(lambda _: f"{_START}{draw()}{_END}", page)


def _sort(notes: Iterable[Note]) -> list[Note]:
    """Return different notes in an order that does not depend on when they were made."""
    different = {(note.kind, note.text, note.about.phrase, str(note.value)): note for note in notes}
    return [different[key] for key in sorted(different)]


def _date(notes: Iterable[Note]) -> Iterable[Note]:
    """Yield notes with a second between them, so that they are the same whenever they are made."""
    for number, note in enumerate(notes):
        time = f"2026-11-01T08:{number // 60:02}:{number % 60:02}Z"
        yield Note(**{**note.fields(), "person": _PERSON, "derived_from": (), "time": time})


def main() -> None:
    """Write the prompt into the page."""
    write_text(_PAGE, fill_in(_PAGE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    run_cli(main)
