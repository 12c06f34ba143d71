"""Plans in many formats are read like the paper's, and hostile replies take little time."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.agent.personalize.plan_normalizer import parse_any_plan, parse_any_step
from housewise.agent.personalize.step_splitter import split_into_steps
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.name_resolution import Vocabulary

PICK, PLACE = ActionKind.PICK_UP, ActionKind.PLACE
HOUSE = Vocabulary(
    rooms=("study 0", "guest room 1"),
    receptacles=("study 0 desk 3", "guest room 1 shelf 12", "guest room 1 shelf 1"),
    objects=("lamp 1", "toy car 2"),
)
KNOWN = (*HOUSE.rooms, *HOUSE.receptacles, *HOUSE.objects)
PLAN = (
    "go to guest room 1",
    "go to toy car 2",
    "look at toy car 2",
    "pick up toy car 2",
    "go to study 0 desk 3",
    "place toy car 2 on study 0 desk 3",
    "look at lamp 1",
)
Steps = Sequence[str]


def steps_of(reply: str) -> list[str]:
    """Return the steps that are parsed."""
    return [str(step.action) for step in parse_any_plan(reply, HOUSE).steps if step.action]


def refused(reply: str) -> list[str]:
    """Return the problems of a reply without any valid step."""
    steps = parse_any_plan(reply, HOUSE).steps
    assert all(step.action is None for step in steps)
    return [step.problem for step in steps]


def words_of(step: str) -> list[str]:
    """Return the verb of a step and its names."""
    verb = next(verb for verb in ("go to", "look at", "pick up", "place") if step.startswith(verb))
    return [verb, *step.removeprefix(verb).strip().split(" on ")]


def numbered(form: str) -> Callable[[Steps], str]:
    return lambda steps: "\n".join(form.format(step, number=n) for n, step in enumerate(steps, start=1))


def counted(marks: str, form: str) -> Callable[[Steps], str]:
    return lambda steps: "\n".join(
        form.format(step, mark=mark) for mark, step in zip(marks.split(), steps, strict=False)
    )


def joined(between: str, before: str = "", behind: str = "") -> Callable[[Steps], str]:
    return lambda steps: before + between.join(steps) + behind


def called(form: str) -> Callable[[Steps], str]:
    def write(steps: Steps) -> str:
        calls = ((verb, ", ".join(form.format(name) for name in names)) for verb, *names in map(words_of, steps))
        return "\n".join(f"{verb.replace(' ', '_')}({said})" for verb, said in calls)

    return write


def objects(steps: Steps) -> list[dict[str, object]]:
    keys = ("action", "target", "destination")
    return [dict(zip(keys, words_of(step), strict=False)) for step in steps]


def nested(steps: Steps) -> list[dict[str, object]]:
    return [{"name": verb.replace(" ", "_"), "arguments": {"args": names}} for verb, *names in map(words_of, steps)]


def table(steps: Steps) -> str:
    rows = [f"| {n} | {step} | go on to study 0 |" for n, step in enumerate(steps, start=1)]
    return "\n".join(("| no. | what | why |", "|:---|:---:|---|", *rows))


def rows(steps: Steps) -> str:
    return "\n".join(("do | names", "---|---", *(" | ".join(["", *words_of(step), ""]).strip() for step in steps)))


def thinking(steps: Steps) -> str:
    done = [{"thought": "pick up lamp 1 later", "do": step, "step": n} for n, step in enumerate(steps, start=1)]
    return (
        f"My plan follows.\n```json\n{json.dumps({'reasoning': 'go to study 0', 'steps': done}, indent=2)}\n```\nGood?"
    )


FORMS: dict[str, Callable[[Steps], str]] = {
    "plain": numbered("step {number}: {}"),
    "full stops": numbered("{number}. {}."),
    "parts of a number": numbered("2.{number}. {}"),
    "number and letter": counted("a b c d e f g", "1{mark}) {}"),
    "letters": counted("A B C D E F G", "{mark}. {}"),
    "Roman": counted("i ii iii iv v vi vii", "({mark}) {}"),
    "of seven": numbered("[{number}/7] {}"),
    "words": counted("one two three four five six seven", "Step {mark}: {}"),
    "ordinals": counted("First Secondly Third Next Then After_that Finally", "{mark}, {}"),
    "keycaps": numbered("{number}\ufe0f\u20e3 {}"),
    "circled": counted("① ② ③ ④ ⑤ ⑥ ⑦", "{mark}{}"),
    "German": numbered("Schritt {number}: {}"),
    "French": numbered("Étape {number} : {}"),
    "Spanish": numbered("{number}.- {}"),
    "Chinese": numbered("步骤{number}：{}"),
    "Japanese": numbered("・{}"),
    "Arabic digits": counted("١ ٢ ٣ ٤ ٥ ٦ ٧", "{mark}. {}"),
    "headings": numbered("## Step {number}\n**{}**\n"),
    "bold": numbered("{number}. **{}**"),
    "quotation": numbered("> “{}”"),
    "boxes": numbered("- [ ] {}"),
    "ticked": numbered("{number}. [x] {}"),
    "emoji": numbered("👉 {}"),
    "I will": numbered("{number}. I will {}."),
    "I'll": numbered("Then I’ll {}"),
    "I am going to": numbered("I'm going to {}"),
    "let us": numbered("Let's {}!"),
    "the robot": numbered("The robot should {}."),
    "label": numbered("Action {number}: {}"),
    "dash": numbered("{number}. {} - it has to be done"),
    "long dash": numbered("{} — I have not been there"),
    "parentheses": numbered("{number}. {} (to be sure, if needed or not)"),
    "because": numbered("{number}. {} because it is the nearest."),
    "purpose": numbered("{number}. {} to see if anything is misplaced"),
    "next sentence": numbered("{number}. {}. It is the next thing to do."),
    "colon": numbered("{number}. {}: it is near"),
    "comment": numbered("{}  # nothing is known of it"),
    "reason on its line": numbered("{number}. {}\n   Reason: go to study 0 later"),
    "commas": joined(", "),
    "semicolons": joined("; ", behind="."),
    "arrows": joined(" → "),
    "then": joined(", then ", before="First, "),
    "and": joined(" and "),
    "sentences": joined(". ", behind="."),
    "numbers in a line": lambda steps: " ".join(f"{n}) {step}" for n, step in enumerate(steps, start=1)),
    "escaped": joined("\\n"),
    "breaks": joined("<br/>"),
    "full width": lambda steps: "\n".join(steps).translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "zero width": lambda steps: "\u200b".join("\n".join(steps)),
    "table": table,
    "table of verbs": rows,
    "calls": called('"{}"'),
    "keywords": called("name='{}'"),
    "identifiers": lambda steps: called("{}")(steps).replace(" ", "_"),
    "list": lambda steps: json.dumps(list(steps)),
    "Python": lambda steps: repr(list(steps)),
    "objects": lambda steps: json.dumps(objects(steps), indent=1),
    "lines of JSON": lambda steps: "\n".join(map(json.dumps, objects(steps))),
    "nested": lambda steps: json.dumps({"calls": nested(steps)}),
    "tools": lambda steps: "".join(f"<tool_call>{json.dumps(each)}</tool_call>" for each in nested(steps)),
    "keyed": lambda steps: json.dumps({f"step {n}": step for n, step in enumerate(steps)}),
    "verbs as keys": lambda steps: json.dumps([{verb: names} for verb, *names in map(words_of, steps)]),
    "thoughts in JSON": thinking,
    "XML": joined('</step><step n="1">', before="<answer><step>", behind="</step></answer>"),
    "reasons in XML": numbered("<step><action>{}</action><why>go to study 0</why></step>"),
    "HTML": joined("</b></li><li><b>", before="<ol><li><b>", behind="</b></li></ol>"),
    "fence": lambda steps: "Sure:\n```text\n" + "\n".join(steps) + "\n```\nThat is all.",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_says_the_same_in_every_form(form: str) -> None:
    assert steps_of(FORMS[form](PLAN).replace("After_that", "After that")) == list(PLAN)


ACTIONS = [f"{verb} {name}" for verb in ("go to", "look at") for name in KNOWN]
ACTIONS += [f"pick up {name}" for name in HOUSE.objects]
ACTIONS += [f"place {name} on {place}" for name in HOUSE.objects for place in HOUSE.receptacles]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(FORMS)), st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=7))
def test_any_plan_says_the_same_in_any_form(form: str, steps: list[str]) -> None:
    assert steps_of(FORMS[form](steps).replace("After_that", "After that")) == steps


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(sorted(FORMS)), min_size=2, max_size=4))
def test_forms_can_be_mixed(forms: list[str]) -> None:
    texts = [FORMS[form](PLAN[:3]).replace("After_that", "After that") for form in forms]
    assert steps_of("\n\n".join(texts)) == [*PLAN[:3]] * len(forms)


@pytest.mark.parametrize(
    ("reply", "steps"),
    [
        ("Going to study 0\nPicking up the lamp\nPutting the lamp on the desk", ["go to study 0", "pick up lamp 1"]),
        ("Navigate[toy_car_2]\nPick[toy_car_2]\nExplore[study_0]", ["go to toy car 2", "pick up toy car 2"]),
        ("Rearrange[lamp_1, on, study_0_desk_3, None, None]", ["go to lamp 1", "pick up lamp 1"]),
        ("Pick up: lamp 1\n- target: study 0", ["pick up lamp 1"]),
        ("Go to:\n- study 0", ["go to study 0"]),
        ("1. Explore\n  1.1 go to study 0\n2. Tidy\n  2.1 pick up lamp 1", ["go to study 0", "pick up lamp 1"]),
        ("go to the study 0. go to guest room 1.", ["go to study 0", "go to guest room 1"]),
        ('<step n="1"/>\n<action name="go_to" target="study 0"/>', ["go to study 0"]),
        ("go to <guest room 1>", ["go to guest room 1"]),
        ("go to <room>study 0</room>", ["go to study 0"]),
        ("{'plan': ['go to study 0', 'pick up lamp 1',]}", ["go to study 0", "pick up lamp 1"]),
    ],
)
def test_other_words_and_slips(reply: str, steps: list[str]) -> None:
    assert steps_of(reply)[: len(steps)] == steps


@pytest.mark.parametrize("end", ["Done[]", '{"mission_complete": true}', "<answer>mission complete</answer>"])
def test_the_end_is_heard_in_other_forms(end: str) -> None:
    plan = parse_any_plan(f"go to study 0\n{end}", HOUSE)
    assert plan.complete and [str(step.action) for step in plan.steps] == ["go to study 0"]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("go to the attic because it is large", "unknown: attic"),
        ('go_to("study 7")', "unknown: study 7"),
        ('[{"action": "pick up", "object": "vase 1"}]', "unknown: vase 1"),
        ("place lamp 1, toy car 2 on study 0 desk 3", "unknown: lamp 1 toy car 2"),
        ("go to study 0, guest room 1", "unknown: study 0 guest room 1"),
        ("take lamp 1 to the desk", "unknown: lamp 1 to desk"),
        # What is not to be done, or under a condition alone.
        ("I will not go to study 0", "not an action"),
        ("Don't go to study 0", "not an action"),
        ("❌ go to study 0", "not an action"),
        ("If the lamp is off, go to study 0", "not an action"),
        ("go to study 0 if the lamp is off", "unknown: study 0 if lamp is off"),
        ("pick up lamp 1 (if it is there)", "unknown: lamp 1 if it is there"),
        ("pick up lamp 1 - only if it is there", "unknown: lamp 1 only if it is there"),
        ("go to study 0 (not needed)", "unknown: study 0 not needed"),
        ("go to study 0 unless it is dark, then pick up lamp 1", "unknown: study 0 unless"),
        ('{"action": "fly", "target": "study 0"}', "not an action"),
    ],
)
def test_what_is_no_known_step_is_refused(reply: str, problem: str) -> None:
    assert any(said.startswith(problem) for said in refused(reply)), refused(reply)


@pytest.mark.parametrize("step", ACTIONS)
def test_a_plan_in_the_papers_form_stays_as_it_is(step: str) -> None:
    lines = [f"step 1: {step}", f"step 2: {step}", "The study is fine.", "mission complete"]
    assert split_into_steps("\n".join(lines)) == lines
    assert parse_any_step(lines[0], HOUSE).raw == lines[0]


PIECES = [
    *(*"[]{}()<>|,;:.-*`'\"\\\n \t0#=&", "step 1", "go to ", "place ", " on ", *KNOWN, "then ", "and ", "if "),
    *("to see", *(f"step {number}: {step}\n" for number, step in enumerate(PLAN, start=1))),
]
PIECES += [
    *('{"action": "', '["', "<step>", "</step>", "<br>", "\\n", "①", "\u200b", "\ud800", "go_to(", "Done[]", "true"),
    *("step", "1.", "- ", "**", "pick ", "up", " in ", "mission complete", "mission is", "the"),
    *("\x00", "\u2028", "\ufeff", "é", "🤖", "İ", "٣"),
]


@settings(max_examples=300)
@given(st.text(max_size=400) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_reply_gives_steps_with_known_names_or_problems(reply: str) -> None:
    assert len(parse_any_plan(reply, HOUSE, most=10).steps) <= 10
    for step in parse_any_plan(reply, HOUSE).steps:
        assert (step.action is None) == bool(step.problem) and len(step.raw) <= 300
        if step.action is None:
            continue
        kind, target, destination = step.action.kind, step.action.target, step.action.destination
        assert (destination in HOUSE.receptacles) if kind == PLACE else destination is None
        assert target in (HOUSE.objects if kind in (PICK, PLACE) else KNOWN)


HOSTILE = ("[", '["', '{"a":', "[[1],", '"', '\\"', "(", "<a>", "<go_to>", '<a b="c"/>', "|", "|a", "||-\n", "-", " - ")
HOSTILE += ("0.", "1) ", ",a", ", go to a", "go to a if b, ", "then ", "step 1 ", "i will ", "go to: ", "go_to(")
HOSTILE += ("to see ", "because ", "a:b,", '["a",', "①", "一、", "\\n", "place a on ", "and then ", " ", "\n")
HOSTILE += ("<think>", "</think>", "mission ", "mission is ", "plan is now ", "step1:", "pick a up ", "from ", "* ")
HOSTILE += ("- 1. ", "go to a\n", "a-", "a'", "\u00a0", "**", "🤖")

HANGS = """
import sys, time
from housewise.agent.personalize.plan_normalizer import parse_any_plan
from housewise.worlds.house.name_resolution import Vocabulary
def parse(text):
    start = time.process_time()
    parse_any_plan(text, Vocabulary())
    assert time.process_time() - start < 2, ascii(text[:50])
for unit in sys.argv[1:]:
    for start in ("", "go to a ", '{"action":"go to",', "| 1 |"):
        parse((start + unit * 4_000)[:4_000])
    parse(unit * (200_000 // len(unit)))
    parse((unit * 4_000)[:4_000] + "x mission complete")
for start in ("place", "place a", "place a on", "pick", "pick a", "go", "go to a", "take a from", "step 1"):
    for unit in (" ", "\\t", "a ", " on", " up", " from", "from ", " and", ",", "step 1", " mission"):
        for line in ((start + unit * 300)[:290] + "x", (start + unit * 300)[:280] + "x mission complete"):
            parse("\\n".join([line] * 10))
"""


@pytest.mark.slow
def test_no_hostile_reply_takes_long() -> None:
    """A backtracking pattern would take minutes for one structure, and a third of a second for one line."""
    subprocess.run([sys.executable, "-c", HANGS, *HOSTILE], check=True, timeout=120)
