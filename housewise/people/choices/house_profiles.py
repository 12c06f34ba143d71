"""What somebody thinks of where things belong, as a profile to answer from: in other words than the choices have."""

from __future__ import annotations

from collections import Counter, defaultdict

from housewise.core.configs import CONFIGS
from housewise.people.choices.respondent import NamedItem, Profile, ProfileTopic, read_profile
from housewise.people.house.respondent import interleave_rooms
from housewise.worlds.choices.files import StrictSettings, read_yaml_settings
from housewise.worlds.choices.scenario import ChoiceSet
from housewise.worlds.house.names import spoken
from housewise.worlds.house.preferences import ANY_ROOM, Person, Places, base_groups, load_person, people

PLACE_WORDS_FILE = CONFIGS / "clipr" / "places.yaml"
_MOST_SAID = 4
"""Places that anybody names in one answer."""
_MOST_REFUSED = 3

_Spot = tuple[str, str]
"""Kinds of room and of receptacle."""


class PlaceWords(StrictSettings):
    """How people speak of kinds of rooms and of receptacles."""

    rooms: dict[str, str]
    receptacles: dict[str, str]

    def phrase(self, spot: _Spot) -> str:
        """A place in these words; in its own where the file has none."""
        room, receptacle = spot
        return f"{self.receptacles.get(receptacle, receptacle)} {self.rooms.get(room, room)}"

    def named(self, spot: _Spot) -> NamedItem:
        """A place as a question names it: the receptacle, and the room."""
        room, receptacle = spot
        return NamedItem(phrase=self.phrase(spot), called=(receptacle, *((room,) if room != ANY_ROOM else ())))


def find_profile(choices: ChoiceSet) -> Profile:
    """What the person of a set of choices thinks.

    Raises:
        DataError: there is no such profile, or it is wrong.
    """
    return house_profile(choices.person) if choices.person else read_profile(choices.name)


def house_profile(person: Person) -> Profile:
    """A topic for things of one group that a person wants in the same places.

    Raises:
        DataError: the words for places cannot be read.
    """
    words, groups = read_yaml_settings(PLACE_WORDS_FILE, PlaceWords), base_groups()
    group_of = {thing: name for name, group in groups.items() for thing in group.things}
    alike: defaultdict[tuple[str, tuple[_Spot, ...]], list[str]] = defaultdict(list)
    for thing in person.categories:
        alike[group_of.get(thing, thing), _spots(person.places(thing))].append(thing)
    tempting = _usual()
    topics = []
    for (group, wanted), things in alike.items():
        usual = _spots(groups[group].wanted) if group in groups else ()
        refused = [spot for spot in dict.fromkeys((*usual, *tempting)) if not person.wants(things[0], *spot)]
        if wanted and refused:
            about = tuple(f"where the {spoken(thing)} belongs" for thing in things)
            likes, dislikes = wanted[:_MOST_SAID], refused[:_MOST_REFUSED]
            topics.append(
                ProfileTopic(
                    about=about,
                    likes=tuple(map(words.phrase, likes)),
                    dislikes=tuple(map(words.phrase, dislikes)),
                    liked=tuple(map(words.named, wanted)),
                    disliked=tuple(map(words.named, refused)),
                )
            )
    return Profile(name=person.name, topics=tuple(topics))


def _spots(places: Places) -> tuple[_Spot, ...]:
    return tuple(interleave_rooms([(room, kind) for room, kinds in places.items() for kind in kinds]))


def _usual() -> list[_Spot]:
    """Where anything is wanted by anybody, what is wanted there most often first."""
    everybody = map(load_person, people())
    count = Counter(spot for who in everybody for thing in who.categories for spot in _spots(who.places(thing)))
    return [spot for spot, _ in count.most_common() if spot[0] != ANY_ROOM]
