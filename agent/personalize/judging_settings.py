"""Options of ``JudgingPlanner``, which asks where objects belong before it asks for steps."""

from __future__ import annotations

from pydantic import Field, model_validator

from housewise.core.settings import Settings


class JudgingSettings(Settings):
    """How the planner llm follows placement judgements; these need a prompt that judges placements or asks for JSON."""

    score_placements: bool = False
    """Whether an object without notes goes to its most probable place, if that is more probable than its present place.
    It needs a model that returns log-probabilities."""
    weigh_notes: bool = False
    """Whether notes about similar objects and places count beside the model's log-probabilities where no note names a
    correct place, in place of the confidence. The model counts as far as it agrees with the notes. It needs
    score_placements; without a memory, or with place_at_random, it has no effect."""
    constrain_to_judgements: bool = False
    """Whether a grammar restricts plans to what follows from the judgements: one object goes to where it was judged to
    belong, or the robot enters one room."""
    as_json: bool = False
    """Whether any chat model judges, in JSON and in a request of its own before the plan. The request has a JSON
    schema, for servers and local models that follow one. It needs prompt=notes, or a prompt of yours with such
    texts."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    """Minimum confidence in a judgement that moves an object without notes. It is the probability of the judgement, or,
    if placements are scored, the share of the best place compared with the present one (0.5: equally probable). 0
    follows all judgements."""
    confidence_similar: float | None = Field(default=None, ge=0, le=1)
    """The same for objects with notes about similar objects only. null is the value of confidence."""
    confidence_unfamiliar: float | None = Field(default=None, ge=0, le=1)
    """The same for other objects of kinds that are not among familiar_kinds. null is the value of confidence."""

    @property
    def is_restricting(self) -> bool:
        """Whether more than the model's own words decides which judgements are followed."""
        thresholds = (self.confidence, self.confidence_similar, self.confidence_unfamiliar)
        return self.score_placements or self.constrain_to_judgements or self.as_json or any(thresholds)

    @model_validator(mode="after")
    def _check_json(self) -> JudgingSettings:
        if self.as_json and (self.score_placements or self.confidence):
            remedy = "leave score_placements and confidence out, and the adapter that sets them (adapter=none)"
            raise ValueError(f"as_json follows all judgements; {remedy}")
        return self
