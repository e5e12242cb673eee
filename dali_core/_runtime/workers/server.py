"""The loop of a worker process: it takes tasks, calls functions, and writes their results."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dali_core._runtime.signals import DeferredSignals
from dali_core._runtime.workers import shared_memory
from dali_core._runtime.workers.first_steps import failure_message
from dali_core._runtime.workers.pickling import PackedFunction
from dali_core._runtime.workers.produced import WHOLE, Produced, WorkerFunction

MESSAGE_BYTES = 1 << 16
_POLL_SECONDS = 0.5


@dataclass
class Post:
    """How a worker and its parent exchange tasks and results.

    Attributes
    ----------
    shared : socket
        All workers take tasks from here, first come, first served, and answer here.
    own : socket or None
        Tasks for this worker only.
    memory : int, or a handle of `multiprocessing`
        The file for results.
    capacities : list of int
        Of its slots, at first.
    not_ours : list of socket
        The parent's ends, which a forked worker inherits.
    signals : DeferredSignals or None
        What a forked worker has to end.
    """

    shared: socket.socket
    own: socket.socket | None
    memory: Any
    capacities: list[int]
    not_ours: list[socket.socket]
    signals: DeferredSignals | None = None


def serve(parent: int, functions: Sequence[WorkerFunction], post: Post) -> None:
    """Work until the parent closes its end, or ends.

    Parameters
    ----------
    parent : int
        The process that wants the results.
    functions : sequence
        What may be called.
    post : Post
        How to get tasks.
    """
    # Ctrl-C reaches all processes of the terminal. The parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if post.signals is not None:
        post.signals.end()
    threading.Thread(
        target=_end_with, args=(parent,), name="dali_core parent watch", daemon=True
    ).start()
    sys.excepthook = sys.__excepthook__  # see first_steps
    for end in post.not_ours:
        end.close()
    torch = sys.modules.get("torch")
    if torch is not None:
        # A forked child has none of the parent's OpenMP threads, and would wait for them.
        torch.set_num_threads(1)
    with contextlib.suppress(ConnectionError):  # the parent has gone
        try:
            for function in functions:
                if isinstance(function.source, PackedFunction):
                    function.source = function.source.unpack()
        except Exception as error:
            _send(post.shared, failure_message(error))
            return
        memory = post.memory if isinstance(post.memory, int) else post.memory.detach()
        _work(functions, post, shared_memory.SharedSlots(memory, post.capacities))
    post.shared.close()
    if post.own is not None:
        post.own.close()


def _work(
    functions: Sequence[WorkerFunction], post: Post, slots: shared_memory.SharedSlots
) -> None:
    ends = [end for end in (post.own, post.shared) if end is not None]
    poll = select.poll()
    for end in ends:
        end.setblocking(False)
        poll.register(end, select.POLLIN)
    by_descriptor = {end.fileno(): end for end in ends}
    while True:
        for descriptor, _ in poll.poll():
            try:
                message = by_descriptor[descriptor].recv(MESSAGE_BYTES)
            except BlockingIOError:  # another worker was faster
                continue
            if not message:
                return
            task, slot, number, arguments = pickle.loads(message)  # noqa: S301 (of the parent)
            writer = shared_memory.SlotWriter(slots, slot)
            try:
                place = writer.finish(functions[number](writer.keep, *arguments))
            except BaseException as error:
                place = writer.finish(Produced(failures={WHOLE: error}))
            _send(post.shared, pickle.dumps((task, *place)))


def _send(end: socket.socket, message: bytes) -> None:
    # All workers share this end, which therefore never blocks for any.
    while True:
        try:
            end.send(message)
        except BlockingIOError:
            poll = select.poll()
            poll.register(end, select.POLLOUT)
            poll.poll()
        else:
            return


def _end_with(parent: int) -> None:
    """End this process as soon as its parent has ended, even by SIGKILL."""
    with contextlib.suppress(ProcessLookupError):
        try:
            descriptor = os.pidfd_open(parent)
        except ProcessLookupError:
            raise
        except OSError:  # older systems do not have it, and some sandboxes forbid it
            while True:
                os.kill(parent, 0)
                time.sleep(_POLL_SECONDS)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll()
    os._exit(1)
