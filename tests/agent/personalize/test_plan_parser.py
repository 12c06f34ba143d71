import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.agent.personalize.plan_normalizer import parse_any_plan, parse_any_step
from housewise.agent.personalize.plan_parser import ParsedPlan, _text_before_end, parse_plan
from housewise.language.base import ChatRequest
from housewise.language.replies import RawReply, read_reply
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.name_resolution import Vocabulary

HOUSE = Vocabulary(
    rooms=("kitchen 0", "living room 0", "bedroom 0"),
    receptacles=(
        "kitchen 0 counter 18",
        "kitchen 0 counter 19",
        "kitchen 0 sink 4",
        "living room 0 coffee table 26",
        "bedroom 0 bed 1",
    ),
    objects=("mug 1", "saucer 1", "saucer 2", "picture frame 1", "light bulb 1"),
)
PLAN = """ go to saucer 1
step 2: look at saucer 1
step 3: pick up saucer 1
step 4: go to kitchen 0 counter 18
step 5: look at kitchen 0 counter 18
step 6: place saucer 1 on kitchen 0 counter 18"""

GO, LOOK, PICK, PLACE = ActionKind.GO_TO, ActionKind.LOOK_AT, ActionKind.PICK_UP, ActionKind.PLACE


def told(line: str) -> str:
    """Return the parsed line in the paper's words, or its problem."""
    step = parse_any_step(line, HOUSE)
    return str(step.action) if step.action else f"? {step.problem}"


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        # As the paper's models write.
        ("go to kitchen 0", "go to kitchen 0"),
        ("step 1: go to living room 0", "go to living room 0"),
        ("step 3. pick up mug 1", "pick up mug 1"),
        ("Step 12 - Look at Kitchen 0 Counter 18.", "look at kitchen 0 counter 18"),
        ("step 6: place saucer 1 on kitchen 0 counter 18", "place saucer 1 on kitchen 0 counter 18"),
        ("STEP 2) GO TO SAUCER 2", "go to saucer 2"),
        # Lists.
        ("1) Go to the kitchen.", "go to kitchen 0"),
        ("1. Go to the living room", "go to living room 0"),
        ("(3) pick up the mug", "pick up mug 1"),
        ("- go to bedroom 0", "go to bedroom 0"),
        ("* go to bedroom 0", "go to bedroom 0"),
        ("  > go to bedroom 0  ", "go to bedroom 0"),
        ("### Step 1: go to bedroom 0", "go to bedroom 0"),
        # Markdown.
        ("**Step 1:** go to bedroom 0", "go to bedroom 0"),
        ("**1.** go to `bedroom 0`", "go to bedroom 0"),
        ("- **pick up mug 1**", "pick up mug 1"),
        ("1. **Go to** the bedroom", "go to bedroom 0"),
        ("`pick up mug 1`", "pick up mug 1"),
        ("pick up **mug 1**", "pick up mug 1"),
        ('"pick up mug 1"', "pick up mug 1"),
        ("'pick up mug 1'", "pick up mug 1"),
        ("Then, go to the sink.", "go to kitchen 0 sink 4"),
        ("next: go to the sink", "go to kitchen 0 sink 4"),
        ("Finally, place the mug in the sink!", "place mug 1 on kitchen 0 sink 4"),
        # Other words for the same.
        ("walk to the sink", "go to kitchen 0 sink 4"),
        ("go into kitchen 0", "go to kitchen 0"),
        ("go back to kitchen 0", "go to kitchen 0"),
        ("goto kitchen 0", "go to kitchen 0"),
        ("Navigate to the coffee table", "go to living room 0 coffee table 26"),
        ("inspect counter 19", "look at kitchen 0 counter 19"),
        ("grab the mug", "pick up mug 1"),
        ("pickup mug 1", "pick up mug 1"),
        ("pick the mug up", "pick up mug 1"),
        ("take the mug from the bed", "pick up mug 1"),
        ("get picture frame 1 off the bedroom 0 bed 1", "pick up picture frame 1"),
        ("put mug 1 in the sink", "place mug 1 on kitchen 0 sink 4"),
        ("put mug 1 into kitchen 0 sink 4", "place mug 1 on kitchen 0 sink 4"),
        ("put mug 1 onto counter 19", "place mug 1 on kitchen 0 counter 19"),
        ("put down the mug on the bed", "place mug 1 on bedroom 0 bed 1"),
        ("put the mug on top of the bed", "place mug 1 on bedroom 0 bed 1"),
        ("place light bulb 1 inside the sink", "place light bulb 1 on kitchen 0 sink 4"),
        ("put the mug back on the bed", "place mug 1 on bedroom 0 bed 1"),
        ("drop saucer 2 at the bed", "place saucer 2 on bedroom 0 bed 1"),
        # Slips of the pen, odd white space, odd letters.
        ("pick up saurcer 1", "pick up saucer 1"),
        ("place saucer_1 on kitchen_0-counter 18", "? unknown: kitchen 0-counter 18"),
        ("place saucer_1 on kitchen_0 counter_18", "place saucer 1 on kitchen 0 counter 18"),
        ("go\tto\u00a0the   kitchen", "go to kitchen 0"),
        ("pick up the “mug 1”", "pick up mug 1"),
    ],
)
def test_ways_to_write_a_step(line: str, meaning: str) -> None:
    assert told(line) == meaning


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("pick up the saucer", "'saucer' could be saucer 1, saucer 2"),
        ("place mug 1 on the counter", "'counter' could be kitchen 0 counter 18, kitchen 0 counter 19"),
        ("place the saucer on the bed", "'saucer' could be saucer 1, saucer 2"),
        ("go to the garage", "unknown: garage"),
        ("pick up unicorn 3", "unknown: unicorn 3"),
        ("pick up kitchen 0 counter 18", "unknown: kitchen 0 counter 18"),
        ("place mug 1 on unicorn 3", "unknown: unicorn 3"),
        ("place mug 1 on saucer 1", "unknown: saucer 1"),
        ("go to", "not an action"),
        ("go to the", "no name given"),
        ("place mug 1", "not an action"),
        ("open the fridge", "not an action"),
        ("I think we should tidy up first.", "not an action"),
        ("", "not an action"),
    ],
)
def test_what_cannot_be_done_is_said(line: str, problem: str) -> None:
    step = parse_any_step(line, HOUSE)
    assert step.action is None
    assert step.problem.startswith(problem)
    assert step.raw == line


def test_a_reply_continues_the_prompts_first_words() -> None:
    plan = parse_any_plan(PLAN, HOUSE)
    place = HighLevelAction(PLACE, "saucer 1", "kitchen 0 counter 18")
    assert [step.action for step in plan.steps] == [
        HighLevelAction(GO, "saucer 1"),
        HighLevelAction(LOOK, "saucer 1"),
        HighLevelAction(PICK, "saucer 1"),
        HighLevelAction(GO, "kitchen 0 counter 18"),
        HighLevelAction(LOOK, "kitchen 0 counter 18"),
        place,
    ]
    assert not plan.complete
    assert str(place) == "place saucer 1 on kitchen 0 counter 18"


@pytest.mark.parametrize(
    "reply",
    [
        PLAN.replace("\n", " "),
        PLAN.replace("\n", "\r\n"),
        PLAN.replace("\n", "\n\n"),
        PLAN.replace("\n", " \n - "),
        PLAN.replace(":", "."),
        "step 1:" + PLAN,
        f"Here is a plan\n```\nstep 1:{PLAN}\n```"[15:],
    ],
)
def test_lines_can_be_broken_otherwise(reply: str) -> None:
    expected = [step.action for step in parse_any_plan(PLAN, HOUSE).steps]
    assert [step.action for step in parse_any_plan(reply, HOUSE).steps] == expected


def test_without_normalization_only_the_prompts_form_is_understood() -> None:
    ended = PLAN + "\nmission complete"
    assert parse_plan(ended, HOUSE) == parse_any_plan(ended, HOUSE)
    other = (
        "I walk to saucer 1, then grab saucer 1.\n```\nstep 2: look at saucer 1\n```\nput saucer 1 in kitchen 0 sink 4"
    )
    assert [step.action for step in parse_any_plan(other, HOUSE).steps if step.action] != []
    plain = [step.action for step in parse_plan(other, HOUSE).steps]
    assert [action for action in plain if action] == [HighLevelAction(LOOK, "saucer 1")]


@pytest.mark.parametrize("step", ["", "step 1: ", "2. ", "Step 3) "])
def test_only_the_number_of_a_step_is_left_out(step: str) -> None:
    house = Vocabulary(("bedroom 1", "bedroom 2"), (), ("mug 2",))
    (found,) = parse_plan(f" {step}go to bedroom 1.", house).steps
    assert found.action == HighLevelAction(GO, "bedroom 1")
    (unknown,) = parse_plan(f" {step}pick up mug 1.", house).steps
    assert unknown.action is None and unknown.problem == "unknown: mug 1"


def test_the_first_actions_of_a_plan_are_taken_whatever_else_it_says() -> None:
    talk = "Sure.\n" * 3 + PLAN
    assert len([step for step in parse_plan(talk, HOUSE, most=2).steps if step.action]) == 2
    assert not [step for step in parse_any_plan(talk, HOUSE, most=2).steps if step.action]
    unknown = parse_plan("Well.\n" + "pick up unicorn 1\n" * 9 + PLAN, HOUSE, most=3).steps
    assert [step.raw for step in unknown] == ["Well.", *["pick up unicorn 1"] * 3]


def test_chatter_is_kept_as_steps_that_do_nothing() -> None:
    plan = parse_any_plan("Sure! Here is my plan:\n1. go to kitchen 0\n\nGood luck!", HOUSE)
    assert [step.action is None for step in plan.steps] == [True, False, True]
    assert plan.steps[0].raw == "Sure! Here is my plan:"


@pytest.mark.parametrize(
    "end",
    [
        "mission complete",
        "Mission complete!",
        "step 2: mission complete",
        "**Mission Complete.**",
        "The mission is complete.",
        "mission is now completed",
        "Task completed",
        "MISSION ACCOMPLISHED",
        "Mission complete! All is tidy.",
        "The mission is complete, as everything stands where it should.",
    ],
)
def test_the_end_is_heard(end: str) -> None:
    plan = parse_any_plan(f"go to kitchen 0\n{end}\nstep 3: go to bedroom 0", HOUSE)
    assert plan.complete
    assert [told(step.raw) for step in plan.steps] == ["go to kitchen 0"]
    assert parse_any_plan(end, HOUSE) == ParsedPlan((), complete=True)


@pytest.mark.parametrize(
    "line", ["step 1: go to kitchen 0, mission complete", "go to kitchen 0 and then the mission is complete."]
)
def test_a_step_before_the_end_on_the_same_line_counts(line: str) -> None:
    plan = parse_any_plan(line, HOUSE)
    assert [str(step.action) for step in plan.steps] == ["go to kitchen 0"] and plan.complete


@pytest.mark.parametrize(
    "text",
    [
        "mission is not complete",
        "complete the mission",
        "incomplete mission",
        "the task",
        "The mission is complete only when every mug is back.",
        "If the task is complete, stop.",
        "Mission complete is not yet possible",
        "go to mug 1 until the task is complete",
        "<think>Everything is there, the mission is complete.</think>",
        "<think>\nThe mission is complete.\n",
    ],
)
def test_the_end_is_not_heard_where_nobody_says_it(text: str) -> None:
    assert not parse_any_plan(said(text), HOUSE).complete


def said(text: str) -> str:
    """Return the reply in a model's text, without its reasoning."""
    return read_reply(RawReply(text), ChatRequest(())).text


def test_thinking_aloud_is_no_part_of_a_plan() -> None:
    reply = "<think>\nstep 1: go to bedroom 0?\nThe mission is complete.\n</think>\n\nstep 1: go to kitchen 0"
    plan = parse_any_plan(said(reply), HOUSE)
    assert [str(step.action) for step in plan.steps] == ["go to kitchen 0"] and not plan.complete


@pytest.mark.parametrize("mark", ["• ", "– ", "+ ", "Step 1 – ", "[1] ", "Action: ", "(1) ", "1) Then, "])
def test_steps_are_listed_in_many_ways(mark: str) -> None:
    (step,) = parse_any_plan(f"{mark}go to kitchen 0", HOUSE).steps
    assert str(step.action) == "go to kitchen 0"


def test_an_empty_reply_is_an_empty_plan() -> None:
    for reply in ("", " ", "\n\n\t", "---\n***\n```"):
        assert parse_any_plan(reply, HOUSE) == ParsedPlan(())


def test_a_plan_has_so_many_steps_and_no_more() -> None:
    long = "\n".join(f"step {number}: go to kitchen 0" for number in range(1, 30))
    assert len(parse_any_plan(long, HOUSE).steps) == 29
    assert len(parse_any_plan(long, HOUSE, most=10).steps) == 10
    assert not parse_any_plan(long + "\nmission complete", HOUSE, most=10).complete
    ten = "\n".join(["go to kitchen 0"] * 10)
    assert parse_any_plan(ten + "\nmission complete", HOUSE, most=10).complete


def test_a_plan_survives_being_written_and_read_again() -> None:
    places = (*HOUSE.rooms, *HOUSE.receptacles)
    actions = [HighLevelAction(kind, name) for kind in (GO, LOOK) for name in (*places, *HOUSE.objects)]
    actions += [HighLevelAction(PICK, name) for name in HOUSE.objects]
    actions += [HighLevelAction(PLACE, name, place) for name in HOUSE.objects for place in HOUSE.receptacles]
    for action in actions:
        assert parse_any_step(f"step 4: {action}", HOUSE).action == action


@pytest.mark.parametrize("unit", [",", "step 1: ", "place a on ", "go to a\n", "<think>", "\u00a0", "🤖"])
def test_of_a_long_reply_only_the_beginning_is_read_and_of_each_line(unit: str) -> None:
    reply = unit * (200_000 // len(unit))
    plan = parse_any_plan(reply, HOUSE)
    assert plan == parse_any_plan(reply[:20_000], HOUSE)
    assert all(len(step.raw) <= 300 for step in plan.steps)


LINES = ("place mug 1 on the sink", "pick the mug up", "go back to kitchen 0", "get saucer 1 off the bed", "look at x")
SPACES = st.text(" \t\u00a0\x85\x1f", min_size=1, max_size=30)


@given(st.sampled_from(LINES), st.lists(SPACES, min_size=6, max_size=6))
def test_white_space_means_nothing(line: str, spaces: list[str]) -> None:
    wide = "".join(word + space for word, space in zip(line.split(), spaces, strict=False))
    assert told(wide) == told(line)


BEFORE_END = st.lists(st.sampled_from(("and", "then", "so", "the", "step 3", "step", "x", "-", " ", ", ", ".", "\t")))


@settings(max_examples=500)
@given(BEFORE_END.map("".join) | st.text(max_size=40))
def test_what_leads_to_the_end_is_left_out(words: str) -> None:
    leading = re.compile(r"(?:[\s,;.:]|\b(?:and|then|so|now|the|step\s*\d+)\b)+$", re.IGNORECASE)
    assert _text_before_end(words) == leading.sub("", words)
