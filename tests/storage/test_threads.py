"""The threads that answer reads of objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dali_core import Pipeline, fn
from dali_core._runtime.thread_start import start_new_thread
from dali_core._storage import serving
from dali_core.errors import PipelineStateError

pytest.importorskip("fsspec", reason="not available: fsspec")


def reader(urls: list[str]) -> Pipeline:
    with Pipeline(len(urls), 2, None) as pipeline:
        pipeline.set_outputs(fn.readers.file(files=urls)[0])
    return pipeline


@pytest.fixture
def urls() -> list[str]:
    import fsspec

    files = fsspec.filesystem("memory")
    for number in range(8):
        files.pipe_file(f"/threads/{number}", b"%d" % number)
    return [f"memory://threads/{number}" for number in range(8)]


@pytest.mark.parametrize("num_threads", [0, 1])
def test_the_system_has_no_thread_left(
    num_threads: int, urls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def start(function: Callable[[], object], name: str, *, daemon: bool) -> None:
        if len(started) == num_threads:
            raise RuntimeError("can't start new thread")
        started.append(name)
        start_new_thread(function, name, daemon=daemon)

    monkeypatch.setattr(serving, "start_new_thread", start)
    pipeline = reader(urls)
    if num_threads == 0:
        with pytest.raises(PipelineStateError, match=r"threads .* must start \(got Runt.*Close"):
            pipeline.build()
        return
    (found,) = pipeline.run()  # the one that there is answers all
    assert [found.at(i).tobytes() for i in range(8)] == [b"%d" % i for i in range(8)]
    pipeline.close()
    assert len(started) == 1
