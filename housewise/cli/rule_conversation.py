"""``housewise learn``: a conversation at the terminal, in which every rule is shown, confirmed, and kept at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console

from housewise.agent.clipr.answer_phrases import parse_command, parse_confirmation
from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.memory_notes import answer_note, answers_without_rules, recall_answers, turn_from_note
from housewise.agent.clipr.rule_editing import notes_from_rules, replace_contradicted, restore_rules, short_rule_ids
from housewise.agent.clipr.terminal_interview import AnswerNotUnderstood, Interview, InterviewQuestion, ParsedAnswer
from housewise.cli.prompt import InputEnded, Prompt
from housewise.core.plurals import plural
from housewise.people.memory import MemoryFolder, Note
from housewise.people.memory.note import current_time, next_millisecond

_PATIENCE = 3
"""So many answers to one question that are not understood leave it open."""
_MOST_SKIPS = 2
"""So many questions in a row that are skipped end a conversation."""
_CONFIRM = "Is that right? [yes / no / or say it in other words]"
_COMMANDS = """\
  don't care      no wish, no rule
  don't have it   there is no such thing here, no rule
  back            the last question again; its rule is taken away
  skip            ask me another time; an empty line does the same
  quit            stop here; every rule that you confirmed is kept"""


class _Refused(AnswerNotUnderstood):
    """The person says no, and nothing else that is understood."""


class _Back(Exception):
    """The person wants the last question again."""


@dataclass
class _Settled:
    """A question that was put in this conversation, and what it takes to undo that.

    Attributes:
        question: that was put.
        answer: id of the note of the answer; None where it was left open.
        rules: how many were kept.
        replaced: older rules that gave way to them.
        skipped: whether it was skipped.
    """

    question: InterviewQuestion
    answer: str | None = None
    rules: int = 0
    replaced: list[Note] = field(default_factory=list)
    skipped: bool = False


class RuleConversation:
    """A conversation with somebody; what they confirm is kept at once, and goes on from what was said before.

    Args:
        person: whose memory it goes into.
        topic: as notes name it.
        interview: brings questions.
        folder: of memories.
        most: questions in all, those of earlier conversations among them.
        stream: where answers come from.
        console: where questions go.
    """

    def __init__(
        self,
        person: str,
        topic: str,
        interview: Interview,
        folder: MemoryFolder,
        most: int,
        stream: TextIO,
        console: Console,
    ) -> None:
        self._person, self._topic, self._interview, self._folder = person, topic, interview, folder
        self._prompt = Prompt(stream, console)
        self._say = self._prompt.say
        memory = folder.load(person, missing_ok=True)
        self._unconfirmed = {note.about.situation or "": note for note in answers_without_rules(memory, topic)}
        confirmed = [note for note in recall_answers(memory, topic) if note not in self._unconfirmed.values()]
        self._before = [turn_from_note(note) for note in confirmed]
        self._settled: list[_Settled] = []
        self._dialogue: list[DialogueTurn] = []
        self._time = ""
        there = interview.count(self._before)
        self._total = most if there is None else min(most, len(self._before) + there)

    def hold(self) -> None:
        """Ask until the questions are used up or the person leaves.

        Raises:
            UserError: when the memory cannot be read or written, or a model cannot be asked.
        """
        already = f" {len(self._before)} of them are answered already." if self._before else ""
        self._say(
            f"At most {self._total} questions.{already} Answer with a number or in your own words; help shows what "
            "else can be said, quit stops."
        )
        try:
            ending = self._ask_all()
        except (InputEnded, KeyboardInterrupt):
            ending = "Stopped. What you confirmed is kept, and the same command goes on from here."
        self._say(f"\n{ending}")
        rules, left = sum(each.rules for each in self._settled), sum(each.answer is None for each in self._settled)
        if left:
            self._say(f"Left open: {plural(left, 'question')}; the same command asks again.")
        kept = f"New rules: {rules}." if rules else "No new rules."
        self._say(f"{kept} To see all: housewise rules show {self._person}")

    def _ask_all(self) -> str:
        """Put one question after the other; how it ended, in words."""
        again: InterviewQuestion | None = None
        while again or len(self._before) + len(self._settled) < self._total:
            question = again or self._next()
            if question is None:
                return "That is enough."
            again = None
            try:
                self._settled.append(self._settle(question))
            except _Back:
                again = self._undo() or question
            if sum(each.skipped for each in self._settled[-_MOST_SKIPS:]) == _MOST_SKIPS:
                return "Another time, then."
        return "These were all questions."

    def _next(self) -> InterviewQuestion | None:
        left_open = [each.question.text for each in self._settled if not each.answer]
        dialogue = [*self._before, *self._dialogue]
        return self._interview.next(dialogue, left_open, self._total - len(self._before) - len(self._settled))

    def _settle(self, question: InterviewQuestion) -> _Settled:
        """Put a question until a rule is confirmed, no rule is wanted, or the person gives up.

        Raises:
            Leaving: the person leaves.
            _Back: they want the question before.
        """
        self._put(question)
        understood: ParsedAnswer | None = None
        said, misses = self._earlier_answer(question) or self._read(question), 0
        while said or understood:
            try:
                before = understood
                understood = _corrected(question, before, said) if before else question.read(said)
                if understood is before or not understood.rules:
                    return self._keep(question, understood)
                self._show(understood)
                misses = 0
            except AnswerNotUnderstood as problem:
                misses += 1
                if misses == _PATIENCE:
                    self._say(self._advice(question))
                    return _Settled(question)
                understood = None if isinstance(problem, _Refused) else before
                self._say(str(problem) if understood else f"{problem} {_hint(question)}")
                if understood:
                    self._show(understood)
            try:
                said = self._read(question)
            except _Back:
                if understood is None:
                    raise
                return self._settle(question)
            except InputEnded:
                if understood:
                    self._say("Not kept, as you did not confirm it.")
                raise
        self._say("I will ask that another time.")
        return _Settled(question, skipped=True)

    def _put(self, question: InterviewQuestion) -> None:
        number = len(self._before) + len(self._settled) + 1
        self._say(f"\nQuestion {number} of {self._total}{question.name and f': {question.name}'}")
        self._say(question.text)
        for place, option in enumerate(question.options, 1):
            self._say(f"  {place}. {option}", "     ")

    def _show(self, understood: ParsedAnswer) -> None:
        for rule in understood.rules:
            self._say(f"I understood: {rule.text}")
        for clause in understood.left_out:
            self._say(f'I left out "{clause}": a rule holds always, and for all of them.')
        self._say(_CONFIRM)

    def _advice(self, question: InterviewQuestion) -> str:
        wish = f"For {question.name}: prefer {question.options[0]}." if question.options else "For tea: prefer green."
        return f'I leave that open. You can write a rule yourself, as in: housewise rules add {self._person} "{wish}"'

    def _earlier_answer(self, question: InterviewQuestion) -> str:
        """What was answered in a conversation that ended before anything was understood."""
        asked = [text for text in (question.text, *question.earlier) if text in self._unconfirmed]
        if not asked:
            return ""
        said = self._unconfirmed[asked[0]].text
        self._say(f'You said before: "{said}"')
        return said

    def _keep(self, question: InterviewQuestion, understood: ParsedAnswer) -> _Settled:
        """Keep an answer with its rules."""
        rules = [rule.model_copy(update={"source": None}) for rule in understood.rules]
        exchange = DialogueTurn(question.text, understood.answer)
        with self._folder.edit_memory(self._person, missing_ok=True) as memory:
            for text in (question.text, *question.earlier):
                if (old := self._unconfirmed.pop(text, None)) and old.id in memory:
                    memory.forget(old.id)
            # Never the time of an answer that was taken back: the same words would be the note that was forgotten.
            self._time = max(current_time(), next_millisecond(self._time)) if self._time else current_time()
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
        return _Settled(question, answer.id, len(rules), replaced)

    def _undo(self) -> InterviewQuestion | None:
        """Take back what the last question gave; the question, None where there is none."""
        if not self._settled:
            self._say("This is the first question.")
            return None
        last = self._settled.pop()
        self._dialogue = [said for said in self._dialogue if said.question != last.question.text]
        if last.answer:
            with self._folder.edit_memory(self._person) as memory:
                if last.answer in memory:
                    memory.forget(last.answer)
                restore_rules(memory, last.replaced)
        self._say("Back to the last question." + (" Its rule is taken away." if last.rules else ""))
        return last.question

    def _read(self, question: InterviewQuestion) -> str:
        """What the person says; "" where they want to skip.

        Raises:
            Leaving: they quit, or nobody is there.
            _Back: they want the question before.
        """
        while True:
            said = self._prompt.read()
            command = parse_command(said)
            if command == "quit":
                raise InputEnded
            if command == "back":
                raise _Back
            if command != "help":
                return "" if command else said
            self._say(_hint(question))
            for explained in _COMMANDS.splitlines():
                self._say(explained, "                  ")


def _corrected(question: InterviewQuestion, understood: ParsedAnswer, said: str) -> ParsedAnswer:
    """What is understood after the answer to "Is that right?"; the same object where the person agrees.

    Raises:
        NotUnderstood: they neither agree nor say anything that is understood.
    """
    heard = parse_confirmation(said)
    if not said:
        raise AnswerNotUnderstood("Please answer.")
    if heard.agrees and not heard.rest:
        return understood
    if heard.agrees is False and not heard.rest:
        raise _Refused("Then say it in other words.")
    try:
        new = question.read(heard.rest, understood, adds=heard.agrees is True)
    except AnswerNotUnderstood as problem:
        # "Yes, I like it that way" says nothing more; "yes, but ..." does.
        if heard.agrees and not heard.adds:
            return understood
        if heard.agrees is False:
            raise _Refused(str(problem)) from problem
        raise
    return understood if heard.agrees and new.rules == understood.rules else new


def _hint(question: InterviewQuestion) -> str:
    """What would be understood."""
    last = len(question.options)
    number = "" if not last else "1 or 2, or " if last == 2 else f"a number from 1 to {last}, or "
    return f'Say {number}words such as "{question.example}".'
