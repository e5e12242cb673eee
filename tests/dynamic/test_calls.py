"""Calls of operators: when they are computed, together with what, and how they fail."""

from __future__ import annotations

import gc
import resource
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core.dynamic as dd
from dali_core import fn, pipeline_def, types
from dali_core.dynamic import _calls, _plans, _templates
from dali_core.errors import SampleError
from tests.generated_images import jpeg, photo_like


def photos(count: int = 5) -> dd.Batch:
    files = [jpeg(photo_like(40 + i, 60, seed=i)) for i in range(count)]
    return dd.as_batch([np.frombuffer(file, np.uint8) for file in files])


def augmented(encoded: Any) -> Any:
    images = dd.decoders.image(encoded)
    images = dd.resize(images, size=(24, 32))
    return dd.crop_mirror_normalize(images, crop=(16, 16), mean=[100.0], std=[50.0])


def test_nothing_is_computed_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []
    run = _calls._Computation.run

    def counting(self: Any) -> None:
        computed.append(len(self._calls))
        run(self)

    monkeypatch.setattr(_calls._Computation, "run", counting)
    result = augmented(photos())
    assert computed == []
    assert result.shape == [(3, 16, 16)] * 5
    assert computed == [3]
    assert result.layout == "CHW"
    assert computed == [3]


def test_chains_are_fused_as_in_a_pipeline() -> None:
    _plans._plans.clear()
    augmented(photos()).evaluate()
    (plan,) = _plans._plans.values()
    assert plan.description.splitlines()[1].strip() == "fused:"
    assert plan.description.count("\n") == 4


def test_second_turn_of_a_loop_makes_no_plan() -> None:
    encoded = photos()
    augmented(encoded).evaluate()
    before = dict(_plans._plans), dict(_templates._templates)
    for _ in range(3):
        augmented(encoded).evaluate()
    assert (dict(_plans._plans), dict(_templates._templates)) == before


@pytest.mark.parametrize("mode", list(dd.EvalMode))
@pytest.mark.parametrize("num_threads", [1, 3])
def test_results_are_those_of_a_pipeline(mode: Any, num_threads: int) -> None:
    encoded = photos()

    @pipeline_def(batch_size=5, num_threads=1)
    def pipeline() -> Any:
        data = fn.external_source(source=[[np.asarray(t) for t in encoded]])
        images = fn.resize(fn.decoders.image(data), size=(24, 32))
        return fn.crop_mirror_normalize(images, crop=(16, 16), mean=[100.0], std=[50.0])

    (expected,) = pipeline().run()
    with mode, dd.EvalContext(num_threads=num_threads):
        result = augmented(encoded).evaluate()
        single = augmented(encoded.select(2)).evaluate()
    np.testing.assert_array_equal(np.asarray(dd.as_tensor(result)), expected.as_array())
    np.testing.assert_array_equal(np.asarray(single), expected.at(2))


def test_values_that_several_calls_use_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    run = _calls._Computation.run

    def counting(self: Any) -> None:
        sizes.append(len(self._calls))
        run(self)

    monkeypatch.setattr(_calls._Computation, "run", counting)
    images = dd.decoders.image(photos())
    small, large = dd.resize(images, size=(8, 8)), dd.resize(images, size=(64, 64))
    assert small.shape[0] == (8, 8, 3)
    assert large.shape[0] == (64, 64, 3)
    assert images.shape[0] == (40, 60, 3)
    assert sizes == [2, 1]


def test_unused_results_are_never_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calls._Computation, "run", lambda self: pytest.fail("was computed"))
    for _ in range(10):
        augmented(photos(1))


def test_inputs_are_released_with_the_result() -> None:
    value = dd.as_tensor(np.zeros(10))
    reference = weakref.ref(value)
    result = value + 1
    del value
    assert reference() is not None
    result.evaluate()
    assert reference() is None


def test_long_chains_need_no_memory() -> None:
    value = dd.as_tensor(np.zeros(250_000, np.float32))
    for _ in range(300):
        value = value + 1
    value.evaluate()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3000):
        value = value + 1
    assert value[0].item() == 3300
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


def test_wide_expressions_are_computed_in_parts() -> None:
    values = [dd.as_tensor([number]) + 1 for number in range(600)]
    while len(values) > 1:
        values = [
            values[i] + values[i + 1] if i + 1 < len(values) else values[i]
            for i in range(0, len(values), 2)
        ]
    assert values[0][0].item() == sum(range(1, 601))


def test_tensors_stand_for_all_samples() -> None:
    batch = dd.as_batch([np.full((2, 2, 1), i, np.uint8) for i in range(3)])
    total = batch + dd.as_tensor([[[10]]])
    assert [t[0, 0, 0].item() for t in total] == [10, 11, 12]
    turned = dd.flip(batch, horizontal=dd.as_tensor(1))
    assert isinstance(turned, dd.Batch)
    repeated = dd.flip(dd.as_tensor(np.zeros((2, 2, 1), np.uint8)), batch_size=4)
    assert repeated.batch_size == 4


def test_arguments_by_sample() -> None:
    batch = dd.as_batch([np.arange(4, dtype=np.uint8).reshape(2, 2, 1)] * 2)
    turned = dd.flip(batch, horizontal=dd.as_batch([0, 1]))
    assert [np.asarray(t)[0, :, 0].tolist() for t in turned] == [[0, 1], [1, 0]]
    order = [1, 0]
    swapped = dd.permute_batch(turned, indices=order)
    assert np.asarray(swapped.tensors[0])[0, :, 0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: dd.resize(x, size=(2, 2), interpolation=1), TypeError),
        (lambda x: dd.resize(x, size="a"), (TypeError, ValueError)),
        (lambda x: dd.resize(size=(2, 2)), TypeError),
        (lambda x: dd.resize(None, size=(2, 2)), TypeError),
        (lambda x: dd.flip(x, seed=3), TypeError),
        (lambda x: dd.random.coin_flip(x, seed=3), TypeError),
        (lambda x: dd.random.coin_flip(x, rng=3), ValueError),
        (lambda x: dd.flip(x, batch_size=-1), ValueError),
        (lambda x: dd.flip(x, batch_size=1.5), TypeError),
        (lambda x: dd.flip(x, device="gpu"), RuntimeError),
    ],
)
def test_wrong_arguments_are_refused_at_the_call(call: Any, kind: Any) -> None:
    with pytest.raises(kind, match=r"test_calls\.py:\d+"):
        call(dd.as_tensor(np.zeros((2, 2, 3), np.uint8)))


def test_failures_name_the_line_of_the_failing_call() -> None:
    encoded = dd.as_batch([np.frombuffer(b"no image", np.uint8)] * 3)
    images = dd.decoders.image(encoded)  # the line that fails
    small = dd.resize(images, size=(2, 2))
    lines = Path(__file__).read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "# the line that fails" in line)
    for _ in range(2):
        with pytest.raises(SampleError) as raised:
            small.evaluate()
        assert f"test_calls.py:{number}" in str(raised.value).split(", sample")[0]
        assert (raised.value.sample, len(raised.value.failures)) == (0, 3)
    assert (encoded.batch_size, dd.as_tensor(1).item()) == (3, 1)


def test_synchronous_modes_raise_at_the_call() -> None:
    with dd.EvalMode.sync_cpu, pytest.raises(SampleError):
        dd.decoders.image(np.frombuffer(b"no image", np.uint8))
    assert dd.EvalMode.current() is dd.EvalMode.eager


def test_all_pending_calls_of_a_context() -> None:
    with dd.EvalContext() as context:
        good = dd.as_tensor([1]) + 1
        context.evaluate_all()
        assert good._data is not None
        bad = dd.decoders.image(np.frombuffer(b"no image", np.uint8))
        with pytest.raises(SampleError):
            context.evaluate_all()
        del bad
        context.evaluate_all()


def test_layouts_and_types_of_results() -> None:
    image = dd.as_tensor(np.zeros((4, 4, 3), np.uint8))
    assert dd.transpose(dd.resize(image, size=(2, 2)), perm=[2, 0, 1]).layout == "CHW"
    assert dd.cast(image, dtype=dd.float32).dtype == dd.float32
    assert dd.cast(image, dtype=types.INT16).dtype == dd.int16
    assert [t.dtype for t in dd.as_batch([1.5]).tensors] == [dd.float32]


def test_operators_with_several_outputs() -> None:
    tensors = dd.random_crop_generator(dd.as_tensor([100, 200]))
    assert [t.shape for t in tensors] == [(2,), (2,)]
    assert isinstance(tensors, tuple)


def test_threads_have_contexts_of_their_own() -> None:
    results: list[Any] = []

    def work(number: int) -> None:
        with dd.EvalMode.sync_cpu, dd.EvalContext(num_threads=1 + number % 2):
            value = dd.as_batch([np.full((8, 8, 3), number, np.uint8)] * 4)
            for _ in range(20):
                value = dd.flip(value)
            results.append((number, np.asarray(dd.as_tensor(value))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    for number, array in results:
        assert (array == number).all()
    context = dd.EvalContext()
    with context, pytest.raises(RuntimeError, match="one thread"):
        _in_thread(context.__enter__)


def _in_thread(function: Any) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def test_files_are_read_and_decoded(tmp_path: Path) -> None:
    image = photo_like(20, 30)
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(jpeg(image))
    one = dd.imread(tmp_path / "a.jpg")
    both = dd.imread([tmp_path / "a.jpg", str(tmp_path / "b.jpg")])
    assert (one.shape, both.shape) == ((20, 30, 3), [(20, 30, 3)] * 2)
    np.testing.assert_array_equal(np.asarray(one), np.asarray(both.tensors[1]))
    with pytest.raises(SampleError, match="missing"):
        dd.imread(tmp_path / "missing.jpg").evaluate()
    with pytest.raises(ValueError, match="path"):
        dd.imread([])
    with pytest.raises(TypeError, match="path"):
        dd.imread(3)


def test_numbers_of_threads() -> None:
    try:
        dd.set_num_threads(3)
        assert (dd.get_num_threads(), dd.EvalContext().num_threads) == (3, 3)
    finally:
        dd.set_num_threads(None)
    for wrong, kind in ((0, ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(kind, match="num_threads"):
            dd.set_num_threads(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="only one"):
        dd.EvalContext(num_threads=1, thread_pool=dd.ThreadPool(2))
    assert dd.EvalContext(thread_pool=dd.ThreadPool(2)).num_threads == 2


def test_modules_under_both_names() -> None:
    import dali_core.experimental.dynamic.random as other_random

    import dali_core.experimental.dynamic as other

    assert other.Tensor is dd.Tensor
    assert other_random.get_default_rng() is dd.random.get_default_rng()
