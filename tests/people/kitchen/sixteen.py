"""The people that come along, read once for all tests."""

from housewise.people.kitchen.profile_files import PEOPLE, load_people

SIXTEEN = {person.name: person for person in load_people(PEOPLE)}
