"""The game of ``housewise play kitchen``: the player is the robot, and a simulated person judges the breakfast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from housewise.agent.clipr.answer_phrases import NoSuchOption, parse_command, replace_option_numbers
from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.language.embedder import INSTALL, has_minilm, shared_minilm
from housewise.people.kitchen.preference_judge import PreferenceJudge, satisfaction_rate
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.respondent import KitchenRespondent
from housewise.people.respondent import Question
from housewise.people.terminal_prompt import InputEnded, Prompt
from housewise.worlds.kitchen.thing_names import AmbiguousName, NotUnderstoodLine, ThingNames, significant_words
from housewise.worlds.kitchen.typed_commands import TypedCommand, Word, parse_line
from housewise.worlds.kitchen.world import MAX_STEPS, KitchenStep, TextKitchen

DEFAULT_PERSON = "miranda"
_ITEM = "  "
_HELP_INDENT = " " * 28
_HELP = """\
look                        rooms and furniture
look in the fridge          also: open the cupboard, find milk
take the milk               into your hand; then: put it on the counter
put the pan on the stove    also: move, bring, serve
pour milk into the bowl     also: add, sprinkle
turn on the stove           also: turn off, heat the kettle, close the fridge
slice the tomato            or any verb: fry the egg in the pan
mix everything in the bowl to get batter
ask where you like to eat   {name} answers, but does not say where things are
made, hand                  what you have made, what you hold
wishes                      all that {name} wants: this is cheating
undo                        takes the last thing back
done                        ends it, and {name} judges; quit does the same"""


def cook(task: int, person: str | None, people: Path | None, seed: int, console: Console, stream: TextIO) -> None:
    """Let the player prepare a breakfast.

    Args:
        task: Number of the task.
        person: Name of the person, or None for the first of ``people``, by default Miranda.
        people: File or folder of people, or None for the sixteen of ADAPT.
        seed: Seed of the kitchen.
        console: Where everything is printed.
        stream: Where the player's lines are read from.

    Raises:
        UserError: The task or the person does not exist.
    """
    _KitchenGame(task, _find_person(person, people), seed, Prompt(stream, console)).play()


@dataclass(frozen=True)
class _PastLine:
    """A line that changed something.

    Attributes:
        actions: Actions that were done.
        held: Id of the thing in the hand before it, or an empty text.
        taken: Id of the thing that it took into the hand, or an empty text.
    """

    actions: tuple[str, ...]
    held: str
    taken: str


class _KitchenGame:
    def __init__(self, task: int, person: KitchenProfile, seed: int, prompt: Prompt) -> None:
        self._person, self._prompt, self._task, self._seed = person, prompt, task, seed
        self._name = person.name[:1].upper() + person.name[1:]
        self._start()

    def play(self) -> None:
        """Execute typed lines until the player ends the game, then print the judgement."""
        self._greet()
        over = False
        while not over:
            try:
                typed = self._prompt.read()
            except InputEnded:
                break
            if not typed:
                self._prompt.say("Say what you do, or help.")
                continue
            try:
                line = self._parse(typed)
            except NotUnderstoodLine as problem:
                self._prompt.say(str(problem), _ITEM)
                continue
            if line.word == "quit":
                break
            over = self._execute(line)
        self._judge()

    def _start(self) -> None:
        self._world = TextKitchen(self._task, self._seed)
        self._names = ThingNames(lambda: self._world.state, tuple(self._world.kitchen.furniture))
        self._respondent: KitchenRespondent | None = None
        self._history: list[_PastLine] = []
        self._ambiguous: tuple[str, AmbiguousName] | None = None

    def _greet(self) -> None:
        name, rooms = self._name, self._world.kitchen.house.rooms
        others = ", ".join(room.replace("_", " ") for room in rooms if room != "kitchen")
        self._prompt.say(
            f"You are the robot in {name}'s house, in the kitchen. You can reach the other rooms as well: {others}.\n"
            f"Task: {self._world.task.text}. {name} has wishes, and judges the breakfast in the end.\n"
            "Type what you do, a line each, for example:\n"
            "  look in the fridge\n  take the milk\n  ask how you like your eggs\n"
            "help shows what else there is; done ends it."
        )

    def _parse(self, typed: str) -> TypedCommand:
        """Parse a line, which may also say which of several things the line before it meant.

        Raises:
            NotUnderstoodLine: The line is not understood.
        """
        if self._ambiguous:
            before, problem = self._ambiguous
            self._ambiguous = None
            if chosen := self._choose(typed, problem.choices):
                typed = before.lower().replace(problem.words, chosen, 1)
        state, verbs = self._world.state, self._world.kitchen.verbs
        try:
            return parse_line(typed, self._names, state, verbs, self._person.name, parse_command)
        except AmbiguousName as problem:
            self._ambiguous = typed, problem
            raise

    def _choose(self, typed: str, choices: Sequence[str]) -> str | None:
        """Return the id that an answer chooses by number or name, or None if it chooses not exactly one."""
        names = {id: self._names.name(id) for id in choices}
        try:
            answer = replace_option_numbers(typed, list(names.values()))
        except NoSuchOption:
            return None
        numbered = [id for id, name in names.items() if name in answer and name not in typed]
        if len(numbered) == 1:
            return numbered[0]
        words = set(significant_words(typed))
        named = [
            id for id, name in names.items() if words and words <= {*significant_words(name), *significant_words(id)}
        ]
        return named[0] if len(named) == 1 else None

    def _execute(self, line: TypedCommand) -> bool:
        """Execute a line. Returns whether the game is over."""
        held, done = self._names.held, list[str]()
        if line.word == "undo":
            self._undo()
        elif line.word:
            self._prompt.say(self._answer_command(line.word), _HELP_INDENT if line.word == "help" else _ITEM)
        elif line.takes:
            self._take(line.takes)
            if self._names.held != held:
                self._history.append(_PastLine((), held, line.takes))
        for action in line.actions:
            step = self._world.step(action)
            self._prompt.say(self._describe_step(step, line), _ITEM)
            if not step.failed:
                done.append(action)
            if step.truncated:
                self._prompt.say(f"That was step {MAX_STEPS}, the last one.")
            if step.failed or step.ended or step.truncated:
                break
        if done:
            self._history.append(_PastLine(tuple(done), held, ""))
        if any(action.startswith(f"Move {self._names.held} ") for action in done):
            self._names.held = ""
        return self._world.has_ended or bool(line.actions and step.truncated)

    def _describe_step(self, step: KitchenStep, line: TypedCommand) -> str:
        """Describe the result of an action to the player."""
        if step.failed:
            held = self._names.held
            in_hand = bool(held) and held in line.actions[0].split()
            hint = " You hold it: first put it somewhere, as in: put it in the pan." if in_hand else ""
            return f"Not done: {self._names.replace_ids(step.observation)}{hint}"
        if step.action is not None and step.action.name == "ask":
            return self._ask(step.action.x)
        if step.action is not None and step.action.name == "search" and line.shows:
            return self._names.describe_contents(line.shows)
        return self._names.replace_ids(step.observation)

    def _ask(self, question: str) -> str:
        if not has_minilm():
            return f"{self._name} cannot answer without sentence embeddings: run `{INSTALL}`"
        if self._respondent is None:
            judge = PreferenceJudge(self._world.number, self._world.kitchen)
            self._respondent = KitchenRespondent(self._person, judge, self._world.trace, shared_minilm())
        return f"{self._name}: {self._respondent.answer(Question(question)).text}"

    def _take(self, id: str) -> None:
        name = self._names.name(id)
        if self._names.held and self._names.held != id:
            self._prompt.say(f"You hold something already: {self._names.name(self._names.held)}. Put it down first.")
        elif self._is_fixed(id):
            self._prompt.say(f"The {name} cannot be taken.")
        else:
            self._names.held = id
            self._prompt.say(f"You hold this: {name}. For example: put it on the counter; pour it into a bowl")

    def _is_fixed(self, id: str) -> bool:
        entity = self._world.state[id]
        return entity.can("room") or (id in self._world.kitchen.furniture and not entity.can("movable"))

    def _undo(self) -> None:
        """Undo the last line: start again and repeat the actions of all lines before it."""
        if not self._history:
            self._prompt.say("There is nothing to undo.")
            return
        *before, last = self._history
        self._start()
        for line in before:
            for action in line.actions:
                self._world.step(action)
        self._history, self._names.held = before, last.held
        undone = "; ".join(last.actions) or f"take {self._names.name(last.taken)}"
        self._prompt.say(f"Undone: {self._names.replace_ids(undone)}")

    def _answer_command(self, word: Word) -> str:
        if word == "help":
            return _HELP.format(name=self._name)
        if word == "made":
            return self._names.replace_ids(self._world.describe_prepared_food())
        if word == "hand":
            return (
                f"You hold this: {self._names.name(self._names.held)}." if self._names.held else "Your hand is empty."
            )
        if word == "wishes":
            return "\n".join(f"  {one.id} {one.text}" for one in self._person.preferences if self._task in one.tasks)
        furniture = self._world.kitchen.furniture
        return "\n".join(
            f"{room.replace('_', ' ')}: "
            + ", ".join(self._names.name(id) for id, place in furniture.items() if place.holder == room)
            for room in self._world.kitchen.house.rooms
        )

    def _judge(self) -> None:
        verdicts = PreferenceJudge(self._world.number, self._world.kitchen).verdicts(self._person, self._world.trace)
        for verdict in verdicts:
            if verdict.decision != "inapplicable":
                # Only this reason is readable; others quote conditions of the judge.
                why = f" ({verdict.why})" if verdict.why.startswith("not made") else ""
                self._prompt.say(f"  {verdict.decision:9} {verdict.preference.text}{why}", " " * 12)
        share = satisfaction_rate(verdicts)
        said = "no wish applies" if share is None else f"{100 * share:.0f} % of the wishes that apply"
        self._prompt.say(f"{self._name}: {said}")


def _find_person(name: str | None, path: Path | None) -> KitchenProfile:
    people = {person.name: person for person in load_profiles(path or ADAPT_PROFILES)}
    name = name or (DEFAULT_PERSON if path is None else next(iter(people)))
    if name not in people:
        raise UserError(f"nobody is named {name!r}; {suggest_names(name, people)}")
    return people[name]
