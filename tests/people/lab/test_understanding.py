"""What is understood of free speech: verbs, rooms and describing words, whatever the wording."""

import pytest

from housewise.people.lab.understanding import understand


def read(text: str) -> list[tuple[str | None, str, set[str]]]:
    """Verb, room and words of each instruction."""
    return [
        (each.verb, each.room, {*each.words, *each.place_words, *each.context})
        for each in understand(text).instructions
    ]


@pytest.mark.parametrize(
    ("text", "verb", "room", "words"),
    [
        ("Please toggle the red computer.", "Toggle", "", {"red", "computer"}),
        ("Could you switch the scarlet monitor on?", "Toggle", "", {"red", "computer"}),
        ("It is the red terminal that has to be activated.", "Toggle", "", {"red", "computer"}),
        ("The door ought to be opened now.", "Open", "", {"door"}),
        ("Pick the mug up from the green table.", "Pickup", "", {"mug", "green", "table"}),
        ("Would you mind fetching a cup?", "Pickup", "", {"mug"}),
        ("The banana belongs in the tall, grey machine.", "Place", "", {"banana", "tall", "gray", "machine"}),
        ("Slip it inside the square appliance.", "Place", "", {"square", "machine"}),
        ("Smash the plate with the hammer.", "Break", "", {"plate", "hammer"}),
        ("Hurl the dart at the board.", "Throw", "", {"dart", "dartboard"}),
        ("Empty the mug into the machine.", "Pour", "", {"mug", "machine"}),
        ("Head over to the quantum laboratory.", "GotoRoom", "quantum lab", set()),
        ("Off you go to the boss's office!", "GotoRoom", "manager's office", set()),
        ("A hammer is lying in the warehouse.", None, "warehouse", {"hammer"}),
        ("We have to be in the reception area.", None, "reception", set()),
    ],
)
def test_one_instruction_is_read_whatever_its_wording(text: str, verb: str | None, room: str, words: set[str]) -> None:
    [instruction] = read(text)
    assert instruction[:2] == (verb, room)
    assert words <= instruction[2]


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        (
            "Go to the break room, pick up the banana, and bring it to the quantum lab.",
            ["GotoRoom", "Pickup", "GotoRoom"],
        ),
        ("Place the mug in the machine. Then close the door and press the button.", ["Place", "Close", "Toggle"]),
        ("Press it to start it.", ["Toggle"]),
        ("To fire the laser, toggle the red computer.", ["Toggle"]),
        ("Once you have opened the box, pull the lever.", ["Toggle"]),
        ("Toggle the monitor. Look for a computer with a label.", ["Toggle"]),
    ],
)
def test_several_instructions_keep_their_order_and_reasons_are_not_done(text: str, verbs: list[str]) -> None:
    assert [verb for verb, _, _ in read(text)] == verbs


@pytest.mark.parametrize(
    ("text", "avoided", "verbs"),
    [
        ("Don't press the box; pull the lever instead.", {"box"}, ["Toggle"]),
        ("Keep well away from the octagonal table!", {"octagon", "table"}, []),
        ("Use the pink computer rather than the green one.", {"green"}, ["Toggle"]),
        ("Don't forget to close the door.", set(), ["Close"]),
    ],
)
def test_what_is_not_to_be_done_is_set_apart(text: str, avoided: set[str], verbs: list[str]) -> None:
    advice = understand(text)
    assert {word for each in advice.avoided for word in each.words} == avoided
    assert [each.verb for each in advice.instructions if each.verb] == verbs


@pytest.mark.parametrize(
    "text", ["What would you like to do?", "Which task do you have?", "Can you tell me your goal?"]
)
def test_questions_are_no_instructions(text: str) -> None:
    advice = understand(text)
    assert advice.is_question
    assert not advice.instructions


def test_only_the_beginning_of_a_megabyte_of_speech_is_heard() -> None:
    advice = understand("Open the box. " + "Close the door, " * 65_000)
    assert advice.instructions[0].verb == "Open"
    assert len(advice.instructions) < 200


@pytest.mark.parametrize("text", ["", "?!...", "\x00\x1b[2J", "🦖" * 100, "the the the", "to", "don't", "it it it it"])
def test_text_without_meaning_gives_no_instructions(text: str) -> None:
    assert not [each for each in understand(text).instructions if each.verb]


def test_a_warning_is_about_what_was_named_and_a_failure_warns_of_nothing() -> None:
    [avoided] = understand("Careful! The black table is on. Keep away from it.").avoided
    assert set(avoided.words) == {"black", "table"}
    assert not understand("That did not work. A big box blocks the way. Toggle the yellow machine.").avoided
