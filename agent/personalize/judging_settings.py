"""Options of ``JudgingPlanner``, which asks where objects belong before it asks for steps."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator, model_validator

from housewise.core.settings import Settings

_EQUALLY_PROBABLE = 0.5
"""Share of the best place at which it is as probable as the present one."""


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
    confidence: float | None = Field(default=None, ge=0, le=1, validate_default=True)
    """Minimum confidence in a judgement that moves an object without notes. It is the probability of the judgement, or,
    if placements are scored, the share of the best place compared with the present one (0.5: equally probable). null is
    0.5 if placements are scored, and else 0. 0 follows all judgements; if placements are scored, it moves every object
    without notes to its best other place, however improbable."""
    confidence_similar: float | None = Field(default=None, ge=0, le=1)
    """The same for objects with notes about similar objects only. null is the value of confidence."""
    confidence_unfamiliar: float | None = Field(default=None, ge=0, le=1)
    """The same for other objects of kinds that are not among familiar_kinds. null is the value of confidence."""

    @field_validator("confidence")
    @classmethod
    def _resolve_confidence(cls, given: float | None, fields: ValidationInfo) -> float:
        # Files of runs have the number, so that a run from before null was the default is resumed with its 0.
        if given is not None:
            return given
        return _EQUALLY_PROBABLE if fields.data.get("score_placements") else 0.0

    @property
    def is_restricting(self) -> bool:
        """Whether more than the model's own words decides which judgements are followed."""
        thresholds = (self.confidence, self.confidence_similar, self.confidence_unfamiliar)
        return self.score_placements or self.constrain_to_judgements or self.as_json or any(thresholds)

    @model_validator(mode="after")
    def _check_json(self) -> JudgingSettings:
        thresholds = (self.confidence, self.confidence_similar, self.confidence_unfamiliar)
        if self.as_json and (self.score_placements or self.weigh_notes or any(thresholds)):
            left_out = "score_placements, weigh_notes, confidence, confidence_similar and confidence_unfamiliar"
            remedy = f"leave {left_out} out, and the adapter that sets them (adapter=none)"
            raise ValueError(f"as_json follows all judgements; {remedy}")
        return self
