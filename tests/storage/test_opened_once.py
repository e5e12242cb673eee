"""What says where the samples are, such as a footer or the list of a folder, is read once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline
from tests.operators.suite import function_of
from tests.storage.servers import S3Server


def run(operator: str, **arguments: Any) -> list[np.ndarray]:
    """Return the samples of one batch."""
    with Pipeline(3, 2, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(function_of(operator)(**arguments))
    (batch,) = pipeline.run()
    found = [np.array(batch.at(i)) for i in range(3)]
    pipeline.close()
    return found


def test_parquet_footers_are_read_once(server: S3Server, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="not available: pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="not available: pyarrow")
    urls = []
    for number in range(2):
        # More than pyarrow reads with the footer.
        noise = [np.random.default_rng(number).bytes(100_000)] * 3
        table = pa.table({"number": [number * 3 + i for i in range(3)], "noise": noise})
        pq.write_table(table, tmp_path / "one.parquet", compression="none")
        urls.append(server.put(f"footers/{number}", (tmp_path / "one.parquet").read_bytes()))
    found = run("readers.parquet", paths=urls, columns=["number"], storage_options=server.options)
    assert [int(number) for number in found] == [0, 1, 2]
    # The size, the footer, and the column; of the second file the column may be read ahead.
    assert [server.count(f"footers/{i}", "HEAD") for i in range(2)] == [1, 1]
    assert server.count("footers/0") == 2
    assert 1 <= server.count("footers/1") <= 2


def test_fits_folders_are_listed_once(server: S3Server, tmp_path: Path) -> None:
    fits = pytest.importorskip("astropy.io.fits", reason="not available: astropy")
    for number in range(3):
        parts = [fits.PrimaryHDU(), fits.ImageHDU(np.full((2, 2), number, np.int16))]
        fits.HDUList(parts).writeto(tmp_path / f"{number}.fits")
    url = server.upload(tmp_path, "images")
    server.requests.clear()
    found = run("experimental.readers.fits", file_root=url, storage_options=server.options)
    assert [int(image[0, 0]) for image in found] == [0, 1, 2]
    assert [server.count(f"images/{i}.fits") for i in range(3)] == [1, 1, 1]
    # The list of a folder without folders: their names, and then all names.
    lists = [request for request in server.requests if not request[1].endswith(".fits")]
    assert len(lists) == 2
