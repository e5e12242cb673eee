"""Starts a new operator in the source tree: its folders and its tests.

It is a small operation that works on the host and on a device. Nothing else has to be edited: the
build and the registry find operators and kernels by their folders.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template

from dali_core.errors import ArgumentValueError

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

_DESCRIPTION = Template('''\
"""Multiply elements by a factor."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="$path",
    doc="""Multiply each element by a factor.

Integers round half away from zero and saturate.""",
    input_docs=("Tensors of any type, shape and layout.",),
    devices=("cpu", "gpu"),
    args=(Arg("factor", float, "What each element is multiplied by.", default=1.0, tensor=True),),
)
''')

_RULE = Template("""\
// fn.$path: the rule for one element, which the host loop and the device kernel share.
#pragma once

#include <cstdint>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

// Work on one sample; `in` and `out` have `count` elements of `type`.
struct $task {
  const void* in;
  void* out;
  int64_t count;
  DataType type;
  double factor;

  template <typename T>
  DC_HOST_DEV void compute(int64_t i) const {
    const double value = convert<double>(static_cast<const T*>(in)[i]);
    static_cast<T*>(out)[i] = convert<T>(value * factor);
  }
};

}  // namespace dali_core
""")

_KERNEL = Template("""\
// Multiplies elements by a factor, one element per thread in a grid-stride loop.
#include "$header"

#include "dali_core/device_kernel.hpp"

$signature {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const $task task = tasks[sample_of_block()];
  with_type(task.type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = first_item(); i < task.count; i += item_step()) task.compute<T>(i);
  });
}
""")

_SOURCE = Template("""\
#include "$header"

#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class $cpp_class : public KernelOperator<$cpp_class, $task> {
 public:
  static constexpr auto kKernel = "$kernel";

  explicit $cpp_class(const OperatorConfig& config) : factor_(config, "factor") {}

  struct Result : Inferred {
    double factor;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    return {{input.type, input.shape, input.layout}, factor_.at(sample)};
  }

  $task task(const Result& result, TaskData& data) const {
    const Tensor input = data.input();
    return {input.data, data.output().data, input.num_elements(), input.type, result.factor};
  }

  static int64_t threads_for(const $task& task) { return task.count; }

  static void compute(const $task& task) {
    visit_type(task.type, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < task.count; ++i) task.compute<T>(i);
    });
  }

 private:
  Argument<double> factor_;
};

DALI_CORE_REGISTER_OPERATOR("$path", $cpp_class)

}  // namespace dali_core
""")

_TEST = Template('''\
"""Multiplying elements by a factor."""

from __future__ import annotations

import numpy as np

from tests.operators.suite import Example, images, run_on

EXAMPLES = [
    Example("bytes", [images()], {"factor": 2.0}),
    Example("floats", [images("CHW", "float32")], {"factor": -0.5}),
]


def test_integers_round_and_saturate() -> None:
    image = np.array([[[0, 1, 3]], [[100, 200, 255]]], np.uint8)
    expected = np.array([[[0, 2, 5]], [[150, 255, 255]]], np.uint8)
    result = run_on("$path", [image], "HWC", factor=1.5)[0]
    np.testing.assert_array_equal(result, expected, strict=True)
''')


def create_operator(path: str, root: Path) -> list[Path]:
    """Write the files of a new operator.

    Parameters
    ----------
    path : str
        Path of its function below `fn`, such as ``"readers.text"``.
    root : Path
        The source tree: the folder with ``dali_core`` and ``tests``.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    ArgumentValueError
        If the name is bad or taken, or `root` is not the source tree. Nothing is written then.
    """
    _check_root(root)
    *groups, name = checked_name(path)
    package, tests = root / "dali_core", root / "tests" / "operators"
    operators = package / "operators"
    folder = operators.joinpath(*groups, name)
    # Device code is known by the name of its file alone.
    stem = "_".join([*groups, name])
    kernels = package / "kernels" / stem
    test = tests.joinpath(*groups, f"test_{name}.py")
    for taken in (folder, kernels, *package.rglob(f"{stem}.cu"), test):
        if taken.exists():
            raise ArgumentValueError(
                f"scaffold: {path!r} must be a new operator ({taken.relative_to(root)} exists). "
                "Choose another name, or edit what is there."
            )
    files = {}
    for depth in range(1, len(groups) + 1):
        group = operators.joinpath(*groups[:depth], "__init__.py")
        if not group.exists():
            files[group] = f'"""Operators of `fn.{".".join(groups[:depth])}`."""\n'
        elif "SPEC = " in group.read_text("utf-8"):
            raise ArgumentValueError(
                f"scaffold: {'.'.join(groups[:depth])!r} must be a group of operators (it is an "
                "operator). Choose another group."
            )
    class_name = cpp_class([*groups, name])
    task, kernel = f"{class_name.removesuffix('Operator')}Task", f"run_{stem}"
    words = {
        "path": path,
        "cpp_class": class_name,
        "task": task,
        "kernel": kernel,
        "signature": _signature(kernel, task),
        "header": f"dali_core/kernels/{stem}/{stem}.hpp",
    }
    files[folder / "__init__.py"] = _DESCRIPTION.substitute(words)
    files[folder / f"{name}.cpp"] = _SOURCE.substitute(words)
    files[kernels / f"{stem}.hpp"] = _RULE.substitute(words)
    files[kernels / f"{stem}.cu"] = _KERNEL.substitute(words)
    files[test] = _TEST.substitute(words)
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return list(files)


def _signature(kernel: str, task: str) -> str:
    beginning = f'extern "C" __global__ void {kernel}('
    first, second = f"const dali_core::{task}* tasks,", "int count)"
    # As clang-format does.
    fits = len(f"{beginning}{first} {second} {{") <= 100
    return f"{beginning}{first}{' ' if fits else chr(10) + ' ' * len(beginning)}{second}"


def cpp_class(parts: list[str]) -> str:
    """Return the name of an operator's class in C++."""
    return "".join(word.capitalize() for part in (*parts, "operator") for word in part.split("_"))


def _check_root(root: Path) -> None:
    missing = [
        part for part in ("dali_core/operators", "tests/operators") if not (root / part).is_dir()
    ]
    if missing:
        raise ArgumentValueError(
            f"scaffold: root must be the source tree of dali_core (got {str(root)!r}, which has no "
            f"{' and no '.join(missing)}). Run it there, or pass --root FOLDER."
        )


def checked_name(path: str) -> list[str]:
    """Return the parts of an operator's name.

    Raises
    ------
    ArgumentValueError
        If it cannot be the name of an operator.
    """
    parts = path.split(".")
    for part in parts:
        if not _NAME.fullmatch(part) or keyword.iskeyword(part):
            raise ArgumentValueError(
                "scaffold: an operator's name must consist of words in lower case with underscores "
                f"between them, and dots between groups (got {path!r}). Choose one like "
                "'readers.text_file'."
            )
    return parts
