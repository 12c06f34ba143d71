"""Prompts with notes about the person, an addition to the context generator of the paper (``prompt``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from housewise.agent.personalize.judgement_text import Judgements
from housewise.agent.personalize.note_rules import RuleWords
from housewise.agent.personalize.placement_candidates import known_placements
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt import ContextGenerator, PromptTemplate
from housewise.agent.personalize.quoted_notes import QuoteWords
from housewise.core.errors import UserError
from housewise.core.template_text import Template, template_text
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph

_MAX_PLACES = 3
"""Correct receptacles of an object that a prompt names, those in its room first."""


class JudgementWords(Template):
    """Texts that ask for judgements as JSON, and tell of them in the planner's prompt; see json_judge.

    Attributes:
        user: Message that asks for the judgements. ``things`` are the objects to judge, one per line.
        thing, held: An object to judge, on a receptacle or in the hand.
        judgements: Text around the judgements in the planner's prompt, one per line.
        fine, place, elsewhere: A judgement: in its place, or wanted on a receptacle, or on one that has not been seen.
    """

    user: str = template_text("holding", "rooms", "quotes", "rules", "things")
    thing: str = template_text("object", "receptacle")
    held: str = template_text("object")
    judgements: str = template_text("lines")
    fine: str = template_text("object")
    place: str = template_text("object", "place")
    elsewhere: str = template_text("object")


class NotesTemplate(PromptTemplate):
    """Texts of a prompt that may tell of notes and ask for judgements; see ``housekeep_configs/prompts``.

    Attributes:
        judging: Whether replies begin with a judgement of every object; see judgement_text.
        most_tries: Attempts after which an object or receptacle is left out; see planner.hide_hopeless_targets.
        feedback: Message about an infeasible plan, if plans are checked.
        thing: An object, its receptacle and its note, in lists of objects.
        note_here, note_wanted, note_unwanted: Notes about an object: wanted where it is, wanted elsewhere, or unwanted
            where it is.
        note_alike: Note about an object without notes of its own: where similar kinds are wanted.
        alike: One similar kind in that note.
        notes: Text around all notes, one per line, for prompts that do not put them beside the objects.
        memory: Text for prompts with a memory. Without it, a model follows what most people want.
        quotes: Texts of notes in plain words, for prompts that quote them.
        rules: Texts of rules that the model concludes from the notes.
        judgements: Texts of judgements as JSON, for ``judging.as_json``.
    """

    judging: bool = False
    most_tries: int | None = Field(default=None, ge=1)
    feedback: str = template_text("problem", default="No: {problem}. Write all steps again, without that mistake.")
    user: str = template_text("holding", "rooms", "things", "notes", "memory", "quotes", "rules", "judgements")
    holding: str = template_text("object", "note")
    thing: str = template_text("object", "receptacle", "note", default="")
    note_here: str = template_text("object", default="")
    note_wanted: str = template_text("object", "places", default="")
    note_unwanted: str = template_text("object", "alike", default="")
    note_alike: str = template_text("object", "alike", default="")
    alike: str = template_text("object", "receptacle", default="")
    notes: str = template_text("lines", default="")
    memory: str = template_text(default="")
    quotes: QuoteWords | None = None
    rules: RuleWords | None = None
    judgements: JudgementWords | None = None

    @property
    def mentions_notes(self) -> bool:
        """Whether prompts contain notes."""
        return any((self.note_here, self.note_wanted, self.note_unwanted, self.note_alike))

    def describe_hand(
        self, graph: SceneGraph, names: Mapping[str, str] = {}, knowledge: PreferenceKnowledge | None = None
    ) -> str:
        """Describe what the robot holds, with what is known about it."""
        held = graph.holding
        if not held:
            return self.empty_hand.format()
        note = self._note(graph, held, names, knowledge or PreferenceKnowledge())
        return self.holding.format(object=names.get(held, held), note=note)

    def describe_objects(self, graph: SceneGraph, names: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        """Describe every object that stands somewhere, one per line."""
        places = {thing: graph.container_of(thing) or "" for thing in graph.placed_objects}
        lines = (
            self.thing.format(
                object=names.get(thing, thing),
                receptacle=names.get(place, place),
                note=self._note(graph, thing, names, knowledge),
            )
            for thing, place in places.items()
        )
        return "\n".join(lines)

    def describe_notes(self, graph: SceneGraph, names: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        """Return the notes about the objects in sight and in the hand, one per line."""
        held = [graph.holding] if graph.holding else []
        lines = [
            line for thing in (*held, *graph.placed_objects) if (line := self._note(graph, thing, names, knowledge))
        ]
        return self.notes.format(lines="\n".join(lines)) if lines else ""

    def describe_state(self, graph: SceneGraph, names: Mapping[str, str], known: PreferenceKnowledge) -> dict[str, str]:
        """Return the parts of prompts in plain words: the hand, the rooms, the quoted notes and the rules."""
        placements = {thing: graph.container_of(thing) for thing in graph.placed_objects}
        if graph.holding is not None:
            placements = {graph.holding: None, **placements}
        notes = known.relevant_notes(placements, self.quotes.max_notes) if self.quotes else ()
        return {
            "holding": self.describe_hand(graph, names, known),
            "rooms": self.describe_rooms(graph, names),
            "quotes": self.quotes.quote_all(each.note for each in notes) if self.quotes else "",
            "rules": self.rules.format_rules(known.rules) if self.rules else "",
        }

    def describe_judgements(self, judgements: Judgements, graph: SceneGraph, names: Mapping[str, str]) -> str:
        """Return the judgements of a model in plain words, or nothing without any."""
        words = self.judgements
        if words is None or not judgements:
            return ""
        lines = []
        for thing, place in judgements.items():
            name = names.get(thing, thing)
            if place is None:
                lines.append(words.elsewhere.format(object=name))
            elif place == graph.container_of(thing):
                lines.append(words.fine.format(object=name))
            else:
                lines.append(words.place.format(object=name, place=names.get(place, place)))
        return words.judgements.format(lines="\n".join(lines))

    def _note(self, graph: SceneGraph, thing: str, names: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        name, known = names.get(thing, thing), known_placements(graph, thing, knowledge)
        if known.wanted_here:
            return self.note_here.format(object=name)
        if known.wanted:
            words = [names.get(place, place) for place in known.wanted[:_MAX_PLACES]]
            return self.note_wanted.format(object=name, places=", ".join(words))
        alike = ", ".join(
            self.alike.format(object=kind, receptacle=names.get(place, place)) for kind, place in known.similar_kinds
        )
        if known.wanted_here is False:
            return self.note_unwanted.format(object=name, alike=alike)
        return self.note_alike.format(object=name, alike=alike) if alike else ""


class NotesContext(ContextGenerator):
    """Describes a scene graph and what is known about the person.

    Args:
        template: Texts of the prompt.
        max_steps: Maximum number of steps of a plan.
    """

    template: NotesTemplate

    def __init__(self, template: NotesTemplate, max_steps: int = 10) -> None:
        super().__init__(template, max_steps)

    def messages(
        self, graph: SceneGraph, knowledge: PreferenceKnowledge | None = None, judgements: Judgements | None = None
    ) -> tuple[Message, ...]:
        """Return system and user message for the present state, the recalled notes, and judgements in plain words."""
        words, known = self.template, knowledge or PreferenceKnowledge()
        names = words.prompt_names(graph)
        return self.fill_in(
            **words.describe_state(graph, names, known),
            things=words.describe_objects(graph, names, known),
            notes=words.describe_notes(graph, names, known),
            memory="" if known.is_empty else words.memory.format(),
            judgements=words.describe_judgements(judgements or {}, graph, names),
        )

    def check_json(self) -> JudgementWords:
        """Return the texts for judgements as JSON.

        Raises:
            UserError: The template has none.
        """
        if self.template.judgements is None:
            raise UserError(f"prompt {self.template.name} cannot ask for judgements as JSON; set prompt=notes")
        return self.template.judgements

    def judging_messages(
        self, graph: SceneGraph, things: Sequence[str], knowledge: PreferenceKnowledge
    ) -> tuple[Message, ...]:
        """Return system and user message that ask for judgements of some objects as JSON.

        Raises:
            UserError: See check_json.
        """
        template, words = self.template, self.check_json()
        names = template.prompt_names(graph)
        places = {thing: graph.container_of(thing) or "" for thing in things if thing != graph.holding}
        lines = [
            words.thing.format(object=names.get(thing, thing), receptacle=names.get(places[thing], places[thing]))
            if thing in places
            else words.held.format(object=names.get(thing, thing))
            for thing in things
        ]
        parts = template.describe_state(graph, names, knowledge)
        user = words.user.format(**parts, things="\n".join(lines)).strip()
        return Message("system", template.system.format(most_steps=self.max_steps).strip()), Message("user", user)
