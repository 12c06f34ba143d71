"""Whether the person who answers by meaning understands questions in human wording.

``--choose`` looks for the thresholds on the development questions by cross-validation. Those called unseen are used for
no choice. Some of either were written by the hand that wrote what can be asked (``topics.yaml``), the others by hands
that had read the wishes and not that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from pydantic import BaseModel, ConfigDict, Field

from housewise.core.configs import CONFIGS
from housewise.core.console import Console
from housewise.core.errors import DataError, UserError, suggest_names
from housewise.core.files import check_writable_file, find_paths, write_json
from housewise.core.provenance import provenance
from housewise.core.text_files import numbered_lines, read_text
from housewise.core.validation import validate_json
from housewise.experiments.quick import QuickOption, say_left_out
from housewise.language.embedder import Embedder, shared_minilm
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.respondent import MAX_QUESTION_CHARACTERS, AnswerThresholds, KitchenRespondent

OWN = CONFIGS / "adapt" / "questions"
DEVELOPMENT = "development"
"""How the files of those questions are called by which thresholds are chosen; all others are used for no choice."""
FOLDS = 5
_QUICK_QUESTIONS = 20
_LEAST = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65)
_SLACK = (-0.02, 0.0, 0.02, 0.05, 0.08, 0.12)
_NAMED = (0.1, 0.15, 0.2, 0.25, 0.3)
_ALL_UNSEEN, _ALL_DEVELOPMENT = "all unseen", "all development"


class Asked(BaseModel):
    """A question in somebody's words.

    Attributes:
        person, task: who is asked during what.
        preference: id of the wish that it is about; None for none.
    """

    model_config = ConfigDict(frozen=True)

    person: str
    task: int
    question: str = Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)
    preference: str | None


def read_questions(path: Path, people: Sequence[KitchenProfile]) -> list[Asked]:
    """The questions of a file of JSON lines.

    Raises:
        DataError: a line naming the file, the line and what is wrong.
    """
    wishes = {person.name: {wish.id: wish for wish in person.preferences} for person in people}
    found = []
    for number, line in numbered_lines(read_text(path, "give a file of JSON lines")):
        where = f"{path}, line {number}"
        asked = validate_json(Asked, line, where)
        if asked.person not in wishes:
            raise DataError(
                f"{where}: nobody is named {asked.person!r}; {suggest_names(asked.person, wishes)}, or --people"
            )
        if not 1 <= asked.task <= 8:
            raise DataError(f"{where}: there is no task {asked.task}; use 1 to 8")
        wish = wishes[asked.person].get(asked.preference) if asked.preference is not None else None
        if asked.preference is not None and (wish is None or asked.task not in wish.tasks):
            raise DataError(f"{where}: {asked.person} has no preference {asked.preference!r} in task {asked.task}")
        found.append(asked)
    if not found:
        raise DataError(f"{path}: has no questions; give one JSON object a line")
    return found


class Listeners:
    """The people who answer, each made once for a task."""

    def __init__(self, people: Sequence[KitchenProfile], embedder: Embedder) -> None:
        self._people, self._embedder = {person.name: person for person in people}, embedder
        self._made: dict[tuple[str, int], KitchenRespondent] = {}

    def find_wish(self, asked: Asked, thresholds: AnswerThresholds) -> str | None:
        """Id of the wish that is taken to be meant first; None for none."""
        key = (asked.person, asked.task)
        if key not in self._made:
            person, judge = self._people[asked.person], PreferenceJudge(asked.task)
            self._made[key] = KitchenRespondent(person, judge, None, self._embedder)
        found = self._made[key].match_question(asked.question, thresholds)
        return found.preferences[0].id if found.preferences else None


def figures(listeners: Listeners, questions: Sequence[Asked], thresholds: AnswerThresholds) -> dict[str, Any]:
    """How many were understood.

    Returns:
        ``found``: of the questions about a wish, those for which that wish is told first (0 to 1); ``flexible``: of the
        others, those to which none is told; both None where there are no such questions; ``n``; ``about_a_wish``;
        ``wrong``: the others with what was understood.
    """
    pairs = [(asked, listeners.find_wish(asked, thresholds)) for asked in questions]
    about = [asked.preference == said for asked, said in pairs if asked.preference is not None]
    free = [said is None for asked, said in pairs if asked.preference is None]
    return {
        "found": float(np.mean(about)) if about else None,
        "flexible": float(np.mean(free)) if free else None,
        "n": len(pairs),
        "about_a_wish": len(about),
        "wrong": [{**asked.model_dump(), "understood": said} for asked, said in pairs if asked.preference != said],
    }


def choose(listeners: Listeners, questions: Sequence[Asked]) -> dict[str, Any]:
    """The thresholds for which the worse of the two shares is best.

    Returns:
        ``least``, ``slack`` and ``named``; ``found`` and ``flexible`` in folds that the thresholds used there were not
        chosen on.
    """
    grid = [AnswerThresholds(least, slack, name_bonus=named) for least, slack, named in product(_LEAST, _SLACK, _NAMED)]
    right = np.array([[listeners.find_wish(asked, each) == asked.preference for asked in questions] for each in grid])
    about = np.array([asked.preference is not None for asked in questions])
    fold = _folds(about)

    def best(some: np.ndarray) -> int:
        """In the middle of those that are best, so that it hangs on no single question."""
        worse = np.minimum(right[:, some & about].mean(1), right[:, some & ~about].mean(1))
        both = right[:, some & about].mean(1) + right[:, some & ~about].mean(1)
        places = np.flatnonzero((worse == worse.max()) & (both == both[worse == worse.max()].max()))
        return int(places[len(places) // 2])

    held_out = np.zeros(len(questions), bool)
    for number in range(FOLDS):
        held_out[fold == number] = right[best(fold != number)][fold == number]
    chosen = grid[best(np.ones(len(questions), bool))]
    return {
        "least": chosen.min_similarity,
        "slack": chosen.no_topic_margin,
        "named": chosen.name_bonus,
        "found": float(held_out[about].mean()),
        "flexible": float(held_out[~about].mean()),
        "folds": FOLDS,
    }


def _folds(about: np.ndarray) -> np.ndarray:
    """A fold for each question, with as many of both sorts in each."""
    fold = np.zeros(len(about), int)
    for sort in (about, ~about):
        fold[sort] = np.arange(sort.sum()) % FOLDS
    return fold


def main(
    questions: Annotated[Path | None, typer.Option(help="JSON lines; Housewise's own without it.")] = None,
    people: Annotated[Path | None, typer.Option(help="File or folder of people; the sixteen of ADAPT.")] = None,
    choose_: Annotated[bool, typer.Option("--choose", help="Look for the best thresholds as well.")] = False,
    quick: QuickOption = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Ask the person who answers by meaning, and count what they understand.

    A line of --questions is {"person": ..., "task": ..., "question": ..., "preference": ID or null}.

    Examples:

      python -m housewise.experiments.adapt.answers --json answers.json

      python -m housewise.experiments.adapt.answers --questions mine.jsonl --people mine.yaml --json mine.json
    """
    console = Console(highlight=False)
    found = load_profiles(people or ADAPT_PROFILES)
    listeners = Listeners(found, shared_minilm())
    files = {questions.stem: questions} if questions else {path.stem: path for path in find_paths(OWN, "*.jsonl")}
    sets = {name: read_questions(path, found) for name, path in files.items()}
    say_left_out(quick, f"of each file the first {_QUICK_QUESTIONS} questions")
    sets = {name: asked[:_QUICK_QUESTIONS] for name, asked in sets.items()} if quick else sets
    if not questions:
        known = [name for name in sets if name.startswith(DEVELOPMENT)]
        sets[_ALL_UNSEEN] = [asked for name, each in sets.items() if name not in known for asked in each]
        sets[_ALL_DEVELOPMENT] = [asked for name in known for asked in sets[name]]
    told = {name: figures(listeners, asked, AnswerThresholds()) for name, asked in sets.items()}
    result: dict[str, Any] = {**next(iter(told.values()))} if questions else {"sets": told}
    if choose_:
        name = questions.stem if questions else _ALL_DEVELOPMENT
        asked_about = {asked.preference is not None for asked in sets[name]}
        if len(sets[name]) < 2 * FOLDS or len(asked_about) < 2:
            raise UserError(f"{questions or OWN}: has too few questions to choose by; give {2 * FOLDS} of both sorts")
        result["chosen"] = choose(listeners, sets[name])
        console.print(json.dumps(result["chosen"]))
    for name, each in told.items():
        console.print(
            f"{name}: {each['n']} questions, the right wish found for {_share(each['found'])}, flexible where there is "
            f"none {_share(each['flexible'])}",
        )
    if json_file is not None:
        write_json(json_file, {**result, **provenance()})


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
