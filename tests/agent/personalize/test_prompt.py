import string
from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.core.errors import UserError
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation

WORDS: dict[str, str] = {
    "name": "short",
    "system": "At most {most_steps} steps.",
    "user": "{holding}\n{rooms}",
    "prefix": "1.",
    "holding": "holding {object}",
    "empty_hand": "holding nothing",
    "room": "{room} has {receptacles}",
    "unexplored_room": "{room} is unknown",
    "receptacle": "<{receptacle}>",
    "laden_receptacle": "<{receptacle}: {objects}>",
}


@pytest.fixture
def graph() -> SceneGraph:
    graph = SceneGraph(["kitchen 0", "bedroom 0"])
    places = {"kitchen 0 counter 1": "kitchen 0", "kitchen 0 sink 2": "kitchen 0"}
    graph.update(
        SymbolicObservation(
            places, {"mug 1": "kitchen 0 sink 2", "plate 1": "kitchen 0 sink 2", "sock 1": "kitchen 0 sink 2"}
        )
    )
    graph.update(SymbolicObservation({}, {}, holding="sock 1"))
    return graph


def template(folder: Path, **changes: Any) -> str:
    """Path of a template file."""
    path = folder / "template.yaml"
    path.write_text(yaml.safe_dump({**WORDS, **changes}), encoding="utf-8")
    return str(path)


def refusal(name: str) -> str:
    with pytest.raises(UserError) as refused:
        NotesTemplate.load(name)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_words_are_filled_in(tmp_path: Path, graph: SceneGraph) -> None:
    context = NotesContext(NotesTemplate.load(template(tmp_path)), max_steps=4)
    system, user = context.messages(graph)
    assert (system.role, system.content) == ("system", "At most 4 steps.")
    assert user.role == "user"
    assert user.content == (
        "holding sock 1\n"
        "kitchen 0 has <kitchen 0 counter 1>, <kitchen 0 sink 2: mug 1 and plate 1>\n"
        "bedroom 0 is unknown"
    )


def test_an_empty_hand_is_said(tmp_path: Path) -> None:
    context = NotesContext(NotesTemplate.load(template(tmp_path)))
    assert context.messages(SceneGraph(["attic 0"]))[1].content == "holding nothing\nattic 0 is unknown"


def test_the_template_of_the_package_leaves_nothing_open(graph: SceneGraph) -> None:
    shipped = NotesTemplate.load("planner")
    assert shipped.name == "planner"
    system, user = NotesContext(shipped).messages(graph)
    for text in (system.content, user.content):
        assert not [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]
    assert "at most 10" in system.content
    for told in ("sock 1", "kitchen 0 counter 1", "mug 1", "bedroom 0"):
        assert told in user.content
    # What stays the same comes first: a local model reads it only once.
    assert NotesContext(shipped).messages(SceneGraph(["attic 0"]))[0] == system


def test_the_papers_prompt_has_the_parts_of_the_published_logs_in_their_order(graph: SceneGraph) -> None:
    context = NotesContext(NotesTemplate.load("paper"))
    system, user = context.messages(graph)
    parts = [
        "out of place",
        "You hold sock 1.",
        "kitchen 0 has these receptacles: kitchen 0 counter 1, kitchen 0 sink 2. mug 1 is on kitchen 0 sink 2. plate 1",
        "bedroom 0 has no receptacles",
        "go to <room>, go to <object>, go to <receptacle>, look at <object>, look at <receptacle>, pick up",
        "step 1: go to study 0",
        "step 6: place teapot 1 on dining room 0 shelf 9",
        "only one of these examples",
        "mission complete\nSteps:",
    ]
    places = [" ".join(user.content.split()).index(" ".join(part.split())) for part in parts]
    assert places == sorted(places) and user.content.endswith("Steps:")
    assert len(system.content.splitlines()) == 1 and context.template.prefix == "step 1:"


def test_objects_can_be_told_after_the_receptacles_of_their_room(tmp_path: Path, graph: SceneGraph) -> None:
    words = {"laden_room": "{room}: {receptacles}; {objects}", "placed_object": "{object} at {receptacle}"}
    changed = template(tmp_path, **words, receptacle="{receptacle}", laden_receptacle="{receptacle}")
    told = NotesContext(NotesTemplate.load(changed)).messages(graph)[1].content.splitlines()
    objects = "mug 1 at kitchen 0 sink 2. plate 1 at kitchen 0 sink 2"
    assert told[1:] == [f"kitchen 0: kitchen 0 counter 1, kitchen 0 sink 2; {objects}", "bedroom 0 is unknown"]


def test_names_with_braces_do_no_harm(tmp_path: Path) -> None:
    graph = SceneGraph(["room {0}"])
    graph.update(SymbolicObservation({"shelf {x}": "room {0}"}, {"cup {rooms}": "shelf {x}"}))
    user = NotesContext(NotesTemplate.load(template(tmp_path))).messages(graph)[1]
    assert user.content == "holding nothing\nroom {0} has <shelf {x}: cup {rooms}>"


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        (
            "room",
            "{room} {color}",
            "field room: cannot be filled in (unknown placeholder {color}); available: receptacles, room",
        ),
        ("empty_hand", "{object}", "cannot be filled in (unknown placeholder {object}); available: none"),
        ("system", "{rooms}", "(unknown placeholder {rooms}); available: most_steps"),
        ("user", "{}", "field user"),
        ("user", "{0}", "field user"),
        ("user", "{rooms.color}", "field user"),
        ("user", "{rooms[0]}", "field user"),
        ("user", "{rooms", "field user"),
        ("user", "rooms}", "field user"),
        ("user", "{rooms!x}", "field user"),
        ("user", "{rooms:d}", "field user"),
        ("user", "{rooms:{width}}", "field user"),
    ],
)
def test_an_unknown_placeholder_is_named(tmp_path: Path, field: str, text: str, told: str) -> None:
    name = template(tmp_path, **{field: text})
    message = refusal(name)
    assert message.startswith(f"{name}: ")
    assert told in message


def test_braces_can_be_written_double(tmp_path: Path) -> None:
    loaded = NotesTemplate.load(template(tmp_path, empty_hand="{{nothing}}"))
    assert NotesContext(loaded).messages(SceneGraph([]))[1].content == "{nothing}"


def test_short_names_leave_the_room_out_where_that_is_clear(tmp_path: Path, graph: SceneGraph) -> None:
    graph.update(SymbolicObservation({"bedroom 0 sink 2": "bedroom 0", "bedroom 0 bed 3": "bedroom 0"}, {}))
    context = NotesContext(NotesTemplate.load(template(tmp_path, names="short")))
    assert context.messages(graph)[1].content.splitlines()[1:] == [
        "kitchen 0 has <counter 1>, <kitchen 0 sink 2: mug 1 and plate 1>",
        "bedroom 0 has <bedroom 0 sink 2>, <bed 3>",
    ]


def test_every_short_name_of_the_prompt_is_understood(graph: SceneGraph) -> None:
    words = NotesTemplate.load("compact")
    called = words.prompt_names(graph)
    assert called == {"kitchen 0 counter 1": "counter 1", "kitchen 0 sink 2": "sink 2"}
    for name, short in called.items():
        assert graph.vocabulary.resolve(short).name == name


def test_plain_names_leave_out_the_numbers_that_are_not_needed(tmp_path: Path, graph: SceneGraph) -> None:
    graph.update(
        SymbolicObservation(
            {"kitchen 0 sink 4": "kitchen 0", "bedroom 0 bed 3": "bedroom 0"}, {"mug 2": "bedroom 0 bed 3"}
        )
    )
    words = NotesTemplate.load(template(tmp_path, names="plain"))
    assert NotesContext(words).messages(graph)[1].content.splitlines()[1:] == [
        "kitchen has <kitchen counter>, <kitchen sink 2: mug 1 and plate>, <kitchen sink 4>",
        "bedroom has <bedroom bed: mug 2>",
    ]
    for name, plain in words.prompt_names(graph).items():
        assert graph.vocabulary.resolve(plain).name == name
