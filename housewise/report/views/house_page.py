"""The content of the page of an episode in a house: map, scene graphs, plans, pictures and film."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from housewise.core.errors import UserError
from housewise.playback.floor_plan import draw_floor_plan
from housewise.playback.object_outcomes import ObjectOutcome, list_object_outcomes, summarize_outcomes, wish_subject
from housewise.playback.replay import Replay, find_task, replay_record
from housewise.playback.simulators import Picture, PlaybackSimulator
from housewise.report.drawing.film import FRAMES, Film, make_film
from housewise.report.drawing.house_map import map_svg
from housewise.report.drawing.images import compress, data_uri
from housewise.report.drawing.scene_tree import choose_rows, tree_svg
from housewise.rollout.comparison_settings import planner_label
from housewise.systems.personalize.record import ActionEvent, HouseRecord, ModelCallRecord, PlanEvent
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.simulator import SimulatorChoice

_SIGNS = {"succeeded": "✓", "failed": "✗", "skipped": "–"}
_THUMB = 2
_REPLY_START = re.compile(r"^step\b|\bstep 1:", re.IGNORECASE)


@dataclass(frozen=True)
class PlanStep:
    """A step of a plan, with its outcome."""

    status: str
    sign: str
    text: str
    reason: str
    steps: int
    found: str
    reward: float


@dataclass(frozen=True)
class PlanCard:
    """A plan with its steps. Pictures are data URIs, and empty if there are none."""

    number: int
    step: int
    heading: str
    reply: str
    prompt: list[dict[str, str]]
    prior_calls: list[ModelCallRecord]
    facts: str
    steps: list[PlanStep]
    ending: str
    alt: str
    photo: str = ""
    thumb: str = ""

    @property
    def mood(self) -> str:
        """Class of the plan in the template: "right" or "wrong" by the sum of rewards, or empty if there are none."""
        rewards = [step.reward for step in self.steps if step.reward]
        return "" if not rewards else ("right" if sum(rewards) > 0 else "wrong")


@dataclass(frozen=True)
class FilmCard:
    """A film with its URL and the still picture that represents it."""

    uri: str
    still: str
    is_video: bool
    width: int
    height: int
    alt: str


@dataclass
class HouseContent:
    """An episode in a house; see `EpisodeContent`."""

    number: int
    record: HouseRecord
    outcomes: list[ObjectOutcome]
    summary: str
    ending: str
    is_perfect: bool
    plans: list[PlanCard]
    before: Markup
    after: Markup
    map: Markup | None = None
    film: FilmCard | None = None
    notes: list[str] = field(default_factory=list)
    template: str = "article.html"

    @property
    def title(self) -> str:
        """See `EpisodeContent`."""
        start, header = self.record.initial_state, self.record.header
        return f"{start.scene} · episode {start.episode} · run {header.repetition} · {planner_label(header)}"

    @property
    def complete(self) -> bool:
        """See `EpisodeContent`: a page without a map is written again next time."""
        return self.map is not None

    @property
    def has_pictures(self) -> bool:
        """Whether there are pictures of the robot's camera."""
        return any(plan.photo for plan in self.plans)

    @property
    def rate(self) -> float:
        """Success rate in percent."""
        return 100 * self.record.success_rate

    @property
    def mood(self) -> str:
        """Style of the main score: "right" if all is in place, "partly" if the rate is positive, else "wrong"."""
        if self.is_perfect:
            return "right"
        return "partly" if self.rate > 0 else "wrong"

    @property
    def facts(self) -> dict[str, str]:
        """Headline numbers by name."""
        result = self.record.result
        counted = {name: round(value) for name, value in result.scores.items()}
        tokens = result.usage.prompt_tokens + result.usage.completion_tokens
        return {
            "planner": planner_label(self.record.header),
            "plans": str(counted["plans"]),
            "low-level steps": str(counted["steps"]),
            "actions executed": f"{counted['succeeded']} of {counted['actions']}",
            "unique placements": str(counted["unique_placements"]),
            "tokens": f"{tokens:,}" if tokens else "–",
            "seconds": f"{result.usage.seconds:.1f}",
            "ended": self.ending,
        }


def make_house_content(
    number: int,
    record: HouseRecord,
    simulator: SimulatorChoice | None,
    save_film: Callable[[Film], str] | None,
    ending: str,
    is_perfect: bool,
) -> HouseContent:
    """Return the page content of an episode in a house.

    If the house cannot be loaded or the record cannot be replayed, the content has no map and no pictures, and a note
    gives the reason.

    Args:
        number: Number of the episode on its page, from 1.
        record: Record of the episode.
        simulator: Simulator that renders the pictures, or None for no pictures.
        save_film: Saves a film and returns its URL, or None for no film.
        ending: How the episode ended, in words.
        is_perfect: Whether every object ended on a correct receptacle.
    """
    found = list_object_outcomes(record)
    wanting = wish_subject(record.header.person)
    shown = choose_rows(record, found)
    content = HouseContent(
        number,
        record,
        found,
        summarize_outcomes(found, wanting),
        ending,
        is_perfect,
        [],
        tree_svg(shown, found, False, "Scene graph before: where every object stood"),
        tree_svg(shown, found, True, "Scene graph after: where every object ended"),
    )
    played = None
    try:
        task = find_task(record)
        played = _played_again(record, task, simulator, FRAMES if save_film else 0)
        _add_pictures(content, played, simulator is not None, save_film)
    except UserError as error:
        content.notes.append(f"No pictures of this episode: {error}")
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Records of other programs may be wrong in unexpected ways. The other episodes are still shown.
        content.notes.append(f"No pictures of this episode: its record can't be followed ({error!r})")
    content.plans = _plans(record, played)
    return content


def _played_again(
    record: HouseRecord, task: RearrangementTask, simulator: SimulatorChoice | None, frames: int
) -> Replay:
    if simulator is None:
        return replay_record(record, task, None, 0)
    with closing(PlaybackSimulator(simulator=simulator)) as camera:
        return replay_record(record, task, camera, frames)


def _add_pictures(
    content: HouseContent, played: Replay, with_pictures: bool, save_film: Callable[[Film], str] | None
) -> None:
    if played.differences:
        told = "; ".join(played.differences[:3]) + ("; …" if len(played.differences) > 3 else "")
        content.notes.append(
            f"{'Pictures' if with_pictures else 'The map'} may differ from what happened: played again, this record "
            f"comes out otherwise than it says ({told}). It was probably made by another version or with other data; "
            "the numbers and scene graphs are the record's own."
        )
    plan = draw_floor_plan(played.task.scene, played.task.episode.receptacles, with_picture=with_pictures)
    content.map = map_svg(plan, played, content.outcomes, f"Map of {content.title}. {content.summary}")
    if save_film is not None:
        made = make_film(played, plan, content.outcomes)
        alt = f"Film of {content.title}, {made.frames} pictures: what the robot saw, beside the map of its way."
        content.film = FilmCard(save_film(made), data_uri(made.still), made.is_video, made.width, made.height, alt)


def _plans(record: HouseRecord, played: Replay | None) -> list[PlanCard]:
    things = record.initial_state.placements
    return [_plan(plan, record.actions_of(plan), things, played) for plan in record.plans]


def _plan(plan: PlanEvent, lines: Sequence[ActionEvent], things: Collection[str], played: Replay | None) -> PlanCard:
    steps = [_step(line, things) for line in lines]
    tokens = f"{plan.prompt_tokens} + {plan.completion_tokens} tokens · " if plan.prompt_tokens else ""
    ending = "mission complete, says the planner" if plan.complete else ""
    if not steps and not plan.complete:
        ending = "no step could be read from this reply"
    if plan.unjudged_objects:
        ending = f"{ending}; no judgement could be read of {', '.join(plan.unjudged_objects)}".removeprefix("; ")
    card = PlanCard(
        plan.plan + 1,
        plan.step,
        "Second look" if plan.second_look else "Reply",
        _restore_reply_start(plan.reply),
        plan.prompt,
        plan.prior_calls,
        f"{tokens}{plan.model_seconds:.2f} s",
        steps,
        ending,
        f"What the robot saw at step {plan.step}, when plan {plan.plan + 1} was asked for",
    )
    photo = played.plan_pictures.get(played.plan_states.get(plan.plan, -1)) if played else None
    return card if photo is None else _with_pictures(card, photo)


def _restore_reply_start(reply: str) -> str:
    """Return a reply with the prefilled start of the assistant's turn, which records leave out."""
    text = reply.strip()
    return f"step 1: {text}" if text and not _REPLY_START.search(text) else text


def _with_pictures(card: PlanCard, photo: Picture) -> PlanCard:
    small = photo[::_THUMB, ::_THUMB] if photo.shape[1] > 256 else photo
    return replace(card, photo=data_uri(compress(photo)), thumb=data_uri(compress(small, 60)))


def _step(line: ActionEvent, things: Collection[str]) -> PlanStep:
    return PlanStep(
        line.status,
        _SIGNS[line.status],
        line.action or line.raw,
        line.reason,
        line.end - line.start,
        _describe_discovery(line.discovered, things),
        line.reward,
    )


def _describe_discovery(discovered: Sequence[str], things: Collection[str]) -> str:
    """Return what an action discovered: objects by name, places as a number."""
    objects = [name for name in discovered if name in things]
    others = len(discovered) - len(objects)
    parts = [f"found {', '.join(objects)}"] if objects else []
    if others:
        parts.append(f"saw {others} new {'place' if others == 1 else 'places'}")
    return "; ".join(parts)
