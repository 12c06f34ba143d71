"""Turns house preferences into profiles for single decisions, with other words for places than the choices have."""

from __future__ import annotations

from collections import Counter, defaultdict

from housewise.core.configs import CONFIGS
from housewise.core.validation import StrictModel, read_model
from housewise.people.choices.profiles import NamedItem, Profile, ProfileTopic, read_profile
from housewise.people.house.respondent import ANSWERED_PLACES
from housewise.worlds.choices.scenario import ChoiceSet
from housewise.worlds.house.place_kinds import PlaceKind, interleave_rooms, is_wanted, to_place_kinds
from housewise.worlds.house.preferences import (
    ANY_ROOM,
    HousePreferences,
    Places,
    bundled_people,
    default_groups,
    load_preferences,
)
from housewise.worlds.house.spoken_names import spoken_name

PLACE_WORDS_FILE = CONFIGS / "clipr" / "places.yaml"
_MAX_DISLIKES = 3


class PlaceWords(StrictModel):
    """Words for kinds of rooms and receptacles."""

    rooms: dict[str, str]
    receptacles: dict[str, str]

    def phrase(self, place: PlaceKind) -> str:
        """Return a place in these words. A kind without an entry keeps its own name."""
        receptacle, room = place.receptacle or "", place.room or ANY_ROOM
        return f"{self.receptacles.get(receptacle, receptacle)} {self.rooms.get(room, room)}"

    def item(self, place: PlaceKind) -> NamedItem:
        """Return a place with the names by which a question may refer to it: the receptacle and the room."""
        return NamedItem(phrase=self.phrase(place), called=tuple(filter(None, (place.receptacle, place.room))))


def find_profile(choices: ChoiceSet) -> Profile:
    """Return the profile of the person of a set of choices.

    Raises:
        DataError: There is no such profile, or it is invalid.
    """
    return house_profile(choices.person) if choices.person else read_profile(choices.name)


def house_profile(person: HousePreferences) -> Profile:
    """Build a profile with a topic for the things of each group that belong in the same places.

    Raises:
        DataError: The words for places cannot be read.
    """
    words, groups = read_model(PLACE_WORDS_FILE, PlaceWords), default_groups()
    group_of = {thing: name for name, group in groups.items() for thing in group.things}
    same_places: defaultdict[tuple[str, tuple[PlaceKind, ...]], list[str]] = defaultdict(list)
    for thing in person.categories:
        same_places[group_of.get(thing, thing), _interleaved(person.places_for(thing))].append(thing)
    common = _most_common_places()
    topics = []
    for (group, wanted), things in same_places.items():
        usual = _interleaved(groups[group].wanted) if group in groups else ()
        refused = [place for place in dict.fromkeys((*usual, *common)) if not is_wanted(person, things[0], place)]
        if wanted and refused:
            topics.append(
                ProfileTopic(
                    about=tuple(f"where the {spoken_name(thing)} belongs" for thing in things),
                    likes=tuple(map(words.phrase, wanted[:ANSWERED_PLACES])),
                    dislikes=tuple(map(words.phrase, refused[:_MAX_DISLIKES])),
                    liked=tuple(map(words.item, wanted)),
                    disliked=tuple(map(words.item, refused)),
                )
            )
    return Profile(name=person.name, topics=tuple(topics))


def _interleaved(places: Places) -> tuple[PlaceKind, ...]:
    return tuple(interleave_rooms(to_place_kinds(places)))


def _most_common_places() -> list[PlaceKind]:
    """Return the places where the bundled people want anything, the most common first."""
    everybody = map(load_preferences, bundled_people())
    count = Counter(
        place for who in everybody for thing in who.categories for place in _interleaved(who.places_for(thing))
    )
    return [place for place, _ in count.most_common() if place.room]
