"""Keeps the last results of a function that is called again with the same arguments, such as those of a state."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class RecentResults(Generic[V]):
    """The last results by key.

    Args:
        size: Number of results that are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._results: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the result of a key, which is made if it is not kept."""
        if key not in self._results:
            self._results[key] = make()
            if len(self._results) > self._size:
                self._results.popitem(last=False)
        self._results.move_to_end(key)
        return self._results[key]
