"""Each function of the driver fails once, in a separate process without earlier failures.

Writes to the file ``DALI_CORE_LOG``, for each function that a pipeline calls, the number of errors,
and failures.
"""

import faulthandler
import gc
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable

from dali_core.errors import DaliCoreError
from tests.cuda import small_pipeline
from tests.cuda.simulated_driver import control

NUM_BATCHES = 5
MAX_SECONDS = 300


def check(error: DaliCoreError) -> None:
    """Check that an error contains the driver's error."""
    assert "CUDA_ERROR_UNKNOWN" in str(error), error


def calls() -> str:
    """Return the functions that a pipeline calls during its lifetime."""
    pipeline = small_pipeline.make()
    for number in range(NUM_BATCHES):
        assert small_pipeline.is_right(pipeline.run(), number)
    pipeline.close()
    del pipeline
    assert not small_pipeline.left(), small_pipeline.left()
    return json.dumps(sorted(set(control.counts()) - {"kernel"}))


def fails(function: str, after: int) -> str:
    """Make a call fail, use the pipeline regardless, and return the number of errors."""
    errors = 0
    control.fail(function, "CUDA_ERROR_UNKNOWN", after=after)
    try:
        pipeline = small_pipeline.make()
        pipeline.build()
    except DaliCoreError as error:
        check(error)
        errors += 1
        pipeline = small_pipeline.make()
    for number in range(NUM_BATCHES):
        try:
            batch = pipeline.run()
            assert small_pipeline.is_right(batch, number), f"batch {number}"
            del batch
        except DaliCoreError as error:
            check(error)
            errors += 1
    control.reset()
    for number in range(NUM_BATCHES, NUM_BATCHES + 2):
        assert small_pipeline.is_right(pipeline.run(), number), f"batch {number}, which is later"
    pipeline.close()
    del pipeline
    left = small_pipeline.left()
    assert not left, left
    return str(errors)


def fails_at_the_end(function: str) -> str:
    """Make a call fail while a pipeline is closed, and use another one."""
    pipeline = small_pipeline.make()
    kept = [pipeline.run() for _ in range(2)]
    control.fail(function, "CUDA_ERROR_UNKNOWN", times=3)
    try:
        pipeline.close()
    except DaliCoreError as error:
        check(error)
    del pipeline, kept
    gc.collect()
    control.reset()
    pipeline = small_pipeline.make()
    assert small_pipeline.is_right(pipeline.run(), 0)
    pipeline.close()
    return "0"


def in_child(work: Callable[..., str], *arguments: object) -> str:
    """Return the result of a function, or its exit status, in a child process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 2)
        faulthandler.enable()  # a crash says where it was
        signal.alarm(MAX_SECONDS)
        status = 1
        try:
            os.write(writing, work(*arguments).encode())
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
    os.close(writing)
    with open(reading, "rb") as pipe:
        output = pipe.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return output if status == 0 else f"exit status {status} for {arguments}\n{output}"


# Computed once before the forks; no native thread is left then.
for each in range(NUM_BATCHES + 2):
    small_pipeline.expected(each)
answer = in_child(calls)
assert answer.startswith("["), answer
called = json.loads(answer)
outcomes = {}
for function in called:
    said = [in_child(fails, function, after) for after in (0, 2)]
    said.append(in_child(fails_at_the_end, function))
    problems = [text for text in said if not text.isdigit()]
    outcomes[function] = [sum(int(text) for text in said if text.isdigit()), "".join(problems)]
with open(os.environ["DALI_CORE_LOG"], "w", encoding="utf-8") as log:
    json.dump(outcomes, log)
