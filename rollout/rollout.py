"""Plays an episode: planner, controller and house in a loop, recorded as it happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from housewise.agent.personalize.parser import ParsedStep
from housewise.agent.personalize.planner import Attempt, Exchange, Plan, Planner
from housewise.controller.skills import Controller, Outcome, Skill, Status, failed, skipped
from housewise.language.base import Message
from housewise.rollout.record import (
    ActionLine,
    EpisodeLine,
    ExchangeLine,
    Placements,
    PlanLine,
    ResultLine,
    TriedLine,
    Writer,
    moved_by,
)
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.scene_graph import ROBOT, NodeKind, SceneGraph, View
from housewise.worlds.house.simulator.base import Action

LETTERS = {
    Action.STOP: "s",
    Action.MOVE_FORWARD: "f",
    Action.TURN_LEFT: "l",
    Action.TURN_RIGHT: "r",
    Action.LOOK_UP: "u",
    Action.LOOK_DOWN: "d",
    Action.GRAB_RELEASE: "g",
}


_BUILT_UPON = frozenset({ActionKind.PICK_UP, ActionKind.PLACE})


@dataclass(frozen=True)
class Limits:
    """When an episode ends although nobody said that it is complete, and a plan before its last step.

    Attributes:
        plans: so many plans.
        idle_plans: so many in a row in which the robot took no low-level step.
        replan_when_blocked: ask again when picking up or placing fails, since the rest of the plan builds on it.
    """

    plans: int = 150
    idle_plans: int = 10
    replan_when_blocked: bool = True


@dataclass
class _Tally:
    """What is counted over an episode."""

    plans: int = 0
    idle_plans: int = 0
    statuses: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(Status, 0))
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0
    placements: set[tuple[str, str]] = field(default_factory=set)


Progress = Callable[[int, int], None]
"""Called after every low-level step with steps and plans so far."""


class Rollout:
    """One episode in progress.

    Args:
        env: already reset to the task.
        planner: decides.
        controller: acts.
        writer: takes the record's lines.
        progress: told of every low-level step.
        limits: when to stop.
    """

    def __init__(
        self,
        env: RearrangementEnv,
        planner: Planner,
        controller: Controller,
        writer: Writer,
        progress: Progress | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.env, self.planner, self.controller, self.writer = env, planner, controller, writer
        self._limits = limits or Limits()
        self._progress = progress or (lambda steps, plans: None)
        world = env.world
        self._names = {key: place.name for key, place in world.receptacles.items()}
        self._names |= {key: thing.name for key, thing in world.objects.items()}
        self._keys = {name: key for key, name in self._names.items()}
        self._rooms = {thing.name: thing.room for thing in world.receptacles.values() if thing.usable and thing.room}
        self._anchors = room_anchors(env)
        self.graph = SceneGraph(self._anchors)
        self._attempts: list[Attempt] = []
        self._tally = _Tally()
        self._see()

    def play(self, header: EpisodeLine) -> ResultLine:
        """Run to the end.

        Args:
            header: the record's first line.

        Returns:
            The record's last line.
        """
        began = time.perf_counter()
        self.writer.write(header)
        ended = "out of plans"
        while self._tally.plans < self._limits.plans and self._tally.idle_plans < self._limits.idle_plans:
            plan = self._ask()
            steps_before = self.env.steps
            done = self._follow(plan)
            self._tally.idle_plans = self._tally.idle_plans + 1 if self.env.steps == steps_before else 0
            if self._over or (done and plan.complete):
                ended = "out of steps" if self._over else "complete"
                break
        result = self._result(ended, time.perf_counter() - began)
        self.writer.write(result)
        return result

    @property
    def _over(self) -> bool:
        return self.env.steps >= self.env.max_steps

    def _ask(self) -> Plan:
        began = time.perf_counter()
        plan = self.planner.plan(self.graph, self._attempts)
        seconds = time.perf_counter() - began
        tally = self._tally
        self.writer.write(
            PlanLine(
                plan=tally.plans,
                step=self.env.steps,
                prompt=_prompt(plan.messages),
                reply=plan.text,
                prompt_tokens=_read(plan),
                completion_tokens=_written(plan),
                model_seconds=seconds,
                complete=plan.complete,
                known=self.graph.tree,
                earlier=[_exchange(exchange) for exchange in plan.earlier],
                scores={action: round(score, 3) for action, score in plan.scores.items()},
                tried=[self._try(other) for other in plan.others],
            )
        )
        tally.plans += 1
        tally.prompt_tokens += sum(map(_read, (plan, *plan.others)))
        tally.completion_tokens += sum(map(_written, (plan, *plan.others)))
        tally.model_seconds += seconds
        return plan

    def _try(self, plan: Plan) -> TriedLine:
        """Carry out a plan, see what comes of it, and take it back."""
        state, kept = self.env.state, (self.graph, self._attempts, self._tally, self.writer, self._progress)
        trial = _Trial()
        self.graph, self._attempts, self._tally = self.graph.copy(), list(self._attempts), _Tally(plans=1)
        self.writer, self._progress = trial, lambda steps, plans: None
        try:
            done = self._follow(plan)
        finally:
            self.env.restore(state)
            self.graph, self._attempts, self._tally, self.writer, self._progress = kept
        return TriedLine(
            reply=plan.text,
            prompt_tokens=_read(plan),
            completion_tokens=_written(plan),
            complete=plan.complete and done,
            reward=sum(action.reward for action in trial.actions),
            done=[action.raw for action in trial.actions if action.status == Status.SUCCEEDED.value],
            moved=moved_by(trial.actions),
            discovered=sum(len(action.discovered) for action in trial.actions),
        )

    def _follow(self, plan: Plan) -> bool:
        """Carry a plan out; False when it was given up before its end."""
        for step in plan.steps:
            blocked = not self._carry_out(step) and step.action is not None and step.action.kind in _BUILT_UPON
            if self._over or (blocked and self._limits.replan_when_blocked):
                return False
        return True

    def _carry_out(self, step: ParsedStep) -> bool:
        began, start, before = time.perf_counter(), self.env.steps, self._placements()
        known = set(self.graph.graph)
        trace = _Trace()
        outcome = skipped(step.problem)
        if step.action is not None:
            skill = self._skill(step.action)
            outcome = skill if isinstance(skill, Outcome) else self._drive(skill, trace)
            self._attempts.append(Attempt(step.action, outcome.status == Status.SUCCEEDED, outcome.reason))
            if step.action.kind == ActionKind.GO_TO and step.action.target in self._anchors:
                self.graph.enter(step.action.target)
        after = self._placements()
        moved = {name: (before[name], after[name]) for name in after if before[name] != after[name]}
        self._tally.statuses[outcome.status] += 1
        self._tally.placements |= {(name, place) for name, (_, place) in moved.items() if place != ROBOT}
        action = step.action
        self.writer.write(
            ActionLine(
                plan=self._tally.plans - 1,
                raw=step.raw,
                action=str(action) if action else None,
                kind=action.kind.value if action else None,
                target=action.target if action else None,
                destination=action.destination if action else None,
                status=outcome.status.value,
                reason=outcome.reason,
                start=start,
                end=self.env.steps,
                low_level=trace.letters,
                aimed=trace.aimed,
                path=trace.path,
                discovered=[name for name in self.graph.graph if name not in known],
                moved=moved,
                reward=trace.reward,
                seconds=time.perf_counter() - began,
            )
        )
        return outcome.status == Status.SUCCEEDED

    def _skill(self, action: HighLevelAction) -> Skill | Outcome:
        """What the body has to do, or why it need not try."""
        target, kind = action.target, action.kind
        if kind == ActionKind.PICK_UP:
            return self.controller.pick_up(self._keys[target])
        if kind == ActionKind.PLACE:
            return self.controller.place(self._keys[target], self._keys[action.destination or ""])
        if self.graph.kind(target) == NodeKind.ROOM:
            return self._enter(target, kind)
        if self.graph.kind(target) == NodeKind.OBJECT:
            place = self.graph.place_of(target)
            if place in (None, ROBOT):
                return failed(f"{target} is in the hand")
            target = place or ""
        go = kind == ActionKind.GO_TO
        return self.controller.go_to(self._keys[target]) if go else self.controller.look_at(self._keys[target])

    def _enter(self, room: str, kind: ActionKind) -> Skill:
        anchor = self._anchors[room]
        return self.controller.go_to(anchor) if kind == ActionKind.GO_TO else self.controller.look_at(anchor)

    def _drive(self, skill: Skill, trace: _Trace) -> Outcome:
        """Carry out a skill's low-level actions, looking around after each."""
        try:
            action = next(skill)
            while not self._over:
                aimed = self.env.aimed
                _, reward, _, _, _ = self.env.step(action)
                trace.add(action, aimed, self.env, reward)
                self._see()
                self._progress(self.env.steps, self._tally.plans)
                action = skill.send(None)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        skill.close()
        return failed("out of steps")

    def _see(self) -> None:
        """Let the scene graph take in what is in view."""
        world, visible = self.env.world, self.env.visible
        receptacles = {
            self._names[key]: room
            for key in visible
            if key in world.receptacles and (room := self._rooms.get(self._names[key]))
        }
        relations = world.relations(visible)
        objects = {self._names[key]: self._names[place] for key, place in relations.items()}
        just_placed = self.graph.holding
        if just_placed is not None and world.holding is None:
            objects[just_placed] = self._names[world.placements[self._keys[just_placed]] or ""]
        holding = self._names[world.holding] if world.holding else None
        self.graph.update(View(dict(sorted(receptacles.items())), dict(sorted(objects.items())), holding), self._rooms)

    def _placements(self) -> Placements:
        places = self.env.world.placements
        return {self._names[key]: self._names[place] if place else ROBOT for key, place in places.items()}

    def _result(self, ended: str, seconds: float) -> ResultLine:
        world, tally = self.env.world, self._tally
        misplaced = len(world.episode.misplaced)
        return ResultLine(
            ended=ended,  # type: ignore[arg-type]
            success_rate=world.success_rate,
            correct_start=len(world.objects) - misplaced,
            correct_end=sum(world.correct.values()),
            misplaced_start=misplaced,
            objects=len(world.objects),
            placements=self._placements(),
            plans=tally.plans,
            steps=self.env.steps,
            actions=sum(tally.statuses.values()),
            succeeded=tally.statuses[Status.SUCCEEDED],
            failed=tally.statuses[Status.FAILED],
            skipped=tally.statuses[Status.SKIPPED],
            unique_placements=len(tally.placements),
            prompt_tokens=tally.prompt_tokens,
            completion_tokens=tally.completion_tokens,
            model_seconds=tally.model_seconds,
            seconds=seconds,
        )


@dataclass
class _Trace:
    """The low-level side of one high-level action."""

    letters: str = ""
    aimed: list[str] = field(default_factory=list)
    path: list[tuple[float, float, float]] = field(default_factory=list)
    reward: float = 0.0

    def add(self, action: Action, aimed: str | None, env: RearrangementEnv, reward: float) -> None:
        body = env.simulator.body
        self.letters += LETTERS[action]
        self.path.append((round(body.x, 3), round(body.z, 3), round(float(body.yaw), 3)))
        self.reward += reward
        if action == Action.GRAB_RELEASE:
            self.aimed.append(aimed or "")


def room_anchors(env: RearrangementEnv) -> dict[str, str]:
    """The receptacle that stands for each room, in the order in which the robot is told of the rooms.

    A room without a usable receptacle in the episode has nothing to go to, and nothing can be there: the robot is not
    told of it.
    """
    world = env.world
    anchors: dict[str, str] = {}
    for room in world.scene.rooms:
        inside = [key for key, thing in world.receptacles.items() if thing.room == room.name and thing.usable]
        if inside:
            anchors[room.name] = room.anchor if room.anchor in inside else inside[0]
    return anchors


class _Trial:
    """Takes the lines of what is taken back."""

    def __init__(self) -> None:
        self.actions: list[ActionLine] = []

    def write(self, line: EpisodeLine | PlanLine | ActionLine | ResultLine) -> None:
        if isinstance(line, ActionLine):
            self.actions.append(line)


def _read(plan: Plan) -> int:
    return sum(reply.prompt_tokens for reply in plan.replies)


def _written(plan: Plan) -> int:
    return sum(reply.completion_tokens for reply in plan.replies)


def _prompt(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [message.turn for message in messages]


def _exchange(exchange: Exchange) -> ExchangeLine:
    reply = exchange.reply
    return ExchangeLine(
        prompt=_prompt(exchange.messages),
        reply=reply.text,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )
