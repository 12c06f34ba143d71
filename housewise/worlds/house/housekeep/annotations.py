"""Reads Housekeep's annotations: ten people ranked all receptacles for each object (Kant et al. 2022, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from housewise.core.errors import DataError
from housewise.core.printable_text import excerpt
from housewise.worlds.house.housekeep.unpickle import load_pickled_object
from housewise.worlds.house.preferences import HousePreferences, Places

ANNOTATIONS = "cos_eor/scripts/orm/amt_data/data.npy"

# In the data set, a receptacle is correct if at least six of the ten annotators ranked it positive.
_MAJORITY = 6


@dataclass(frozen=True, eq=False)
class Annotations:
    """Ranks by receptacle, category and annotator. A positive rank means that the object belongs there.

    Attributes:
        places: Row of each (kind of room, kind of receptacle), by their spoken names.
        categories: Column of each object category.
        ranks: (places, categories, annotators) int.
    """

    places: dict[tuple[str, str], int]
    categories: dict[str, int]
    ranks: NDArray[np.int64]

    @property
    def people(self) -> int:
        """Number of annotators."""
        return int(self.ranks.shape[2])

    def majority(self) -> HousePreferences:
        """Return the preferences of the majority of the annotators."""
        return self._preferences("majority", (self.ranks > 0).sum(axis=2) >= _MAJORITY)

    def annotator(self, number: int) -> HousePreferences:
        """Return the preferences of one annotator.

        Args:
            number: Number of the annotator, from 0.

        Raises:
            DataError: If the annotator does not exist.
        """
        if not 0 <= number < self.people:
            raise DataError(f"annotator {number} does not exist; choose one from 0 to {self.people - 1}")
        return self._preferences(f"annotator-{number}", self.ranks[:, :, number] > 0)

    def _preferences(self, name: str, wanted: NDArray[np.bool_]) -> HousePreferences:
        places: dict[str, Places] = {}
        for category, column in self.categories.items():
            rooms = places.setdefault(category, {})
            for (room, receptacle), row in self.places.items():
                if wanted[row, column]:
                    rooms.setdefault(room, []).append(receptacle)
        return HousePreferences(name, "", places)


def read_annotations(root: Path) -> Annotations:
    """Read the annotations of a Housekeep folder.

    Raises:
        DataError: If the file is missing, damaged or has another content.
    """
    path = root / ANNOTATIONS
    data = load_pickled_object(path)
    try:
        places = [tuple(part.replace("_", " ") for part in str(name).split("|")) for name in data["room_receptacles"]]
        categories = [str(name) for name in data["objects"]]
        ranks = np.asarray(data["ranks"], dtype=np.int64)
        if ranks.ndim != 3 or ranks.shape[:2] != (len(places), len(categories)):
            raise ValueError(f"ranks are {ranks.shape}, expected {len(places)} x {len(categories)} x annotators")
        rows = {(room, receptacle): row for row, (room, receptacle) in enumerate(places)}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: not Housekeep's annotations ({excerpt(error)}); fetch the file again") from error
    return Annotations(rows, {name: column for column, name in enumerate(categories)}, ranks)
