"""The scripted oracle: an assistant without a model that knows the lab and plans for the goal that it has *heard*.

It speaks by the rules of the paper's prompts (appendix A.1): it answers, corrects after a failure, and otherwise speaks
only if something is new: the goal is unknown or reached, the next step changed, a danger or the target came into view,
or the person has got lost.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from housewise.agent.basis.advice import Advice, Advisor, find_glimpse, next_advice, side_words
from housewise.agent.basis.descriptions import DescriptionOf
from housewise.agent.basis.goal_hearing import (
    HeardTask,
    hear_task,
    load_task_cards,
    named_kinds,
    names_in,
    spoken_words,
)
from housewise.agent.basis.knowledge import brief_line
from housewise.agent.basis.oracle_phrases import Remark, load_oracle_phrases
from housewise.agent.basis.views import AssistantTurn, OracleView, turn_generator
from housewise.worlds.lab.goals import Goal, may_be_about
from housewise.worlds.lab.history import clip_speech
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.texts import brief_name, brief_place, brief_state, relative_position

PATIENCE = 4
"""Silent turns after which an advice is repeated."""


@dataclass(frozen=True)
class OracleSettings:
    """Options of the scripted oracle.

    Attributes:
        wording: Wording of its speech: training, held_out, or a path to a YAML file.
        is_shuffled: Whether it describes each device by the look of another one, as a control.
        judges_other: Whether it judges sessions in which another assistant speaks: what it would have said counts as
            said only if the person heard such a thing.
    """

    wording: str = "training"
    is_shuffled: bool = False
    judges_other: bool = False


@dataclass(frozen=True)
class _SessionState:
    """What the person has been told in this attempt.

    Attributes:
        advice: The last advice. None if any next one is new.
        notified: Things of which they were told that they are in view.
        warned_room: Room in which they were warned on this visit.
        has_asked: Whether they were asked for their goal.
        is_done: Whether they were told that the goal is reached.
        silent_turns: Turns since anything was said.
    """

    advice: Advice | None = None
    notified: frozenset[str] = frozenset()
    warned_room: str = ""
    has_asked: bool = False
    is_done: bool = False
    silent_turns: int = 0


class ScriptedOracle:
    """An ``Assistant`` that knows everything but the person's goal and thoughts.

    Args:
        settings: Options.
        seed: Seed of the random number generator, which draws sentences.
        describe: See ``Advisor``.
    """

    def __init__(
        self, settings: OracleSettings | None = None, seed: int = 0, describe: DescriptionOf | None = None
    ) -> None:
        settings = settings or OracleSettings()
        self._phrases = load_oracle_phrases(settings.wording)
        self._advisor = Advisor(self._phrases, seed if settings.is_shuffled else None, describe)
        self._seed, self._generator, self._judges_other = seed, random.Random(seed), settings.judges_other
        self._goal: Goal | None = None
        self._session = self._session_before = _SessionState()
        self._speech = ""
        # What its speech is about: the name of a thing, "?" for a question, or nothing.
        self._topic = ""

    def turn(self, view: OracleView) -> AssistantTurn:
        """See ``Assistant.turn``."""
        self._generator = turn_generator(self._seed, view)
        if self._judges_other:
            self._reconcile_with_heard(view)
        spoken = self._listen(view)
        self._session_before, self._topic = self._session, ""
        turn = self._choose(view, spoken)
        self._speech = clip_speech(turn.speech or "")
        self._update(silent_turns=0 if turn.speech else self._session.silent_turns + 1)
        return turn

    def would_say(self, speech: str) -> bool:
        """Return whether another assistant says with a speech what the last turn of this one says.

        It does if it has the topic: the name of a thing, a question, or anything at all. So an advice with the right
        thing and a wrong verb counts too. Silence says nothing, and nothing is said where this one is silent.
        """
        if not self._speech or not speech:
            return False
        return self._topic in names_in(speech) or (self._topic in ("", "?") and self._topic in speech)

    def _reconcile_with_heard(self, view: OracleView) -> None:
        """Undo what its last turn noted as said if the other assistant did not say it.

        If the other assistant named other things alone, the last advice is forgotten, so that it is new again.
        """
        heard = (view.turns[-2].speech or "") if len(view.turns) > 1 else self._speech
        if heard == self._speech:
            return
        names, advice = names_in(heard), self._session.advice
        if self._speech and not self.would_say(heard):
            self._session = replace(self._session_before, advice=None)
        elif (
            advice is not None and names and names.isdisjoint({self._topic, KINDS[view.state[advice.thing].kind].name})
        ):
            self._update(advice=None)
        silent = takewhile(lambda turn: not turn.speech, reversed(view.turns[:-1]))
        self._update(silent_turns=sum(1 for _ in silent))

    def _update(self, **changes: Any) -> None:
        self._session = replace(self._session, **changes)

    def _listen(self, view: OracleView) -> str:
        """Return what the person has just said, and keep the goal that it names; empty if they did not speak."""
        last = view.turns[-1] if view.turns else None
        spoken = clip_speech(last.action.argument) if last is not None and last.action.verb == "Speak" else ""
        if spoken and (task := hear_task(spoken, self._advised_names(view.state))) is not None:
            self._goal = find_goal(task, view.state)
            self._update(is_done=False)
        if view.state.room != self._session.warned_room:
            self._update(warned_room="")
        return spoken

    def _advised_names(self, state: LabState) -> tuple[str, ...]:
        """Return the name of the thing of the last advice; none without a goal, or once it is reached."""
        advice = self._session.advice
        if self._goal is None or self._session.is_done or advice is None or advice.thing not in state.by_id:
            return ()
        return (KINDS[state[advice.thing].kind].name,)

    def _choose(self, view: OracleView, spoken: str) -> AssistantTurn:
        last = view.turns[-1] if view.turns else None
        if (danger := self._danger(view)) is not None:
            return AssistantTurn("A gravity flipper that is on is in view.", danger)
        if self._goal is None:
            return self._without_goal(view, spoken)
        if self._goal.holds(view.state, _events(view)):
            return self._after_goal(spoken)
        advice = next_advice(view.state, self._goal, view.surroundings)
        if advice is None:
            return AssistantTurn("I know no way to the goal.", self._draw("confused") if spoken else None)
        previous = self._session.advice
        self._update(advice=advice)
        is_new = previous is None or (advice.verb, advice.thing) != (previous.verb, previous.thing)
        if spoken:
            if is_new or not _is_acknowledgement(spoken):
                return self._advise(view, advice, "They spoke.")
            return AssistantTurn(self._thought(view, advice, "They have understood."))
        if last is not None and not last.outcome.succeeded:
            return self._advise(view, advice, "It failed.", self._draw("sorry"))
        if is_new:
            return self._advise(view, advice, "The next step is new.")
        return self._remind(view, advice)

    def _without_goal(self, view: OracleView, spoken: str) -> AssistantTurn:
        """Answer a question about a thing, or ask what the person wants to do. The goal is not guessed."""
        if spoken and (thing := self._named_thing(spoken, view)) is not None:
            self._topic = KINDS[thing.kind].name
            advice = Advice("GotoObject", thing.id, thing.room)
            text = self._advisor.say(advice, view.state, view.surroundings, self._generator)
            return AssistantTurn("They ask about a thing; I do not know their goal.", f"{text} {self._draw('ask_use')}")
        if not spoken and self._session.silent_turns < PATIENCE and self._session.has_asked:
            return AssistantTurn("I have asked for the goal.")
        remark: Remark = "confused" if spoken and self._session.has_asked else "ask_goal"
        self._topic = "?"
        self._update(has_asked=True)
        return AssistantTurn("I do not know their goal.", self._draw(remark))

    def _after_goal(self, spoken: str) -> AssistantTurn:
        if self._session.is_done and not spoken:
            return AssistantTurn("The goal is reached.")
        self._update(is_done=True)
        return AssistantTurn("The goal is reached.", self._draw("done"))

    def _remind(self, view: OracleView, advice: Advice) -> AssistantTurn:
        """Speak if the person went astray, if the target came into view, or if nothing has happened for a while."""
        last = view.turns[-1].action if view.turns else None
        if last is not None and last.verb == "GotoRoom" and view.state.room != advice.room:
            return self._advise(view, advice, "They went to a wrong room.", self._draw("wrong_room"))
        glimpse = find_glimpse(view.state, view.surroundings, advice.thing)
        if glimpse is not None and advice.thing not in self._session.notified:
            self._topic = KINDS[view.state[advice.thing].kind].name
            self._update(notified=self._session.notified | {advice.thing})
            slots = self._advisor.slots(advice, view.state)
            text = self._phrases.draw("notify", self._generator, **slots, side=side_words(glimpse))
            return AssistantTurn(self._thought(view, advice, "It came into view."), text)
        if self._session.silent_turns >= PATIENCE:
            return self._advise(view, advice, "They do not get on.")
        return AssistantTurn(self._thought(view, advice, "They do as advised."))

    def _advise(self, view: OracleView, advice: Advice, reason: str, lead: str = "") -> AssistantTurn:
        self._topic = KINDS[view.state[advice.thing].kind].name
        if find_glimpse(view.state, view.surroundings, advice.thing) is not None:
            self._update(notified=self._session.notified | {advice.thing})
        text = self._advisor.say(advice, view.state, view.surroundings, self._generator)
        return AssistantTurn(self._thought(view, advice, reason), f"{lead} {text}".strip())

    def _thought(self, view: OracleView, advice: Advice, reason: str) -> str:
        """Return the person's goal and where they are, what hinders them, the next step, and why it is said or not.

        It has the words of the short prompts, in which a model that learned from it finds the rest.
        """
        state, thing = view.state, view.state[advice.thing]
        glimpse = find_glimpse(state, view.surroundings, advice.thing)
        if glimpse is not None:
            where = f"It is {relative_position(glimpse)}."
        else:
            where = "It is in this room." if thing.room == state.room else f"First go to the {thing.room}."
        sentences = (
            f"Goal: {_goal_words(self._goal)}." if self._goal is not None else "",
            brief_state(state),
            *_wish_sentences(view, advice),
            f"Next: {advice.verb} {brief_name(thing)}.",
            where,
            reason,
        )
        return " ".join(filter(None, sentences))

    def _danger(self, view: OracleView) -> str | None:
        """Return a warning of an active gravity flipper, once for each visit of its room."""
        for glimpse in view.surroundings.glimpses(view.state):
            thing = view.state[glimpse.id]
            if thing.kind == "gravity_flipper" and "on" in thing.flags and not self._session.warned_room:
                self._topic = KINDS[thing.kind].name
                self._update(warned_room=view.state.room)
                advice = Advice("GotoObject", thing.id, thing.room)
                return self._phrases.draw("warning", self._generator, **self._advisor.slots(advice, view.state))
        return None

    def _named_thing(self, spoken: str, view: OracleView) -> Thing | None:
        """Return the thing whose whole name was said, one in this room first."""
        words = spoken_words(spoken)
        for kind in named_kinds(words):
            if spoken_words(KINDS[kind].name) <= words:
                things = [each for each in view.state.things if each.kind == kind]
                return min(things, key=lambda each: each.room != view.state.room, default=None)
        return None

    def _draw(self, remark: Remark) -> str:
        return self._phrases.draw(remark, self._generator)


def _wish_sentences(view: OracleView, advice: Advice) -> Iterator[str]:
    """Yield the actions that are wanted, with what is known of their things, and between them what hinders each.

    What is known stands before what follows from it: a small model that concludes first concludes from habit.
    """
    in_view, said = {each.id for each in view.surroundings.glimpses(view.state)}, ""
    for wish in advice.wishes:
        thing = view.state[wish.thing.id]
        line = (
            brief_line(view.state, thing, thing.id in in_view)
            or f"{brief_name(thing)}: {brief_place(view.state, thing)}"
        )
        reason = "" if wish.reason in ("", said) else f"{wish.reason[:1].upper()}{wish.reason[1:].rstrip('.')}."
        sentences = (reason, f"{wish.verb} {line}.")
        # Of the first action, its own line says why.
        yield from sentences if wish is not advice.wishes[0] else reversed(sentences)
        said = wish.reason


def _is_acknowledgement(text: str) -> bool:
    return "?" not in text and len(text.split()) <= 4


def _goal_words(goal: Goal) -> str:
    """Return a goal in words: what is done, and the thing, colour and room that it is about."""
    kind = KINDS[goal.kind].name if goal.kind else ""
    return ", ".join(filter(None, (load_task_cards()[goal.task].title, kind, goal.color, goal.room)))


def _events(view: OracleView) -> frozenset[str]:
    return frozenset(event for turn in view.turns for event in turn.outcome.events)


def find_goal(task: HeardTask, state: LabState) -> Goal:
    """Return the goal that a person has named: its thing is the best named one that such a task may be about."""
    kinds = [kind for kind in task.kinds if may_be_about(task.task, kind, state)]
    kinds.sort(key=lambda kind: bool(task.room) and KINDS[kind].room != task.room)
    goals = [Goal(task.task, kind, task.color, task.room) for kind in kinds or [""]]
    literal = [bool(goal.kind) and KINDS[goal.kind].name in task.names for goal in goals]
    # Of the two best, if they were named equally well, the one with something to do is meant.
    alike = goals[:2] if len(set(literal[:2])) == 1 else goals[:1]
    return next((goal for goal in alike if not goal.holds(state)), goals[0])
