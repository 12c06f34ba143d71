"""The respondent of the kitchen, with the real sentence embeddings."""

import pytest

from housewise.language.embedder import has_minilm, shared_minilm
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profile_files import parse_profile
from housewise.people.kitchen.question_topics import default_topics, load_topics, sort_by_use
from housewise.people.kitchen.respondent import (
    FLEXIBLE_ANSWER,
    NO_LOCATION_ANSWER,
    PARAPHRASES,
    UNAVAILABLE_REMARK,
    KitchenRespondent,
    asks_for_location,
)
from housewise.people.respondent import Question
from housewise.worlds.kitchen.scene import build_scene
from housewise.worlds.kitchen.world import TextKitchen
from tests.people.kitchen.breakfasts import KITCHEN, make_preference, single_preference_profile
from tests.people.kitchen.sixteen import ADAPT_PEOPLE

pytestmark = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")


def respondent(name, task, present=None, paraphrasing=False):
    world = TextKitchen(task, scene=None if present is None else build_scene(present))
    start = None if present is None else world.trace
    return KitchenRespondent(ADAPT_PEOPLE[name], PreferenceJudge(task), start, shared_minilm(), paraphrasing)


def reply(person, question):
    return person.answer(Question(question)).text


def test_the_answer_is_the_text_of_the_preference():
    person = respondent("miranda", 1)
    assert "Sprinkle some salt on my eggs." in reply(person, "Should I salt the eggs?")
    assert reply(person, "Where will you have your breakfast?") == "I eat on the patio."


def test_the_answer_can_be_the_paraphrase():
    person = respondent("miranda", 1, paraphrasing=True)
    assert "A pinch of salt over them." in reply(person, "Should I salt the eggs?")
    assert reply(person, "Where will you have your breakfast?") == "Outside, where the sun is."
    assert reply(person, "Where is the salt?") in PARAPHRASES[NO_LOCATION_ANSWER]
    assert (
        reply(respondent("samantha", 3, paraphrasing=True), "Which tea do you drink?") in PARAPHRASES[FLEXIBLE_ANSWER]
    )


def test_paraphrases_differ_from_texts():
    wishes = [wish for person in ADAPT_PEOPLE.values() for wish in person.preferences]
    assert len(wishes) == 228 and all(wish.paraphrase for wish in wishes)
    assert not {wish.text for wish in wishes} & {wish.paraphrase for wish in wishes}
    assert all(usual not in others for usual, others in PARAPHRASES.items())


def test_equal_questions_get_equal_answers():
    person, other = respondent("leila", 2), respondent("leila", 2)
    question = "What may I chop into it?"
    first = reply(person, question)
    reply(person, "Which pan do you like?")
    assert reply(person, question) == first == reply(other, question)


def test_preferences_of_other_tasks_are_not_told():
    assert reply(respondent("miranda", 7), "Should I salt the eggs?") != "Sprinkle some salt on my eggs."
    assert reply(respondent("samantha", 3), "Which tea do you drink?") == FLEXIBLE_ANSWER


def test_exclusions_are_told_only_by_people_who_have_some():
    assert reply(respondent("juan", 1), "Is there anything I should leave out?") == FLEXIBLE_ANSWER
    assert reply(respondent("mark", 3), "Is there anything I should leave out?").startswith("Fruit, nuts and other")


def test_a_preference_without_a_topic_is_matched_by_its_own_words():
    told = {"category": "order", "tasks": "tea", "wants": "before(milk, tea)"}
    first = {"id": "1", "text": "Milk in my {tea}, and the milk goes in first.", **told}
    place = {"id": "2", "text": "I eat on the patio.", "category": "place", "tasks": "all"}
    content = {"name": "zoe", "preferences": [first, {**place, "wants": "served_at(patio_table)"}]}
    person = KitchenRespondent(parse_profile(content, KITCHEN, "zoe"), PreferenceJudge(6), None, shared_minilm())
    for question in ("Shall the milk go in before the tea?", "In which order should I pour milk and tea?"):
        assert reply(person, question) == first["text"]
    for question in ("How strong do you want your tea?", "Which kettle shall I take?", "Sugar or honey?"):
        assert reply(person, question) == FLEXIBLE_ANSWER
    assert reply(person, "Where would you like to sit?") == place["text"]


@pytest.mark.parametrize(
    "question",
    [
        "Where is the salt?",
        "Which cupboard has the mugs?",
        "In which drawer do you keep the spatula?",
        "Where can I find the eggs?",
        "Where did you leave the skillet, on which shelf?",
        "Where's the milk?",
        "Where do you keep the breakfast cereal?",
        "Where can I get the coffee?",
        "Tell me the location of the coffee.",
        "Is there any milk in the fridge?",
        "Do you have oat milk left?",
        "Have you got any ice?",
        "How many eggs are there?",
    ],
)
def test_locations_are_never_told(question):
    assert reply(respondent("miranda", 1), question) == NO_LOCATION_ANSWER


@pytest.mark.parametrize(
    "question",
    [
        "Where do you want to eat?",
        "Where should I put you up for breakfast?",
        "Which pan do you have in mind?",
        "Is there anything I should leave out?",
        "Are there any toppings you like?",
        "Do you have your coffee black?",
        "Where's your favourite seat this morning?",
        "Where is the meal to be served?",
        "Are you happy to have it in the kitchen?",
        "Have you got any preference for the pan?",
    ],
)
def test_asking_where_to_eat_is_not_asking_for_a_location(question):
    assert not asks_for_location(question)


def test_an_answer_mentions_that_the_scene_lacks_something():
    question = "Would you like lemon in your tea?"
    assert UNAVAILABLE_REMARK in reply(respondent("miranda", 8, ["tea_bags_0"]), question)
    assert UNAVAILABLE_REMARK not in reply(respondent("miranda", 8, ["tea_bags_0", "lemon_0"]), question)


@pytest.mark.parametrize(
    "question", ["", "   ", "\x00\u200b", "eggs " * 300_000, "¿", "Who won the cup final in 1966?"]
)
def test_unintelligible_questions_are_answered(question):
    assert reply(respondent("sarah", 5), question) in {
        FLEXIBLE_ANSWER,
        *(w.text for w in ADAPT_PEOPLE["sarah"].preferences),
    }


def test_every_bundled_preference_has_a_topic():
    dishes = {task: PreferenceJudge(task).dishes for task in range(1, 9)}
    for person in ADAPT_PEOPLE.values():
        for wanted in person.preferences:
            for task in wanted.tasks:
                asked = [
                    topic
                    for topic in default_topics()
                    for _, dish in topic.questions_about(dishes[task])
                    if topic.concerns(wanted, dish)
                ]
                assert asked, (wanted.id, task)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: {questions: [Why?], things: [gold]}", "a: things: 'gold' is neither"),
        ("a: {questions: [Why?], things: [egg], dishes: [soup]}", "a: unknown dish 'soup'"),
        ("a: {questions: [Why?], things: [egg], assumptions: [flies(egg)]}", "a: assumptions: unknown predicate"),
        ("a: {questions: [], things: [egg]}", "questions"),
        ("a: {questions: [Why?]}", "a: is about nothing"),
        ("a: {questions: [Why?], categories: [whims]}", "categories"),
    ],
)
def test_invalid_topics_are_refused(tmp_path, text, complaint):
    (tmp_path / "topics.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Exception, match=complaint):
        load_topics(tmp_path / "topics.yaml")


def test_topics_are_sorted_by_use() -> None:
    first = sort_by_use(
        [
            single_preference_profile(make_preference("served_at(island)")),
            single_preference_profile(make_preference("served_at(desk)")),
        ]
    )
    assert {*first} == {*default_topics()} and first[0].name == "where to eat"
    assert sort_by_use([]) == default_topics(), "otherwise they keep their order"
