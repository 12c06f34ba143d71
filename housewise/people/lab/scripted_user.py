"""A scripted person in the lab: understands only what is said, and tries what a person would try without help.

Each turn the person looks, listens, and then does the first of these: answers a question, follows the advice (its
agenda), asks for help, or tries something by common sense (``common_sense``).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from housewise.people.lab.common_sense import Improviser
from housewise.people.lab.grounding import (
    find_matches,
    is_common,
    is_described,
    is_exact,
    is_meaningful,
    is_plain,
    is_small,
    is_suitable,
    is_tool,
    names_common,
    possible_matches,
    said_places,
    shows_all,
    without_held,
)
from housewise.people.lab.lapses import Lapses
from housewise.people.lab.phrases import Occasion, load_user_phrases
from housewise.people.lab.recognized_descriptions import RecognizedDescriptions
from housewise.people.lab.understanding import Instruction, Meaning, understand
from housewise.people.lab.user_memory import UserMemory
from housewise.people.lab.user_traits import BOB, UserTraits
from housewise.people.lab.verb_spotting import HERE
from housewise.people.lab.views import SeenThing, UserTurn, UserView
from housewise.worlds.lab.actions import LabAction, Verb

_HAND: tuple[Verb, ...] = ("Place", "Pour", "Throw", "Break")
_MOVES: dict[Verb, str] = {"MoveForward": "1", "MoveBackward": "1", "RotateLeft": "90", "RotateRight": "90"}


@dataclass
class _Agenda:
    """What is left of an advice.

    Attributes:
        steps: Instructions, the current one first.
        questions: Number of questions about the current one.
        excluded: Ids that turned out not to be meant by the current one.
        is_acting: Whether the last action was to carry out the current one.
    """

    steps: list[Instruction] = field(default_factory=list)
    questions: int = 0
    excluded: set[str] = field(default_factory=set)
    is_acting: bool = False

    def drop_first(self) -> None:
        """Go on to the next instruction."""
        self.steps, self.questions, self.excluded, self.is_acting = self.steps[1:], 0, set(), False


class ScriptedUser:
    """A ``LabUser`` without a model.

    Args:
        traits: What the person is like.
        seed: Seed of the random number generator.
        recognized: See ``Lapses``.
    """

    def __init__(
        self, traits: UserTraits = BOB, seed: int = 0, recognized: RecognizedDescriptions | None = None
    ) -> None:
        self.name, self.traits, self._seed = traits.name, traits, seed
        self._phrases = load_user_phrases(traits.wording)
        self._memory = UserMemory()
        self._agenda = _Agenda()
        self._improviser = Improviser()
        self._dangers: set[str] = set()
        self._inspected: set[str] = set()
        self._unanswered = 0
        self._must_answer = False
        self._target: str | None = None
        self._done: tuple[Instruction, SeenThing] | None = None
        self._refuted: dict[Meaning, set[str]] = {}
        self._undone: dict[Meaning, set[str]] = {}
        self._generator = random.Random(seed)
        self._lapses = Lapses(traits.mistakes, seed, recognized if traits.hears else None)

    def act(self, view: UserView) -> UserTurn:
        """See ``LabUser.act``."""
        self._generator = random.Random(f"{self._seed}:{len(view.history)}")
        advice = understand(view.speech).instructions if self.traits.hears and view.speech else ()
        view = self._lapses.glance(view, {each.side for each in advice})
        self._memory.look(view)
        self._check_last_action(view)
        if self.traits.hears and view.speech:
            self._listen(view.speech, view)
        return self._decide(view)

    def _check_last_action(self, view: UserView) -> None:
        if not view.history or not self._agenda.steps:
            return
        last, agenda = view.history[-1], self._agenda
        current = agenda.steps[0]
        if agenda.is_acting and last.outcome.succeeded:
            if self._target is not None:
                self._memory.learn_name(self._target, current.words or current.context)
                if last.action.argument == self._target and self._target in self._memory.things:
                    self._done = current, self._memory.things[self._target]
            agenda.drop_first()
        elif agenda.is_acting:
            agenda.is_acting = False
            status, target = last.outcome.status, last.action.argument
            if status == "ReceptacleIsClosed":
                agenda.steps.insert(0, Instruction("Open", words=self._memory.words_of(target)))
            elif status not in ("TargetOutOfRange", "AlreadyHoldingObject", "NoFreeHand"):
                self._refuted.setdefault(current.meaning, set()).add(target)

    def _listen(self, speech: str, view: UserView) -> None:
        advice = understand(speech)
        self._must_answer = advice.is_question and not advice.instructions
        avoided = [match for each in advice.avoided for match in self._meant(each, view, None)[:1]]
        self._dangers = {each.id for each in avoided}
        steps = [each for each in advice.instructions if is_meaningful(each)]
        steps = [each for each in steps if each.verb or is_plain(each)] or steps  # without remarks beside orders
        if not steps:
            return
        self._unanswered = 0
        self._doubt(steps, view)
        tells_more = all(each.verb in (None, "GotoObject") and each.room in ("", HERE, view.room) for each in steps)
        if self._agenda.steps and tells_more:
            # It tells more about what the person is about to do.
            current = self._agenda.steps[0]
            context = (word for each in steps for word in (*each.words, *each.place_words, *each.context))
            self._agenda.steps[0] = replace(
                current, context=(*current.context, *context), side=steps[0].side or current.side
            )
        else:
            self._agenda = _Agenda(steps)

    def _doubt(self, steps: list[Instruction], view: UserView) -> None:
        """Learn that what was just done was done to another thing than the one meant, unless all fits.

        It is said again, or what was put there shall be taken again.
        """
        done, self._done = self._done, None
        if done is None or shows_all(*done):
            return
        meaning, place = done[0].meaning, done[1].id
        taken = [each for each in steps if each.verb == "Pickup" and done[0].verb == "Place"]
        if any(found.holder == place for each in taken for found in self._meant(each, view, "Pickup")[:1]):
            self._undone.setdefault(meaning, set()).add(place)
        elif any(each.meaning == meaning for each in steps):
            self._refuted.setdefault(meaning, set()).add(place)

    def _decide(self, view: UserView) -> UserTurn:
        if not view.history:
            return self._say("goal", "The assistant should know my task.", view)
        if self._must_answer:
            self._must_answer = False
            return self._say("goal_again", "The assistant asked.", view)
        is_new = self.traits.hears and view.speech and self._agenda.steps and not self._agenda.is_acting
        if is_new and self._generator.random() < self.traits.talkativeness and self._last_verb(view) != "Speak":
            return self._say("acknowledgement", "I understood.", view)
        while self._agenda.steps:
            turn = self._follow(self._agenda.steps[0], view)
            if turn is not None:
                return turn
            self._agenda.drop_first()
        if self._unanswered < self.traits.patience and self._last_verb(view) != "Speak":
            self._unanswered += 1
            return self._say("next", "I do not know what to do next.", view)
        return self._improviser.act(view, self._memory, self._dangers, self._generator)

    def _follow(self, step: Instruction, view: UserView) -> UserTurn | None:
        """Return the next action for an instruction. None if it is done, or if the person gives up on it."""
        verb = step.verb
        if verb == "GotoRoom":
            return None if view.room == step.room else self._do(self._go(step.room, view), "I was sent there.")
        is_held = view.held is not None and bool(self._meant(step, view, "Pickup", [view.held]))
        if verb == "Pickup" and is_held:
            on = replace(step, verb="Break", words=step.place_words, place_words=(), context=())
            is_blow = is_tool(view.held) and bool(on.words and self._meant(on, view, "Break"))  # type: ignore[arg-type]
            return self._find_and_act(on, view) if is_blow else None  # "bring the hammer down on the plate"
        if (
            verb is None
            and view.held is not None
            and (rest := without_held(step, view.held, self._memory.aliases)) != step
        ):
            step = replace(rest, verb="Place")  # "the mug's place is the machine"
        if step.room not in ("", HERE, view.room):
            return UserTurn("It should be in that room.", self._go(step.room, view))
        if verb in _MOVES and not step.words:
            return self._do(LabAction(verb, _MOVES[verb]), "I was told to.")
        if verb == "Speak":
            return None
        if verb in _HAND and view.held is None:
            return self._take_first(step, view)
        if verb == "Pickup" and view.held is not None:
            return self._put_down(view)
        return self._find_and_act(step, view)

    def _find_and_act(self, step: Instruction, view: UserView) -> UserTurn | None:
        verb: Verb = step.verb if step.verb not in (None, *_MOVES) else "GotoObject"  # type: ignore[assignment]
        meant = self._meant(step, view, verb)
        if not meant and verb == "Toggle" and view.held is not None and is_tool(view.held):  # "hit the mug with it"
            meant = self._meant(step, view, "Break")
            verb = "Break" if meant else verb
        if not meant and verb == "Toggle":  # "use the hammer"
            if view.held is not None and self._meant(step, view, None, [view.held]):
                return None
            meant = [each for each in self._meant(step, view, None) if is_small(each)]
            verb = "Pickup"
        if not meant:
            return self._search(step, view)
        if step.verb is None and any(map(is_small, meant)):
            meant = [each for each in meant if is_small(each)]
            verb = "Pickup"
            if view.held is not None:
                return self._put_down(view)
        if self._is_unclear(meant) and self._agenda.questions < self.traits.patience:
            is_strange = not (is_exact(meant[0].name) or is_described(step))
            if is_strange and (pointed := [each for each in meant if each.id == self._target]):
                return self._act_on(pointed[0], verb, view)  # the thing that was just pointed out
            if is_strange and self._has_asked_twice(view):
                is_strange = False
            if is_strange or self._generator.random() < self.traits.talkativeness:
                self._agenda.questions += 1
                occasion: Occasion = "look" if is_strange else "which"
                return self._say(occasion, "Several things fit.", view, thing=self._spoken_name(step))
            meant = [self._generator.choice(meant)]
        return self._act_on(meant[0], verb, view)

    def _act_on(self, thing: SeenThing, verb: Verb, view: UserView) -> UserTurn | None:
        """Return the way to a thing, or the action on it."""
        is_there = view.is_at(thing)
        if verb == "GotoObject":
            self._target = thing.id
            if is_there:
                return None
            return self._do(LabAction("GotoObject", thing.id), "I go there.")
        if not is_there:
            return UserTurn("I have to be near.", LabAction("GotoObject", thing.id))
        if self._lapses.forgets(thing, view):
            return self._err(thing, verb, view)
        self._target = thing.id
        return self._do(LabAction(verb, thing.id), "This is what was meant.")

    def _err(self, thing: SeenThing, verb: Verb, view: UserView) -> UserTurn:
        """Take another thing near by for the one that was meant, and keep to it; or forget what to do."""
        other = self._lapses.mistaken_thing(thing, verb, view, self._dangers)
        if other is not None:
            self._target = other.id
            return self._do(LabAction(verb, other.id), "I think that this is meant.")
        self._agenda = _Agenda()
        return UserTurn("What was it? I look around.", LabAction("RotateRight", "90"))

    def _meant(
        self, step: Instruction, view: UserView, verb: Verb | None, candidates: list[SeenThing] | None = None
    ) -> list[SeenThing]:
        """Return the things in view, or remembered in this room, that an instruction may mean, best first."""
        known = candidates if candidates is not None else self._memory.things_here(view)
        meaning = step.meaning
        excluded = self._agenda.excluded.union(self._refuted.get(meaning, ()), self._undone.get(meaning, ()))
        known = [each for each in known if each.id not in excluded and "floating" not in each.look.split()]
        if view.held is not None and verb in _HAND:
            step = without_held(step, view.held, self._memory.aliases)
        matches = find_matches(step, known, self._memory.aliases, verb)
        if matches:
            return possible_matches(matches, step.side)
        # Nothing known was named: the thing that was just pointed out.
        pointed = [each for each in known if each.id == self._target and is_suitable(each, verb)]
        return [] if is_described(step) or names_common(step) else pointed

    def _has_asked_twice(self, view: UserView) -> bool:
        return [turn.action.verb for turn in view.history[-2:]] == ["Speak", "Speak"]

    def _is_unclear(self, meant: list[SeenThing]) -> bool:
        return len({(each.name, each.color, each.look) for each in meant}) > 1

    def _search(self, step: Instruction, view: UserView) -> UserTurn | None:
        """Look for a thing: in the room that was mentioned, where it was seen, around, at furniture; then ask."""
        later = [each.room for each in self._agenda.steps[1:] if each.verb == "GotoRoom" and each.room != view.room]
        if later and not step.room and step.verb is not None:
            return UserTurn("Perhaps it is where I shall go next.", LabAction("GotoRoom", later[0]))
        found = None if step.room else self._memory.find_elsewhere(step, view.room)
        room = self._memory.rooms[found.id] if found else ""
        if room and names_common(step):
            return UserTurn("I saw it there.", LabAction("GotoRoom", room))
        if (container := self._look_into_container(step, view)) is not None:
            return container
        likely = said_places(step, self._memory.things_here(view))
        if (action := self._memory.explore(view, self._dangers, likely)) is not None:
            return UserTurn("I do not see it yet.", action)
        if room:
            return UserTurn("I saw it there.", LabAction("GotoRoom", room))
        self._refuted.pop(step.meaning, None)
        if step.verb is None or self._agenda.questions >= self.traits.patience:
            return None
        self._agenda.questions += 1
        name = self._spoken_name(step)
        occasion: Occasion = "look" if self._agenda.questions > 1 and not is_common(name) else "where"
        self._memory.explore_again(view.room)
        return self._say(occasion, "I cannot find it.", view, thing=name)

    def _look_into_container(self, step: Instruction, view: UserView) -> UserTurn | None:
        """Open a container that was mentioned beside a thing that is not in view, or walk up to it where it is open.

        "The lever in the white box" is such a mention. Each container is looked into once.
        """
        around = replace(step, verb="Open", words=(*step.words, *step.place_words, *step.context), context=())
        for thing in self._meant(around, view, "Open") if around.words else ():
            if thing.id in self._inspected:
                continue
            if "open" in thing.look.split():
                self._inspected.add(thing.id)
                return UserTurn("I look into it.", LabAction("GotoObject", thing.id))
            turn = self._act_on(thing, "Open", view)
            if self._agenda.is_acting:
                self._agenda.is_acting = False
                self._inspected.add(thing.id)
            return turn
        return None

    def _take_first(self, step: Instruction, view: UserView) -> UserTurn | None:
        """Pick up what an instruction needs in the hand."""
        needed = replace(step, verb="Pickup", words=step.place_words or step.words, place_words=(), context=())
        meant = self._meant(needed, view, "Pickup")
        if meant:
            return self._pick(meant[0], view)
        if self._agenda.questions >= self.traits.patience:
            return None
        self._agenda.questions += 1
        return self._say("hand", "My hand is empty.", view)

    def _pick(self, thing: SeenThing, view: UserView) -> UserTurn:
        turn = self._act_on(thing, "Pickup", view)
        self._agenda.is_acting = False
        return turn or UserTurn("I take it.", LabAction("Pickup", thing.id))

    def _put_down(self, view: UserView) -> UserTurn:
        """Put the held thing on a piece of furniture, to have a free hand."""
        places = [each for each in view.things if is_common(each.name) and is_suitable(each, "Place")]
        places = [each for each in places if not is_small(each) and each.id not in self._agenda.excluded]
        if not places:
            return UserTurn("Where can I put this down?", self._memory.explore(view, self._dangers) or _TURN)
        turn = self._act_on(places[0], "Place", view)
        if self._agenda.is_acting:
            self._agenda.is_acting = False
            self._agenda.excluded.add(places[0].id)
        return turn or UserTurn("I put this down.", LabAction("Place", places[0].id))

    def _go(self, room: str, view: UserView) -> LabAction:
        return LabAction("GotoRoom", self._lapses.room(room, view))

    def _do(self, action: LabAction, thought: str) -> UserTurn:
        """Return the action that carries out the current instruction."""
        self._agenda.is_acting = True
        return UserTurn(thought, action)

    def _say(self, occasion: Occasion, thought: str, view: UserView, **slots: str) -> UserTurn:
        text = self._phrases.say(occasion, self._generator, goal=view.goal.rstrip("."), room=view.room, **slots)
        return UserTurn(thought, LabAction("Speak", text))

    def _spoken_name(self, step: Instruction) -> str:
        return " ".join([*step.words, *([] if step.words else step.context)][:4]) or "thing"

    def _last_verb(self, view: UserView) -> str:
        return view.history[-1].action.verb if view.history else ""


_TURN = LabAction("RotateRight", "90")
