"""The format of `fn.readers.lerobot`: frames of episodes with what was before and after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Bound, Format
from dali_core._spec import Arg, OpSpec, Range, Source
from dali_core._storage import STORAGE_ARGS, Storage, make_storage
from dali_core.arrow import import_pyarrow
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.decoders.image import SPEC as DECODE_IMAGE
from dali_core.operators.robots.frames import Frames, Reading
from dali_core.operators.robots.metadata import INDEX_DTYPES, Feature, Info, read_info
from dali_core.operators.stack import SPEC as STACK
from dali_core.operators.video.decoded_clip import SPEC as DECODE_CLIP

_LISTING_ARGS = (
    Arg("root", str, "Folder of the data set, which has a folder ``meta``, or its URL."),
    Arg(
        "columns",
        list[str],
        "Names of the features to read: numbers, texts, images and cameras. By default all of "
        "these.",
        None,
        length=Range(1, 1024),
    ),
    Arg(
        "delta_timestamps",
        object,
        "A dict with lists of seconds by names of features: which frames to give of these, "
        "relative to that of the sample. They are multiples of the duration of a frame.",
        None,
    ),
    Arg(
        "episodes",
        list[int],
        "Numbers of the episodes to read, in the order of their numbers. By default all.",
        None,
        length=Range(1),
        range=Range(0),
    ),
    Arg(
        "tolerance_s",
        float,
        "How many seconds an entry of `delta_timestamps` may be from a frame, and, where a video "
        "has not the frame rate of the data set, how far a frame may be from its time.",
        1e-4,
        range=Range(0),
    ),
    Arg(
        "missing_frames",
        str,
        'A frame that a video lacks makes a bad sample (``"error"``), or the nearest one of the '
        'same episode takes its place (``"nearest"``).',
        "error",
        choices=("error", "nearest"),
    ),
    *STORAGE_ARGS,
)


class LeRobot(Format):
    """Frames of the episodes of a LeRobot data set."""

    name = "readers.lerobot"
    doc = """Read a data set of LeRobot, v2.1 or v3.0; a sample is a frame of an episode.

With `delta_timestamps`, a feature is given at several times. Those before the first or after the
last frame of the episode are that frame, as the mask says that is called like the feature, with
``_is_pad`` behind. Values come as the data set declares them, those of shape (1,) as scalars, and
with a first dimension more if they have `delta_timestamps`.

Cameras and images are clips of uint8 and layout ``FHWC``, of one frame without `delta_timestamps`.
Videos are decoded as by `fn.readers.video`, only those in `columns`. Frames are found by their
numbers, and never in another episode; by their times only where a video has not the frame rate of
the data set. A frame that is not there makes a bad sample.

`samplers.ClassBalanced` weights episodes, which are the labels, and `samplers.Blocks` reads those
in pieces. Videos in remote storage are copied, and need `cache_dir`.

Returns
-------
dict of str to DataNode
    The features in `columns`, a mask for each in `delta_timestamps`, ``timestamp``,
    ``frame_index``, ``episode_index``, ``index``, ``task_index``, and the text of the task in
    ``task``, one-dimensional uint8."""
    args = (
        *_LISTING_ARGS,
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of texts and encoded images are kept in memory.",
            256 << 20,
            range=Range(1),
        ),
    )
    listing_args = _LISTING_ARGS
    has_named_outputs = True

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the frames, and open the indices of videos."""
        request = request_of(arguments)
        return Frames(request.info, request.features, arguments, storage)

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return how many arrays are fetched, from which `finish` makes the outputs."""
        return request_of(arguments).num_fetched

    def output_names(self, arguments: Mapping[str, Any]) -> Sequence[str]:
        """Return the names of the outputs of a call, in their order."""
        return request_of(arguments).names

    def finish(self, caller: Any, fetched: list[Any], arguments: Mapping[str, Any]) -> list[Any]:
        """Decode cameras and images."""
        request = request_of(arguments)
        outputs, left = [], iter(fetched)
        for feature in request.features:
            parts = [next(left) for _ in range(request.parts(feature))]
            if feature.dtype == "video":
                outputs.append(_call(caller, Source(DECODE_CLIP, _COLOURS), *parts))
            elif feature.dtype == "image":
                images = [_call(caller, Source(DECODE_IMAGE, {}), part) for part in parts]
                outputs.append(_call(caller, Source(STACK, {"axis_name": "F"}), *images))
            else:
                outputs += parts
        return [*outputs, *left]

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Fetch rows of columns, and numbers of frames."""
        assert isinstance(source, Frames)
        request = request_of(arguments)
        return Reading(source, request.features, request.offsets, arguments["max_cached_bytes"])

    def bind(self, indices: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Bound:
        """Write out which columns there are, and offsets as plain numbers."""
        import_pyarrow()
        # Values that no data set allows are refused like arguments of other operators.
        known = {arg.name: arg for arg in self.args}
        if keywords.get("root") is not None and all(
            _may_be(known[name], value) for name, value in keywords.items() if name in known
        ):
            request = request_of(keywords)
            keywords = {
                **keywords,
                "columns": [feature.name for feature in request.features],
                "delta_timestamps": request.deltas,
            }
        return super().bind(indices, inputs, keywords)


class Request:
    """Features that a call asks for.

    Parameters
    ----------
    info : Info
        The data set.
    columns : sequence of str or None
        The argument.
    deltas : object
        The argument `delta_timestamps`.
    tolerance : float
        The argument `tolerance_s`.

    Attributes
    ----------
    features : list of Feature
        The features.
    deltas : dict of str to list of float
        Seconds.
    offsets : dict of str to array of int64
        The same in frames.
    """

    def __init__(self, info: Info, columns: Any, deltas: Any, tolerance: float) -> None:
        self.info = info
        if columns is None:
            columns = [
                name
                for name, feature in info.features.items()
                if name not in INDEX_DTYPES and feature.is_known
            ]
        columns = [columns] if isinstance(columns, str) else list(columns)
        for name in columns:
            if name not in info.features:
                raise ArgumentValueError(
                    f"columns must be features of the data set (got {name!r}; there are "
                    f"{', '.join(map(repr, info.features))}). Correct the name."
                )
            if not info.features[name].is_known:
                raise ArgumentTypeError(
                    f"columns must have types of which arrays can be made (got {name!r} of type "
                    f"{info.features[name].dtype!r:.60}). Leave the column out."
                )
        if len(set(columns)) < len(columns):
            raise ArgumentValueError(
                f"columns must have different names (got {columns!r:.200}). Name each once."
            )
        self.features = [info.features[name] for name in columns]
        self.deltas = _checked_deltas(deltas)
        for name in self.deltas:
            feature = info.features.get(name)
            if name not in columns or feature is None or feature.dtype == "string":
                raise ArgumentValueError(
                    f"delta_timestamps must be of features in columns that are no texts (got "
                    f"{name!r}). Add it to columns, or leave it out."
                )
        self.offsets = {
            name: _offsets(name, seconds, info.fps, tolerance)
            for name, seconds in self.deltas.items()
        }

    @property
    def names(self) -> list[str]:
        """The names of the outputs."""
        columns = [feature.name for feature in self.features]
        others = [name for name in (*INDEX_DTYPES, "task") if name not in columns]
        return [*columns, *(f"{name}_is_pad" for name in self.deltas), *others]

    def steps(self, feature: Feature) -> int:
        """Return at how many times a feature is given."""
        return len(self.deltas.get(feature.name, (0.0,)))

    def parts(self, feature: Feature) -> int:
        """Return of how many arrays the output of a feature is made."""
        return {"video": 2, "image": self.steps(feature)}.get(feature.dtype, 1)

    @property
    def num_fetched(self) -> int:
        """The number of arrays that are fetched."""
        own = sum(map(self.parts, self.features))
        return own + len(self.names) - len(self.features)


def request_of(arguments: Mapping[str, Any]) -> Request:
    """Return what arguments ask for, which may be those of a call."""
    storage = make_storage({**_STORAGE_DEFAULTS, **arguments})
    info = read_info(arguments["root"], storage)
    tolerance = arguments.get("tolerance_s", 1e-4)
    tolerance = float(tolerance) if isinstance(tolerance, (int, float)) else 0.0
    return Request(info, arguments.get("columns"), arguments.get("delta_timestamps"), tolerance)


_COLOURS = {"color_matrix": "auto"}
_STORAGE_DEFAULTS = {arg.name: arg.default for arg in STORAGE_ARGS}


def _may_be(arg: Arg, value: Any) -> bool:
    """Return whether an argument may have a value, as far as that does not depend on the data."""
    kind = arg.type
    if value is None or kind is object:
        return True
    if kind is float:
        return isinstance(value, (int, float)) and (arg.range is None or value in arg.range)
    if kind in (str, int, bool):
        return isinstance(value, kind) and (arg.range is None or value in arg.range)
    (item,) = get_args(kind)
    values = value if isinstance(value, (list, tuple)) else (value,)
    return len(values) in arg.lengths and all(isinstance(each, item) for each in values)


def _checked_deltas(given: Any) -> dict[str, list[float]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            "delta_timestamps must be a dict of lists of seconds (got a "
            f"{type(given).__name__}). Write {{'action': [0.0, 0.1]}}."
        )
    found = {}
    for name, seconds in given.items():
        values = np.asarray(seconds)
        is_right = values.ndim == 1 and 0 < values.size <= 4096 and values.dtype.kind in "iuf"
        if not isinstance(name, str) or not is_right or not np.isfinite(values).all():
            raise ArgumentTypeError(
                "delta_timestamps must have a list of 1 to 4096 finite numbers of seconds for "
                f"each name (got {seconds!r:.100} for {name!r}). Correct it."
            )
        found[name] = [float(value) for value in values]
    return found


def _offsets(name: str, seconds: Sequence[float], fps: float, tolerance: float) -> Any:
    frames = np.asarray(seconds, np.float64) * fps
    offsets = np.rint(frames)
    off = np.abs(frames - offsets) / fps
    if (np.abs(offsets) > 2**40).any() or (off > tolerance).any():
        place = int(np.argmax(off))
        raise ArgumentValueError(
            f"delta_timestamps must be multiples of 1/{fps:g} s, within tolerance_s={tolerance:g} "
            f"(got {seconds[place]:g} for {name!r}, which is {off[place]:.3g} s from one). Use "
            "those of frames."
        )
    return offsets.astype(np.int64)


def _call(caller: Any, source: Source, *inputs: Any) -> Any:
    return caller.call(replace(source.spec, title="readers.lerobot"), inputs, source.keywords)
