"""Uses of iterators that other loaders have, with errors that name what is meant here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from dali_core.errors import ArgumentTypeError, NotCopiedError

if TYPE_CHECKING:
    from typing_extensions import Self

_OF_PIPELINES = "It is an argument of the pipeline: pass it to Pipeline or pipeline_def"
_OF_READERS = "It is an argument of the reader: pass"
_INSTEAD = {
    "batch_size": f"{_OF_PIPELINES}.",
    "shuffle": f"{_OF_READERS} random_shuffle=True to fn.readers.file or another reader.",
    "num_workers": f"{_OF_PIPELINES} as num_threads; functions in Python have py_num_workers.",
    "drop_last": "Pass last_batch_policy=LastBatchPolicy.DROP.",
    "sampler": f"{_OF_READERS} sampler to it.",
    "batch_sampler": f"{_OF_READERS} a sampler of samples to it, and batch_size to the pipeline.",
    "collate_fn": "Batches come from the outputs of the pipeline: pad them with fn.pad, or pass "
    "output_types.",
    "pin_memory": "Leave it out: with device_id=0, outputs by .gpu() are on the device already.",
    "prefetch_factor": f"{_OF_PIPELINES} as prefetch_queue_depth.",
    "persistent_workers": "Leave it out: threads of a pipeline live as long as it does.",
    "multiprocessing_context": f"{_OF_PIPELINES} as py_start_method.",
    "worker_init_fn": "Leave it out: random numbers of operators depend on the seed of the "
    "pipeline.",
    "generator": f"{_OF_PIPELINES} as seed.",
}


class LoaderUses:
    """The part of an iterator that refuses what it is not made for."""

    _arguments_elsewhere: ClassVar[Mapping[str, str]] = _INSTEAD

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        """Make an iterator, or say what an argument of DataLoader is called here."""
        wrong = next((name for name in keywords if name in cls._arguments_elsewhere), None)
        if wrong is not None and not _takes(cls, wrong):
            raise ArgumentTypeError(
                f"{cls.__name__}: {wrong!r} must be left out (got {keywords[wrong]!r:.40}). "
                f"{cls._arguments_elsewhere[wrong]}"
            )
        return super().__new__(cls)

    def __getitem__(self, index: object) -> NoReturn:
        """Refuse indexing, as of a data set."""
        raise ArgumentTypeError(
            f"{type(self).__name__}: must be iterated over, as it is a loader and no data set (got "
            f"index {index!r:.40}). Iterate over it directly, without DataLoader: for batch in "
            "loader."
        )

    def __array__(self, *args: object, **keywords: object) -> NoReturn:
        """Refuse to become an array, for which NumPy would read an epoch."""
        raise ArgumentTypeError(self._no_array())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say what is meant where an array is expected, as by Keras, which asks for a shape."""
            reason = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in ("shape", "dtype", "ndim"):
                reason = self._no_array()
            raise AttributeError(reason, name=name, obj=self)

    def _no_array(self) -> str:
        return (
            f"{type(self).__name__}: must be iterated over, and cannot be an array (it was passed "
            f"to what expects arrays). {self._instead_of_array}"
        )

    _instead_of_array: ClassVar[str] = "Take the arrays of its batches."

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles."""
        raise NotCopiedError(
            f"{type(self).__name__}: must not be pickled or copied, since its pipelines have "
            "threads and native memory (got a copy, or pickle). Make it where it is used, and "
            "pass state_dict() on for its position."
        )


def _takes(cls: type, name: str) -> bool:
    """Return whether the constructor of a class has a parameter of this name, or any keywords."""
    parameters = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    return name in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
