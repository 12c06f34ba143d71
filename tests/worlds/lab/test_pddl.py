"""The planner and the rules agree with an independent planner and an independent validator, on 200 scenarios.

The lab's rules are written in PDDL (housewise.experiments.bench.lab_pddl). Fast Downward (GPL-3.0, run as a program)
searches for plans, and unified-planning (Apache-2.0) validates ours. 140 scenarios are those of the variants without
clutter, which only makes the search slow; 60 more are made harder by accidents, and 15 of these lose what they need.
"""

import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from housewise.experiments.bench.lab_pddl import EFFECTS, REQUIREMENTS, domain_text
from housewise.experiments.bench.lab_pddl_problems import Fact, expression, facts, objects, open_problem, plan_in_pddl
from housewise.worlds.lab.goals import Goal
from housewise.worlds.lab.kinds import COMPUTERS, KINDS
from housewise.worlds.lab.planner import make_plan
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import draw_scenario
from housewise.worlds.lab.state import Flag, LabState, Thing
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import VARIANTS
from tests.worlds.lab.pddl_goals import goal_facts, plan_of_pddl

SPACE = OpenSpace()
SOLVED, UNSOLVABLE = (0,), (10, 11)
"""Exit codes of Fast Downward. A search that gives up (12) is no proof, so that it counts as neither."""
SEARCH = ("--evaluator", "h=ff()", "--search", "lazy_greedy([h], preferred=[h])")


def draw_state(number: int) -> tuple[LabState, Goal]:
    """The state and the goal of one of the 200 scenarios."""
    rng = random.Random(number)
    hopeless = [each for each in VARIANTS if each.goal.task in LOSSES]
    variant = VARIANTS[number % len(VARIANTS)] if number < 140 else rng.choice(VARIANTS if number < 185 else hopeless)
    scenario = draw_scenario(variant, number, "test" if number < 70 else "training")
    needed = {variant.goal.kind, variant.needed}
    tools = {"hammer", "dart", "virus_floppy", "antivirus_floppy", "control_panel", "lever"}
    things = [each for each in scenario.state.things
              if "pickupable" not in KINDS[each.kind].properties or {each.kind, each.original} & (needed | tools)
              or each.kind.endswith("_cartridge") or each.flags]  # fmt: skip
    state = replace(scenario.state, things=tuple(things))
    for accident in rng.sample(ACCIDENTS, rng.randint(1, 3)) if number >= 140 else ():
        state = accident(state)
    return (state if number < 185 else LOSSES[variant.goal.task](state)), variant.goal


def _without(*kinds: str) -> Callable[[LabState], LabState]:
    return lambda state: replace(state, things=tuple(
        each for each in state.things if not {each.kind, each.original} & {*kinds} or each.id == state.held
    ))  # fmt: skip


def _flagged(flag: Flag, *kinds: str) -> Callable[[LabState], LabState]:
    return lambda state: state.with_thing(*[each.with_flags(flag) for each in state.things if each.kind in kinds])


def _occupied(state: LabState) -> LabState:
    """Devices that hold one thing hold one."""
    added = [
        Thing(f"stapler_{number}", "stapler", "black", frozenset(), state[id].room, id, state.free_spot(id))
        for number, id in enumerate(each.id for each in state.things)
        if state[id].kind in ("carrot_maker", "time_machine", "embiggenator", "portal_generator", "color_changer")
        and len(state.contents.get(id, ())) < KINDS[state[id].kind].spots
    ]
    return replace(state, things=tuple(sorted((*state.things, *added), key=lambda each: each.id)))


def _loaded_printer(state: LabState) -> LabState:
    cartridge = next((each for each in state.things if each.kind == "mug_cartridge"), None)
    if cartridge is None or cartridge.flags:
        return state
    return state.with_thing(replace(cartridge, container="printer_1", room="robotics lab", spot=0))


def _full_hand(state: LabState) -> LabState:
    dart = next((each for each in state.things if each.kind == "dart" and not each.flags), None)
    if dart is None or state.held is not None:
        return state
    return replace(state.with_thing(replace(dart, container=None, room="", spot=0)), held=dart.id)


def _blocked(state: LabState) -> LabState:
    if state.blocked or state.room == "robotics lab":
        return state
    crate = Thing("crate_1", "crate", "brown", frozenset(), "robotics lab")
    things = tuple(sorted((*state.things, crate), key=lambda each: each.id))
    return replace(state, things=things, blocked=frozenset({"robotics lab"}))


ACCIDENTS: tuple[Callable[[LabState], LabState], ...] = (
    _without("antivirus_floppy"), _without("lever"), _without("control_panel"), _without("hammer", "hammer_cartridge"),
    lambda state: replace(state, powered=frozenset()), _flagged("infected", *COMPUTERS), _occupied, _loaded_printer,
    _full_hand, _blocked, _flagged("open", "fuse_box", "time_machine"),
)  # fmt: skip

LOSSES = {
    "assemble_fusebox": _without("lever", "lever_cartridge"), "assemble_laser": _without("control_panel"),
    "break": _without("hammer", "hammer_cartridge"), "dart": _without("dart"),
    "disinfect_computer": _without("antivirus_floppy"), "infect_computer": _without("virus_floppy"),
}  # fmt: skip
"""What makes a task impossible."""


def test_every_requirement_and_effect_of_the_rules_has_a_meaning_in_pddl() -> None:
    text = domain_text()
    assert text.count("(:action") == text.count(":effect") and text.count("(") == text.count(")")
    assert all(meaning in text for meaning in REQUIREMENTS.values())
    assert all(meaning.effect in text for meaning in EFFECTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("number", range(200))
def test_both_planners_agree_and_each_validates_the_others_plan(number: int, tmp_path: Path) -> None:
    pytest.importorskip("unified_planning")
    pytest.importorskip("up_fast_downward")
    state, goal = draw_state(number)
    ours = make_plan(state, goal, SPACE)
    after = state
    events: set[str] = set()
    for each in ours:
        after, outcome = step(after, each.action, SPACE)
        events |= set(outcome.events)
    solved = goal.holds(after, events)
    assert not solved or _is_valid(state, goal, plan_in_pddl(state, ours)), [str(each.action) for each in ours]
    theirs = search(state, goal, tmp_path)
    assert (theirs is not None) == solved, theirs
    after, events = state, set()
    for action in plan_of_pddl(theirs or []):
        after, outcome = step(after, action, SPACE)
        assert outcome.succeeded, (theirs, action, outcome)
        events |= set(outcome.events)
    assert goal.holds(after, events) == solved


def _text(fact: Fact) -> str:
    return f"({' '.join(fact)})"


def search(state: LabState, goal: Goal, folder: Path) -> list[Fact] | None:
    """Return the plan of Fast Downward, or None if there is none."""
    import up_fast_downward

    wanted = " ".join(
        f"(and {' '.join(_text(fact) if holds else f'(not {_text(fact)})' for holds, fact in each)})"
        for each in goal_facts(goal, state)
    )
    declared = " ".join(f"{' '.join(names)} - {kind}" for kind, names in objects(state).items())
    init = " ".join(sorted({_text(fact) for fact in facts(state)}))
    problem = f"(define (problem p) (:domain lab) (:objects {declared}) (:init {init}) (:goal (or {wanted})))"
    (folder / "domain.pddl").write_text(domain_text(goes_to_things=False))
    (folder / "problem.pddl").write_text(problem)
    translate = (sys.executable, "-m", "fast_downward.translate", "domain.pddl", "problem.pddl")
    subprocess.run((*translate, "--sas-file", "task.sas"), cwd=folder, check=True, capture_output=True)
    program = Path(up_fast_downward.__file__).parent / "downward" / "builds" / "release" / "bin" / "downward"
    with (folder / "task.sas").open() as task:
        command = (str(program), *SEARCH, "--internal-plan-file", "plan")
        done = subprocess.run(command, cwd=folder, stdin=task, capture_output=True, check=False, timeout=300)
    assert done.returncode in (*SOLVED, *UNSOLVABLE), done.stdout[-500:]
    if done.returncode in UNSOLVABLE:
        return None
    lines = [line for line in (folder / "plan").read_text().splitlines() if line.startswith("(")]
    return [tuple(line.strip("()").split()) for line in lines]


def _is_valid(state: LabState, goal: Goal, plan: list[Fact]) -> bool:
    """Return whether a plan is valid, by unified-planning."""
    from unified_planning.plans import ActionInstance, SequentialPlan
    from unified_planning.shortcuts import And, Not, Or, PlanValidator

    problem = open_problem(state)
    problem.add_goal(Or([
        And([expression(problem, fact) if holds else Not(expression(problem, fact)) for holds, fact in each])
        for each in goal_facts(goal, state)
    ]))  # fmt: skip
    actions = [ActionInstance(problem.action(name), list(map(problem.object, rest))) for name, *rest in plan]
    with PlanValidator(name="sequential_plan_validator") as validator:
        return bool(validator.validate(problem, SequentialPlan(actions)))
