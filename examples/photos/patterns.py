"""Scenes that fill the picture with one pattern: bricks, dunes, pebbles, wood."""

from __future__ import annotations

import numpy as np

from .surfaces import Plane, Surface, cell_values, fractal_noise, ground, smooth_step


def bricks(random: np.random.Generator, height: int, width: int) -> Surface:
    """Lay a wall of bricks in a running bond."""
    courses = random.uniform(5, 11)
    across, down = ground(random, height, width, courses, max_turn=0.25, warp=0.05)
    length = random.uniform(1.8, 2.8)
    course = np.floor(down)
    along = across / np.float32(length) + course * np.float32(0.5)
    brick = np.floor(along)
    edge = np.minimum(
        _edge_distance(down - course), _edge_distance(along - brick) * np.float32(length)
    )
    joint = random.uniform(0.05, 0.12)
    inside = smooth_step(edge, joint * 0.6, joint * 1.6)
    rough = fractal_noise(random, height, width, (24, 24), octaves=3)
    tone = cell_values(random, course.astype(np.int32), brick.astype(np.int32))
    low, high = np.sort(random.uniform(0.35, 1.0, 2))
    mortar = np.float32(random.uniform(0, 0.15))
    colour = low + (high - low) * tone + 0.06 * rough
    pixel = min(height, width) / courses
    return Surface(
        material=mortar + inside * (colour - mortar),
        relief=np.float32(pixel) * (0.10 * inside + 0.025 * rough),
    )


def pebbles(random: np.random.Generator, height: int, width: int) -> Surface:
    """Scatter rounded stones: the cells nearest to the points of a jittered grid."""
    repeats = random.uniform(5, 10)
    across, down = ground(random, height, width, repeats, max_turn=np.pi, warp=0.12)
    column, row = np.floor(across).astype(np.int32), np.floor(down).astype(np.int32)
    x, y = across - column, down - row
    jitter = random.uniform(0.12, 0.88, (2, 4096)).astype(np.float32)
    nearest = np.full((height, width), 9, np.float32)
    second = np.full((height, width), 9, np.float32)
    owner = np.zeros((height, width), np.int32)
    for step_down in (-1, 0, 1):
        for step_across in (-1, 0, 1):
            cell = ((column + step_across) * 57 + (row + step_down) * 1_201) & 4095
            distance = np.hypot(
                jitter[0][cell] + np.float32(step_across) - x,
                jitter[1][cell] + np.float32(step_down) - y,
            )
            closer = distance < nearest
            second = np.where(closer, nearest, np.minimum(second, distance))
            owner = np.where(closer, cell, owner)
            nearest = np.minimum(nearest, distance)
    gap = second - nearest
    dome = np.sqrt(np.clip(gap * 1.6, 0, 1))
    rough = fractal_noise(random, height, width, (20, 20), octaves=4)
    tone = random.random(4096, dtype=np.float32)[owner]
    pixel = min(height, width) / repeats
    return Surface(
        material=smooth_step(gap, 0.02, 0.12) * (0.2 + 0.75 * tone + 0.05 * rough),
        relief=np.float32(pixel) * (0.32 * dome + 0.012 * rough),
    )


def dunes(random: np.random.Generator, height: int, width: int) -> Surface:
    """Blow sand into ripples: long crests, flat on one flank and steep on the other."""
    repeats = random.uniform(4, 10)
    across, down = ground(random, height, width, repeats, max_turn=0.6, warp=0.25)
    bend = np.sin(across * np.float32(random.uniform(0.4, 0.9)) + np.float32(random.uniform(0, 6)))
    phase = down + bend * np.float32(random.uniform(0.2, 0.6))
    position = phase - np.floor(phase)
    steep = random.uniform(0.55, 0.85)
    crest = smooth_step(position, 0, steep) - smooth_step(position, steep, 1)
    grain = fractal_noise(random, height, width, (60, 60), octaves=3, persistence=0.8)
    drift = fractal_noise(random, height, width, (2, 2), octaves=3)
    pixel = min(height, width) / repeats
    shade = random.choice([-0.22, 0.22])
    return Surface(
        material=0.5 + shade * crest + 0.08 * grain + 0.2 * drift,
        relief=np.float32(pixel) * (0.30 * crest + 0.02 * grain),
    )


def wood(random: np.random.Generator, height: int, width: int) -> Surface:
    """Cut a trunk lengthways or across: rings around a centre near or outside the picture."""
    repeats = random.uniform(1, 2)
    across, down = ground(random, height, width, repeats, max_turn=np.pi, warp=0.04)
    across -= across.mean() + np.float32(random.uniform(-0.6, 0.6))
    down -= down.mean() + np.float32(random.uniform(-0.6, 0.6))
    stretch = random.uniform(0.25, 1)
    radius = np.hypot(across * np.float32(stretch), down)
    radius += 0.06 * fractal_noise(random, height, width, (3, 3), octaves=3)
    phase = radius * np.float32(random.uniform(5, 9))
    ring = np.floor(phase)
    position = phase - ring
    late = smooth_step(position, 0.2, 0.9) - smooth_step(position, 0.93, 1.0)
    tone = cell_values(random, ring.astype(np.int32), np.zeros_like(ring, np.int32))
    fibre = fractal_noise(random, height, width, (6, 60), octaves=3, persistence=0.7)
    pixel = min(height, width) / (repeats * 8)
    return Surface(
        material=0.15 + 0.45 * late + 0.25 * tone + 0.07 * fibre,
        relief=np.float32(pixel) * (0.05 * late + 0.015 * fibre),
    )


def _edge_distance(fraction: Plane) -> Plane:
    return np.minimum(fraction, 1 - fraction)
