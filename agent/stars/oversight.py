"""Users who confirm or state goals: a simulated one, and people who are asked in words."""

from __future__ import annotations

from typing import Protocol

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.goal_clauses import PlacementClause, StateClause
from housewise.agent.stars.lessons import NO, YES, GoalQuestion, GoalRequest, StatedGoal
from housewise.agent.stars.responses import GoalAnalysis
from housewise.agent.stars.situation import PerceivedThing
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.people.memory import About
from housewise.people.respondent import Question as Asked
from housewise.people.respondent import Respondent
from housewise.people.terminal_respondent import match_option

_MAX_REQUESTS = 3
"""How often a person is asked for the same goal."""


class OversightUser(Protocol):
    """Somebody who knows where things belong."""

    def confirms(self, question: GoalQuestion) -> bool | StatedGoal:
        """Return whether a goal is what the user wants, or the goal that the user states in its place."""

    def states(self, about: TaskObject) -> StatedGoal:
        """Return the goal for an object in one sentence, "If the object is a mug then the goal is that ...".

        The words of the user come with it, if they are others.
        """


class SimulatedUser:
    """Confirms viable goals that put the object where it is wanted and close what they open, and no others.

    Args:
        task: Task, which contains what the user wants.
    """

    def __init__(self, task: StarsTask) -> None:
        self._task = task

    def confirms(self, question: GoalQuestion) -> bool:
        """See OversightUser.confirms."""
        analysis, about = question.analysis, question.about
        is_right = analysis.viable and goal_place(analysis, about.thing) in about.wanted
        return is_right and closes_what_it_opens(analysis)

    def states(self, about: TaskObject) -> StatedGoal:
        """State the first accepted place, closed again if it can be closed."""
        wanted = next(fixture for fixture in self._task.fixtures if fixture.name == about.wanted[0])
        what = " ".join(("the", *sorted(wanted.modifiers), wanted.noun))
        relation = "in" if "receptacle" in wanted.affordances else "on"
        goal = f"the object is {relation} {what}" + (
            f" and {what} is closed" if "openable" in wanted.affordances else ""
        )
        return StatedGoal(f"If the object is a {about.thing.noun} then the goal is that {goal}.")


class RespondentUser:
    """A person who is asked in words and answers in words.

    Args:
        person: Answers the questions.
        analyser: Checks whether a stated goal is understood.
        task: Task of the goals.
    """

    def __init__(self, person: Respondent, analyser: GoalAnalyser, task: StarsTask) -> None:
        self._person, self._analyser, self._task = person, analyser, task

    def confirms(self, question: GoalQuestion) -> bool | StatedGoal:
        """Return whether the person says yes. An answer that is neither yes nor no counts as no."""
        answer = self._person.answer(Asked(str(question), (YES, NO), self._about(question.about)))
        return answer.option == 0

    def states(self, about: TaskObject) -> StatedGoal:
        """Return the goal that the person states.

        A goal that is not understood or not viable is asked for again, with the reason. A goal or a place alone, such
        as "drawer" or "in the drawer and the drawer is closed", is completed to a sentence.
        """
        said: list[str] = []
        sentence, problem = "", ""
        for _ in range(_MAX_REQUESTS):
            question = f"{problem}{GoalRequest(about)} ({_goal_opening(about)} in the ...)"
            said.append(self._person.answer(Asked(question, about=self._about(about))).text)
            sentence = self._complete_sentence(about, said[-1])
            problem = self._find_problem(about, sentence)
            if not problem:
                break
        return StatedGoal(sentence, () if said == [sentence] else tuple(said))

    def _complete_sentence(self, about: TaskObject, said: str) -> str:
        goal = f"If the object is a {about.thing.noun} then {said}"
        ways = (said, goal, *(f"{_goal_opening(about)} {words}{said}" for words in ("", "in the ", "on the ")))
        return next((way for way in ways if not self._find_problem(about, way)), said)

    def _find_problem(self, about: TaskObject, said: str) -> str:
        statement = self._analyser.language.statement(said)
        if statement is None:
            return "That is no goal that I understand. "
        analysis = self._analyser.analyse_statement(said, self._task.situation.with_focus(about.thing))
        if analysis is None:
            return f"That is about a {statement.name}. "
        wrong = next(iter(analysis.mismatches), None)
        return f"That cannot be done ({wrong.thing or wrong.what}: {wrong.kind.value}). " if wrong else ""

    def _about(self, about: TaskObject) -> About:
        return About(things=(about.thing.noun,), task=self._task.name, situation=about.description)


class TerminalOversightUser(RespondentUser):
    """A person at the terminal, who may state the goal where yes or no is asked for; see RespondentUser."""

    def confirms(self, question: GoalQuestion) -> bool | StatedGoal:
        """Ask until the person says yes or no, or states a goal that is understood and viable."""
        about, said, problem = question.about, list[str](), ""
        while True:
            asked = Asked(f"{problem}{question} ({YES}/{NO}, or where it belongs)", about=self._about(about))
            said.append(self._person.answer(asked).text)
            option = match_option(said[-1], (YES, NO))
            if option is not None:
                return option == 0
            sentence = self._complete_sentence(about, said[-1])
            problem = self._find_problem(about, sentence)
            if not problem:
                return StatedGoal(sentence, tuple(said))


def _goal_opening(about: TaskObject) -> str:
    return f"If the object is a {about.thing.noun} then the goal is that the object is"


def goal_place(analysis: GoalAnalysis, thing: PerceivedThing) -> str | None:
    """Return the name of the fixture in or on which a goal puts a thing. None if it names none or several."""
    moves = [clause for clause in analysis.clauses if isinstance(clause, PlacementClause)]
    if len(moves) != 1 or moves[0].relation not in ("in", "on") or analysis.first_thing(moves[0].subject) != thing:
        return None
    place = analysis.first_thing(moves[0].target)
    return None if place is None else place.name


def closes_what_it_opens(analysis: GoalAnalysis) -> bool:
    """Return whether a goal closes every openable fixture that it puts something in."""
    states = [clause for clause in analysis.clauses if isinstance(clause, StateClause)]
    closed = {analysis.first_thing(clause.subject) for clause in states if clause.state == "closed"}
    moves = [clause for clause in analysis.clauses if isinstance(clause, PlacementClause)]
    targets = [analysis.first_thing(clause.target) for clause in moves]
    return all(target in closed for target in targets if target and "openable" in target.affordances)
