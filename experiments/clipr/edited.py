"""Rules edited by hand: the choices that turn on an edited rule have to change, and no others.

    python -m housewise.experiments.clipr.edited [--components local] [--seed 0] [--json OUT]

``housekeep_configs/clipr/edits.yaml`` has twenty rules of one person, what a hand makes of each, and choices that turn
on one of them. They are kept in a memory; one after the other is corrected as ``housewise rules edit`` does, and with
the list that this leaves every choice is made anew. Beside it stands what two that read no rules make of it: one that
chooses by the request, and one that draws.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import Field
from rich.table import Table

from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.memory_notes import recall_rules, rule_notes
from housewise.agent.clipr.rule_editing import Corrections, apply_corrections
from housewise.agent.clipr.rules import Rule, parse_rule
from housewise.core.configs import CONFIGS
from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.validation import StrictModel, read_model
from housewise.experiments.clipr.components import Components, language_opener
from housewise.language.embedder import shared_minilm
from housewise.people.memory import Memory
from housewise.worlds.choices.scenario import Situation

EDITS = CONFIGS / "clipr" / "edits.yaml"
_PERSON, _TOPIC = "somebody", "kitchen"
_LEFT_ALONE = 10
"""In the list that is printed: so many edits at most that did not do what they should."""

Chooser = Callable[[Sequence[Situation], tuple[Rule, ...]], list[str | None]]
"""The action that is chosen in each situation by some rules; None where nothing could be read."""


class Turning(StrictModel):
    """A choice that turns on a rule: what it wants before and after it is edited, and what else does as asked."""

    request: str
    before: str
    after: str
    also: Annotated[tuple[str, ...], Field(min_length=1)]

    def situation(self, id: str) -> Situation:
        """What is seen of it, the actions in alphabetical order."""
        return Situation(id, (), self.request, tuple(sorted((self.before, self.after, *self.also))))


class Edit(StrictModel):
    """A rule, what a hand makes of it, and the choices that turn on it."""

    before: str
    after: str
    choices: Annotated[tuple[Turning, ...], Field(min_length=1)]


class Edits(StrictModel):
    """The rules of one person."""

    rules: Annotated[tuple[Edit, ...], Field(min_length=1)]


def lists_of(edits: Sequence[Edit]) -> tuple[tuple[Rule, ...], list[tuple[Rule, ...]]]:
    """The rules as they were, and as they are when one of them was corrected in the memory that keeps them."""
    memory = Memory(_PERSON)
    notes = rule_notes(_PERSON, _TOPIC, [parse_rule(edit.before) for edit in edits])
    for note in notes:
        memory.add(note)
    corrected = []
    for note, edit in zip(notes, edits, strict=True):
        changed = memory.copy()
        apply_corrections(changed, Corrections(changed={note.id: edit.after}), _TOPIC)
        corrected.append(recall_rules(changed, _TOPIC))
    return recall_rules(memory, _TOPIC), corrected


def measure(edits: Sequence[Edit], choose: Chooser) -> dict[str, Any]:
    """How many choices are as each edit wants them, and how many others stay as they were."""
    rules, corrected = lists_of(edits)
    turning = [(number, choice) for number, edit in enumerate(edits) for choice in edit.choices]
    situations = [choice.situation(f"{number}-{place}") for place, (number, choice) in enumerate(turning)]
    before = choose(situations, rules)
    changed, kept, each = list[bool](), list[bool](), list[dict[str, Any]]()
    for number, (edit, list_of_it) in enumerate(zip(edits, corrected, strict=True)):
        after = choose(situations, list_of_it)
        own = [(choice, made) for (of, choice), made in zip(turning, after, strict=True) if of == number]
        others = [now == was for (of, _), was, now in zip(turning, before, after, strict=True) if of != number]
        as_wanted = [made == choice.after for choice, made in own]
        changed, kept = [*changed, *as_wanted], [*kept, *others]
        each.append(
            {"rule": edit.before, "edited": edit.after, "changed": as_wanted, "others_changed": others.count(False)}
        )
    right = [made == choice.before for (_, choice), made in zip(turning, before, strict=True)]
    return {
        "right_before": _share(right),
        "changed_as_they_should": _share(changed),
        "others_unchanged": _share(kept),
        "as_they_should": _share([*changed, *kept]),
        "choices": len(changed),
        "other_choices": len(kept),
        "each": each,
    }


def choosers(inference: Inference, seed: int) -> dict[str, Chooser]:
    """Who chooses: what is measured, and two controls that read no rules."""

    def by_rules(situations: Sequence[Situation], rules: tuple[Rule, ...]) -> list[str | None]:
        made = inference.choose(situations, Guidance(rules=rules))
        pairs = zip(situations, made, strict=True)
        return [None if choice.action is None else situation.actions[choice.action] for situation, choice in pairs]

    def draw_options(situations: Sequence[Situation], rules: tuple[Rule, ...]) -> list[str | None]:
        generator = random.Random(f"{seed}/{[rule.text for rule in rules]}")
        return [generator.choice(situation.actions) for situation in situations]

    return {"rules": by_rules, "no rules": lambda situations, rules: by_rules(situations, ()), "chance": draw_options}


def main(
    components: Annotated[Components, typer.Option(help="What does the language steps.")] = Components.local,
    model: Annotated[str, typer.Option(help="The chat model of --components chat.")] = "local",
    seed: Annotated[int, typer.Option(min=0, help="Of the order in which actions are shown.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Where the figures go.")
    ] = None,
) -> None:
    """Edit rules one after the other, and see which choices change."""
    console, made = Console(), provenance()
    edits = read_model(EDITS, Edits).rules
    language = language_opener(components, model, shared_minilm())("")
    rows = {name: measure(edits, choose) for name, choose in choosers(Inference(language, seed=seed), seed).items()}
    console.print(_table(rows, len(edits), language.name))
    for line in [each for each in rows["rules"]["each"] if not all(each["changed"]) or each["others_changed"]][
        :_LEFT_ALONE
    ]:
        missed, others = line["changed"].count(False), line["others_changed"]
        console.print(f"{line['edited']} ({missed} not changed, {others} others changed)", soft_wrap=True)
    if out is not None:
        write_json(out, {"components": language.name, "seed": seed, "edits": len(edits), "rows": rows, **made})


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0


def _table(rows: Mapping[str, Mapping[str, Any]], edits: int, name: str) -> Table:
    shown = Table(title=f"{edits} rules edited by hand, {name}, %")
    columns = ("right_before", "changed_as_they_should", "others_unchanged", "as_they_should")
    for column in ("", *columns):
        shown.add_column(column.replace("_", " "), justify="right" if column else "left")
    for label, row in rows.items():
        shown.add_row(label, *(f"{100 * row[column]:.1f}" for column in columns))
    return shown


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
