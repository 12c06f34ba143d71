"""Files about the lab that contradict its rules: one line names the file, the field and the remedy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.agent.basis.goal_hearing import TASK_CARDS_FILE, load_task_cards
from housewise.agent.basis.knowledge import OBJECT_CARDS_FILE, load_object_cards
from housewise.agent.basis.oracle_phrases import load_oracle_phrases
from housewise.core.errors import UserError
from housewise.people.lab.phrases import find_wording
from housewise.people.lab.vocabulary import VOCABULARY_FILE, load_vocabulary


def load_wording(path: Path) -> object:
    """Read a wording of the oracle."""
    return load_oracle_phrases(str(path))


Edit = Callable[[dict[str, Any]], object]
ORACLE_FILE = find_wording("assistant", "training")
CONTRADICTIONS: dict[str, tuple[Path, Callable[[Path], object], Edit, str, str]] = {
    "a task that the rules do not have": (
        TASK_CARDS_FILE, load_task_cards, lambda c: c.update(fire_lazer=c["fire_laser"]), "field fire_lazer:",
        "did you mean fire_laser"),
    "a task without a card": (
        TASK_CARDS_FILE, load_task_cards, lambda c: c.pop("dart"), "field dart:", "every task needs a card"),
    "a device that the rules do not have": (
        OBJECT_CARDS_FILE, load_object_cards, lambda c: c.update(teleporter=c["printer"]), "field teleporter:",
        "available: printer"),
    "a device in another room": (
        OBJECT_CARDS_FILE, load_object_cards, lambda c: c["time_machine"].update(where="Warehouse."),
        "field time_machine.where:", "break room"),
    "a device in two rooms": (
        OBJECT_CARDS_FILE, load_object_cards, lambda c: c["printer"].update(where="Robotics lab or quantum lab."),
        "field printer.where:", "robotics lab"),
    "looks of a thing that the rules do not have": (
        ORACLE_FILE, load_wording, lambda c: c.update(looks={"lazer_cannon": "big thing"}), "field looks:",
        "did you mean laser_cannon"),
    "looks of a thing that everybody knows": (
        ORACLE_FILE, load_wording, lambda c: c.update(looks={"apple": "round thing"}), "field looks:",
        "describe uncommon things only"),
    "an action that the rules do not have": (
        ORACLE_FILE, load_wording, lambda c: c["act"].update(Lick=["Lick the {thing}."]), "field act.Lick", "'Toggle'"),
    "an action without a sentence": (
        ORACLE_FILE, load_wording, lambda c: c["act"].pop("Throw"), "field act:", "Throw is missing"),
    "an action with no sentences": (
        ORACLE_FILE, load_wording, lambda c: c["act"].update(Pour=[]), "field act:", "Pour is missing"),
    "a verb that the rules do not have": (
        VOCABULARY_FILE, load_vocabulary, lambda c: c["verbs"].update(Lick=["lick"]), "field verbs:", "'Lick'"),
    "a room that the rules do not have": (
        VOCABULARY_FILE, load_vocabulary, lambda c: c["rooms"].update(cellar=["cellar"]), "field rooms:",
        "check cellar"),
    "a room without words": (
        VOCABULARY_FILE, load_vocabulary, lambda c: c["rooms"].pop("warehouse"), "field rooms:", "check warehouse"),
    "a side that the view does not have": (
        VOCABULARY_FILE, load_vocabulary, lambda c: c["sides"].update(above=["above"]), "field sides:", "check above"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_file_that_contradicts_the_rules_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    bundled, load, edit, field, remedy = CONTRADICTIONS[name]
    content = yaml.safe_load(bundled.read_text())
    path = tmp_path / bundled.name
    path.write_text(yaml.safe_dump(content))
    load(path)
    edit(content)
    wrong = tmp_path / f"wrong_{bundled.name}"
    wrong.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError) as caught:
        load(wrong)
    message = str(caught.value)
    assert message.startswith(f"{wrong}: ") and "\n" not in message
    assert field in message and remedy in message
