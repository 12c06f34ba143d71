"""Base class of the writers that export episodes to one format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from housewise.core.errors import UserError
from housewise.export.episode_playback import EpisodePlayer
from housewise.export.manifest import MANIFEST, ExportedEpisode, Manifest


class ExportWriter:
    """Writes episodes into a new folder. `housewise.export.run.FORMATS` lists the subclasses.

    Attributes:
        notes: Further facts about the format, which the manifest states.
        manifest: Path of the manifest, relative to the export's folder.
        needs_playback: Whether episodes that can be replayed are.
    """

    notes: Mapping[str, Any] = MappingProxyType({})
    manifest = Path(MANIFEST)
    needs_playback = True

    def configure(self, settings: Sequence[str]) -> None:
        """Take settings of the user.

        Args:
            settings: Texts ``key=value``.

        Raises:
            UserError: A setting is unknown or invalid. A format has none by default.
        """
        if settings:
            raise UserError(f"setting {settings[0]}: this format has no settings; leave it out")

    def check(self, player: EpisodePlayer | None, system: str) -> None:
        """Check that the format can hold the episodes, before any of them is replayed.

        Args:
            player: Replays the system's episodes, or None if they cannot be replayed.
            system: Name of the system.

        Raises:
            UserError: The format cannot hold them, or its library is not installed.
        """

    def write(self, episodes: Iterator[ExportedEpisode], folder: Path, manifest: Manifest) -> None:
        """Write all episodes to a folder and list each of them in the manifest."""
        raise NotImplementedError
