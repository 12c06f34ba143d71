"""What the warm-up shows can be said by the student, and goes by what is told alone."""

import pytest

pytest.importorskip("llguidance")

from housewise.agent.adapt.action_grammar import NO_QUESTION, reflection_grammar
from housewise.agent.adapt.prompts import SHORT_PROMPTS, load_prompts
from housewise.core.errors import UserError
from housewise.language.embedder import has_minilm, shared_minilm
from housewise.language.grammar_matching import matches_grammar
from housewise.people.kitchen.invented_profiles import invent_profile
from housewise.people.kitchen.question_topics import default_topics
from housewise.selftrain.adapt.cook_demonstrations import demonstrate_breakfasts
from housewise.selftrain.adapt.settings import AdaptTrainingConfig, DemonstrationsConfig

needs_minilm = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
CONFIG = DemonstrationsConfig(each=2, seed=0, questions=(0, 2), share_remembered=(0.2, 0.6), reflections=0.5)


@needs_minilm
def test_a_breakfast_is_one_conversation_and_some_are_made_without_questions() -> None:
    pairs = demonstrate_breakfasts(
        invent_profile(4), CONFIG, default_topics(), load_prompts(SHORT_PROMPTS), shared_minilm()
    )
    silent, asking = [pair for pair in pairs if pair.turns]
    for pair, asked in ((silent, 0), (asking, 2)):
        said = [turn["content"] for turn in pair.prompt if turn["role"] == "assistant"]
        assert pair.reply == " Declare Done" and pair.prefix == "Action:"
        assert sum(each.startswith("Action: Ask ") for each in said) == asked
        assert not any(turn["content"].startswith("Not done") for turn in pair.prompt)
        assert ('Ask "..."' in pair.prompt[0]["content"]) == (asked > 0)
    assert "They have said on other days:" in silent.prompt[0]["content"]
    reflections = [pair for pair in pairs if not pair.turns]
    assert reflections and all(pair.prefix == "Question:" for pair in reflections)
    for pair in reflections:
        assert matches_grammar(pair.reply, reflection_grammar()), pair.reply
        assert "You would: " in pair.prompt[-1]["content"]
    assert {pair.reply for pair in reflections} - {f" {NO_QUESTION}"}
    assert pairs == demonstrate_breakfasts(
        invent_profile(4), CONFIG, default_topics(), load_prompts(SHORT_PROMPTS), shared_minilm()
    )


@needs_minilm
def test_who_always_asks_asks_before_every_action_and_goes_by_the_answers() -> None:
    always = CONFIG.model_copy(update={"each": 3, "questions": ("always",)})
    pairs = demonstrate_breakfasts(
        invent_profile(5), always, default_topics(), load_prompts(SHORT_PROMPTS), shared_minilm()
    )
    assert len(pairs) == 3 and all(pair.turns for pair in pairs)
    for pair in pairs:
        said = [turn["content"] for turn in pair.prompt if turn["role"] == "assistant"]
        asks = [each.startswith("Action: Ask ") for each in said]
        assert asks == [True, False] * (len(asks) // 2) + [True]
        assert "Before every action Ask" in pair.prompt[0]["content"]
        assert len(set(said[::2])) > len(said) // 4


@pytest.mark.slow
def test_every_question_of_the_topics_can_be_said() -> None:
    dishes = ("eggs", "cereal", "toast", "tea", "coffee", "yoghurt")
    for question in (question for topic in default_topics() for question, _ in topic.questions_about(dishes)):
        assert matches_grammar(f" {question}", reflection_grammar()), question


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("warm_up.share_remembered=[0.5,0.1]", "share_remembered: .*the minimum, 0.5, is more than the maximum, 0.1"),
        ("warm_up.preferences_per_person=[9,3]", "per_person: .*the minimum, 9, is more than the maximum, 3"),
        ("reflection.actions=0.9", "questions and actions are shares of all steps"),
        ("warm_up.questions=[]", "warm_up.questions"),
        ("preference.beta=0", "preference.beta"),
    ],
)
def test_settings_that_do_not_fit_are_named(words: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint.replace("[", r"\[")):
        AdaptTrainingConfig.load(overrides=[words])
