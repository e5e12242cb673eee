"""Sources of copies are held until these are made."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import pytest

from dali_core.plugin.pending_release import PendingRelease


@dataclass(eq=False)
class Copy:
    is_ready: bool = False
    waits: int = 0

    def wait(self) -> None:
        self.waits += 1


class Source:
    pass


@pytest.fixture
def pending() -> PendingRelease:
    return PendingRelease(lambda copy: copy.is_ready)


def test_a_source_is_held_until_its_copy_is_made(pending: PendingRelease) -> None:
    copy, source = Copy(), Source()
    known = weakref.ref(source)
    pending.hold(source, copy)
    del source
    pending.release()
    assert known() is not None
    copy.is_ready = True
    pending.release()
    assert known() is None
    assert len(pending) == 0


def test_ready_copy_releases_earlier_sources(pending: PendingRelease) -> None:
    copies = [Copy() for _ in range(4)]
    sources = [Source() for _ in copies]
    known = [weakref.ref(source) for source in sources]
    for source, copy in zip(sources, copies, strict=True):
        pending.hold(source, copy)
    del source, sources
    copies[2].is_ready = True  # those before it may have been donated, and cannot tell
    pending.release()
    assert [reference() is None for reference in known] == [True, True, True, False]


def test_released_sources_may_hold_others(pending: PendingRelease) -> None:
    class Chained:
        def __del__(self) -> None:
            pending.hold(Source(), Copy())

    pending.hold(Chained(), Copy(is_ready=True))
    pending.release()
    assert len(pending) == 1


def test_final_wait_synchronizes_every_copy(pending: PendingRelease) -> None:
    copies = [Copy(), Copy()]
    sources = [Source(), Source()]
    known = [weakref.ref(source) for source in sources]
    for source, copy in zip(sources, copies, strict=True):
        pending.hold(source, copy)
    del source, sources
    pending.wait(Copy.wait)
    assert [copy.waits for copy in copies] == [1, 1]
    assert [reference() for reference in known] == [None, None]
