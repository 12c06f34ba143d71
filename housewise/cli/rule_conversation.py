"""The conversation of ``housewise learn``: every rule is shown, confirmed by the person, and stored at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console

from housewise.agent.clipr.answer_phrases import parse_command, parse_confirmation
from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.memory_notes import answer_note, answers_without_rules, recall_answers, turn_from_note
from housewise.agent.clipr.rule_editing import notes_from_rules, replace_contradicted, restore_rules, short_rule_ids
from housewise.agent.clipr.terminal_interview import AnswerNotUnderstood, Interview, InterviewQuestion, ParsedAnswer
from housewise.core.formatting import plural
from housewise.people.memory import MemoryFolder, Note
from housewise.people.memory.note import later_time
from housewise.people.terminal_prompt import InputEnded, Prompt

_MAX_MISSES = 3
"""Number of answers that are not understood after which a question is left open."""
_MAX_SKIPS = 2
"""Number of questions skipped in a row after which the conversation ends."""
_CONFIRM = "Is that right? [yes / no / or say it in other words]"
_COMMANDS = """\
  don't care      no wish, no rule
  don't have it   there is no such thing here, no rule
  back            ask the last question again; its rule is removed
  skip            ask me another time; an empty line does the same
  quit            stop here; every rule that you confirmed is kept"""


class _Refused(AnswerNotUnderstood):
    """The person says no without an answer that is understood."""


class _BackRequested(Exception):
    """The person wants to answer the last question again."""


@dataclass
class _QuestionOutcome:
    """The outcome of a question, with what is needed to undo it.

    Attributes:
        question: The question.
        answer: Id of the note of the answer, or None if the question was left open.
        rules: Number of rules that were stored.
        replaced: Notes of older rules that were forgotten because the new ones contradict them.
        skipped: Whether the person skipped the question.
    """

    question: InterviewQuestion
    answer: str | None = None
    rules: int = 0
    replaced: list[Note] = field(default_factory=list)
    skipped: bool = False


class RuleConversation:
    """A conversation that asks a person questions and stores the rules that they confirm.

    Questions that an earlier conversation settled are not asked again.

    Args:
        person: Name of the person whose memory stores the rules.
        topic: Topic of the interview, as in notes.
        interview: Provides the questions.
        folder: Folder of memories.
        max_questions: Maximum number of questions, including those of earlier conversations.
        stream: Where answers are read from.
        console: Where questions are printed.
    """

    def __init__(
        self,
        person: str,
        topic: str,
        interview: Interview,
        folder: MemoryFolder,
        max_questions: int,
        stream: TextIO,
        console: Console,
    ) -> None:
        self._person, self._topic, self._interview, self._folder = person, topic, interview, folder
        self._prompt = Prompt(stream, console)
        self._say = self._prompt.say
        memory = folder.load(person, missing_ok=True)
        self._unconfirmed = {note.about.question or "": note for note in answers_without_rules(memory, topic)}
        confirmed = [note for note in recall_answers(memory, topic) if note not in self._unconfirmed.values()]
        self._earlier_turns = [turn_from_note(note) for note in confirmed]
        self._outcomes: list[_QuestionOutcome] = []
        self._dialogue: list[DialogueTurn] = []
        self._time = ""
        open_count = interview.count_open_questions(self._earlier_turns)
        self._total = max_questions if open_count is None else min(max_questions, len(self._earlier_turns) + open_count)

    def hold(self) -> None:
        """Ask until the person leaves or no question is left.

        Raises:
            UserError: The memory cannot be read or written, or the model cannot be asked.
        """
        already = f" {len(self._earlier_turns)} of them are answered already." if self._earlier_turns else ""
        self._say(
            f"At most {self._total} questions.{already} Answer with a number or in your own words; help shows what "
            "else can be said, quit stops."
        )
        try:
            ending = self._ask_all()
        except (InputEnded, KeyboardInterrupt):
            ending = "Stopped. What you confirmed is kept, and the same command resumes here."
        self._say(f"\n{ending}")
        rules, left = sum(each.rules for each in self._outcomes), sum(each.answer is None for each in self._outcomes)
        if left:
            self._say(f"Left open: {plural(left, 'question')}; the same command asks again.")
        kept = f"New rules: {rules}." if rules else "No new rules."
        has_memory = rules or self._earlier_turns
        self._say(f"{kept} To see all: housewise rules show {self._person}" if has_memory else kept)

    def _ask_all(self) -> str:
        """Ask one question after the other. Returns a sentence about how the conversation ended."""
        again: InterviewQuestion | None = None
        while again or len(self._earlier_turns) + len(self._outcomes) < self._total:
            question = again or self._next_question()
            if question is None:
                return "That is enough."
            again = None
            try:
                self._outcomes.append(self._ask(question))
            except _BackRequested:
                again = self._undo() or question
            if sum(each.skipped for each in self._outcomes[-_MAX_SKIPS:]) == _MAX_SKIPS:
                return "Another time, then."
        return "These were all questions."

    def _next_question(self) -> InterviewQuestion | None:
        left_open = [
            text for each in self._outcomes if not each.answer for text in (each.question.text, *each.question.earlier)
        ]
        dialogue = [*self._earlier_turns, *self._dialogue]
        for text in self._unconfirmed:
            if text not in left_open and (question := self._interview.find_question(text)):
                return question
        remaining = self._total - len(self._earlier_turns) - len(self._outcomes)
        return self._interview.next_question(dialogue, left_open, remaining)

    def _ask(self, question: InterviewQuestion) -> _QuestionOutcome:
        """Ask a question until a rule is confirmed, no rule is wanted, or the person gives up.

        Raises:
            InputEnded: The person leaves.
            _BackRequested: The person wants to answer the last question again.
        """
        self._print_question(question)
        understood: ParsedAnswer | None = None
        reply, misses = self._earlier_answer(question) or self._read(question), 0
        while reply or understood:
            try:
                previous = understood
                understood = _apply_reply(question, previous, reply) if previous else question.parse_answer(reply)
                is_confirmed = understood is previous  # see _apply_reply
                if is_confirmed or not understood.rules:
                    return self._store(question, understood)
                self._print_rules(understood)
                misses = 0
            except AnswerNotUnderstood as problem:
                misses += 1
                if misses == _MAX_MISSES:
                    self._say(self._suggest_command(question))
                    return _QuestionOutcome(question)
                understood = None if isinstance(problem, _Refused) else previous
                self._say(str(problem) if understood else f"{problem} {_hint(question)}")
                if understood:
                    self._print_rules(understood)
            try:
                reply = self._read(question)
            except _BackRequested:
                if understood is None:
                    raise
                return self._ask(question)
            except InputEnded:
                if understood:
                    self._say("Not kept, as you did not confirm it.")
                raise
        self._say("I will ask that another time.")
        return _QuestionOutcome(question, skipped=True)

    def _print_question(self, question: InterviewQuestion) -> None:
        number = len(self._earlier_turns) + len(self._outcomes) + 1
        self._say(f"\nQuestion {number} of {self._total}{question.name and f': {question.name}'}")
        self._say(question.text)
        for place, option in enumerate(question.options, 1):
            self._say(f"  {place}. {option}", "     ")

    def _print_rules(self, understood: ParsedAnswer) -> None:
        for rule in understood.rules:
            self._say(f"I understood: {rule.text}")
        for clause in understood.left_out:
            self._say(f'I left out "{clause}": a rule always holds, and for all of them.')
        self._say(_CONFIRM)

    def _suggest_command(self, question: InterviewQuestion) -> str:
        rule = question.example_rule
        return f'I leave that open. You can write a rule yourself, as in: housewise rules add {self._person} "{rule}"'

    def _earlier_answer(self, question: InterviewQuestion) -> str:
        """Return the answer of an earlier conversation that ended before the answer was confirmed, or an empty text."""
        asked = [text for text in (question.text, *question.earlier) if text in self._unconfirmed]
        if not asked:
            return ""
        said = self._unconfirmed[asked[0]].text
        self._say(f'You said before: "{said}"')
        return said

    def _store(self, question: InterviewQuestion, understood: ParsedAnswer) -> _QuestionOutcome:
        """Store an answer with its rules."""
        rules = [rule.model_copy(update={"source": None}) for rule in understood.rules]
        exchange = DialogueTurn(question.text, understood.answer)
        with self._folder.edit_memory(self._person, missing_ok=True) as memory:
            for text in (question.text, *question.earlier):
                if (old := self._unconfirmed.pop(text, None)) and old.id in memory:
                    memory.forget(old.id)
            # A new time: with the time of an answer that was taken back, the same answer would be a forgotten note.
            self._time = later_time(self._time)
            answer = memory.add(answer_note(self._person, self._topic, exchange, confirmed=True, time=self._time))
            notes = [memory.add(note) for note in notes_from_rules(self._person, self._topic, rules, [answer])]
            before = memory.notes
            words = replace_contradicted(memory, notes)
            replaced = [note for note in before if note.id not in memory]
            ids = short_rule_ids(memory)
        self._dialogue.append(exchange)
        kept = ", ".join(ids[note.id] for note in notes if note.id in ids)
        about = f" about {question.name}" if question.name else ""
        self._say(f"Kept as rule {kept}." if kept else f"All right, no rule{about}.")
        for line in words:
            self._say(line)
        return _QuestionOutcome(question, answer.id, len(rules), replaced)

    def _undo(self) -> InterviewQuestion | None:
        """Undo the outcome of the last question. Returns the question, or None if there is none."""
        if not self._outcomes:
            self._say("This is the first question.")
            return None
        last = self._outcomes.pop()
        self._dialogue = [said for said in self._dialogue if said.question != last.question.text]
        if last.answer:
            with self._folder.edit_memory(self._person) as memory:
                if last.answer in memory:
                    memory.forget(last.answer)
                restore_rules(memory, last.replaced)
        self._say("Back to the last question." + (" Its rule is removed." if last.rules else ""))
        return last.question

    def _read(self, question: InterviewQuestion) -> str:
        """Read an answer. An empty text means that the person skips the question.

        Raises:
            InputEnded: The person quits, or the input ended.
            _BackRequested: The person wants to answer the last question again.
        """
        while True:
            said = self._prompt.read()
            command = parse_command(said)
            if command == "quit":
                raise InputEnded
            if command == "back":
                raise _BackRequested
            if command != "help":
                return "" if command else said
            self._say(_hint(question))
            for explained in _COMMANDS.splitlines():
                self._say(explained, "                  ")


def _apply_reply(question: InterviewQuestion, understood: ParsedAnswer, reply: str) -> ParsedAnswer:
    """Return what is understood after the reply to "Is that right?": the same object if the person agrees.

    Raises:
        AnswerNotUnderstood: The person neither agrees nor says anything that is understood.
    """
    confirmation = parse_confirmation(reply)
    if not reply:
        raise AnswerNotUnderstood("Please answer.")
    if confirmation.agrees and not confirmation.rest:
        return understood
    if confirmation.agrees is False and not confirmation.rest:
        raise _Refused("Then say it in other words.")
    try:
        new = question.parse_answer(confirmation.rest, understood, adds=confirmation.agrees is True)
    except AnswerNotUnderstood as problem:
        # "Yes, I like it that way" says nothing more; "yes, but ..." does.
        if confirmation.agrees and not confirmation.adds:
            return understood
        if confirmation.agrees is False and not problem.keeps_before:
            raise _Refused(str(problem)) from problem
        raise
    return understood if confirmation.agrees and new.rules == understood.rules else new


def _hint(question: InterviewQuestion) -> str:
    """Return an example of an answer that is understood."""
    last = len(question.options)
    number = "" if not last else "1 or 2, or " if last == 2 else f"a number from 1 to {last}, or "
    return f'Say {number}words such as "{question.example}".'
