"""Documents that name places: ``python -m tests.fuzz.documents_with_urls COUNT SEED``.

Their URLs are of all schemes that fsspec and obstore know, and of others, chained and disguised;
their options are those that execute, unpickle, nest file systems or name key files, and mutations
of them. A server counts connections, and a file that payloads make is the proof of an execution.
Prints the numbers of documents by what happened, and what must not have, as JSON.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import os
import pickle
import random
import socket
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dali_core import Pipeline
from dali_core.errors import DaliCoreError, SampleError, SerializationError

PLACES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("readers.file", "files", {}),
    ("readers.file", "file_root", {}),
    ("readers.file", "file_list", {}),
    ("readers.numpy", "files", {}),
    ("readers.numpy", "file_list", {}),
    ("readers.webdataset", "paths", {"ext": ["cls"]}),
    ("readers.webdataset", "index_paths", {"paths": ["missing.tar"], "ext": ["cls"]}),
    ("readers.tfrecord", "path", {"features": {"a": ["fixed", [], 0, 0]}}),
    ("readers.mxnet", "path", {"index_path": ["missing.idx"]}),
    ("readers.mxnet", "index_path", {"path": ["missing.rec"]}),
    ("readers.coco", "file_root", {"annotations_file": "missing.json"}),
    ("readers.coco", "annotations_file", {"file_root": "images"}),
    ("readers.nemo_asr", "manifest_filepaths", {}),
    ("readers.sequence", "file_root", {"sequence_length": 1}),
    ("readers.parquet", "paths", {"columns": ["a"]}),
    ("readers.jsonl", "paths", {"fields": ["a"]}),
    ("readers.text", "paths", {}),
    ("readers.text", "paths", {"sample_by": "document"}),
    ("experimental.readers.fits", "files", {}),
    ("readers.video", "filenames", {"sequence_length": 1, "cache_dir": "cache"}),
    ("readers.video", "file_list", {"sequence_length": 1, "cache_dir": "cache"}),
    ("readers.video_resize", "filenames", {"sequence_length": 1, "cache_dir": "cache"}),
    ("experimental.readers.video", "filenames", {"sequence_length": 1, "cache_dir": "cache"}),
    ("video.listed_clips", "file_root", {"sequence_length": 1, "cache_dir": "cache"}),
    ("file_reader", "files", {}),
)
"""Operators, arguments of theirs that name places, and what else they need."""

WITH_INDICES = (
    "readers.parquet",
    "readers.jsonl",
    "readers.text",
    "experimental.readers.fits",
)
LISTS = {"files", "paths", "index_paths", "path", "index_path", "manifest_filepaths", "filenames"}
FORMS = (
    "{scheme}://{host}/a",
    "{scheme}://{host}/a.tar",
    "{upper}://{host}/a",
    "{scheme}:///{host}/a",
    "{scheme}:/{host}/a",
    "{scheme}:{host}/a",
    " {scheme}://{host}/a",
    "\t{scheme}://{host}/a",
    "{scheme}::http://{host}/a",
    "simplecache::{scheme}://{host}/a",
    "{scheme}://a::http://{host}/a",
    "{scheme}://user:pass@{host}/a",
    "{scheme}://{host}%2Fa/b",
    "{scheme}://{host}#/a",
    "{scheme}://{folder}/a",
    "{scheme}+http://{host}/a",
)


class Canaries:
    """A server that counts who connects, and payloads that leave a file behind.

    Parameters
    ----------
    folder : Path
        Where the payloads are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = folder / "executed"
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        command = f"open({str(self.mark)!r}, 'w').close()"
        payload = pickle.dumps(_Executed(command))
        for name in ("cache", "expiry"):
            (folder / name).write_bytes(payload)
        (folder / "key").write_text("secret")

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                with contextlib.suppress(OSError):
                    connection.sendall(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n")
                    connection.shutdown(socket.SHUT_WR)
                connection.close()

    def executed(self) -> dict[str, dict[str, Any]]:
        """Return options of file systems that run a command, with some versions of fsspec."""
        template = f"{{{{ cycler.__init__.__globals__.os.system('touch {self.mark}') }}}}"
        references = {"version": 1, "templates": {"u": template}, "refs": {"a": ["{{u}}"]}}
        cached = {"target_protocol": "http", "cache_storage": str(self.folder)}
        return {
            "reference": {"fo": references, "target_protocol": "http"},
            "filecache": cached,
            "blockcache": cached,
        }

    def close(self) -> None:
        """End the server."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def options(self) -> dict[str, Any]:
        """Return options of file systems and stores that do harm where they are passed on."""
        remote = f"http://{self.host}/a"
        return {
            **self.executed()["reference"],
            "fs": "file",
            "target": str(self.folder / "key"),
            "target_protocol": "http",
            "target_options": {"fo": remote},
            "remote_protocol": "http",
            "remote_options": {},
            "simple_templates": False,
            "template_overrides": {"u": remote},
            "cache_storage": str(self.folder),
            "cache_check": 1,
            "expiry_time": 1,
            "compression": "zip",
            "client_kwargs": {"base_url": remote},
            "get_client": "os.system",
            "loop": 1,
            "asynchronous": True,
            "protocol": "http",
            "host": "127.0.0.1",
            "port": int(self.host.rpartition(":")[2]),
            "key_filename": str(self.folder / "key"),
            "pkey": str(self.folder / "key"),
            "token": str(self.folder / "key"),
            "google_service_account": str(self.folder / "key"),
            "service_account_path": str(self.folder / "key"),
            "web_identity_token_file": str(self.folder / "key"),
            "federated_token_file": str(self.folder / "key"),
            "use_azure_cli": "true",
            "metadata_endpoint": remote,
            "msi_endpoint": remote,
            "container_credentials_full_uri": remote,
            "sts_endpoint": remote,
            "base_url": remote,
            "proxy_url": remote,
            "client_options": {"proxy_url": remote},
            "retry_config": {"max_retries": 2**31},
            "endpoint": f"http://{self.host}",
            "region": f"{self.host}/",
            "account_name": f"{self.host}/#",
            "bucket": "other",
            "skip_instance_cache": True,
        }


class _Executed:
    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> Any:
        return exec, (self._command,)


def has_fsspec() -> bool:
    """Return whether there are schemes to try."""
    return importlib.util.find_spec("fsspec") is not None


def schemes() -> list[str]:
    """Return all schemes that fsspec and obstore know, and some that nothing knows."""
    import fsspec
    from fsspec.registry import known_implementations

    others = (
        "s3a",
        "abfss",
        "azure",
        "unknown",
        "javascript",
        "fd",
        "concat",
        "subfile",
        "x-y.z+1",
    )
    return sorted({*fsspec.available_protocols(), *known_implementations, *others})


def _mutated(options: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Return some of the options, under names that may be others, or nested in one another."""
    found = {}
    for name in draw.sample(sorted(options), draw.randint(0, 4)):
        form = draw.randrange(8)
        changed = {0: name.upper(), 1: f"aws_{name}", 2: f"google_{name}", 3: f" {name}"}
        value = options[name]
        if form == 4:
            value = [value]
        elif form == 5:
            value = {name: value}
        found[changed.get(form, name)] = value
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {"dict": {name: _plain(entry) for name, entry in value.items()}}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def document(operator: str, arguments: dict[str, Any]) -> bytes:
    """Return a document with one reader, or with an operator that is fed the paths."""
    plain = {name: _plain(value) for name, value in arguments.items()}
    entries: list[dict[str, Any]] = [{"operator": operator, "name": "one", "arguments": plain}]
    if operator in WITH_INDICES:
        entries.insert(0, {**entries[0], "operator": f"{operator}.indices", "name": "indices"})
        entries[1]["inputs"] = [[0, 0]]
    if operator == "io.file.read":
        entries.insert(0, {"operator": "external_source", "name": "paths"})
        entries[1]["inputs"] = [[0, 0]]
    data = {
        "format": "dali_core.pipeline",
        "version": 1,
        "options": {"batch_size": 1, "num_threads": 1, "prefetch_queue_depth": 1},
        "operators": entries,
        "outputs": [[len(entries) - 1, 0]],
    }
    return json.dumps(data).encode()


def urls(canaries: Canaries, scheme: str) -> Iterator[str]:
    """Return URLs of a scheme in all forms."""
    for form in FORMS:
        yield form.format(
            scheme=scheme, upper=scheme.upper(), host=canaries.host, folder=canaries.folder
        )


def outcome(data: bytes, url: str, canaries: Canaries, *, allow_remote: bool = False) -> str:
    """Read a document, build and run it; return how far that came, or what must not happen."""
    before = canaries.connections
    result = _outcome(data, url, canaries, allow_remote=allow_remote)
    if canaries.mark.exists():
        canaries.mark.unlink()
        return "code was executed"
    if canaries.connections > before:
        is_of_the_web = url.lower().startswith(("http://", "https://"))
        return "requested" if allow_remote and is_of_the_web else "a request was made"
    return result


def _outcome(data: bytes, url: str, canaries: Canaries, *, allow_remote: bool) -> str:
    before = canaries.connections
    try:
        pipeline = Pipeline.deserialize(data, allow_remote=allow_remote)
    except SerializationError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    if canaries.connections > before:
        return "a request was made while reading"
    try:
        fed = {name: [np.frombuffer(url.encode(), np.uint8)] for name in pipeline.input_names}
        pipeline.run(**fed)
    except (DaliCoreError, SampleError):
        return "not opened"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        pipeline.close()
    return "run"


def documents(canaries: Canaries, draw: random.Random) -> Iterator[tuple[str, bytes]]:
    """Return URLs with documents that lead to them: as arguments, in lists, and as data."""
    for number in itertools.count():
        for scheme in schemes():
            url = draw.choice(list(urls(canaries, scheme)))
            operator, name, more = draw.choice(PLACES)
            options = _mutated(canaries.options(), draw)
            arguments = {**more, name: [url] if name in LISTS else url}
            how = draw.randrange(6)
            if how == 0:
                operator, arguments = "io.file.read", {}
            elif how == 1:
                listed = canaries.folder / f"list-{number % 64}-{scheme}"
                listed.write_text(f"{url} 0\n")
                operator, arguments = "readers.file", {"file_list": str(listed)}
            elif how == 2:
                listed = canaries.folder / f"manifest-{number % 64}-{scheme}"
                listed.write_text(json.dumps({"audio_filepath": url}) + "\n")
                operator, arguments = "readers.nemo_asr", {"manifest_filepaths": [str(listed)]}
            if options or draw.random() < 0.5:
                arguments["storage_options"] = options
            yield url, document(operator, arguments)


HARMLESS = {"refused", "not opened", "requested"}


def main() -> None:
    """Read one document after the other, without the caller's word and with it."""
    count, draw = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    outcomes: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        canaries = Canaries(Path(folder))
        for url, data in itertools.islice(documents(canaries, draw), count):
            for allow_remote in (False, True):
                result = outcome(data, url, canaries, allow_remote=allow_remote)
                outcomes[result] += 1
                if result not in HARMLESS:
                    wrong.append([result, data.decode()])
        canaries.close()
    print(json.dumps({**outcomes, "schemes": len(schemes()), "wrong": wrong}))


if __name__ == "__main__":
    main()
