"""The program for Ray Train in the documentation, with two workers on the cluster."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import ray.train

from tests.adapters.dali_core_ray import pipelines

PAGE = Path(__file__).parents[3] / "docs/ray.md"


def program() -> str:
    """Return the program of the page that makes a trainer."""
    _, _, section = PAGE.read_text("utf-8").partition("\n## Ray Train\n")
    found = re.search(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_workers_have_their_shards(
    cluster: Any, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason="not available: torch")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {
        "Path": Path,
        "RayLoader": partial(pipelines.RecordingLoader, str(tmp_path)),
        "definition": pipelines.definition(files),
        "partial": partial,
        "ray": ray,
        "__name__": "__main__",
    }
    exec(compile(program(), PAGE.name, "exec"), names)
    trainer = names["trainer"]
    trainer.train_loop_config["size"] = 4 * 4 * 3
    result = trainer.fit()
    assert result.error is None
    for rank in range(2):
        iterator = pipelines.in_one_process(files, num_shards=2, shard_id=rank)
        expected = [pipelines.as_bytes(batch) for (batch,) in iterator]
        given = json.loads((tmp_path / f"{rank} of 2").read_text())
        assert [[bytes.fromhex(text) for text in batch] for batch in given] == expected
        if rank == 0:
            with result.checkpoint.as_directory() as folder:
                saved = torch.load(f"{folder}/state.pt", weights_only=True)
            assert saved["loader"] == iterator.state_dict()
