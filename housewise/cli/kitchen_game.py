"""``housewise play kitchen``: cook in the text kitchen, ask the person, and hear what they think of it."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from housewise.cli.prompt import InputEnded, Prompt
from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.language.embedder import INSTALL, has_minilm, shared_minilm
from housewise.people.kitchen.preference_judge import PreferenceJudge, satisfaction_rate
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.respondent import KitchenRespondent
from housewise.people.respondent import Question
from housewise.worlds.kitchen.thing_names import AmbiguousName, NotUnderstoodLine, ThingNames
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
    """Prepare a breakfast line by line.

    Args:
        task: its number.
        person: for whom; None for the first of ``people``, or the default person.
        people: file or folder of people; None for the sixteen that come along.
        seed: of the scene.
        console: where everything is shown.
        stream: where lines come from.

    Raises:
        UserError: nobody is named so, or there is no such task.
    """
    _Cook(task, _chosen(person, people), seed, Prompt(stream, console)).play()


class _Cook:
    def __init__(self, task: int, person: KitchenProfile, seed: int, prompt: Prompt) -> None:
        self._person, self._prompt, self._task, self._seed = person, prompt, task, seed
        self._name = person.name.capitalize()
        self._begin()

    def play(self) -> None:
        """Do what is typed until it ends; then the person judges."""
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
                line = self._understood(typed)
            except NotUnderstoodLine as problem:
                self._prompt.say(str(problem), _ITEM)
                continue
            if line.word == "quit":
                break
            over = self._do(line)
        self._judge()

    def _begin(self) -> None:
        self._world = TextKitchen(self._task, self._seed)
        self._names = ThingNames(lambda: self._world.state, tuple(self._world.kitchen.furniture))
        self._speaker: KitchenRespondent | None = None
        self._done: list[tuple[str, ...]] = []
        self._open: tuple[str, AmbiguousName] | None = None

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

    def _understood(self, typed: str) -> TypedCommand:
        """What a line means; after a question which of several things was meant, also which one.

        Raises:
            Unclear: it is not understood.
        """
        if self._open:
            before, problem = self._open
            self._open = None
            if chosen := self._names.choose(typed, problem.choices):
                typed = before.lower().replace(problem.words, chosen, 1)
        try:
            return parse_line(typed, self._names, self._world.state, self._world.kitchen.verbs, self._person.name)
        except AmbiguousName as problem:
            self._open = typed, problem
            raise

    def _do(self, line: TypedCommand) -> bool:
        """Do what a line says; whether the breakfast is over."""
        if line.word == "undo":
            self._undo()
        elif line.word:
            self._prompt.say(self._told(line.word), _HELP_INDENT if line.word == "help" else _ITEM)
        elif line.takes:
            self._take(line.takes)
        done: list[str] = []
        for action in line.actions:
            step = self._world.step(action)
            self._prompt.say(self._shown(step, line), _ITEM)
            if not step.failed:
                done.append(action)
            if step.truncated:
                self._prompt.say(f"That was step {MAX_STEPS}, the last one.")
            if step.failed or step.ended or step.truncated:
                break
        if done:
            self._done.append(tuple(done))
        if any(action.startswith(f"Move {self._names.held} ") for action in done):
            self._names.held = ""
        return self._world.has_ended or bool(line.actions and step.truncated)

    def _shown(self, step: KitchenStep, line: TypedCommand) -> str:
        """What comes of an action, in words."""
        if step.failed:
            held = self._names.held
            in_hand = bool(held) and held in line.actions[0].split()
            hint = " You hold it: first put it somewhere, as in: put it in the pan." if in_hand else ""
            return f"Not done: {self._names.spoken(step.observation)}{hint}"
        if step.action is not None and step.action.name == "ask":
            return self._answer(step.action.x)
        if step.action is not None and step.action.name == "search" and line.shows:
            return self._names.inside(line.shows)
        return self._names.spoken(step.observation)

    def _answer(self, question: str) -> str:
        if not has_minilm():
            return f"{self._name} cannot answer without sentence embeddings: run `{INSTALL}`"
        if self._speaker is None:
            judge = PreferenceJudge(self._world.number, self._world.kitchen)
            self._speaker = KitchenRespondent(self._person, judge, self._world.trace, shared_minilm())
        return f"{self._name}: {self._speaker.answer(Question(question)).text}"

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
        """Do all but the last thing again, from the beginning."""
        if not self._done:
            self._prompt.say("There is nothing to undo.")
            return
        *before, last = self._done
        self._begin()
        for actions in before:
            for action in actions:
                self._world.step(action)
        self._done = before
        self._prompt.say(f"Undone: {self._names.spoken('; '.join(last))}")

    def _told(self, word: Word) -> str:
        if word == "help":
            return _HELP.format(name=self._name)
        if word == "made":
            return self._names.spoken(self._world.describe_prepared_food())
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
                # Conditions are written for the judge, not for people.
                why = f" ({verdict.why})" if verdict.why.startswith("not made") else ""
                self._prompt.say(f"  {verdict.decision:9} {verdict.preference.text}{why}", " " * 12)
        share = satisfaction_rate(verdicts)
        said = "no wish applies" if share is None else f"{100 * share:.0f} % of the wishes that apply"
        self._prompt.say(f"{self._name}: {said}")


def _chosen(name: str | None, path: Path | None) -> KitchenProfile:
    people = {person.name: person for person in load_profiles(path or ADAPT_PROFILES)}
    name = name or (DEFAULT_PERSON if path is None else next(iter(people)))
    if name not in people:
        raise UserError(f"nobody is named {name!r}; use one of {', '.join(people)}")
    return people[name]
