"""Which notes an episode recalls if a run is resumed with an earlier episode left."""

from housewise.people.memory import About, Memory, Note
from housewise.rollout.episode import Job, Task
from housewise.rollout.note_events import NoteEvent
from housewise.rollout.scheduler import ScheduledJob, Scheduler
from housewise.rollout.settings import Learn


def job(number: int) -> Job:
    return Job(Task(f"house {number}", "houses", "ada"))


def learned(number: int) -> NoteEvent:
    return NoteEvent(note=Note(person="ada", kind="rule", text=f"Rule {number}.", about=About(things=("mug",))))


def resumed(learn: Learn) -> Scheduler:
    """Four episodes, of which the first and the third are finished."""
    jobs = [job(number) for number in range(4)]
    played = {jobs[number].name: [learned(number)] for number in (0, 2)}
    return Scheduler(
        jobs, memories={"ada": Memory("ada")}, learned=lambda job: [learned(1)], learn=learn, played=played
    )


def take(scheduler: Scheduler) -> ScheduledJob:
    scheduled = scheduler.take_next()
    assert scheduled is not None
    return scheduled


def texts(scheduled: ScheduledJob) -> list[str]:
    assert scheduled.memory is not None
    return sorted(note.text for note in scheduled.memory.notes)


def test_an_episode_that_is_played_again_recalls_earlier_episodes_alone() -> None:
    scheduler = resumed("episode")
    assert len(scheduler) == 2 and scheduler.count_active_workers(4) == 1
    second = take(scheduler)
    assert second.job.task.name == "house 1" and texts(second) == ["Rule 0."]
    assert scheduler.take_next() is None and len(scheduler) == 1, "the last one recalls the second"
    scheduler.finish_job(second.job)
    fourth = take(scheduler)
    assert fourth.job.task.name == "house 3" and texts(fourth) == ["Rule 0.", "Rule 1.", "Rule 2."]
    assert len(scheduler) == 0 and scheduler.wait_for_next() is None


def test_episodes_after_which_nothing_is_left_keep_nobody_waiting() -> None:
    jobs = [job(0), job(1)]
    scheduler = Scheduler(jobs, memories={"ada": Memory("ada")}, played={jobs[1].name: [learned(1)]})
    first = take(scheduler)
    assert first.job.task.name == "house 0" and texts(first) == []
    scheduler.finish_job(first.job)
    assert scheduler.take_next() is None and scheduler.wait_for_next() is None


def test_finished_episodes_are_not_played_where_notes_wait_for_the_next_run() -> None:
    scheduler = resumed("run")
    assert len(scheduler) == 2 and scheduler.count_active_workers(4) == 2
    assert [take(scheduler).job.task.name for _ in range(2)] == ["house 1", "house 3"]
