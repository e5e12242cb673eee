"""Framework adapters: what they must provide, and how they are found.

An adapter is an object in the entry-point group ``dali_core.adapters``.  Those that come with
this library are registered there as any other package's are::

    [project.entry-points."dali_core.adapters"]
    my_framework = "my_package:adapter"

A minimal one says how to view a tensor without copying, and gets an iterator for it::

    class MyAdapter(Adapter):
        name = "my_framework"

        def from_tensor(self, tensor):
            return my_framework.from_dlpack(tensor)

    adapter = MyAdapter()

    for batch in adapter.iterator(pipeline, ["data", "label"], reader_name="reader"):
        batch[0]["data"]

`dali_core.testing.AdapterSuite` checks an adapter.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dali_core._extras import install_command
from dali_core.errors import AdapterError
from dali_core.plugin.base_iterator import BaseIterator

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from dali_core.pipeline import Pipeline

__all__ = ["Adapter", "get_adapter", "list_adapters"]

_GROUP = "dali_core.adapters"
_loaded: dict[str, Adapter] = {}


class Adapter(ABC):
    """Hands batches over to a framework.

    Attributes
    ----------
    name : str
        Name in the registry.
    representations : sequence of str
        What `represent` offers; ``"dense"`` and ``"list"`` at least.
    loader_class : str
        Module and name of the subclass of `dali_core.loaders.BaseLoader` for the framework, such as
        ``"my_package.loader:Loader"``; empty if there is none.
    """

    name: ClassVar[str]
    loader_class: ClassVar[str] = ""
    representations: ClassVar[Sequence[str]] = ("dense", "list")

    def __repr__(self) -> str:
        """Name the adapter and what it offers."""
        return f"<{type(self).__name__} {self.name!r}: {', '.join(self.representations)}>"

    @abstractmethod
    def from_tensor(self, tensor: Any) -> Any:
        """Return an array of the framework that shares the memory of a tensor.

        Parameters
        ----------
        tensor : TensorCPU or TensorGPU
            One sample, or a whole batch with the samples along the first axis.  It offers DLPack,
            on the host the array interface and the buffer protocol, on a device CUDA's array
            interface, and owns its memory by reference count.
        """

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as `kind`, one of `representations`.

        Parameters
        ----------
        batch : TensorListCPU or TensorListGPU
            An output of a pipeline; of a uniform shape if `kind` is ``"dense"``.
        kind : str
            ``"dense"``: one array, samples along the first axis.  ``"list"``: an array a sample.
        num_valid : int
            Samples that belong to the epoch; at least as many as there are means all.
        """
        if kind == "dense":
            array = self.from_tensor(batch.as_tensor())
            return array if num_valid >= len(batch) else self.take(array, num_valid)
        return [self.from_tensor(batch[index]) for index in range(min(num_valid, len(batch)))]

    def take(self, array: Any, num_samples: int) -> Any:
        """Return the first samples of a dense batch, which share its memory.

        Partial batches need it. It slices, so only adapters of types without slices override it.

        Parameters
        ----------
        array : object
            What `from_tensor` returned for a whole batch.
        num_samples : int
            How many samples to keep, fewer than there are; perhaps 0.

        Raises
        ------
        AdapterError
            If the type cannot be sliced.
        """
        try:
            return array[:num_samples]
        except (TypeError, LookupError, AttributeError, NotImplementedError) as error:
            raise AdapterError(
                f"adapter {self.name!r}: take must give the first samples of a partial batch (got "
                f"{type(array).__name__}, which cannot be sliced: {error}). Override "
                f"{type(self).__name__}.take(array, num_samples)."
            ) from error

    def assemble(self, shards: list[dict[str, Any]]) -> Any:
        """Put the outputs of all pipelines together; by default they are left as a list."""
        return shards

    def stream(self, device_id: int) -> int | None:
        """Return the handle of the stream on which the framework will use data of a device.

        Work on the data is made to wait there.  None, the default, makes the host wait instead.  An
        iterator asks for every batch that is on a device.  Frameworks that import DLPack name their
        stream then, too; this is for those that take addresses.
        """
        return None

    def iterator(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        **options: Any,
    ) -> BaseIterator:
        """Return an iterator over pipelines; `options` are those of `BaseIterator`."""
        return BaseIterator(pipelines, output_map, self, **options)

    def loader(
        self,
        pipeline: Pipeline | Sequence[Pipeline],
        names: Sequence[str] | None = None,
        **options: Any,
    ) -> Any:
        """Return a loader over a pipeline: an object of `loader_class`.

        Parameters
        ----------
        pipeline, names, options
            See `dali_core.loaders.BaseLoader`.

        Raises
        ------
        AdapterError
            If the adapter has none.
        """
        module, _, name = self.loader_class.partition(":")
        if not module:
            raise AdapterError(
                f"adapter {self.name!r}: must have a loader for this (it has none). Use "
                f"get_adapter({self.name!r}).iterator, or dali_core.Loader for arrays of NumPy."
            )
        return getattr(importlib.import_module(module), name)(pipeline, names, **options)


def list_adapters() -> list[str]:
    """Return the names of all installed adapters, whether or not their framework is."""
    return sorted(_entry_points())


def get_adapter(name: str) -> Adapter:
    """Return an adapter by name, and import its framework.

    Parameters
    ----------
    name : str
        One of `list_adapters`.

    Raises
    ------
    AdapterError
        If there is none, or it cannot be loaded.
    """
    if name in _loaded:
        return _loaded[name]
    found = _entry_points()
    if name not in found:
        raise AdapterError(
            f"get_adapter: must be given the name of an installed adapter (got {name!r}). "
            f"Installed: {', '.join(sorted(found)) or 'none'}. Install a package that registers "
            f"{name!r} in the entry-point group {_GROUP!r}."
        )
    try:
        adapter = found[name].load()
    except ImportError as error:
        raise AdapterError(
            f"get_adapter: the framework of adapter {name!r} must be installed (got: {error}). "
            f"Run {install_command(name, _distribution(found[name]))}."
        ) from error
    if not isinstance(adapter, Adapter):
        raise AdapterError(
            f"get_adapter: entry point {found[name].value!r} must be an Adapter object (got "
            f"{adapter!r}). Register an instance of a subclass of dali_core.adapters.Adapter."
        )
    _loaded[name] = adapter
    return adapter


def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to import

    return {point.name: point for point in entry_points(group=_GROUP)}


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "dali_core"
