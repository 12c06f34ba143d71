"""Random floors of polygons for tests."""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from housewise.worlds.house.polygon_navmesh import PolygonMesh

SIDE = 5
CELL = 1.2
WARP = 0.15


class Floor:
    """A connected set of the cells of a warped grid.

    Attributes:
        rings: (4, 2) corners of each polygon.
        neighbours: of each polygon, behind the edge that starts at each corner; -1 for walls.
        mesh: of both.
    """

    def __init__(self, cells: set[int], seed: int) -> None:
        rng = np.random.default_rng(seed)
        xs, zs = np.meshgrid(np.arange(SIDE + 1.0), np.arange(SIDE + 1.0), indexing="ij")
        corners = CELL * (np.stack([xs, zs], axis=-1) + rng.uniform(-WARP, WARP, (SIDE + 1, SIDE + 1, 2)))
        kept = _connected(cells)
        number = {cell: place for place, cell in enumerate(kept)}
        self.rings, self.neighbours = [], []
        for cell in kept:
            x, z = divmod(cell, SIDE)
            around = [(x, z - 1), (x + 1, z), (x, z + 1), (x - 1, z)]
            behind = [number.get(a * SIDE + b, -1) if 0 <= a < SIDE and 0 <= b < SIDE else -1 for a, b in around]
            ring = np.array([corners[x, z], corners[x + 1, z], corners[x + 1, z + 1], corners[x, z + 1]])
            # Detour's polygons may have either orientation and start at any corner.
            turns = int(rng.integers(4))
            ring, behind = np.roll(ring, -turns, axis=0), [*behind[turns:], *behind[:turns]]
            if rng.random() < 0.5:
                ring, behind = ring[::-1], [*behind[-2::-1], behind[-1]]
            self.rings.append(ring)
            self.neighbours.append(behind)
        self.mesh = PolygonMesh(self.rings, self.neighbours)


def floors() -> st.SearchStrategy[Floor]:
    """Draw random floors with walls, holes and dead ends."""
    cells = st.sets(st.integers(0, SIDE * SIDE - 1), min_size=6)
    return st.builds(Floor, cells, st.integers(0, 2**32 - 1))


def _connected(cells: set[int]) -> list[int]:
    """Return the largest group of cells that are connected by common sides."""
    ordered = sorted(cells)
    places = np.array([divmod(cell, SIDE) for cell in ordered])
    beside = np.abs(places[:, None] - places[None]).sum(axis=-1) == 1
    _, group = connected_components(beside, directed=False)
    largest = np.bincount(group).argmax()
    return [cell for cell, own in zip(ordered, group, strict=True) if own == largest]
