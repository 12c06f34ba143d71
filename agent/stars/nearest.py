"""Goals by meaning alone: the fixture whose name is closest to the object's. A control that asks no language model."""

from __future__ import annotations

from housewise.agent.stars.analysis import Analyser
from housewise.agent.stars.oversight import closes_what_it_opens, place_said
from housewise.agent.stars.possible import possible_goals
from housewise.agent.stars.retrieval import Retrieved
from housewise.agent.stars.tasks import Task, TaskObject
from housewise.language.embedder import Embedder, cosine


def nearest_goals(task: Task, about: TaskObject, analyser: Analyser, embedder: Embedder) -> list[Retrieved]:
    """One goal for each fixture that an object can be put in or on and that is closed again, the closest first.

    Args:
        task: has the fixtures.
        about: the object.
        analyser: tells which goals are viable.
        embedder: compares the object's name with the fixtures' names; the cosine stands for the probability.
    """
    situation = task.situation.asked_about(about.thing)
    goals: dict[str, str] = {}
    for sentence in possible_goals(task, about, analyser):
        analysis = analyser.analyse(sentence, situation)
        place = place_said(analysis, about.thing)
        if place is not None and closes_what_it_opens(analysis):
            goals.setdefault(place, sentence)
    [close] = cosine(embedder, [about.thing.noun.replace("-", " ")], list(goals))
    found = [
        Retrieved(sentence, max(0.0, float(near)), "meaning")
        for sentence, near in zip(goals.values(), close, strict=True)
    ]
    return sorted(found, key=lambda response: -response.probability)
