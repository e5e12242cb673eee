"""Pipelines leak no threads, files or memory, and work in any thread."""

from __future__ import annotations

from pathlib import Path

from tests.process.programs import run
from tests.sounds import sound_file, tones


def test_deleting_a_pipeline_ends_its_threads(root: Path) -> None:
    output = run(
        root,
        """
        for kind in (make, native):
            for depth in (1, 5):
                pipeline = kind(prefetch_queue_depth=depth)
                kept = pipeline.run()
                assert num_threads() > THREADS_BEFORE
                del pipeline
                assert (threads_left(), threading.active_count()) == (0, 1)
                pipeline = kind(prefetch_queue_depth=depth)
                pipeline.schedule_run()
                pipeline.close()
                assert (threads_left(), threading.active_count()) == (0, 1)
        print(first(kept) in range(3))
        """,
    )
    assert output == "True\n"


def test_many_pipelines_leak_no_threads_or_memory(root: Path) -> None:
    output = run(
        root,
        """
        def build_and_drop(count):
            for number in range(count):
                pipeline = make() if number % 2 else native()
                pipeline.run()
                if number % 3 == 0:
                    pipeline.close()

        build_and_drop(100)
        assert threads_left() == 0  # the last step may keep a runner for a moment
        files = len(os.listdir("/proc/self/fd"))
        # What the allocator keeps depends on the threads, but a leak grows in every round.
        sizes = [resident_bytes()]
        while len(sizes) < 2 or sizes[-1] - sizes[-2] > 1 << 20:
            assert len(sizes) < 10, sizes
            build_and_drop(50)
            assert threads_left() == 0
            sizes.append(resident_bytes())
        assert len(os.listdir("/proc/self/fd")) == files
        print("done")
        """,
    )
    assert output == "done\n"


def test_memory_does_not_grow_over_many_batches(root: Path) -> None:
    output = run(
        root,
        """
        array = np.zeros((3, 200, 200))
        with Pipeline(3, 2, None) as pipeline:
            fed = fn.external_source(lambda: array)
            pipeline.set_outputs(fn.python_function(fed, function=lambda x: x + 1))
        for number in range(400):
            (batch,) = pipeline.run()
            if number == 100:
                before = resident_bytes()
        # These are 288 MB, and some of them are in flight.
        assert resident_bytes() - before < 64 << 20, resident_bytes() - before
        print(batch.as_array().sum())
        """,
    )
    assert output == "120000.0\n"


def test_native_operators_run_while_python_holds_the_gil(root: Path) -> None:
    output = run(
        root,
        """
        pipeline = native(prefetch_queue_depth=1)
        pipeline.build()
        executor = pipeline._run.runner.executor
        sys.setswitchinterval(3600)  # nobody else gets the GIL unless this thread waits
        pipeline.schedule_run()
        deadline = time.monotonic() + WAIT_SECONDS
        # Files and labels have a block each, or one each for all samples.
        while executor.memory_stats()["used_bytes"] < 2 * 64 and time.monotonic() < deadline:
            pass
        print(time.monotonic() < deadline)
        """,
    )
    assert output == "True\n"


def test_sounds_are_decoded_while_python_holds_the_gil(tmp_path: Path) -> None:
    for number, (form, subtype) in enumerate([("WAV", "PCM_16"), ("FLAC", None), ("MP3", None)]):
        (tmp_path / f"{number}.sound").write_bytes(sound_file(tones(8000), form, subtype))
    output = run(
        tmp_path,
        """
        with Pipeline(3, 2, None, prefetch_queue_depth=1) as pipeline:
            file, _ = fn.readers.file(files=[f"{ROOT}/{n}.sound" for n in range(3)])
            pipeline.set_outputs(fn.decoders.audio(file, sample_rate=8000, downmix=True)[0])
        pipeline.build()

        def num_decoded():
            return sum(o.samples for o in pipeline.statistics().operators if "audio" in o.name)

        sys.setswitchinterval(3600)  # nobody else gets the GIL unless this thread waits
        pipeline.schedule_run()
        deadline = time.monotonic() + WAIT_SECONDS
        while num_decoded() < 3 and time.monotonic() < deadline:
            pass
        sounds = map(np.asarray, pipeline.outputs()[0])
        print(num_decoded(), [len(sound) // 1000 for sound in sounds])
        """,
    )
    assert output == "3 [4, 4, 4]\n"


def test_pipelines_in_several_threads(root: Path) -> None:
    output = run(
        root,
        """
        def work(number):
            for _ in range(5):
                pipeline = make(prefetch_queue_depth=1 + number)
                found = [first(pipeline.run()) for _ in range(20)]
                assert found == list(range(0, 200, 10)), found
            results.append(number)

        results = []
        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert threads_left() == 0
        print(sorted(results))
        """,
    )
    assert output == "[0, 1, 2, 3, 4, 5]\n"


def test_a_pipeline_may_be_built_in_one_thread_and_used_in_another(root: Path) -> None:
    output = run(
        root,
        """
        made = []
        thread = threading.Thread(target=lambda: made.append(make()))
        thread.start()
        thread.join()
        print(first(made[0].run()))
        made[0].build()
        thread = threading.Thread(target=made.clear)
        thread.start()
        thread.join()
        print(threads_left())
        """,
    )
    assert output == "0\n0\n"
