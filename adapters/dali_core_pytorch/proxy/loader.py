"""A `DataLoader` whose batches have the outputs of a pipeline."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from traceback import walk_tb
from typing import Any

import torch.utils.data

from dali_core.errors import ArgumentTypeError, WorkerError
from dali_core_pytorch.proxy.server import DALIServer, ScheduledBatch


class DataLoader(torch.utils.data.DataLoader[Any]):
    """A `torch.utils.data.DataLoader` that replaces what a proxy has returned by tensors.

    The pipeline computes a batch while the one before is used. It works without workers, too.

    Parameters
    ----------
    dali_server : DALIServer
        The server whose proxy the data set calls.
    *args, **kwargs
        As for `torch.utils.data.DataLoader`: the data set first.

    Raises
    ------
    ArgumentTypeError
        If it is no server.
    """

    def __init__(self, dali_server: DALIServer, *args: Any, **kwargs: Any) -> None:
        if not isinstance(dali_server, DALIServer):
            raise ArgumentTypeError(
                f"DataLoader: dali_server must be a DALIServer (got {dali_server!r}). Pass "
                "DALIServer(pipeline), and give its proxy to the data set."
            )
        super().__init__(*args, **kwargs)
        self.dali_server = dali_server

    def ensure_server_listening(self) -> None:
        """Build the pipeline, if that has not been done yet."""
        self.dali_server.start_thread()

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Iterate over an epoch.

        Exceptions of the data set, of workers and of the pipeline are raised in place of their
        batch, after the batches before it.
        """
        self.ensure_server_listening()
        return _Batches(self.dali_server, super().__iter__())


class _Batches(Iterator[Any]):
    """The batches of an epoch, of which one is computed ahead."""

    def __init__(self, server: DALIServer, batches: Any) -> None:
        self._server = server
        self._batches = batches
        self._ahead: deque[ScheduledBatch | Exception] = deque()
        self._has_ended = False

    def __len__(self) -> int:
        return len(self._batches)

    def __next__(self) -> Any:
        while len(self._ahead) < 2 and not self._has_ended:
            self._look_ahead()
            if self._ahead and isinstance(self._ahead[-1], Exception):
                break  # the caller decides whether to continue
        if not self._ahead:
            raise StopIteration
        first = self._ahead.popleft()
        if isinstance(first, Exception):
            raise first
        return first.result()

    def _look_ahead(self) -> None:
        try:
            self._ahead.append(self._server.schedule(next(self._batches)))
        except StopIteration:
            self._has_ended = True
        except (EOFError, OSError) as error:
            self._ahead.append(error if _is_of_data_set(error) else _lost(error))
        except Exception as error:
            self._ahead.append(error)


def _is_of_data_set(error: Exception) -> bool:
    """Return whether PyTorch has passed an exception on, or the data set raised it here."""
    frames = walk_tb(error.__traceback__)
    return "DataLoader worker process" in str(error) or not any(
        frame.f_globals.get("__name__", "").startswith("multiprocessing.") for frame, _ in frames
    )


def _lost(cause: Exception) -> WorkerError:
    error = WorkerError(
        f"DataLoader: a worker must live until its batches are received (got {cause!r} from its "
        "connection). It was killed or has ended, perhaps for lack of memory: use fewer workers, "
        "or look for its reason in the system's log."
    )
    error.__cause__ = cause
    return error
