from pathlib import Path

import pytest

from housewise.selftrain.personalize.record_demonstrations import (
    LearningTarget,
    demonstrations_from_record,
    describe_empty_replies,
    generated_replies,
    sample_per_episode,
)
from housewise.systems.personalize.record import AlternativeReply
from housewise.worlds.house.env import RearrangementTask
from tests.houses import BEGINNING, MUG_TO_COUNTER, PlayedEpisode
from tests.selftrain.tiny import pair
from tests.worlds.house.toy import COUNTER

CLUMSY = MUG_TO_COUNTER.replace("step 2: go to mug 1", "step 2: dance\nstep 3: pick up the moon\nstep 4: go to mug 1")


def test_a_pair_is_a_prompt_a_reply_and_what_it_did(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, BEGINNING, MUG_TO_COUNTER)
    look, carry, end = demonstrations_from_record(played.record, "step 1:")
    assert (look.reward, carry.reward, end.reward) == (0.0, 1.0, 0.0)
    assert (look.moved, carry.moved) == ((), ("mug 1",))
    assert look.discovered > 0 and end.complete
    assert carry.reply == MUG_TO_COUNTER and carry.prefix == "step 1:"
    assert [message.role for message in carry.messages] == ["system", "user"]
    assert carry.messages[1].content == played.record.plans[1].prompt[1]["content"]
    assert (carry.scene, carry.episode, carry.run, carry.plan) == (toy.scene.name, toy.episode.id, 0, 1)
    assert COUNTER not in carry.reply


def test_a_plan_that_was_given_up_did_not_end_the_task(toy: RearrangementTask, tmp_path: Path) -> None:
    premature = f"{MUG_TO_COUNTER}\nstep 8: go to bedroom 0\nstep 9: pick up mug 1\nstep 10: mission complete"
    record = PlayedEpisode(toy, tmp_path, BEGINNING, premature, " mission complete").record
    plans = list(demonstrations_from_record(record, "step 1:", "executed"))
    assert record.plans[1].complete and not plans[1].complete and "mission" not in plans[1].reply
    assert plans[1].reward == 1 and plans[-1].complete


def test_what_was_done_leaves_out_what_was_not(toy: RearrangementTask, tmp_path: Path) -> None:
    record = PlayedEpisode(toy, tmp_path, BEGINNING, CLUMSY).record
    said, done = (
        list(demonstrations_from_record(record, "step 1:", target))[1].reply for target in ("raw", "executed")
    )  # type: ignore[arg-type]
    assert said == CLUMSY
    assert "dance" not in done and "moon" not in done
    assert done.startswith(" go to bedroom 0\nstep 2: go to mug 1\nstep 3: look at mug 1")


def test_what_was_done_keeps_the_judgements(toy: RearrangementTask, tmp_path: Path) -> None:
    record = PlayedEpisode(toy, tmp_path, f"{BEGINNING}", f"\nmug 1: counter\nstep 1:{MUG_TO_COUNTER}").record
    done = list(demonstrations_from_record(record, "Objects:", "executed"))[1].reply
    assert done.startswith("\nmug 1: counter\nstep 1: go to")


def test_of_judgements_only_those_acted_upon_are_proven(toy: RearrangementTask, tmp_path: Path) -> None:
    told = "\nplate 1 on sink: fine\nmug 1 on bed: kitchen 0 counter 1\nmug 1 on bed: fine\nstep 1:"
    record = PlayedEpisode(toy, tmp_path, BEGINNING, f"{told}{MUG_TO_COUNTER}").record
    carry = list(demonstrations_from_record(record, "Objects:", "verified"))[1]
    place = record.actions[-1].action.rpartition(" on ")[2]
    assert carry.reply.startswith(told) and carry.reply.endswith(f"place mug 1 on {place}")
    assert [carry.reply[start:end] for start, end in carry.given] == [
        line for line in told.splitlines()[1:-1] if not (line.startswith("mug 1 ") and line.endswith(place))
    ]
    assert len(carry.given) == 2


def test_some_plans_of_each_episode_are_drawn() -> None:
    pairs = [pair().model_copy(update={"episode": episode, "plan": plan}) for episode in (1, 2) for plan in range(5)]
    some = sample_per_episode(pairs, 3, seed=0)
    assert [found.episode for found in some] == [1, 1, 1, 2, 2, 2]
    assert some == sample_per_episode(pairs, 3, seed=0) and some != sample_per_episode(pairs, 3, seed=1)
    assert sample_per_episode(pairs, 9, seed=0) == pairs


def test_planners_without_a_model_make_no_pairs(toy: RearrangementTask, tmp_path: Path) -> None:
    assert list(demonstrations_from_record(PlayedEpisode(toy, tmp_path).record, "step 1:")) == []


@pytest.mark.parametrize("target", ["raw", "executed", "verified"])
def test_pairs_of_replies_that_were_cut_say_so(toy: RearrangementTask, tmp_path: Path, target: LearningTarget) -> None:
    record = PlayedEpisode(toy, tmp_path, BEGINNING, MUG_TO_COUNTER).record
    assert [each.cut for each in demonstrations_from_record(record, "step 1:", target)] == [False] * len(record.plans)
    record.plans[1] = record.plans[1].model_copy(update={"finish_reason": "length"})
    assert [each.plan for each in demonstrations_from_record(record, "step 1:", target) if each.cut] == [1]


def test_empty_replies_are_plans_and_said_to_be_empty() -> None:
    cut = AlternativeReply(reply=" ", finish_reason="length")
    assert describe_empty_replies([cut], "max_tokens") == " (all replies were empty and ended at the limit max_tokens)"
    assert describe_empty_replies([AlternativeReply(reply="")], "max_tokens") == " (all replies were empty)"
    assert not describe_empty_replies([cut, AlternativeReply(reply="go")], "x") and not describe_empty_replies([], "x")


def test_replies_without_text_count_as_replies(toy: RearrangementTask, tmp_path: Path) -> None:
    record = PlayedEpisode(toy, tmp_path, BEGINNING, MUG_TO_COUNTER).record
    record.plans[0] = record.plans[0].model_copy(update={"reply": ""})
    assert len(list(generated_replies(record))) == 3 and len(list(demonstrations_from_record(record, "step 1:"))) == 2
