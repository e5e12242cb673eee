"""Reads damaged documents: ``python -m tests.fuzz.damage_documents COUNT SEED``.

Each is that of an example of an operator. Prints the numbers of documents that were read and
rejected, and failures, as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from dali_core import Pipeline, fn
from dali_core.errors import DaliCoreError, SerializationError
from tests.fuzz.mutations import mutated_text
from tests.operators.suite import all_examples, function_of, list_of

MAX_MEMORY = 16 << 30


def documents(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Serialize each example of an operator without Python code."""
    found = []
    for operator, example in all_examples():
        own = folder / operator
        own.mkdir(exist_ok=True)
        pipeline = Pipeline(3, 1, None, seed=1, prefetch_queue_depth={"cpu_size": 1, "gpu_size": 1})
        with pipeline:
            inputs = [fn.external_source(layout=data.layout or None) for data in example.inputs]
            outputs = function_of(operator)(*inputs, **example.arguments_in(own))
            pipeline.set_outputs(*list_of(outputs))
        try:
            text = pipeline.serialize()
        except SerializationError:
            continue  # Python code
        found.append((f"{operator}-{example.name}", json.loads(text)))
    return found


def outcome(text: bytes) -> str:
    """Read a document and build it: return "read", "refused", or the failure."""
    try:
        pipeline = Pipeline.deserialize(text, num_threads=1)
    except SerializationError as error:
        message = str(error)
        return "refused" if message.startswith("Pipeline.deserialize: ") else message[:300]
    except Exception as error:
        return _failure(error)
    try:
        pipeline.build()
    except DaliCoreError:
        return "refused"  # by the data, or by native code that begins with them
    except Exception as error:
        return _failure(error)
    finally:
        pipeline.close()
    return "read"


def _failure(error: Exception) -> str:
    kind = "" if isinstance(error, DaliCoreError) else "foreign "
    return f"{kind}{type(error).__name__}: {str(error)[:300]}"


def main() -> None:
    """Damage one document after the other."""
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    outcomes = {"read": 0, "refused": 0}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        sound = documents(Path(folder))
        for name, document in sound:
            assert outcome(json.dumps(document).encode()) == "read", name
        for number in range(count):
            name, document = sound[number % len(sound)]
            print(seed + number, name, file=sys.stderr, flush=True)
            result = outcome(mutated_text(document, seed + number))
            if result in outcomes:
                outcomes[result] += 1
            else:
                wrong.append([seed + number, name, result])
    print(json.dumps({**outcomes, "sound": len(sound), "wrong": wrong}))


if __name__ == "__main__":
    main()
