"""Assistants that know nothing of the person's task: controls of the experiments with people in the lab."""

from __future__ import annotations

from dataclasses import dataclass

from housewise.agent.basis.advice import Advice, Advisor
from housewise.agent.basis.oracle_phrases import load_oracle_phrases
from housewise.agent.basis.views import AssistantTurn, OracleView, turn_generator
from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.kinds import KINDS, Property

SPEECH_RATE = 0.56
"""Rounded share of turns at which the paper's oracle speaks (Table 2: 14.7 assistant turns in 25.9 steps)."""

FREQUENT_ADVICE = "Open the fuse box. It is the box: white metal on the wall with a yellow lightning sign."
"""The most frequent advice of the scripted oracle in training scenarios, counted over the 70 variants by what is to be
done with which kind of thing. A test counts again (``test_scripted_pair.py``)."""

_VERBS: dict[Verb, Property] = {
    "Pickup": "pickupable", "Place": "receptacle", "Open": "openable", "Toggle": "toggleable", "Break": "breakable",
}  # fmt: skip


class RandomSpeech:
    """Gives well-formed advice of random things to do, as often as the oracle speaks."""

    def __init__(self, wording: str = "training", seed: int = 0) -> None:
        self._phrases, self._seed = load_oracle_phrases(wording), seed
        self._advisor = Advisor(self._phrases)

    def turn(self, view: OracleView) -> AssistantTurn:
        """See ``Assistant.turn``."""
        generator = turn_generator(self._seed, view)
        if generator.random() >= SPEECH_RATE:
            return AssistantTurn("By chance.")
        verb = generator.choice(list(_VERBS))
        things = [each for each in view.state.things if _VERBS[verb] in KINDS[each.kind].properties]
        if not things:
            return AssistantTurn("By chance.")
        thing = generator.choice(things)
        advice = Advice(verb, thing.id, thing.room)
        return AssistantTurn("By chance.", self._advisor.say(advice, view.state, view.surroundings, generator))


@dataclass(frozen=True)
class FixedSpeech:
    """Says the same at every turn, such as the most frequent advice; silent without a text."""

    text: str | None = None

    def turn(self, view: OracleView) -> AssistantTurn:
        """See ``Assistant.turn``."""
        return AssistantTurn("Always the same.", self.text)
