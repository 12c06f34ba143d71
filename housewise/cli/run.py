"""``housewise run``: play episodes and record them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from housewise.core.console import Console, print_note
from housewise.terminal.option_values import (
    check_options_of_system,
    check_settings,
    configured_system,
    data_folder,
    drop_unset,
    parse_episodes,
    person_settings,
)
from housewise.terminal.options import (
    AdapterOption,
    BaseUrlOption,
    ConfigOption,
    ExecutionOptions,
    HouseOptions,
    LogToOption,
    ModelOption,
    OutOption,
    Overrides,
    execution_option,
    model_option,
    task_option,
)
from housewise.terminal.run_folders import dated_name, run_folder


def run(
    *,
    overrides: Overrides = None,
    config: ConfigOption = None,
    system: Annotated[
        str | None,
        task_option("NAME", "System to play (see housewise list systems). Default: personalize.", names="systems"),
    ] = None,
    house: HouseOptions,
    episodes: Annotated[
        str | None,
        task_option(
            "IDS|SET", "Episode ids (3,17,40) or a task set (test, train) of the Housekeep data.", names="task-sets"
        ),
    ] = None,
    houses: Annotated[int | None, task_option("N", "Number of generated houses. Default: 3.")] = None,
    seed: Annotated[
        int | None, task_option("N", "Random seed. The first generated house has this number. Default: 0.")
    ] = None,
    memory: Annotated[
        str | None, task_option("PERSON", "Person whose memory the run starts from and adds to. Default: no memory.")
    ] = None,
    planner: Annotated[
        str | None,
        model_option(
            "NAME|FILE:CLASS",
            "Planner (see housewise list planners), or a class of your own as ./FILE.py:CLASS. Default: llm.",
            names="planners",
        ),
    ] = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    adapter: AdapterOption = None,
    records: Annotated[
        Path | None, model_option("FOLDER", "Folder of records whose replies the planner replay repeats.")
    ] = None,
    execution: ExecutionOptions,
    repeats: Annotated[int | None, execution_option("N", "Number of repeats of each episode. Default: 1.")] = None,
    quick: Annotated[
        bool, execution_option(None, "Play only the first episodes, for about two minutes.", "--quick")
    ] = False,
    log_to: LogToOption = None,
    out: OutOption = None,
) -> None:
    r"""Play episodes and record them.

    Examples:

      # three generated houses, the bundled model with its adapter
      housewise run --houses 3

      # a planner that knows the preferences
      housewise run --houses 3 --planner scripted

      # any OpenAI-compatible server, test tasks of the Housekeep data
      housewise run --data ~/housekeep --scene Merom_1_int --episodes test \
          --model my-model --base-url http://localhost:8000/v1

      # LLM-Personalize as its paper describes it, without the help for a small model
      housewise run --config paper --model my-model --base-url http://localhost:8000/v1

      # CLIPR: choices follow the rules of a simulated person (docs/clipr.md)
      housewise run --system clipr --repeats 5 --workers 2

    The same command with --out FOLDER resumes the run in that folder: finished episodes are not played again. housewise
    list prints the names that --planner, --person and other options accept, and housewise settings personalize prints
    all settings.
    """
    from housewise.core.settings_loading import describe_own_part
    from housewise.rollout.system import find_system
    from housewise.rollout.unused_settings import unused_settings
    from housewise.systems.personalize.settings import PersonalizeSettings
    from housewise.terminal.run_progress import play_run, quick_episodes

    system_name = system or configured_system(config, overrides or [])
    system_class = find_system(system_name)
    base = system_class.defaults()
    plain = {
        "houses": houses,
        "seed": seed,
        "planner": planner,
        "model": model,
        "base_url": base_url,
        "adapter": adapter,
    }
    options = {
        **vars(house),
        **vars(execution),
        **person_settings(house.person, system_name),
        **plain,
        "data": data_folder(house.data, houses, config, base),
        "episodes": parse_episodes(episodes),
        "memory": {"start": memory},
        "records": str(records) if records else None,
        "repeats": repeats,
    }
    check_options_of_system(drop_unset(options), system_name, base)
    settings = system_class.load(config, drop_unset(options), overrides or [])
    if note := describe_own_part(config, base):
        print_note(note)
    if isinstance(settings, PersonalizeSettings):
        check_settings(settings, houses)
    playing = system_class(settings)
    if unused := unused_settings(playing):
        print_note(f"{', '.join(unused)}: without effect here, where {playing.agent} plays")
    if quick:
        few = quick_episodes(playing)
        options["max_episodes"] = min(few, settings.execution.max_episodes or few)
        playing = system_class(system_class.load(config, drop_unset(options), overrides or []))
    with run_folder(out, dated_name(playing.agent)) as folder:
        play_run(playing, folder, Console(), log_to or [])
