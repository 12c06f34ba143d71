"""A session in the lab: the scripted oracle guides the scripted person, and what happens is scored and recorded."""

from operator import itemgetter

import pytest

from housewise.core.errors import UserError
from housewise.systems.basis.record import GuidanceEvent, LabActionEvent
from housewise.systems.basis.settings import BasisSettings, BasisTaskSettings
from housewise.systems.basis.system import Basis
from tests.systems.basis.sessions import play, with_tasks


def test_the_oracle_guides_a_person_to_the_goal() -> None:
    scores, events = play(with_tasks())
    assert (scores["success"], scores["subgoals"], scores["success_all"]) == (1.0, 1.0, 1.0)
    actions = [each for each in events if isinstance(each, LabActionEvent)]
    spoken = [each for each in events if isinstance(each, GuidanceEvent) and each.speech]
    assert (scores["steps"], scores["assistant_turns"]) == (len(actions), len(spoken))
    assert actions[-1].subgoals == ("goal",)


def test_equal_settings_give_equal_sessions() -> None:
    assert play(with_tasks()) == play(with_tasks())


def test_a_further_attempt_follows_a_failure_only() -> None:
    scores, events = play(with_tasks(attempts=3, max_actions=1))
    assert [each.attempt for each in events if isinstance(each, LabActionEvent)] == [1, 2, 3]
    assert (scores["success"], scores["steps"]) == (0.0, 1)
    assert all(each.attempt == 1 for each in play(with_tasks(attempts=3))[1] if isinstance(each, LabActionEvent))


def test_speech_is_compared_with_what_the_oracle_would_say() -> None:
    settings = with_tasks()
    scores, events = play(settings.with_changes(planner="random"))
    turns = [each for each in events if isinstance(each, GuidanceEvent)]
    # Both speak at some turns, but random advice is about other things.
    assert any(each.speech and each.oracle_speech for each in turns)
    assert (scores["speech_precision"], scores["speech_recall"]) == (0, 0)
    assert scores["oracle_turns"] == sum(bool(each.oracle_speech) for each in turns)
    knowing = play(settings.with_changes(planner="limited"))[0]
    assert (knowing["speech_precision"], knowing["speech_recall"]) == (1, 1)
    assert play(settings.with_changes(planner="silent"))[0]["speech_recall"] == 0
    assert "speech_recall" not in play(settings)[0]


def test_silence_is_compared_with_the_oracles_silence() -> None:
    settings = with_tasks()
    for planner in ("random", "silent"):
        scores, events = play(settings.with_changes(planner=planner))
        turns = [(not each.speech, not each.oracle_speech) for each in events if isinstance(each, GuidanceEvent)]
        silent, expected, both = (sum(map(count, turns)) for count in (itemgetter(0), itemgetter(1), all))
        assert (scores["silent_turns"], scores["oracle_silent_turns"]) == (silent, expected)
        assert scores["silence_precision"] == pytest.approx(both / max(1, silent))
        assert scores["silence_recall"] == pytest.approx(both / max(1, expected))
        # Nothing is heard of who never speaks, so that the oracle would always speak.
        assert planner != "silent" or (silent > 0 and expected == 0)
    knowing = play(settings.with_changes(planner="limited"))[0]
    assert knowing["silent_turns"] > 0
    assert (knowing["silence_precision"], knowing["silence_recall"]) == (1, 1)
    assert not {"silence_precision", "silence_recall"} & play(settings)[0].keys()


def test_how_patient_and_talkative_the_person_is_are_settings() -> None:
    def utterances(planner: str, **person: float) -> float:
        return play(with_tasks(max_actions=12, **person).with_changes(planner=planner))[0]["user_turns"]

    assert utterances("oracle", talkativeness=1.0) > utterances("oracle", talkativeness=0.0)
    # Without an assistant they name the task, ask in vain, and then try by themselves.
    assert [utterances("silent", patience=patience) for patience in (0, 1, 3)] == [1, 2, 4]
    assert utterances("silent") == 3


def test_a_person_who_knows_the_names_is_guided_too() -> None:
    for naming in ("full", "fuzzy"):
        scores, events = play(with_tasks(naming=naming))
        last = [each for each in events if isinstance(each, LabActionEvent)][-1]
        # Ids in records are the true ones, whatever the person calls things.
        assert (scores["success"], last.argument) == (1, "freeze_ray_monitor_1")


def test_an_unknown_variant_is_named() -> None:
    with pytest.raises(UserError, match="no variant 'make_tea'"):
        Basis(BasisSettings(tasks=BasisTaskSettings(variant=("make_tea",))))
