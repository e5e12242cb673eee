"""The PyTorch adapter: the suite that any adapter must pass, and tests specific to PyTorch."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy
import pytest

from dali_core import Pipeline, fn, types
from dali_core.adapters import get_adapter
from dali_core.errors import AdapterError, ArgumentTypeError, ArgumentValueError
from dali_core.tensors import TensorCPU
from dali_core.testing import AdapterSuite

torch = pytest.importorskip("torch", reason="not available: PyTorch")

import dali_core_pytorch  # noqa: E402
from dali_core_pytorch import (  # noqa: E402
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIRaggedIterator,
    LastBatchPolicy,
    feed_ndarray,
)

from dali_core.plugin import pytorch as plugin  # noqa: E402

BOXES = [
    [numpy.array([[1, 2], [3, 4], [5, 6]], numpy.int32), numpy.array([[7, 8]], numpy.int32)],
    [numpy.array([[9, 9]], numpy.int32), numpy.zeros((0, 2), numpy.int32)],
]


class TestPyTorchAdapter(AdapterSuite):
    adapter = dali_core_pytorch.adapter

    def to_numpy(self, array: Any) -> numpy.ndarray[Any, Any]:
        assert isinstance(array, torch.Tensor)
        return array.numpy()


def source_pipeline(*sources: list[Any], batch_size: int = 2) -> Pipeline:
    pipeline = Pipeline(batch_size=batch_size, num_threads=1)
    with pipeline:
        pipeline.set_outputs(*[fn.external_source(source=iter(source)) for source in sources])
    return pipeline


def test_adapter_is_registered() -> None:
    assert get_adapter("pytorch") is dali_core_pytorch.adapter


def test_every_type_of_numbers_has_a_counterpart() -> None:
    numbers = [kind for kind in types.DALIDataType if 0 <= int(kind) <= int(types.BOOL)]
    assert list(plugin.to_torch_type) == numbers
    for kind, dtype in plugin.to_torch_type.items():
        assert types.to_dali_type(dtype) is kind
        tensor = TensorCPU(numpy.zeros(2, types.to_numpy_type(kind)))
        assert torch.from_dlpack(tensor).dtype is dtype


def test_plugin_module_exports_the_adapter_objects() -> None:
    for name in (
        "DALIGenericIterator",
        "DALIClassificationIterator",
        "DALIRaggedIterator",
        "LastBatchPolicy",
        "feed_ndarray",
    ):
        assert getattr(plugin, name) is getattr(dali_core_pytorch, name)


class TestGeneric:
    def test_gives_a_dictionary_for_each_pipeline(self) -> None:
        sources = [numpy.full((2, 3), 1, numpy.float32)], [numpy.full((2,), 2, numpy.int64)]
        (batch,) = DALIGenericIterator(source_pipeline(*sources), ["data", "label"])
        assert len(batch) == 1
        assert list(batch[0]) == ["data", "label"]
        torch.testing.assert_close(batch[0]["data"], torch.ones(2, 3))
        torch.testing.assert_close(batch[0]["label"], torch.tensor([2, 2]))

    def test_classification_names_the_outputs(self) -> None:
        sources = [numpy.zeros((2, 3), numpy.float32)], [numpy.zeros((2, 1), numpy.int64)]
        (batch,) = DALIClassificationIterator(source_pipeline(*sources))
        assert list(batch[0]) == ["data", "label"]

    @pytest.mark.parametrize("dynamic_shape", [False, True])
    def test_dynamic_shapes(self, dynamic_shape: bool) -> None:
        pipeline = source_pipeline([numpy.zeros((2, n), numpy.uint8) for n in (3, 1, 4)])
        iterator = DALIGenericIterator(pipeline, ["x"], dynamic_shape=dynamic_shape)
        assert [tuple(batch[0]["x"].shape) for batch in iterator] == [(2, 3), (2, 1), (2, 4)]

    def test_ragged_batches_raise_with_the_output_name(self) -> None:
        with pytest.raises(AdapterError, match=r"output 'boxes': .*\(3, 2\), \(1, 2\).*Ragged"):
            DALIGenericIterator(source_pipeline(BOXES), ["boxes"])

    def test_tensors_may_be_changed_in_place(self) -> None:
        iterator = DALIGenericIterator(
            source_pipeline([numpy.full((2, 1), n, numpy.float32) for n in range(6)]), ["x"]
        )
        held = [batch[0]["x"].mul_(10) for batch in iterator]
        assert [tensor[0].item() for tensor in held] == [0, 10, 20, 30, 40, 50]


class TestRagged:
    def test_list(self) -> None:
        kind = DALIRaggedIterator.SPARSE_LIST_TAG
        iterator = DALIRaggedIterator(source_pipeline(BOXES), ["boxes"], output_types=[kind])
        assert [[item.tolist() for item in batch[0]["boxes"]] for batch in iterator] == [
            [array.tolist() for array in batch] for batch in BOXES
        ]

    def test_coo(self) -> None:
        iterator = DALIRaggedIterator(
            source_pipeline(BOXES), ["boxes"], output_types=[DALIRaggedIterator.SPARSE_COO_TAG]
        )
        first, second = (batch[0]["boxes"] for batch in iterator)
        assert first.is_sparse
        assert first.dtype == torch.int32
        assert first.to_dense().tolist() == [
            [[1, 2], [3, 4], [5, 6]],
            [[7, 8], [0, 0], [0, 0]],
        ]
        assert first._nnz() == 8
        assert second.to_dense().tolist() == [[[9, 9]], [[0, 0]]]

    def test_coo_stores_zeros(self) -> None:
        kind = DALIRaggedIterator.SPARSE_COO_TAG
        data = [[numpy.array([0, 2], numpy.float32), numpy.array([0], numpy.float32)]]
        (batch,) = DALIRaggedIterator(source_pipeline(data), ["x"], output_types=[kind])
        assert batch[0]["x"]._indices().tolist() == [[0, 0, 1], [0, 1, 0]]
        assert batch[0]["x"]._values().tolist() == [0, 2, 0]

    def test_coo_of_scalars(self) -> None:
        kind = DALIRaggedIterator.SPARSE_COO_TAG
        data = [numpy.array([3, 4], numpy.float32)]
        (batch,) = DALIRaggedIterator(source_pipeline(data), ["x"], output_types=[kind])
        assert batch[0]["x"].to_dense().tolist() == [3, 4]

    @pytest.mark.parametrize(
        ("kind", "count"),
        [
            (DALIRaggedIterator.SPARSE_LIST_TAG, len),
            (DALIRaggedIterator.SPARSE_COO_TAG, lambda tensor: tensor.shape[0]),
            (DALIRaggedIterator.FLAT_TAG, lambda flat: len(flat[1]) - 1),
            (DALIRaggedIterator.JAGGED_TAG, lambda tensor: tensor.size(0)),
        ],
    )
    def test_partial(self, kind: str, count: Callable[[Any], int]) -> None:
        iterator = DALIRaggedIterator(
            source_pipeline(BOXES),
            ["boxes"],
            size=3,
            output_types=[kind],
            last_batch_policy=LastBatchPolicy.PARTIAL,
        )
        assert [count(batch[0]["boxes"]) for batch in iterator] == [2, 1]

    def test_flat_and_jagged(self) -> None:
        kinds = [DALIRaggedIterator.FLAT_TAG, DALIRaggedIterator.JAGGED_TAG]
        for kind in kinds:
            iterator = DALIRaggedIterator(source_pipeline(BOXES), ["boxes"], output_types=[kind])
            for batch, arrays in zip(iterator, BOXES, strict=True):
                flat = batch[0]["boxes"]
                values, offsets = flat if kind == "flat" else (flat.values(), flat.offsets())
                assert values.tolist() == numpy.concatenate(arrays).tolist()
                assert values.dtype == torch.int32
                assert offsets.tolist() == [0, *numpy.cumsum([len(array) for array in arrays])]
                if kind == "jagged":
                    assert flat.layout == torch.jagged
                    assert [part.tolist() for part in flat.unbind()] == [a.tolist() for a in arrays]

    def test_contiguous_samples_are_flat_without_a_copy(self) -> None:
        batch = source_pipeline([numpy.arange(6).reshape(2, 3)]).run()[0]
        values, offsets = dali_core_pytorch.adapter.represent(batch, "flat", 2)
        assert values.data_ptr() == batch[0].data_ptr()
        assert (values.tolist(), offsets.tolist()) == ([0, 1, 2, 3, 4, 5], [0, 3, 6])
        jagged = dali_core_pytorch.adapter.represent(batch, "jagged", 1)
        assert jagged.values().data_ptr() == batch[0].data_ptr()
        assert [part.tolist() for part in jagged.unbind()] == [[0, 1, 2]]

    def test_packed_row_is_a_jagged_tensor_without_a_copy(self) -> None:
        with Pipeline(batch_size=3, num_threads=1, device_id=None) as pipeline:
            arrays = [numpy.arange(length) for length in (2, 4, 1)]
            tokens, _, _, borders, *_ = fn.pack(fn.external_source(source=lambda: arrays))
            pipeline.set_outputs(tokens, borders)
        with pipeline:
            batch = pipeline.run()
            row, offsets = (torch.from_dlpack(output[0]) for output in batch)
            jagged = torch.nested.nested_tensor_from_jagged(row, offsets)
            assert jagged.values().data_ptr() == batch[0][0].data_ptr()
            assert [part.tolist() for part in jagged.unbind()] == [[0, 1], [0, 1, 2, 3], [0]]

    def test_flat_without_samples(self) -> None:
        batch = source_pipeline(BOXES).run()[0]
        values, offsets = dali_core_pytorch.adapter.represent(batch, "flat", 0)
        assert (tuple(values.shape), values.dtype, offsets.tolist()) == ((0, 2), torch.int32, [0])

    def test_flat_images(self) -> None:
        batch = source_pipeline([[numpy.ones((2, 3)), numpy.ones((2, 4))]]).run()[0]
        for kind in ("flat", "jagged"):
            with pytest.raises(AdapterError, match=r"first dimension only .*\(2, 3\), \(2, 4\)"):
                dali_core_pytorch.adapter.represent(batch, kind, 2)

    def test_coo_of_no_samples(self) -> None:
        batch = source_pipeline(BOXES).run()[0]
        sparse = dali_core_pytorch.adapter.represent(batch, "sparse_coo", 0)
        assert (tuple(sparse.shape), sparse._nnz(), sparse.dtype) == ((0, 3, 2), 0, torch.int32)

    def test_dense_is_the_default(self) -> None:
        (batch,) = DALIRaggedIterator(source_pipeline([numpy.ones((2, 3), numpy.int16)]), ["x"])
        assert batch[0]["x"].tolist() == [[1, 1, 1], [1, 1, 1]]

    def test_unknown_tag(self) -> None:
        with pytest.raises(ArgumentValueError, match=r"output_types: .*\(got \['csr'\]\)"):
            DALIRaggedIterator(source_pipeline(BOXES), ["boxes"], output_types=["csr"])


class TestFeed:
    @pytest.fixture
    def batch(self) -> Any:
        return source_pipeline([numpy.arange(6, dtype=numpy.float32).reshape(2, 3)]).run()[0]

    def test_copies_a_batch_and_returns_the_target(self, batch: Any) -> None:
        for source in (batch, batch.as_tensor()):
            target = torch.zeros(2, 3)
            assert feed_ndarray(source, target, cuda_stream=None) is target
            assert target.tolist() == [[0, 1, 2], [3, 4, 5]]
            assert target.data_ptr() != batch.data_ptr()

    def test_copies_a_sample(self, batch: Any) -> None:
        assert feed_ndarray(batch[1], torch.zeros(3)).tolist() == [3, 4, 5]

    def test_follows_the_strides_of_the_target(self, batch: Any) -> None:
        storage = torch.zeros(3, 2)
        feed_ndarray(batch, storage.T)
        assert storage.tolist() == [[0, 3], [1, 4], [2, 5]]

    @pytest.mark.parametrize(
        ("target", "message"),
        [
            (torch.zeros(3, 2), r"the shape of dali_tensor, \(2, 3\) \(got \(3, 2\)\)"),
            (torch.zeros(2, 3, dtype=torch.int32), "the dtype of dali_tensor, torch.float32"),
        ],
    )
    def test_the_target_must_fit(self, batch: Any, target: Any, message: str) -> None:
        with pytest.raises(ArgumentValueError, match=message):
            feed_ndarray(batch, target)

    def test_wrong_types(self, batch: Any) -> None:
        with pytest.raises(ArgumentTypeError, match=r"arr must be a torch\.Tensor"):
            feed_ndarray(batch, numpy.zeros((2, 3), numpy.float32))
        with pytest.raises(ArgumentTypeError, match="dali_tensor must be"):
            feed_ndarray(ctypes.c_int(), torch.zeros(2, 3))


class TestSignatures:
    """Argument names, order and defaults are those of the reference, version 2.4."""

    COMMON: ClassVar = {
        "size": -1,
        "reader_name": None,
        "auto_reset": False,
        "fill_last_batch": None,
        "dynamic_shape": False,
        "last_batch_padded": False,
        "last_batch_policy": LastBatchPolicy.FILL,
        "prepare_first_batch": True,
    }

    def test_iterators(self) -> None:
        empty = inspect.Parameter.empty
        required = {"self": empty, "pipelines": empty}
        named = {**required, "output_map": empty}
        ragged = [*list(self.COMMON.items())[:2], ("output_types", None)]
        ragged += list(self.COMMON.items())[2:]
        for kind, expected in (
            (DALIGenericIterator, {**named, **self.COMMON}),
            (DALIClassificationIterator, {**required, **self.COMMON}),
            (DALIRaggedIterator, {**named, **dict(ragged)}),
        ):
            parameters = inspect.signature(kind.__init__).parameters
            assert [(p.name, p.default) for p in parameters.values()] == list(expected.items())

    def test_tags_and_policies(self) -> None:
        assert [(policy.name, policy.value) for policy in LastBatchPolicy] == [
            ("FILL", 0),
            ("DROP", 1),
            ("PARTIAL", 2),
        ]
        assert DALIRaggedIterator.DENSE_TAG == "dense"
        assert DALIRaggedIterator.SPARSE_LIST_TAG == "sparse_list"
        assert DALIRaggedIterator.SPARSE_COO_TAG == "sparse_coo"


class _Stream:
    """A fake CUDA stream, since this PyTorch may have no CUDA."""

    def __init__(self, handle: int, device: Any = None) -> None:
        self.handle = handle


class _OnDevice(torch.Tensor):
    @property
    def is_cuda(self) -> bool:
        return True


class _Handle:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 5


@pytest.mark.parametrize("given", [5, ctypes.c_void_p(5), _Handle()])
def test_feeding_a_tensor_on_a_device_imports_in_the_given_stream(
    monkeypatch: pytest.MonkeyPatch, given: Any
) -> None:
    """Data is imported for the current stream of that moment."""
    events: list[str] = []

    class Current:
        def __init__(self, stream: _Stream) -> None:
            self.handle = stream.handle

        def __enter__(self) -> None:
            events.append(f"enter {self.handle}")

        def __exit__(self, *error: object) -> None:
            events.append("leave")

    class Source(TensorCPU):
        def __dlpack__(self, **options: Any) -> Any:
            events.append("import")
            return TensorCPU.__dlpack__(self, **options)

    monkeypatch.setattr(torch.cuda, "ExternalStream", _Stream)
    monkeypatch.setattr(torch.cuda, "stream", Current)
    target = torch.zeros(2, dtype=torch.int64).as_subclass(_OnDevice)
    feed_ndarray(Source(numpy.array([3, 4])), target, cuda_stream=given)
    assert events == ["enter 5", "import", "leave"]
    assert target.tolist() == [3, 4]
