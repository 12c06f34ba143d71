"""A model whose continuations are written down, with the probability of every token and its alternatives."""

from collections.abc import Callable, Sequence

from housewise.language.completion import Continuation, DecodingStep, GenerationLimits, Token

Written = Sequence[tuple[str, float] | tuple[str, float, dict[str, float]]]


def steps(written: Written) -> tuple[DecodingStep, ...]:
    """Places of a continuation: token, probability, and what else might have stood there."""
    return tuple(
        DecodingStep(Token(text, probability), tuple(Token(*other) for other in (more[0].items() if more else ())))
        for text, probability, *more in written
    )


class ScriptedModel:
    """Goes on as it is told.

    Args:
        script: continuations by what has been said of the answer; any other text raises KeyError.
        choose: the answer to a question for a number.
        draws: what is drawn at a temperature, in order.
    """

    name = "scripted"
    can_branch = True

    def __init__(
        self,
        script: dict[str, Written],
        choose: Callable[[str], Written] = lambda prompt: [("1", 1.0)],
        draws: Sequence[Written] = (),
    ) -> None:
        self.script, self.choose, self.draws = script, choose, list(draws)
        self.batches: list[list[str]] = []
        self.questions: list[tuple[str, str]] = []
        self.prompts: list[str] = []

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        said = ["".join(token.text for token in branch) for branch in branches]
        self.batches.append(said)
        self.prompts.append(prompt)
        return [self._reply(steps(self.script[text])) for text in said]

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        drawn, self.draws = self.draws[:count], self.draws[count:]
        return [self._reply(steps(written)) for written in drawn]

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        self.questions += [(system, question) for question in questions]
        return [self._reply(steps(self.choose(question))) for question in questions]

    @staticmethod
    def _reply(written: tuple[DecodingStep, ...]) -> Continuation:
        return Continuation(written, prompt_tokens=10, completion_tokens=len(written))
