"""The bundled people of ADAPT, read once for all tests."""

from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles

ADAPT_PEOPLE = {person.name: person for person in load_profiles(ADAPT_PROFILES)}
