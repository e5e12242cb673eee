"""The programs for Ray Train in the documentation: workers are killed, and their number changes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import ray.train

from tests.adapters.dali_core_ray import pipelines
from tests.hanging import HANG_SECONDS

PAGE = Path(__file__).parents[3] / "docs/ray.md"


def programs() -> tuple[str, str]:
    """Return the program of the page that makes trainers, for small images, and how it is used."""
    section = PAGE.read_text("utf-8").partition("\n## Ray Train\n")[2].partition("\n## ")[0]
    making, using = re.findall(r"^```py(?:thon)?\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert "32 * 32 * 3" in making
    return making.replace("32 * 32 * 3", "4 * 4 * 3"), using


def taken_down(folder: Path, count: int) -> dict[int, list[str]]:
    """Return the rows of global batches that workers were given, and forget them.

    A batch that came again, after a worker was killed, is the same.
    """
    found: dict[int, list[str]] = defaultdict(list)
    for rank in range(count):
        file = folder / f"{rank} of {count}"
        given: dict[int, list[str]] = {}
        for line in file.read_text().splitlines():
            number, rows = json.loads(line)
            assert given.setdefault(number, rows) == rows
        file.unlink()
        for number, rows in given.items():
            found[number] += rows
    return found


def test_training_resumes_with_another_number_of_workers(
    cluster: Any, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason="not available: torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.1")
    monkeypatch.setenv("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", str(HANG_SECONDS))
    making, using = programs()
    names: dict[str, Any] = {
        "Path": Path,
        "RayLoader": partial(pipelines.RecordingLoader, str(tmp_path)),
        "definition": pipelines.definition(files),
        "partial": partial,
        "ray": ray,
        "__name__": "__main__",
    }
    exec(compile(making, PAGE.name, "exec"), names)
    two, one = using.splitlines()
    rest = "result = make_trainer(2, result.checkpoint, num_batches=13).fit()"
    (tmp_path / "kill").touch()
    given: dict[int, list[str]] = {}
    firsts = []
    for program, count in ((two, 2), (one, 1), (rest, 2)):
        exec(compile(program, PAGE.name, "exec"), names)
        assert names["result"].error is None
        found = taken_down(tmp_path, count)
        firsts.append(min(found))
        assert firsts[-1] == len(given)  # no batch comes again, and none is missing
        given |= found
    assert not (tmp_path / "kill").exists()
    # The first run went on with four batches after that of its two that it had saved, or from the
    # beginning, if Ray had not noticed this yet.
    assert firsts in ([0, 4, 8], [0, 6, 10])
    expected = [pipelines.rows_of(batch) for (batch,) in pipelines.in_one_process(files)]
    assert sorted(given) == list(range(len(expected)))
    for number, rows in enumerate(expected[:-1]):
        assert sorted(given[number]) == sorted(rows)
    assert set(given[12]) == set(expected[12])  # filled up
    assert len({row for rows in given.values() for row in rows}) == pipelines.NUM_SAMPLES
    with names["result"].checkpoint.as_directory() as folder:
        saved = torch.load(f"{folder}/state.pt", weights_only=True)
    assert saved["loader"]["taken"] == 12
