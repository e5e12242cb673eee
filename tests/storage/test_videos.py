"""Videos behind URLs: copied to this machine when the pipeline is built, and read like files."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core._storage.object_copies import ObjectCopies
from dali_core._storage.options import StorageOptions
from dali_core._storage.storage import Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests import video_files
from tests.operators.suite import function_of
from tests.storage.servers import Fault, S3Server
from tests.storage.test_killed import ROOT
from tests.waiting import wait_until

NAMES = ("h264.mp4", "mpeg4.avi")
CLIPS = {"sequence_length": 3, "stride": 2, "random_shuffle": True, "seed": 3}


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("videos")
    for number, name in enumerate(NAMES):
        (root / f"class {number}").mkdir()
        made = video_files.make(root, name)
        made.rename(root / f"class {number}" / name)
    return root


def clips(operator: str = "readers.video", num_batches: int = 4, **arguments: Any) -> list[Any]:
    """Return frames, labels, numbers of frames and sources of clips, and the bad samples."""
    with Pipeline(3, 2, None, seed=1, on_sample_error="replace") as pipeline:
        pipeline.set_outputs(*function_of(operator)(enable_frame_num=True, **CLIPS, **arguments))
    found: list[Any] = []
    for _ in range(num_batches):
        outputs = pipeline.run()
        for i in range(3):
            source = str(outputs[0][i].source_info()).rpartition("/")[2]
            found.append([source, *(np.array(output.at(i)).tolist() for output in outputs)])
    found.append([sample.source for sample in pipeline.bad_samples])
    pipeline.close()
    return found


def copies_in(folder: Path) -> list[Path]:
    return [path for path in (folder / "copies-1").iterdir() if len(path.stem) == 64]


@pytest.mark.parametrize(
    ("operator", "more"),
    [
        ("readers.video", {}),
        ("readers.video_resize", {"size": 16}),
        ("experimental.readers.video", {}),
    ],
)
def test_clips_are_those_of_files(
    server: S3Server, videos: Path, tmp_path: Path, operator: str, more: dict[str, Any]
) -> None:
    url = server.upload(videos, "clips")
    remote = {"storage_options": server.options, "cache_dir": str(tmp_path / "cache")}
    local = clips(operator, file_root=str(videos), **more)
    assert clips(operator, file_root=url, **remote, **more) == local
    server.requests.clear()
    assert clips(operator, file_root=url, **remote, **more) == local
    assert not [key for method, key in server.requests if method == "GET" and key.endswith("4")]
    lines = [f"class {number}/{name}" for number, name in enumerate(NAMES)]
    found = []
    for root, options in ((str(videos), {}), (url, remote)):
        text = "".join(f"{root}/{line} 7 0 1\n" for line in lines)
        (tmp_path / "list.txt").write_text(text)
        file_list = server.put("clips.txt", text.encode()) if options else tmp_path / "list.txt"
        found.append(clips(operator, file_list=str(file_list), **options, **more))
    assert found[0] == found[1]
    assert found[0][0][2] == [7]


def test_bad_objects_are_bad_samples(server: S3Server, videos: Path, tmp_path: Path) -> None:
    good = server.upload(videos, "clips-bad") + "/class 0/h264.mp4"
    damaged = server.put("clips-bad/damaged.mp4", b"no video")
    missing, refused = "s3://bucket/clips-bad/missing.mp4", "s3://bucket/clips-bad/refused.mp4"
    server.faults["clips-bad/refused.mp4"] = Fault(status=403)
    arguments = {"storage_options": server.options, "cache_dir": str(tmp_path)}
    names = [good, missing, damaged, refused]
    with Pipeline(4, 2, None, on_sample_error="replace") as pipeline:
        pipeline.set_outputs(fn.readers.video(filenames=names, sequence_length=30, **arguments))
    pipeline.run()
    bad = {sample.source: sample.message for sample in pipeline.bad_samples}
    pipeline.close()
    assert set(bad) == {missing, damaged, refused}
    assert "no such object" in bad[missing]
    assert "must be a sound video" in bad[damaged]
    assert str(tmp_path) not in bad[damaged]


def test_wrong_arguments(server: S3Server, videos: Path, tmp_path: Path) -> None:
    url = server.upload(videos, "clips-wrong")
    options = {"storage_options": server.options}

    def refused(kind: type[Exception], said: str, **arguments: Any) -> None:
        with Pipeline(1, 1, None) as pipeline:
            pipeline.set_outputs(fn.readers.video(sequence_length=2, **options, **arguments)[0])
        with pytest.raises(kind, match=rf"fn\.readers\.video at .*test_videos.py.*{said}"):
            pipeline.build()
        pipeline.close()

    folder = str(tmp_path)
    refused(ArgumentTypeError, "cache_dir must be given", file_root=url)
    refused(ArgumentValueError, "cache_size must be", file_root=url, cache_dir=folder, cache_size=9)
    refused(ArgumentValueError, "cache_dir must be a folder", file_root=url, cache_dir="/proc/no")
    refused(ArgumentValueError, "local folder", file_root=url, cache_dir="s3://bucket/cache")
    refused(ArgumentValueError, "below which", file_root="s3://bucket/none", cache_dir=folder)


_PROGRAM = """
import json, sys
from dali_core._storage.object_copies import ObjectCopies
from dali_core._storage.options import StorageOptions
from dali_core._storage.storage import Storage
urls, options, folder = json.loads(sys.argv[1])
storage = Storage(StorageOptions.from_argument(options))
copies = ObjectCopies(storage, storage.checked(urls), folder, 3000)
print(json.dumps(copies.paths), flush=True)
sys.stdin.read()
"""


def copy(server: S3Server, folder: Path, *names: str, most: int = 3000) -> ObjectCopies:
    storage = Storage(StorageOptions.from_argument(server.options))
    urls = storage.checked([f"s3://bucket/{name}" for name in names])
    return ObjectCopies(storage, urls, str(folder), most)


def test_copies_of_other_processes(server: S3Server, tmp_path: Path) -> None:
    """One that is killed while it copies leaves the work to others; what is used stays."""
    for name in "abcd":
        server.put(f"copies/{name}.mp4", name.encode() * 1000)
    options = {**server.options, "retry_config": {}}
    call = [sys.executable, "-c", _PROGRAM]
    call.append(json.dumps([["s3://bucket/copies/a.mp4"], options, str(tmp_path)]))

    def start() -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen(call, cwd=ROOT, text=True, **pipes)

    gate = threading.Event()
    server.faults["copies/a.mp4"] = Fault(until=gate, method="GET")
    with start() as killed:
        wait_until(lambda: list(tmp_path.glob("copies-1/writing-*")) and server.num_waiting > 0)
        killed.kill()
    assert not copies_in(tmp_path)
    gate.set()
    server.faults.clear()
    with start() as other:
        assert other.stdout is not None
        assert other.stdin is not None
        path = Path(json.loads(other.stdout.readline())["s3://bucket/copies/a.mp4"])
        own = copy(server, tmp_path, "copies/b.mp4", "copies/a.mp4")
        assert own.paths["s3://bucket/copies/a.mp4"] == str(path)
        assert path.read_bytes() == b"a" * 1000
        with pytest.raises(ArgumentValueError, match="at least 4000 bytes"):
            copy(server, tmp_path, "copies/c.mp4", "copies/d.mp4")
        del own
        last = copy(server, tmp_path, "copies/c.mp4", "copies/d.mp4")
        assert len(copies_in(tmp_path)) == 3
        assert path.exists()
        other.stdin.close()
    # Nobody uses a any more. What is in use has room besides.
    copy(server, tmp_path, "copies/b.mp4")
    assert not path.exists()
    assert set(last.paths.values()) <= set(map(str, copies_in(tmp_path)))
    # Another version is another copy.
    server.put("copies/c.mp4", b"C" * 900)
    (changed,) = copy(server, tmp_path, "copies/c.mp4", most=5000).paths.values()
    assert Path(changed).read_bytes() == b"C" * 900
    assert Path(last.paths["s3://bucket/copies/c.mp4"]).read_bytes() == b"c" * 1000
