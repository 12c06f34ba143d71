"""Sizes of each kind of furniture and decoration."""

from __future__ import annotations

import numpy as np

from housewise.worlds.house.geometry import Vec3

Sizes = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]

SIZES: dict[str, Sizes] = {
    "basket": ((0.36, 0.5), (0.3, 0.45), (0.32, 0.4)),
    "bathtub": ((1.5, 1.7), (0.54, 0.6), (0.7, 0.78)),
    "bed": ((1.4, 1.7), (0.8, 0.95), (2.0, 2.1)),
    "bottom cabinet": ((0.6, 1.1), (0.7, 0.88), (0.38, 0.48)),
    "carpet": ((1.3, 2.2), (0.012, 0.02), (0.9, 1.5)),
    "chair": ((0.42, 0.46), (0.84, 0.94), (0.44, 0.48)),
    "chest": ((0.7, 1.0), (0.42, 0.55), (0.4, 0.5)),
    "coffee machine": ((0.4, 0.46), (1.14, 1.22), (0.4, 0.46)),
    "coffee table": ((0.8, 1.1), (0.36, 0.44), (0.5, 0.65)),
    "console table": ((0.9, 1.3), (0.72, 0.82), (0.3, 0.36)),
    "cooktop": ((0.58, 0.64), (0.86, 0.9), (0.58, 0.62)),
    "counter": ((0.6, 1.1), (0.86, 0.9), (0.58, 0.62)),
    "dishwasher": ((0.58, 0.62), (0.84, 0.88), (0.58, 0.62)),
    "dryer": ((0.58, 0.62), (0.84, 0.88), (0.58, 0.62)),
    "fridge": ((0.6, 0.74), (1.4, 1.6), (0.62, 0.68)),
    "heater": ((0.7, 1.1), (0.54, 0.62), (0.12, 0.15)),
    "microwave": ((0.5, 0.6), (1.2, 1.3), (0.48, 0.6)),
    "office chair": ((0.54, 0.6), (0.92, 1.02), (0.54, 0.6)),
    "oven": ((0.58, 0.62), (1.3, 1.42), (0.58, 0.62)),
    "piano": ((1.4, 1.5), (1.12, 1.2), (0.56, 0.62)),
    "shelf": ((0.7, 1.1), (1.05, 1.55), (0.28, 0.36)),
    "shredder": ((0.34, 0.4), (0.52, 0.6), (0.26, 0.3)),
    "sink": ((0.55, 0.75), (0.88, 0.96), (0.44, 0.5)),
    "sofa": ((1.7, 2.2), (0.74, 0.84), (0.84, 0.94)),
    "sofa chair": ((0.8, 0.9), (0.74, 0.86), (0.78, 0.88)),
    "stool": ((0.34, 0.4), (0.42, 0.6), (0.34, 0.4)),
    "stove": ((0.58, 0.64), (0.86, 0.9), (0.58, 0.62)),
    "table": ((1.2, 1.7), (0.72, 0.76), (0.8, 0.92)),
    "toilet": ((0.38, 0.42), (0.74, 0.82), (0.62, 0.68)),
    "top cabinet": ((0.6, 0.9), (0.3, 0.34), (0.3, 0.34)),
    "washer": ((0.58, 0.62), (0.84, 0.88), (0.58, 0.62)),
}
"""Least and greatest width, height and depth of each kind of receptacle, metres."""

DECOR_SIZES: dict[str, Sizes] = {
    "hood": ((0.6, 0.6), (0.5, 0.5), (0.4, 0.4)),
    "mirror": ((0.5, 0.6), (0.7, 0.8), (0.03, 0.03)),
    "picture": ((0.6, 1.0), (0.45, 0.6), (0.03, 0.03)),
    "plant": ((0.4, 0.5), (0.8, 1.2), (0.4, 0.5)),
    "television": ((0.9, 1.2), (0.55, 0.65), (0.06, 0.06)),
}
"""The same for decoration, on which objects cannot be placed."""

TOP_CABINET_BASE = 1.22
"""Height of the lower edge of a top cabinet in metres, low enough to see the objects on it."""


def random_size(kind: str, rng: np.random.Generator) -> Vec3:
    """Draw the width, height and depth of a kind, rounded to centimetres (low heights to millimetres)."""
    sizes = SIZES[kind] if kind in SIZES else DECOR_SIZES[kind]
    width, height, depth = (float(rng.uniform(low, high)) for low, high in sizes)
    return round(width, 2), round(height, 3 if height < 0.1 else 2), round(depth, 2)
