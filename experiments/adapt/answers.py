"""Whether the person who answers by meaning understands questions in human wording.

Questions called unseen were used for no choice. Some of either were written by the author of what can be asked
(``topics.yaml``), the others by authors who had read the wishes and not that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, suggest_names
from housewise.core.text_files import is_file, numbered_lines, read_text
from housewise.core.validation import validate_json
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import shared_minilm
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.respondent import DEFAULT_THRESHOLDS, MAX_QUESTION_CHARACTERS, KitchenRespondent

QUESTIONS = CONFIGS / "adapt" / "questions"


class WordedQuestion(BaseModel):
    """A question in somebody's words.

    Attributes:
        person, task: Who is asked during what.
        question: The question.
        preference: Id of the wish that it is about; None for none.
    """

    model_config = ConfigDict(frozen=True)

    person: str
    task: int
    question: str = Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)
    preference: str | None


def understand_questions(
    questions: str, people: str | None = None, limit: int | None = None
) -> Iterator[MeasuredValue]:
    """Yield of each question whether the right wish is told first, or none where it is about none.

    Args:
        questions: Name of a bundled set, or a file of JSON lines.
        people: File or folder of people; the sixteen of ADAPT by default.
        limit: Number of questions that are asked, the first ones. None asks all.
    """
    path = Path(questions) if is_file(Path(questions)) else QUESTIONS / f"{questions}.jsonl"
    profiles = load_profiles(people or ADAPT_PROFILES)
    by_name = {person.name: person for person in profiles}

    @cache
    def respondent(name: str, task: int) -> KitchenRespondent:
        return KitchenRespondent(by_name[name], PreferenceJudge(task), None, shared_minilm())

    for number, asked in enumerate(read_questions(path, profiles)[:limit]):
        found = respondent(asked.person, asked.task).match_question(asked.question, DEFAULT_THRESHOLDS)
        told = found.preferences[0].id if found.preferences else None
        measure = "flexible" if asked.preference is None else "found"
        yield MeasuredValue(f"{asked.person}-{asked.task}", number, measure, float(told == asked.preference))


def read_questions(path: Path, people: Sequence[KitchenProfile]) -> list[WordedQuestion]:
    """Return the questions of a file of JSON lines.

    Raises:
        DataError: The file has none, or a line is malformed; the message names the line and the problem.
    """
    wishes = {person.name: {wish.id: wish for wish in person.preferences} for person in people}
    found = []
    for number, line in numbered_lines(read_text(path, "give a file of JSON lines")):
        where = f"{path}, line {number}"
        asked = validate_json(WordedQuestion, line, where)
        if asked.person not in wishes:
            names = suggest_names(asked.person, wishes)
            raise DataError(f"{where}: nobody is named {asked.person!r}; {names}, or give people=FILE")
        if not 1 <= asked.task <= 8:
            raise DataError(f"{where}: there is no task {asked.task}; use 1 to 8")
        wish = wishes[asked.person].get(asked.preference) if asked.preference is not None else None
        if asked.preference is not None and (wish is None or asked.task not in wish.tasks):
            raise DataError(f"{where}: {asked.person} has no preference {asked.preference!r} in task {asked.task}")
        found.append(asked)
    if not found:
        raise DataError(f"{path}: has no questions; give one JSON object a line")
    return found
