"""Train a robot by behaviour cloning on a LeRobot data set, and let it reach for cubes.

    python -m examples.robot_policy

A teacher's demonstrations are drawn first, as videos of two cameras, and states and actions in
Parquet files. A small network imitates them: it sees both cameras and the place of its gripper, not
that of the cube. Then it reaches for cubes at new places, before and after training, and
``robot_policy.png`` is written to the work folder: the ways it took, in both views.
"""

from __future__ import annotations

import argparse
import copy
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from tqdm import tqdm

from examples.shared import options

from .dataset import generate
from .policy import Policy, batches, loss_of
from .scene import CAMERAS, REACHED, Array, move, picture, start

_STEPS = 40
_SHOWN = 4
_TESTS = 30


def train(policy: Policy, folder: Path, arguments: argparse.Namespace) -> list[float]:
    """Train, and return the mean loss of each epoch."""
    loader = batches(folder, arguments.batch_size, arguments.threads, arguments.seed)
    optimizer = torch.optim.Adam(policy.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, arguments.epochs)
    losses = []
    with tqdm(range(arguments.epochs), unit="epoch", desc="training") as progress:
        for _ in progress:
            found = []
            for (batch,) in loader:
                loss = loss_of(policy, batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                found.append(loss.item())
            schedule.step()
            losses.append(float(np.mean(found)))
            progress.set_postfix(loss=f"{losses[-1]:.4f}")
    return losses


def reach(policy: Policy, seed: int) -> tuple[Array, Array]:
    """Return the way of the gripper, of shape (steps, 3), and the place of the cube."""
    gripper, cube = start(np.random.default_rng((seed, 1)))
    way = [gripper]
    while len(way) < _STEPS and np.linalg.norm(gripper - cube) > REACHED:
        pictures = [picture(gripper, cube, camera) for camera in CAMERAS]
        gripper = move(gripper, policy.act(pictures, gripper))
        way.append(gripper)
    return np.stack(way), cube


def successes(policy: Policy, first_seed: int) -> int:
    """Return how often the policy reaches cubes at new places."""
    ends = [reach(policy, first_seed + test) for test in range(_TESTS)]
    return sum(bool(np.linalg.norm(way[-1] - cube) <= REACHED) for way, cube in ends)


def draw(before: Policy, after: Policy, first_seed: int, path: Path) -> None:
    """Draw ways of both policies, a column for each cube and a row for each camera."""
    figure = Figure(figsize=(3 * _SHOWN, 6.4), layout="constrained")
    grid = figure.subplots(len(CAMERAS), _SHOWN)
    for place in range(_SHOWN):
        ways = [reach(policy, first_seed + place) for policy in (before, after)]
        for axes, (camera, shown) in zip(grid[:, place], CAMERAS.items(), strict=True):
            (old, cube), (new, _) = ways
            axes.imshow(picture(new[0], cube, camera), extent=(0, 1, 1, 0))
            for way, name, colour in ((old, "untrained", "grey"), (new, "trained", "black")):
                axes.plot(*way[:, list(shown)].T, ".-", label=name, color=colour, linewidth=1)
            axes.set(xticks=[], yticks=[], title=camera.rpartition(".")[2])
    grid[0, 0].legend(loc="lower left", fontsize="small")
    figure.savefig(path, dpi=100)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.robot_policy",
        description="Train a robot by behaviour cloning on a LeRobot data set.",
    )
    options.add_work_folder(parser)
    numbers = {
        "episodes": (60, 2, "demonstrations to train on"),
        "epochs": (20, 1, "passes over the demonstrations"),
        "batch-size": (64, 1, "frames in a batch"),
        "threads": (2, 1, "threads of the pipeline"),
        "seed": (0, 0, "seed of demonstrations and network"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Draw the demonstrations, train, test, and draw the picture."""
    arguments = read_arguments()
    arguments.work.mkdir(parents=True, exist_ok=True)
    try:
        folder = generate(arguments.work / "robot", arguments.episodes, arguments.seed)
    except FileExistsError as error:
        raise SystemExit(f"robot_policy: {error}") from error
    torch.manual_seed(arguments.seed)
    policy = Policy()
    untrained = copy.deepcopy(policy)
    losses = train(policy, folder, arguments)
    print(f"loss: {losses[0]:.4f} in the first epoch, {losses[-1]:.4f} in the last one")
    path = arguments.work / "robot_policy.png"
    first_seed = arguments.seed + 1000
    draw(untrained, policy, first_seed, path)
    print(f"picture: {path}")
    before, after = (successes(each, first_seed) for each in (untrained, policy))
    print(f"cubes reached: {before} of {_TESTS} untrained, {after} of {_TESTS} trained")


if __name__ == "__main__":
    main()
