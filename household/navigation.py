"""Where the robot can be, and the shortest ways between places."""

from __future__ import annotations

from shapely.geometry import MultiPolygon, Polygon


class NavMesh:
    """The area that the robot's centre can occupy, on one floor.

    Args:
        area: in the horizontal plane, coordinates (x, z), metres; already shrunk by the robot's radius.
        height: y of the floor that the robot stands on.
    """

    def __init__(self, area: Polygon | MultiPolygon, height: float) -> None:
        self.area = area
        self.height = height
