"""The rules of the lab in PDDL: a domain out of the rule table.

The structure is the table's: which rule is about which kinds, what it requires and what it does. What a requirement or
an effect means is written here a second time, in PDDL, because in the table both are functions of Python. One of the
table that has no meaning here is an error, so that none can be forgotten.

Not in the domain: space (people can go everywhere, as in OpenSpace), water and milk (no scenario has them), a second
print of the same cartridge, and dying: what hurts cannot be done.
"""

from collections.abc import Callable
from dataclasses import dataclass

from housewise.worlds.lab import effects, rule_table
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rule_table import RULES, LabRule, Requirement, find_rule
from housewise.worlds.lab.situation import ActionSituation
from housewise.worlds.lab.state import LabState, Thing

_FREE_SPOT = "(spot_of ?s ?t) (placeable ?s) (free ?s)"

REQUIREMENTS: dict[Requirement, str] = {
    rule_table.FREE_WAY: "(or (not (blocked ?r)) (beside_box ?t))",
    rule_table.POWER: "(lit ?r)",
    rule_table.FREE_HAND: "(hand_free)",
    rule_table.HELD: "(held ?x)",
    rule_table.HAMMER: "(exists (?y - thing) (and (held ?y) (hammer ?y) (not (carrot ?y))))",
    rule_table.SMALL: "(not (large ?t))",
    rule_table.LANDED: "(not (floating ?t))",
    rule_table.LOOSE: "(not (mounted ?t))",
    rule_table.CLOSED: "(not (open ?t))",
    rule_table.OPEN: "(open ?t)",
    rule_table.OPENED: "(or (not (openable ?t)) (open ?t))",
    rule_table.DOOR_SHUT: "(not (open ?t))",
    rule_table.FITS: "(or (takes_all ?t) (and (fits ?x ?t) (not (carrot ?x))))",
    rule_table.FREE_SLOT: _FREE_SPOT,
    rule_table.SPOT: _FREE_SPOT,
    rule_table.BEANS_SPOT: "(furniture ?g) (in ?g ?r) (spot_of ?s ?g) (free ?s)",
    rule_table.LOADED: "(exists (?f - spot) (and (spot_of ?f ?t) (placeable ?f) (not (free ?f))))",
    rule_table.ON_MACHINE:
        "(exists (?v - thing ?f - spot) (and (runs ?t ?v) (spot_of ?f ?v) (placeable ?f) (not (free ?f))))",
    rule_table.CARTRIDGE: "(on ?x ?t) (cartridge ?x) (not (carrot ?x))",
    rule_table.FREE_BED: "(spot_of ?s ?t) (not (placeable ?s)) (free ?s)",
    rule_table.CLEAN: "(not (infected ?t))",
    rule_table.ASSEMBLED: "(exists (?v ?y - thing) (and (runs ?t ?v) (on ?y ?v) (control_panel ?y)))",
    rule_table.BY_MONITOR: "(never)",
    rule_table.BY_LEVER: "(never)",
    rule_table.IN_BOX: "(mounted ?t)",
    rule_table.WHOLE: "(not (broken ?t))",
    rule_table.FILLED: "(held ?x) (fillable ?x) (not (carrot ?x)) (coffee ?x)",
    rule_table.EMPTY: "(not (coffee ?t))",
    rule_table.COFFEE: "(coffee ?t)",
    rule_table.BLOCKED: "(exists (?q - room) (blocked ?q))",
    rule_table.TARGET: "(receptacle ?t)",
}  # fmt: skip
"""Meaning of each requirement for a thing ?t that is dealt with in the room ?r.

The held thing ?x, the spot ?s and the furniture ?g are parameters of the effect of the same rule."""


@dataclass(frozen=True)
class PddlEffect:
    """Meaning of an effect.

    Attributes:
        parameters: Parameters besides ?t and ?r.
        condition: What the parameters are.
        effect: What changes.
    """

    parameters: str
    condition: str
    effect: str


_PLACED = """
    (not (held ?x)) (hand_free) (on ?x ?t) (in ?x ?r) (at_spot ?x ?s) (not (free ?s))
    (when (and (infectable ?t) (lit ?r) (virus_floppy ?x) (not (broken ?x))) (infected ?t))
    (when (and (infectable ?t) (lit ?r) (antivirus_floppy ?x) (not (broken ?x))) (not (infected ?t)))
    (when (and (portal_generator ?t) (active ?t) (eatable ?x) (not (eaten ?x))) (and (fed ?t) (eaten ?x)))
    (when (and (portal_generator ?t) (active ?t) (carrot ?x) (not (eaten ?x))) (and (fed ?t) (eaten ?x)))
    (when (and (gravity_flipper ?t) (active ?t)) (floating ?x))
    (when (and (lever ?x) (fuse_box ?t)) (mounted ?x))
    (when (and (control_panel ?x) (laser_cannon ?t)) (mounted ?x))"""
_PUT = ("?x - thing ?s - spot", "")


def _fire(shelf: str, needed: str, now: str, before: str, more: str) -> PddlEffect:
    """Return the meaning of a shot, with what else becomes of what is hit."""
    hit = f"(on ?y ?g) ({shelf} ?g) ({needed} ?y) (not (carrot ?y))"
    return PddlEffect(
        "?m - thing", "(runs ?t ?m)",
        f"(fired ?m) (forall (?y ?g - thing) (when (and {hit}) (and ({now} ?y) (not ({before} ?y))))) {more}",
    )  # fmt: skip


EFFECTS: dict[Callable[..., object], PddlEffect] = {
    effects.pick_up: PddlEffect(
        "?h - thing ?s - spot", "(on ?t ?h) (in ?h ?r) (at_spot ?t ?s) (spot_of ?s ?h)",
        "(held ?t) (not (hand_free)) (not (on ?t ?h)) (not (in ?t ?r)) (not (at_spot ?t ?s)) (free ?s)",
    ),
    effects.place: PddlEffect(*_PUT, _PLACED),
    effects.throw: PddlEffect(*_PUT, f"{_PLACED} (when (and (dart ?x) (not (carrot ?x)) (dart_board ?t)) (dart_hit))"),
    effects.set_open: PddlEffect("", "", "(open ?t) (forall (?y - thing) (when (on ?y ?t) (not (enclosed ?y))))"),
    effects.set_closed: PddlEffect("", "", "(not (open ?t)) (forall (?y - thing) (when (on ?y ?t) (enclosed ?y)))"),
    effects.set_broken: PddlEffect("", "", "(broken ?t)"),
    effects.pour: PddlEffect("?x - thing", "", "(coffee ?t) (not (coffee ?x))"),
    effects.print_thing: PddlEffect(
        "?x ?n - thing ?s - spot",
        "(prints ?x ?n) (absent ?n)",
        "(not (absent ?n)) (printed ?n) (on ?n ?t) (in ?n ?r) (at_spot ?n ?s) (not (free ?s))",
    ),
    effects.rewind: PddlEffect(
        "", "",
        """(forall (?y - thing) (when (on ?y ?t) (and (not (broken ?y)) (not (eaten ?y)) (not (carrot ?y)))))
    (forall (?y - thing ?c - color)
      (when (and (on ?y ?t) (carrot ?y) (has_color ?y orange) (usual ?y ?c)) (has_color ?y ?c)))
    (forall (?y - thing)
      (when (and (on ?y ?t) (carrot ?y) (has_color ?y orange) (not (usual ?y orange))) (not (has_color ?y orange))))""",
    ),
    effects.make_carrot: PddlEffect(
        "", "",
        """(forall (?y - thing) (when (and (on ?y ?t) (not (carrot ?y))) (and (carrot ?y) (has_color ?y orange))))
    (forall (?y - thing ?c - color)
      (when (and (on ?y ?t) (not (carrot ?y)) (has_color ?y ?c) (not (= ?c orange))) (not (has_color ?y ?c))))""",
    ),
    effects.unmake: PddlEffect(
        "?g - thing ?s - spot", "",
        "(beans) (not (coffee ?t)) (not (free ?s))",
    ),
    effects.free_way: PddlEffect(
        "", "", "(forall (?q - room) (not (blocked ?q))) (forall (?y - thing) (when (crate ?y) (not (in ?y ?r))))"
    ),
    effects.paint: PddlEffect(
        "?m - thing ?k - color", "(runs ?t ?m) (paints ?t ?k)",
        """(forall (?y - thing) (when (and (on ?y ?m) (not (mounted ?y))) (has_color ?y ?k)))
    (forall (?y - thing ?c - color)
      (when (and (on ?y ?m) (not (mounted ?y)) (has_color ?y ?c) (not (= ?c ?k))) (not (has_color ?y ?c))))""",
    ),
    effects.heat_shelf: _fire(
        "red_shelf", "heatable", "hot", "cold",
        "(forall (?y ?g - thing) "
        "(when (and (on ?y ?g) (red_shelf ?g) (virus_floppy ?y) (not (carrot ?y))) (broken ?y)))",
    ),
    effects.cool_shelf: _fire("blue_shelf", "chillable", "cold", "hot", ""),
    effects.flip_gravity: PddlEffect(
        "?m - thing", "(runs ?t ?m)",
        """(when (active ?m) (not (active ?m))) (when (not (active ?m)) (active ?m))
    (forall (?y - thing) (when (and (on ?y ?m) (active ?m)) (not (floating ?y))))
    (forall (?y - thing) (when (and (on ?y ?m) (not (active ?m))) (floating ?y)))""",
    ),
    effects.flip_size: PddlEffect(
        "?m - thing", "(runs ?t ?m)",
        """(forall (?y - thing) (when (and (on ?y ?m) (large ?y)) (not (large ?y))))
    (forall (?y - thing) (when (and (on ?y ?m) (not (large ?y))) (large ?y)))""",
    ),
    effects.switch_portal: PddlEffect(
        "?m - thing", "(runs ?t ?m)",
        """(when (active ?m) (not (active ?m))) (when (not (active ?m)) (active ?m))
    (forall (?y - thing)
      (when (and (not (active ?m)) (on ?y ?m) (eatable ?y) (not (eaten ?y))) (and (fed ?m) (eaten ?y))))
    (forall (?y - thing)
      (when (and (not (active ?m)) (on ?y ?m) (carrot ?y) (not (eaten ?y))) (and (fed ?m) (eaten ?y))))""",
    ),
    effects.flip_switch: PddlEffect(
        "", "", "(when (active ?t) (not (active ?t))) (when (not (active ?t)) (active ?t))"
    ),
    effects.flip_power: PddlEffect(
        "", "",
        """(forall (?q - room) (when (and (circuit ?q ?r) (lit ?q)) (not (lit ?q))))
    (forall (?q - room) (when (and (circuit ?q ?r) (not (lit ?q))) (lit ?q)))""",
    ),
}  # fmt: skip
"""Meaning of each effect."""

KIND_PREDICATES = (
    "hammer", "virus_floppy", "antivirus_floppy", "portal_generator", "gravity_flipper", "lever", "fuse_box",
    "control_panel", "laser_cannon", "dart", "dart_board", "red_shelf", "blue_shelf", "crate",
)  # fmt: skip
PROPERTY_PREDICATES = ("openable", "receptacle", "infectable", "eatable", "heatable", "chillable", "fillable")
FLAG_PREDICATES = ("open", "broken", "hot", "cold", "eaten", "infected", "large", "floating", "fed", "fired", "coffee")
_OTHER = """(at ?r - room) (in ?t - thing ?r - room) (on ?t ?h - thing) (at_spot ?t - thing ?s - spot) (free ?s - spot)
    (spot_of ?s - spot ?h - thing) (placeable ?s - spot) (held ?t - thing) (hand_free) (near ?t - thing)
    (enclosed ?t - thing) (mounted ?t - thing) (carrot ?t - thing) (active ?t - thing) (absent ?t - thing)
    (printed ?t - thing) (dart_hit) (beans) (never) (lit ?r - room) (circuit ?q ?r - room) (blocked ?r - room)
    (beside_box ?t - thing) (fixture ?t - thing) (furniture ?t - thing) (cartridge ?t - thing) (takes_all ?t - thing)
    (fits ?x ?t - thing) (runs ?t ?m - thing) (prints ?x ?n - thing) (paints ?t - thing ?c - color)
    (has_color ?t - thing ?c - color) (usual ?t - thing ?c - color)"""
_GO = f"(at ?r) (in ?t ?r) (not (enclosed ?t)) {REQUIREMENTS[rule_table.FREE_WAY]}"


def rule_number(verb: str, kind: str) -> int | None:
    """Return the number of the rule of an action on a kind of thing, or None if the action is unsupported."""
    rule = find_rule(ActionSituation(LabState(()), verb, Thing("", kind, "")))  # type: ignore[arg-type]
    return None if rule is None else RULES.index(rule)


_GO_TO_THING = f"""
  (:action gotoobject_on
    :parameters (?t - thing ?r - room ?h ?o - thing)
    :precondition (and {_GO} (on ?t ?h) (in ?h ?r) (not (floating ?t)) (near ?o) (not (= ?o ?h)))
    :effect (and (near ?h) (not (near ?o))))
"""


def domain_text(goes_to_things: bool = True) -> str:
    """Return the domain.

    Args:
        goes_to_things: Whether people can go to what lies on a fixture. Going to the fixture leads to the same place,
            so a search, which it would slow down, needs only that.
    """
    unary = " ".join(f"({name} ?t - thing)" for name in (*KIND_PREDICATES, *PROPERTY_PREDICATES, *FLAG_PREDICATES))
    rules = " ".join(f"(rule_{number} ?t - thing)" for number in range(len(RULES)))
    colors = " ".join(sorted({color for kind in KINDS.values() for color in kind.colors}))
    actions = "\n".join(_action(number, rule) for number, rule in enumerate(RULES))
    return f"""(define (domain lab)
  (:requirements :adl :typing)
  (:types thing room spot color)
  (:constants {colors} - color nowhere - thing)
  (:predicates {unary} {rules}
    {_OTHER})
  (:action gotoroom
    :parameters (?r ?q - room ?o - thing)
    :precondition (and (at ?r) (not (= ?r ?q)) (near ?o))
    :effect (and (not (at ?r)) (at ?q) (near nowhere) (when (not (= ?o nowhere)) (not (near ?o)))))
  (:action gotoobject_fixture
    :parameters (?t - thing ?r - room ?o - thing)
    :precondition (and {_GO} (fixture ?t) (not (and (gravity_flipper ?t) (active ?t))) (near ?o) (not (= ?o ?t)))
    :effect (and (near ?t) (not (near ?o))))
{_GO_TO_THING if goes_to_things else ""}{actions})
"""


def _action(number: int, rule: LabRule) -> str:
    meaning = EFFECTS[rule.effect]
    required = " ".join(REQUIREMENTS[each] for each in (rule_table.LANDED, *rule.requires))
    # A carrot has the rules of carrots, whatever it was before.
    kind = (
        f"(rule_{number} ?t)" if rule_number(rule.verb, "carrot") == number else f"(rule_{number} ?t) (not (carrot ?t))"
    )
    kinds = [each for each in KINDS.values() if rule_number(rule.verb, each.key) == number]
    reach = "(near ?t)" if rule.effect is not effects.pick_up else "(near ?h)"
    if rule.verb == "Throw":
        reach = ""
    elif rule.effect is not effects.pick_up and any("pickupable" in each.properties for each in kinds):
        reach = "(or (near ?t) (exists (?y - thing) (and (on ?t ?y) (in ?y ?r) (near ?y))))"
    elif all(each.key.endswith("_button") for each in kinds):
        reach = "(exists (?y - thing) (and (on ?t ?y) (in ?y ?r) (near ?y)))"
    return f"""  (:action {rule.verb.lower()}_{number}
    :parameters (?t - thing ?r - room {meaning.parameters})
    :precondition (and {_GO} {kind} {reach} {required} {meaning.condition})
    :effect (and {meaning.effect}))"""
