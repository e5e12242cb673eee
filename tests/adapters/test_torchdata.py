"""Iterators in torchdata's stateful loader and nodes."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="not available: PyTorch")
stateful = pytest.importorskip("torchdata.stateful_dataloader", reason="not available: torchdata")
nodes = pytest.importorskip("torchdata.nodes", reason="not available: torchdata")

from dali_core_pytorch import DALIGenericIterator, DALIIterableDataset  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from dali_core import Pipeline, fn  # noqa: E402
from dali_core.errors import PipelineStateError  # noqa: E402
from tests.rest_of_epoch import rest_of_epoch  # noqa: E402

# Repeated samples are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

COUNT = 11


@pytest.fixture(autouse=True)
def quiet() -> Iterable[None]:
    with warnings.catch_warnings():
        # torchdata calls deprecated functions of PyTorch.
        warnings.filterwarnings("ignore", "'set_vital' is deprecated")
        yield


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{number}" for number in range(COUNT)]
    for path in paths:
        path.write_bytes(b"content")
    return [str(path) for path in paths]


def iterator_over(files: list[str], auto_reset: bool = False) -> DALIGenericIterator:
    with Pipeline(3, 1, None) as pipeline:
        _, labels = fn.readers.file(
            files=files,
            labels=list(range(COUNT)),
            random_shuffle=True,
            pad_last_batch=True,
            name="reader",
        )
        pipeline.set_outputs(labels, fn.random.uniform())
    return DALIGenericIterator(
        pipeline, ["label", "number"], reader_name="reader", auto_reset=auto_reset
    )


def values(batch: Any) -> Any:
    return [output.tolist() for output in batch[0].values()]


def stateful_loader(iterator: DALIGenericIterator) -> Any:
    dataset = DALIIterableDataset(iterator)
    return stateful.StatefulDataLoader(dataset, batch_size=None, num_workers=0)


def node_loader(iterator: DALIGenericIterator) -> Any:
    return nodes.Loader(nodes.IterableWrapper(iterator))


@pytest.mark.parametrize("auto_reset", [False, True])
@pytest.mark.parametrize("make", [stateful_loader, node_loader])
def test_loaders_resume_at_every_step(make: Any, auto_reset: bool, files: list[str]) -> None:
    loader = make(iterator_over(files, auto_reset))
    given, states = [], []
    for _ in range(3):
        for batch in loader:
            given.append(values(batch))
            states.append(json.dumps(loader.state_dict()))
    assert len(given) == 12
    for step, state in enumerate(states[:8], 1):
        resumed = make(iterator_over(files, auto_reset))
        resumed.load_state_dict(json.loads(state))
        found = [values(batch) for batch in resumed]
        if len(found) == 0:  # the state of the end of an epoch: no batch is left
            assert step in (4, 8)
            found = [values(batch) for batch in resumed]
        assert found == given[step : 4 * (step // 4 + 1)]


def test_states_survive_torch_save(files: list[str]) -> None:
    iterator = iterator_over(files)
    next(iterator)
    file = io.BytesIO()
    torch.save({"iterator": iterator.state_dict(), "epoch": 3}, file)
    file.seek(0)
    state = torch.load(file, weights_only=True)["iterator"]
    assert state == iterator.state_dict() == json.loads(json.dumps(state))
    resumed = iterator_over(files)
    resumed.load_state_dict(state)
    assert [values(batch) for batch in resumed] == [
        values(batch) for batch in rest_of_epoch(iterator)
    ]


def test_plain_data_loaders(files: list[str]) -> None:
    dataset = DALIIterableDataset(iterator_over(files))
    loader = DataLoader(dataset, batch_size=None)
    assert len(loader) == 4
    assert len(list(loader)) == 4
    labels = [label for batch in loader for label in batch[0]["label"].ravel().tolist()]
    assert sorted(set(labels)) == list(range(COUNT))


@pytest.mark.filterwarnings("ignore:os.fork")  # warnings of imported frameworks, if any
def test_worker_processes_raise(files: list[str]) -> None:
    loader = DataLoader(
        DALIIterableDataset(iterator_over(files)),
        batch_size=None,
        num_workers=1,
        multiprocessing_context="fork",
    )
    with pytest.raises(PipelineStateError, match="must be used in the process that built it"):
        list(loader)
