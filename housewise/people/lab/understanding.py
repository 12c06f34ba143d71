"""Reads instructions out of free speech by keyword spotting: verbs, rooms, sides, and words that describe things.

No wording is assumed. A sentence is split at its verbs; words about reasons, conditions and what is not to be done are
set apart; what is left describes the thing. Which thing it is, is decided by what is in view, see ``grounding``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from housewise.people.lab.verb_spotting import HERE, Segment, split_at_verbs, take_room
from housewise.people.lab.vocabulary import SpeechVocabulary, SpokenVerb, find_phrase, load_vocabulary, tokenize
from housewise.worlds.lab.actions import MANIPULATIONS, Verb
from housewise.worlds.lab.history import clip_speech
from housewise.worlds.lab.kinds import KINDS

Meaning = tuple[Verb | None, frozenset[str]]
"""What is to be done, and the words for the thing."""


@dataclass(frozen=True)
class Instruction:
    """Something to do, or a hint about a thing.

    Attributes:
        verb: What to do. None for a hint, such as "the mug is on the table".
        words: Keys of the words that describe the thing.
        place_words: Keys of the words that say where it is, or with what it is done.
        context: Keys of the other words of the sentence and of the sentences about it.
        room: Room to go to, or in which the thing is; HERE for this room. Empty if none is mentioned.
        side: Side of the view; empty if none is mentioned.
    """

    verb: Verb | None
    words: tuple[str, ...] = ()
    place_words: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    room: str = ""
    side: str = ""

    @property
    def meaning(self) -> Meaning:
        """What is to be done, and the words for the thing."""
        return self.verb, frozenset(self.words)


@dataclass(frozen=True)
class UnderstoodSpeech:
    """What an utterance says.

    Attributes:
        instructions: What to do, in order.
        avoided: What not to do.
        is_question: Whether it asks the listener something.
    """

    instructions: tuple[Instruction, ...] = ()
    avoided: tuple[Instruction, ...] = ()
    is_question: bool = False


_SENTENCE = re.compile(r"[^.!?;()\n]+[.!?;\n]*")
_QUESTION = re.compile(
    r"(what|which|how|where|why|who|do you (want|need|know|have|like|mean)|are you|is your|have you|did you|does|"
    r"(could|can|would|will) you (please |maybe )?(tell|say|let me|describe|share|explain)|(may|can) i)\b"
)
_SUGGESTION = re.compile(
    r"((may|can) i ask you to|how about|what about|what if you|what you|where you|how you|why not|why don't you)\b"
)

_BEFORE_SIDES = frozenset({"your", "the", "our", "my", "to", "on", "at", "far", "turn", "look", "slightly", ",", ":"})
_SHOULD_BE_OPEN = re.compile(r"\b(should|must|have to|has to|needs to|ought to) (be|stand|stay) (wide )?open\b")
_IN_HAND = re.compile(r"\bin (your|the) hands?\b")


@lru_cache(maxsize=1)
def categories() -> frozenset[str]:
    """Return the words of fuzzy names: machine, computer and so on."""
    content = load_vocabulary().text_content
    return frozenset(word for kind in KINDS.values() if kind.fuzzy for word in content(kind.fuzzy))


@dataclass(frozen=True)
class _Hint:
    """What a sentence without an order says.

    Attributes:
        instruction: What it says.
        subject: Words for the thing whose state it tells, as in "the computer is infected". Empty for other sentences.
    """

    instruction: Instruction
    subject: frozenset[str]

    def is_aside(self, order: Instruction) -> bool:
        """Return whether it tells the state of another thing than the one of the order that follows."""
        return bool(self.subject) and (order.verb == "GotoRoom" or not self.subject.intersection(order.words))


def understand(text: str) -> UnderstoodSpeech:
    """Return what an utterance says. Only its first ``MAX_SPEECH`` characters are heard."""
    return _understand(clip_speech(text))


@lru_cache(maxsize=1 << 12)
def _understand(text: str) -> UnderstoodSpeech:
    vocabulary = load_vocabulary()
    instructions: list[Instruction] = []
    avoided: list[Instruction] = []
    pending: list[_Hint] = []
    is_question = False
    for sentence in _SENTENCE.findall(text.replace("on top of", "on")):
        tokens = [token for token in tokenize(sentence) if token not in vocabulary.function_words["adverbs"]]
        while tokens and tokens[0] in (",", ":", "and", "so", "ok", "okay", "great", "sorry", "good", "nice"):
            tokens.pop(0)
        plain = " ".join(tokens)
        if _QUESTION.match(plain) and not _SUGGESTION.match(plain):
            is_question = True
            continue
        is_about_it = bool(tokens) and tokens[0] in vocabulary.function_words["pronouns"]
        tokens, forbidden = _set_apart(tokens, vocabulary)
        against = [instruction for each in forbidden for instruction in _read(each, vocabulary)]
        # "It is on. Keep away from it." "That did not work." warns of nothing.
        before = [*instructions, *(each.instruction for each in pending)]
        against = [each if each.verb or each.words else (before or [each])[-1] for each in against]
        avoided += [each for each in against if _says_something(each)]
        found = [instruction for each in split_at_verbs(tokens, vocabulary) for instruction in _read(each, vocabulary)]
        if [each.verb for each in found] == ["GotoRoom"] and {"for that", "for it", "for this"} & _pairs(tokens):
            found = [replace(found[0], verb=None)]  # "You should go to the warehouse for that."
            is_about_it = True
        if found[0].verb is None:
            if "wrong" in tokens:
                found[0] = Instruction(None)  # "this is the wrong door"
            if len(found) == 1 and instructions and is_about_it and not pending:
                instructions[-1] = _join(instructions[-1], found[0])
                continue
            pending += [_Hint(found[0], _states(tokens, vocabulary))] if _says_something(found[0]) else pending[:0]
            found = [each for each in found if each.verb is not None]
        if not found:
            continue
        is_named = not vocabulary.function_words["pronouns"] & {*tokens}
        _add(found, [each.instruction for each in pending if not (is_named and each.is_aside(found[0]))], instructions)
        pending = []
    for hint in (each.instruction for each in pending):
        about = [i for i, each in enumerate(instructions) if each.verb != "GotoRoom"]
        if about:
            instructions[about[-1]] = _join(instructions[about[-1]], hint)
        else:
            instructions.append(hint)
    instructions = _share_room(_drop_repetitions(_resolve_pronouns(instructions)))
    return UnderstoodSpeech(tuple(instructions), tuple(avoided), is_question)


def _add(found: list[Instruction], pending: Sequence[Instruction], instructions: list[Instruction]) -> None:
    """Add the instructions of a sentence, with the hints that were given since the last one."""
    if found[0].verb == "GotoRoom" and found[0].room:
        # "There is a hammer here. Once you have it, go back to the break room."
        instructions += [hint for hint in pending if hint.room in ("", HERE, found[0].room) and hint.words]
    else:
        for hint in pending:
            found[0] = _join(found[0], hint)
    if found[0].verb == "GotoObject" and instructions and instructions[-1].verb in MANIPULATIONS:
        # "Toggle the monitor. Look for a red computer." tells how the monitor looks.
        instructions[-1] = _join(instructions[-1], found.pop(0))
    instructions += found


def _states(tokens: Sequence[str], vocabulary: SpeechVocabulary) -> frozenset[str]:
    """Return the words for the thing whose state a sentence tells; none if it tells where it is or how it looks."""
    function_words = vocabulary.function_words
    # "The trouble is that the computer is infected"; "One more thing: the computer is infected".
    begin = max((i + 1 for i, each in enumerate(tokens) if each in (":", "that", ",")), default=0)
    clause = tokens[begin if begin < len(tokens) else 0 :]
    states = function_words["linking"] | function_words["predicates"]
    end = next((i for i, each in enumerate(clause) if each in states), 0)
    subject = frozenset(vocabulary.content(clause[:end])) if clause[0] in function_words["determiners"] else frozenset()
    is_place = bool({*clause[end:]} & (function_words["from"] | {"here", "there"}))
    return frozenset() if is_place or subject <= categories() else subject


def _pairs(tokens: Sequence[str]) -> set[str]:
    return {" ".join(tokens[i : i + 2]) for i in range(len(tokens))}


def _says_something(hint: Instruction) -> bool:
    return bool(hint.words or hint.place_words or hint.context or hint.room or hint.side)


def _share_room(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Give the only room of an utterance to all its instructions, unless it is where a thing is to be carried."""
    rooms = {each.room for each in instructions if each.room}
    place = next((i for i, each in enumerate(instructions) if each.verb == "GotoRoom"), 0)
    if len(rooms) != 1 or any(each.verb is not None for each in instructions[:place]):
        return list(instructions)
    return [replace(each, room=each.room or min(rooms)) for each in instructions]


def _resolve_pronouns(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Give the words of the instruction before to one that names nothing, as in "find the mug and pick it up"."""
    resolved: list[Instruction] = []
    for each in instructions:
        if resolved and not (each.words or each.context or each.place_words or each.verb == "GotoRoom"):
            before = resolved[-1]
            each = replace(each, context=(*before.words, *before.context), place_words=before.place_words)
        resolved.append(each)
    return resolved


def _join(instruction: Instruction, hint: Instruction) -> Instruction:
    """Return an instruction with what another sentence says about its thing."""
    return replace(
        instruction,
        words=instruction.words or hint.words,
        context=(*instruction.context, *(hint.words if instruction.words else ()), *hint.context),
        place_words=(*instruction.place_words, *hint.place_words),
        room=instruction.room or hint.room,
        side=instruction.side or hint.side,
    )


def _drop_repetitions(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Drop a verb that is said twice about the same thing, as in "press it to start it"."""
    kept: list[Instruction] = []
    for each in instructions:
        is_same = kept and kept[-1].verb == each.verb and each.verb in ("Toggle", "Break", "Throw", "Pour", "Place")
        if is_same and not set(each.words) - set(kept[-1].words):
            kept[-1] = _join(kept[-1], each)
        else:
            kept.append(each)
    return kept


def _set_apart(tokens: list[str], vocabulary: SpeechVocabulary) -> tuple[list[str], list[Segment]]:
    """Return a sentence without reasons, with conditions as words only, and what is not to be done."""
    kept: list[str] = []
    forbidden: list[Segment] = []
    place = 0
    while place < len(tokens):
        if length := find_phrase(tokens, place, vocabulary.asides):
            place += length
        elif length := find_phrase(tokens, place, vocabulary.encouragements):
            kept.append("please")
            place += length
        elif length := find_phrase(tokens, place, vocabulary.negations):
            end = _clause_end(tokens, place + length, ("but", "and", "just", "instead", "rather"))
            if kept and kept[-1] in ("do", "does", "should", "you", "please"):
                kept.pop()
            forbidden += split_at_verbs(tokens[place + length : end], vocabulary)
            place = end
        elif find_phrase(tokens, place, vocabulary.reasons) or _is_purpose(tokens, place, vocabulary):
            place = _clause_end(tokens, place + 1, ("then", "but"))
            kept.append(",")
        elif length := find_phrase(tokens, place, vocabulary.conditions):
            end = _clause_end(tokens, place + length, ("then", "but"))
            # An upper-case word cannot be a verb, as all tokens are in lower case.
            kept += [token.upper() for token in tokens[place + length : end]]
            place = end
        else:
            kept.append(tokens[place])
            place += 1
    return kept, forbidden


def _is_purpose(tokens: Sequence[str], place: int, vocabulary: SpeechVocabulary) -> bool:
    """Return whether a sentence begins like "to fire the laser", but not like "to the robotics lab"."""
    return place == 0 and tokens[0] == "to" and not {*tokens[1:2]} & vocabulary.function_words["determiners"]


def _clause_end(tokens: Sequence[str], start: int, words: Sequence[str]) -> int:
    return next((i for i in range(start, len(tokens)) if tokens[i] in (",", *words)), len(tokens))


def _read(segment: Segment, vocabulary: SpeechVocabulary) -> list[Instruction]:
    """Return the instructions of a verb and the words around it: two for "take the mug to the robotics lab"."""
    tokens, room, to_room = take_room([token.lower() for token in segment.tokens], vocabulary)
    before, room_before, _ = take_room([token.lower() for token in segment.before], vocabulary)
    before, side_before = _take_side(before, vocabulary)
    tokens, side = _take_side(tokens, vocabulary)
    side = side_before or side
    # "The mug onto the red shelf, please"; "get it into the machine".
    is_into = _is_moved_into(tokens, vocabulary) and (
        segment.verb not in ("Open", "Break", "Pour", "Throw")
        or (segment.verb in ("Open", "Break") and _is_bare(tokens, vocabulary))
    )
    main, rest = _split_at_preposition("Place" if is_into else segment.verb, tokens, vocabulary)
    words, place_words = vocabulary.content(main), vocabulary.content(rest)
    context = vocabulary.content(before)
    verb: Verb | None = "GotoObject" if segment.verb == "Find" else segment.verb
    if verb is None and words and _IN_HAND.search(" ".join(tokens)):
        verb = "Pickup"  # "you need the mug in your hand"
    if verb is None and words and _SHOULD_BE_OPEN.search(" ".join(tokens)):
        verb = "Open"
    if verb is None and words and _is_switched(tokens, vocabulary):
        verb = "Toggle"
    if segment.verb == "Find" and not words:
        verb = None  # "you find it on the table"
    if is_into and words:
        verb = "Place"
    if verb in ("Pickup", "Place") and room and to_room:
        going = Instruction("GotoRoom", room=room)
        return [Instruction(verb, words, side=side), going] if words else [going]
    if verb == "GotoRoom" and not (room or room_before):
        verb = "GotoObject"
    if verb == "GotoObject" and room and not (words or place_words):
        verb = "GotoRoom"
    return [Instruction(verb, words, place_words, context, room or room_before, side)]


def _is_moved_into(tokens: Sequence[str], vocabulary: SpeechVocabulary) -> bool:
    """Return whether words say that a thing goes into or onto another."""
    place = next((i for i, token in enumerate(tokens) if token in ("into", "onto")), 0)
    moved = bool(vocabulary.content(tokens[:place])) or bool({*tokens[:place]} & vocabulary.function_words["pronouns"])
    return moved and bool(vocabulary.content(tokens[place + 1 :]))


def _take_side(tokens: list[str], vocabulary: SpeechVocabulary) -> tuple[list[str], str]:
    """Return a text without the words of sides, and the first side that is one of the listener's."""
    side_of = {word: side for side, words in vocabulary.sides.items() for word in words}
    sides = [side_of[token] for i, token in enumerate(tokens) if token in side_of and _is_side(tokens, i)]
    return [token for token in tokens if token not in side_of], next(iter(sides), "")


def _is_side(tokens: Sequence[str], place: int) -> bool:
    """Return whether a word tells a side of the listener, unlike those of "left of the table" and "left it there"."""
    is_elsewhere = tokens[place + 1 : place + 2] == ["of"] and tokens[place + 2 : place + 3] not in (["you"], ["us"])
    is_word = tokens[place] in ("left", "right") and len(tokens) > 1 and not {*tokens[:place][-1:]} & _BEFORE_SIDES
    return not (is_elsewhere or is_word)


def _split_at_preposition(
    verb: SpokenVerb | None, tokens: list[str], vocabulary: SpeechVocabulary
) -> tuple[list[str], list[str]]:
    """Split the words after a verb into those of its thing and the others (place, tool, thing in the hand)."""
    into, place = vocabulary.function_words["into"], vocabulary.function_words["from"]
    if verb in ("Place", "Pour", "Throw"):
        places = [i for i, token in enumerate(tokens) if token in into]
        if places and vocabulary.content(tokens[places[0] + 1 :]):
            return tokens[places[0] + 1 :], tokens[: places[0]]
        if "with" in tokens:
            return tokens[: tokens.index("with")], tokens[tokens.index("with") :]
        return tokens, []
    if verb is None:
        end = next((i for i in range(1, len(tokens)) if _is_beside(tokens, i)), len(tokens))
        return tokens[:end], tokens[end:]
    stops = {*place, "with", "using"} if verb == "Break" else place
    end = next((i for i, token in enumerate(tokens) if token in stops), len(tokens))
    if not vocabulary.content(tokens[:end]):  # "go up to the table", "look for it on the desk"
        later = next((i for i in range(end + 1, len(tokens)) if tokens[i] in stops), len(tokens))
        return tokens[end:later], tokens[later:]
    return tokens[:end], tokens[end:]


def _is_bare(tokens: Sequence[str], vocabulary: SpeechVocabulary) -> bool:
    """Return whether no determiner follows a verb, so that it may be a word of a name: "open soda can"."""
    return not {*tokens[:1]} & (vocabulary.function_words["determiners"] | vocabulary.function_words["pronouns"])


def _is_switched(tokens: Sequence[str], vocabulary: SpeechVocabulary) -> bool:
    """Return whether a sentence without a verb is an order such as "the green computer on, please"."""
    plain = [token for token in tokens if token not in (",", ":", "please", "now")]
    is_statement = bool(vocabulary.function_words["linking"] & {*plain})
    return not is_statement and plain[-1:] in (["on"], ["off"])


def _is_beside(tokens: Sequence[str], place: int) -> bool:
    """Return whether the words at a place say that another thing is near: "next to", "near"."""
    return tokens[place] in ("near", "beside", "alongside") or tuple(tokens[place : place + 2]) in (
        ("next", "to"),
        ("close", "to"),
    )
