"""The data set of the task for habitat-lab."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from habitat import registry
from habitat.core.dataset import Dataset, Episode
from omegaconf import DictConfig, ListConfig

from housewise.core.errors import UserError
from housewise.core.user_folders import expand_user
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.habitat_lab.settings_checks import check_dataset, check_scene
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.tasks import generated_task, housekeep_task, select_episodes

_UNKNOWN = float("nan")


@registry.register_dataset(name="HousewiseDataset-v0")
class HousewiseDataset(Dataset):  # type: ignore[misc]
    """The episodes that ``habitat.dataset`` selects.

    The ``info`` of an episode has the folder of the data and the person. Its start is set when the episode is loaded.

    Args:
        config: See housewise.worlds.house.habitat_lab.settings.HousewiseDatasetConfig. None makes an empty data set.

    Raises:
        UserError: If no episode is selected, or a selected one does not exist.
    """

    def __init__(self, config: DictConfig | None = None) -> None:
        self.config = config
        self.episodes: list[Episode] = []
        if config is not None:
            check_dataset(config)
            self.episodes = list(filter(self.build_content_scenes_filter(config), _episodes(config)))
            if not self.episodes:
                raise UserError("no episode to play; see scenes, episodes and content_scenes of habitat.dataset")
            # habitat-lab replaces the scene after it has made the data set.
            whole = config._get_parent()
            if isinstance(whole, DictConfig) and "simulator" in whole:
                check_scene(whole.simulator, self.scene_ids)

    @staticmethod
    def check_config_paths_exist(config: DictConfig) -> bool:
        """Whether the folder of the data exists."""
        return not config.data or expand_user(config.data).is_dir()


def load_task(episode: Episode) -> RearrangementTask:
    """Load the task of an episode, and set the start position and rotation of the episode."""
    data, number = episode.info["data"], int(episode.episode_id)
    if data is None:
        task = generated_task(number, episode.info["person"])
    else:
        task = housekeep_task(_load_housekeep(data), episode.scene_id, number, episode.info["person"])
    start = task.episode.start
    episode.start_position, episode.start_rotation = list(start.position), list(start.rotation)
    return task


def _episodes(config: DictConfig) -> Iterator[Episode]:
    for scene, number in _housekeep_episodes(config) if config.data else _generated_episodes(config):
        yield Episode(
            episode_id=str(number),
            scene_id=scene,
            start_position=[_UNKNOWN] * 3,
            start_rotation=[_UNKNOWN] * 4,
            info={"data": config.data or None, "person": config.person},
        )


def _generated_episodes(config: DictConfig) -> Iterator[tuple[str, int]]:
    if config.scenes is not None or config.episodes is not None:
        raise UserError(
            "scenes and episodes are of the Housekeep data; name its folder in HOUSEKEEP_DATA or "
            "habitat.dataset.data, or use houses and seed for generated houses"
        )
    if config.houses < 1 or config.seed < 0:
        raise UserError("habitat.dataset.houses has to be 1 or more, and habitat.dataset.seed 0 or more")
    for number in range(config.seed, config.seed + config.houses):
        yield f"generated-{number}", number


def _housekeep_episodes(config: DictConfig) -> Iterator[tuple[str, int]]:
    data = _load_housekeep(config.data)
    wanted = list(config.episodes) if isinstance(config.episodes, ListConfig) else config.episodes
    for scene in config.scenes or [scene for scene in data.scenes() if data.has_episodes(scene)]:
        for number in select_episodes(data, scene, wanted):
            yield scene, number


@lru_cache(maxsize=2)
def _load_housekeep(root: str) -> HousekeepData:
    return HousekeepData(root)
