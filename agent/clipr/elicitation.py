"""Algorithm 1 of CLIPR (arXiv 2605.12682, section 3): interactive preference elicitation and synthesis of rules.

The loop is here; ``Interviewer`` chooses and words each question (``chat_steps``, ``local_steps``).

In the paper's terms: E are the examples, H is the dialogue, D are the unresolved preference dimensions, L is the
maximum number of questions, and the rules are R.

Additions of this project: earlier conversations are continued (``RememberedConversation``), a conversation also ends
when the person leaves or is silent, and the synthesis reads answered questions only. The paper gives E to the synthesis
in section 3, but its prompt (appendix D.2) shows the dialogue alone; a setting chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from housewise.agent.clipr.actions import AskPerson, NewRules, Play
from housewise.agent.clipr.language_steps import DialogueTurn, Interviewer
from housewise.agent.clipr.rules import Rule, add_newer_rules
from housewise.people.respondent import Question
from housewise.worlds.choices.scenario import Situation

MAX_UNANSWERED = 2
"""Number of consecutive unanswered questions that ends a conversation."""


@dataclass(frozen=True)
class RememberedConversation:
    """Earlier conversations with the person, which are continued.

    Attributes:
        dialogue: All questions with their answers.
        unwritten: Those turns of the dialogue from which no rules have been written.
        rules: Rules in force.
    """

    dialogue: tuple[DialogueTurn, ...] = ()
    unwritten: tuple[DialogueTurn, ...] = ()
    rules: tuple[Rule, ...] = ()


def elicit(
    interviewer: Interviewer, examples: Sequence[Situation], max_questions: int, dialogue: Sequence[DialogueTurn] = ()
) -> Play[tuple[DialogueTurn, ...]]:
    """Ask until enough is known or the budget is spent (lines 2 to 7), and return the whole dialogue.

    The conversation also ends if the person leaves or is silent twice in a row.

    Args:
        interviewer: Finds the open dimensions, decides whether enough is known and asks, in one call per turn.
        examples: Situations without their correct actions (E).
        max_questions: Maximum number of questions, including those in ``dialogue`` (L).
        dialogue: Earlier part of the conversation.
    """
    history, silences = list(dialogue), 0
    while len(history) < max_questions and silences < MAX_UNANSWERED:  # line 2
        # Lines 3 to 5, AnalyzeExamples, IsSufficient and GenerateQuestionForUser, are one call of the model.
        inquiry = interviewer.inquire(examples, history, max_questions - len(history))
        if inquiry.question is None:  # line 4, IsSufficient
            break
        seen = yield AskPerson(Question(inquiry.question), unresolved=inquiry.unresolved)  # line 6
        if seen.answer is None:
            break
        history.append(DialogueTurn(inquiry.question, seen.answer))  # line 7
        silences = 0 if seen.answer else silences + 1
    return tuple(history)


def learn_rules(
    interviewer: Interviewer,
    examples: Sequence[Situation],
    max_questions: int = 10,
    known: RememberedConversation = RememberedConversation(),
    synthesize_from_examples: bool = True,
) -> Play[tuple[Rule, ...]]:
    """Run Algorithm 1: elicitation, then synthesis in one call. Without any new answer there is no call.

    Args:
        interviewer: Performs the language steps.
        examples: Situations without their correct actions (E).
        max_questions: Maximum number of questions, including remembered ones (L).
        known: Earlier conversations. Newer rules replace remembered ones that they contradict.
        synthesize_from_examples: Whether the synthesis reads the examples beside the dialogue, as in section 3.
    """
    if known.rules:
        yield NewRules(known.rules, "memory")
    dialogue = yield from elicit(interviewer, examples, max_questions, known.dialogue)
    answered = [*known.unwritten, *(turn for turn in dialogue[len(known.dialogue) :] if turn.answer)]
    if not answered:
        return known.rules
    written = interviewer.synthesize(examples if synthesize_from_examples else (), answered)  # line 8
    rules = add_newer_rules(known.rules, written)
    yield NewRules(rules, "interview")
    return rules
