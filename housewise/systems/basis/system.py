"""BASIS (COLM 2025): an assistant that sees and speaks guides a person who acts in a lab."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from housewise.agent.base import Agent
from housewise.agent.basis.descriptions import DescriptionMemory, all_descriptions, load_descriptions
from housewise.agent.basis.oracle_phrases import load_oracle_phrases
from housewise.agent.basis.scripted_oracle import OracleSettings, ScriptedOracle
from housewise.agent.basis.views import AssistantTurn
from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.formatting import plural
from housewise.core.record import Result
from housewise.core.settings import merge_nested
from housewise.core.text_files import is_file
from housewise.language.base import ChatModel
from housewise.people.lab.chat_user import ChatUser, PromptSize
from housewise.people.lab.phrases import load_user_phrases
from housewise.people.lab.recognized_descriptions import RecognizedDescriptions
from housewise.people.lab.scripted_user import ScriptedUser
from housewise.people.lab.terminal_user import TerminalUser
from housewise.people.lab.user_traits import ALICE, BOB
from housewise.people.lab.views import LabUser
from housewise.people.terminal_prompt import Prompt
from housewise.rollout.episode_loop import EpisodeLimits
from housewise.rollout.scores import Score
from housewise.rollout.system import EpisodeContext, EpisodeSetup, Job, System, Task
from housewise.systems.basis.agents import GuidingAgent
from housewise.systems.basis.assistants import assistant_opener, check_assistant, usual_description, view_builder
from housewise.systems.basis.earlier_turns import EarlierTurns
from housewise.systems.basis.record import EVENTS, BasisInitialState
from housewise.systems.basis.settings import DESCRIBING, BasisSettings
from housewise.systems.basis.world import LabSession, SessionObservation
from housewise.worlds.lab.camera_picture import encode_png
from housewise.worlds.lab.geometry import open_lab_space
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.scenarios import draw_scenario, find_variant
from housewise.worlds.lab.variants import BY_NAME

_BUNDLED = ("local", "local:smollm2")
_BRIEF = {"thinking_tokens": 0, "sampling": {"max_tokens": 128}}
_SECONDS_PER_REPLY, _SECONDS_PER_SHORT_REPLY = 12.0, 2.0
"""Approximate seconds of a reply of the bundled model on two CPU cores. With neither a grammar nor an adapter that was
trained to reply, it is cut at its limit."""


class Basis(System[BasisSettings]):
    """The BASIS system; see System. An episode is a session: one scenario, one person and one assistant."""

    name = "basis"
    Settings = BasisSettings
    events = EVENTS
    scores = (
        Score("success", column="success", unit="%", better="higher", scale=100, error=True),
        Score("subgoals", column="subgoals", unit="%", better="higher", scale=100, error=True),
        Score("success_all", "success in any attempt", unit="%", better="higher", scale=100, error=True),
        Score("subgoals_all", "subgoals in the best attempt", unit="%", better="higher", scale=100, error=True),
        Score("steps", "actions", "steps", better="lower"),
        Score("user_turns", "person's utterances", "user"),
        Score("assistant_turns", "assistant's utterances", "assistant"),
        Score("speech_precision", "speech precision", unit="%", better="higher", scale=100, weight="assistant_turns"),
        Score("speech_recall", "speech recall", unit="%", better="higher", scale=100, weight="oracle_turns"),
        Score("silence_precision", "silence precision", unit="%", better="higher", scale=100, weight="silent_turns"),
        Score("silence_recall", "silence recall", unit="%", better="higher", scale=100, weight="oracle_silent_turns"),
        Score("failed_actions", "failed actions", "failed", better="lower"),
        Score("unread", "replies that could not be read", unit="%", better="lower", scale=100, weight="replies"),
    )

    seconds_per_episode = (1.0, 50 * _SECONDS_PER_REPLY)

    def __init__(self, settings: BasisSettings) -> None:
        super().__init__(settings)
        chosen = settings.tasks
        names = [find_variant(name).name for name in chosen.variant] or list(BY_NAME)
        self._tasks = {
            f"{name}-{seed}": (name, seed)
            for seed in range(chosen.seed, chosen.seed + chosen.scenarios)
            for name in names
        }

    @property
    def roles(self) -> Sequence[str]:
        """See System.roles."""
        agent, person = self.settings.agent.planner == "llm", self.settings.tasks.person == "model"
        return (*(("agent",) if agent else ()), *(("person",) if person else ()))

    @property
    def reads_model_settings(self) -> bool:
        """See System.reads_model_settings. The nearest turn is looked up among those that an adapter was trained on."""
        return self.settings.agent.planner in ("llm", "nearest")

    @classmethod
    def advice(cls, settings: BasisSettings) -> Mapping[str, Any]:
        """See System.advice. A named model plays its role, and the bundled one, which thinks in vain, is brief."""
        models, found = settings.models, dict(super().advice(settings))
        if models.agent.is_named:
            found["agent"] = {"planner": "llm", **found.get("agent", {})}
        trained = found.get("agent", {}).pop("sampling", {})
        if models.person.is_named:
            found["tasks"] = {"person": "model"}
        roles: dict[str, Any] = {r: _BRIEF for r in ("agent", "person") if getattr(models, r).model in _BUNDLED}
        if trained:
            roles = merge_nested(roles, {"agent": {"sampling": trained}})
        return found | ({"models": roles} if roles else {})

    @property
    def agent(self) -> str:
        """See System.agent."""
        return self.settings.agent.planner

    def respondents(self, job: Job) -> Sequence[str]:
        """See System.respondents. The user at the terminal is the person of the memory."""
        return [] if self.interactive else super().respondents(job)

    @property
    def uses_memory(self) -> bool:
        """See System.uses_memory."""
        return self.settings.agent.remembers_descriptions

    @property
    def max_requests(self) -> int:
        """See System.max_requests. The assistant has no turn after the last action of an attempt."""
        chosen = self.settings.tasks
        turns = {"agent": chosen.max_actions - 1, "person": chosen.max_actions}
        return chosen.attempts * sum(turns[role] for role in self.roles)

    @property
    def expected_seconds(self) -> float | None:
        """See System.expected_seconds."""
        expected = super().expected_seconds
        is_short = self.settings.agent.grounded or self.settings.models.agent.adapter is not None
        each = _SECONDS_PER_SHORT_REPLY if is_short else _SECONDS_PER_REPLY
        return expected if expected is None or not self.roles else self.max_requests * each

    @property
    def interactive(self) -> bool:
        """See System.interactive."""
        return self.settings.tasks.person == "terminal"

    def check(self) -> None:
        """See System.check."""
        self.check_one_at_a_time("person=terminal")
        if self.uses_memory and (planner := self.settings.agent.planner) not in DESCRIBING:
            raise UserError(
                f"remembers_descriptions=true: planner={planner} does not choose descriptions; choose one of "
                f"{', '.join(DESCRIBING)}"
            )
        load_oracle_phrases(self.settings.agent.wording)
        load_user_phrases(self.settings.tasks.person_wording)

    def check_start(self) -> None:
        """See System.check_start."""
        check_assistant(self.settings)

    def tasks(self) -> Sequence[Task]:
        """See System.tasks. Tasks are grouped by their preconditions."""
        person = self.settings.tasks.person if self.uses_memory else ""
        return [Task(key, BY_NAME[name].precondition, person) for key, (name, _) in self._tasks.items()]

    @classmethod
    def task_key(cls, initial_state: Mapping[str, Any]) -> Any:
        """See System.task_key."""
        return initial_state["variant"], initial_state["seed"], initial_state["split"]

    @classmethod
    def describe_ending(cls, result: Result) -> str:
        """See System.describe_ending."""
        return f"{result.end_reason} after {plural(int(result.scores['steps']), 'action')}"

    def files(self) -> dict[str, Path]:
        """See System.files. Wordings may be files of the user."""
        named = {"wording": self.settings.agent.wording, "person_wording": self.settings.tasks.person_wording}
        return {setting: Path(name) for setting, name in named.items() if is_file(Path(name))}

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """See System.open."""
        chosen, job = self.settings.tasks, context.job
        name, seed = self._tasks[job.task.name]
        scenario = draw_scenario(BY_NAME[name], seed, chosen.split)
        # A person at the terminal may act differently this time.
        is_kept = self._is_served("agent") and not self.interactive
        earlier = EarlierTurns(job.interrupted_events, self._is_served("person"), is_kept)
        descriptions = self._descriptions(context)
        space, oracle = open_lab_space(scenario), OracleSettings(self.settings.agent.wording, judges_other=True)
        world = LabSession(
            scenario,
            space,
            lambda attempt: self._user(context.models, job.seed, attempt),
            chosen.max_actions,
            chosen.attempts,
            self.roles,
            earlier,
            None if self.agent == "oracle" else lambda attempt: ScriptedOracle(oracle, job.seed + attempt),
            (lambda state: encode_png(space.view.picture(state).rgb)) if self.interactive else None,
            descriptions,
            "fuzzy" if self.interactive else chosen.naming,
        )
        state = BasisInitialState(
            variant=name,
            seed=seed,
            split=chosen.split,
            mission=scenario.mission,
            subgoals=[each.name for each in scenario.subgoals],
        )
        agent = self._agent(context, earlier, descriptions)
        # The world itself limits the number of actions and attempts.
        return EpisodeSetup(world, agent, state, EpisodeLimits(plans=None, idle_plans=None))

    def _descriptions(self, context: EpisodeContext) -> DescriptionMemory | None:
        """Return what is known of how the person understands descriptions. None if nothing is remembered."""
        if not self.uses_memory:
            return None
        known = context.own_memory
        return DescriptionMemory(known.person, known.notes, usual_description(self.settings.agent))

    def _agent(
        self, context: EpisodeContext, earlier: EarlierTurns, descriptions: DescriptionMemory | None
    ) -> Agent[SessionObservation, AssistantTurn]:
        chosen = self.settings.agent
        describe = descriptions.describe if descriptions else usual_description(chosen)
        open_assistant = assistant_opener(self.settings, context.models, describe)
        return GuidingAgent(
            lambda attempt: open_assistant(context.job.seed + attempt),
            view_builder(chosen, describe),
            context.progress,
            self.settings.tasks.max_actions,
            earlier,
        )

    def _is_served(self, role: str) -> bool:
        """Return whether a role is played by a model of a server, whose replies are kept when a session is resumed.

        A local model computes its replies again, since it would round differently after a part of the session.
        """
        return role in self.roles and not self.is_local(role)

    def _user(self, models: Mapping[str, ChatModel], job_seed: int, attempt: int) -> LabUser:
        chosen, seed = self.settings.tasks, job_seed + attempt
        if chosen.person == "terminal":
            prompt = Prompt(sys.stdin, Console(highlight=False))
            return TerminalUser(prompt, chosen.max_actions, self.settings.agent.planner != "silent", attempt)
        if chosen.person == "model":
            sampling = self.settings.models.person.sampling.with_seed(seed)
            size: PromptSize = "compact" if self.settings.agent.compact else "full"
            return ChatUser(models["person"], chosen.persona.capitalize(), size, sampling, self.settings.agent.grounded)
        traits = replace(ALICE if chosen.person == "alice" else BOB, hears=chosen.hears, wording=chosen.person_wording)
        rates = {name: getattr(chosen, name) for name in ("mistakes", "patience", "talkativeness")}
        traits = replace(traits, **{name: rate for name, rate in rates.items() if rate is not None})
        recognized = None
        if chosen.recognition_seed is not None:
            usual = usual_description(self.settings.agent)
            texts = {KINDS[kind].look: all_descriptions(kind, usual) for kind in load_descriptions()}
            recognized = RecognizedDescriptions(texts, chosen.recognition_seed)
        return ScriptedUser(traits, seed, recognized)
