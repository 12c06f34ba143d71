"""Tables of the lab's devices and rules, drawn from the table of rules that the lab is run by."""

from __future__ import annotations

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import Drawn, markdown
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rule_table import RULES, LabRule


def _draw_devices(files: FigureFiles) -> str:
    rows = [
        (
            kind.name,
            kind.fuzzy or "",
            kind.look,
            kind.room or "anywhere",
            KINDS[kind.monitor].name if kind.monitor else "",
        )
        for kind in KINDS.values()
        if not kind.is_common
    ]
    return markdown(("thing", "called by others", "look", "room", "run by"), rows)


def _draw_rules(files: FigureFiles) -> str:
    rows = [
        (rule.verb, _things(rule), rule.text, ", ".join(each.name for each in rule.requires))
        for rule in RULES
        if not rule.text.startswith("Fails")
    ]
    return markdown(("action", "thing", "effect", "requires"), rows)


def _things(rule: LabRule) -> str:
    names = ", ".join(KINDS[key].name for key in rule.applies)
    return names or (f"everything that is {rule.needs}" if rule.needs else "everything")


LAB_TABLES: dict[str, Drawn] = {"devices of the lab": _draw_devices, "rules of the lab": _draw_rules}
"""How each table of the lab is drawn, by the name that a mark says."""
