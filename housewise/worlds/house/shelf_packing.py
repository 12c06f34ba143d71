"""Packs objects on receptacles in rows, as Housekeep does.

Rows run along x and follow each other along z. An object goes into the row whose depth it wastes least (the best height
fit of the shelf algorithms for bin packing; Jylanki 2010, section 2.1), rotated by a quarter turn if that fits better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from housewise.worlds.house.episode import ShelfItem, ShelfRow, ShelfSpan, ShelfState

_PAD = 0.002
_EDGE = _PAD / 2
_LEAST_DEPTH = 0.01
_ROUNDING = 1e-9


@dataclass(frozen=True)
class ShelfPlacement:
    """The position of an object on a receptacle.

    Attributes:
        x, z: Centre of the object, metres.
        width, depth: Extent of its footprint along x and z after the rotation, metres.
        turned: Whether the object is rotated by a quarter turn.
    """

    x: float
    z: float
    width: float
    depth: float
    turned: bool


@dataclass(frozen=True)
class _Fit:
    """A candidate position: its row and span, the necessary depth of the row, and the depth that it wastes."""

    row: int
    span: int
    spot: ShelfPlacement
    depth: float
    waste: float


class ShelfPacker:
    """Packs the objects of one receptacle.

    Args:
        state: Initial free and occupied space.
    """

    def __init__(self, state: ShelfState) -> None:
        self._low, self._size = state.low, state.size
        self._rows = list(state.rows)
        self._items = {item.object: (item.row, item.span) for item in state.items}

    @property
    def state(self) -> ShelfState:
        """The current free and occupied space."""
        items = tuple(ShelfItem(key, row, span) for key, (row, span) in self._items.items())
        return ShelfState(self._low, self._size, tuple(self._rows), items)

    def insert(self, key: str, width: float, depth: float) -> ShelfPlacement | None:
        """Add an object.

        Args:
            key: Key of the object.
            width: Extent of its footprint along x if it is not rotated, metres.
            depth: Extent of its footprint along z if it is not rotated, metres.

        Returns:
            The position of the object, or None if there is no room for it.
        """
        sizes = ((width, depth, False), (depth, width, True))
        fits = [
            fit for number, row in enumerate(self._rows) for size in sizes if (fit := _find_fit(number, row, *size))
        ]
        if not fits:
            row = self._new_row(min(width, depth) + _PAD)
            fits = [fit for size in sizes if row and (fit := _find_fit(len(self._rows), row, *size))]
            if not row or not fits:
                return None
            if self._rows:
                self._rows[-1] = replace(self._rows[-1], max_depth=self._rows[-1].depth)
            self._rows.append(row)
        # At equal waste the rotated object wins, as in the data.
        best = min(fits, key=lambda fit: (fit.waste, fit.row, not fit.spot.turned))
        self._occupy(key, best)
        return best.spot

    def remove(self, key: str) -> None:
        """Remove an object. An object that is stacked on others occupies no space and is ignored."""
        if key not in self._items:
            return
        row, span = self._items.pop(key)
        spans = list(self._rows[row].spans)
        spans[span] = replace(spans[span], occupied=False)
        self._rows[row] = replace(self._rows[row], spans=tuple(spans))
        self._merge(row)
        while self._rows and not any(span.occupied for span in self._rows[-1].spans):
            self._rows.pop()

    def _new_row(self, depth: float) -> ShelfRow | None:
        start = self._rows[-1].z + self._rows[-1].depth if self._rows else self._low[1]
        room = self._low[1] + self._size[1] - start
        if depth < _LEAST_DEPTH or depth > room:
            return None
        x, length = self._low[0], self._size[0]
        return ShelfRow(x, start, length, depth, room, (ShelfSpan(x, x + length, occupied=False),))

    def _occupy(self, key: str, fit: _Fit) -> None:
        row = self._rows[fit.row]
        span = row.spans[fit.span]
        cut = min(fit.spot.x + fit.spot.width / 2 + _PAD, row.x + row.length)
        taken, rest = ShelfSpan(span.start, cut, occupied=True), ShelfSpan(cut, span.end, occupied=False)
        spans = (*row.spans[: fit.span], taken, rest, *row.spans[fit.span + 1 :])
        self._rows[fit.row] = replace(row, depth=max(row.depth, fit.depth), spans=spans)
        self._shift(fit.row, fit.span, 1)
        self._items[key] = (fit.row, fit.span)
        self._merge(fit.row)

    def _merge(self, row: int) -> None:
        """Join adjacent free spans."""
        spans = list(self._rows[row].spans)
        for number in range(len(spans) - 1, 0, -1):
            if not spans[number].occupied and not spans[number - 1].occupied:
                spans[number - 1 : number + 1] = [replace(spans[number - 1], end=spans[number].end)]
                self._shift(row, number, -1)
        self._rows[row] = replace(self._rows[row], spans=tuple(spans))

    def _shift(self, row: int, after: int, by: int) -> None:
        for key, (other, span) in self._items.items():
            if other == row and span > after:
                self._items[key] = (other, span + by)


def _find_fit(number: int, row: ShelfRow, width: float, depth: float, turned: bool) -> _Fit | None:
    """Return the first free span of a row with room for a footprint, or None."""
    needed = row.depth
    if depth > needed:
        if depth > row.max_depth:
            return None
        needed = min(depth + _PAD, row.max_depth)
    # As in the data, a row does not grow for an object that exceeds it by less than the edge.
    if depth + _EDGE > needed + _ROUNDING:
        return None
    for index, span in enumerate(row.spans):
        left = span.start + _EDGE + _PAD
        if not span.occupied and left + width <= span.end + _ROUNDING:
            spot = ShelfPlacement(left + width / 2, row.z + _EDGE + depth / 2, width, depth, turned)
            return _Fit(number, index, spot, needed, abs(row.depth - depth))
    return None
