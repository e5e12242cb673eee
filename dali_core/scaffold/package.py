"""Starts a package of its own with an operator, which pip builds and installs."""

from __future__ import annotations

from pathlib import Path
from string import Template

from dali_core.errors import ArgumentValueError
from dali_core.scaffold.operator import checked_name, cpp_class

_PROJECT = Template("""\
[build-system]
requires = ["setuptools>=80", "dali_core"]
build-backend = "setuptools.build_meta"

[project]
name = "$package"
version = "0.1.0"
description = "Operators for dali_core."
requires-python = ">=3.10"
dependencies = ["dali_core"]

[project.entry-points."dali_core.operators"]
$package = "$package:operators"

[tool.setuptools]
packages = ["$package"]

[tool.setuptools.package-data]
$package = ["py.typed", "*.pyi"]
""")

_SETUP = Template('''\
"""Builds the native code; everything else is in pyproject.toml."""

from dali_core.operator_packages import make_extension
from setuptools import setup

setup(ext_modules=[make_extension("$package.native", ["$package/native.cpp"])])
''')

_DESCRIPTION = Template('''\
"""Operators for dali_core: `fn.$path`."""

from __future__ import annotations

from pathlib import Path

from dali_core.operator_packages import Arg, OperatorPackage, OpSpec

$constant = OpSpec(
    name="$path",
    doc="""Multiply each element by a factor.

Integers round half away from zero and saturate.""",
    input_docs=("Tensors of any type, shape and layout.",),
    args=(Arg("factor", float, "What each element is multiplied by.", default=1.0, tensor=True),),
)

operators = OperatorPackage([$constant], Path(__file__).with_name("native"))
''')

_FUNCTIONS = Template('''\
"""The operators of this package as functions: those of `dali_core.fn`, for type checkers."""

from __future__ import annotations

from dali_core import fn as _fn

$name = _fn.$path
''')

_SOURCE = Template("""\
#include "dali_core/operator_library.hpp"

namespace $package {

using namespace dali_core;

// A PixelStep may run in a chain with other operators on images, a few rows at a time.
class $cpp_class : public Operator, public PixelStep {
 public:
  explicit $cpp_class(const OperatorConfig& config) : factor_(config, "factor") {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const double factor = factor_.at(sample);
    Tensor& output = sample.output(0, input.type, input.shape, input.layout);
    visit_type(input.type, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < input.num_elements(); ++i)
        output.as<T>()[i] = convert<T>(convert<double>(input.as<T>()[i]) * factor);
    });
  }

 private:
  Argument<double> factor_;
};

DALI_CORE_REGISTER_OPERATOR("$path", $cpp_class)

}  // namespace $package
""")

_TEST = Template('''\
"""Multiplying elements by a factor."""

from __future__ import annotations

import numpy as np

from dali_core import Pipeline, fn
from dali_core.testing import Example, OperatorSuite, images


class Test$python_class(OperatorSuite):
    operator = "$path"
    examples = (
        Example("bytes", [images()], {"factor": 2.0}),
        Example("floats", [images("CHW", "float32")], {"factor": -0.5}),
    )


def test_integers_round_and_saturate() -> None:
    image = np.array([[[0, 1, 3]], [[100, 200, 255]]], np.uint8)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        data = fn.external_source(source=lambda: [image], layout="HWC")
        pipeline.set_outputs(fn.$path(data, factor=1.5))
    (result,) = pipeline.run()
    expected = np.array([[[0, 2, 5]], [[150, 255, 255]]], np.uint8)
    np.testing.assert_array_equal(np.array(result.at(0)), expected)
''')


def create_package(package: str, path: str, root: Path) -> list[Path]:
    """Write the files of a package with one operator.

    Parameters
    ----------
    package : str
        Its name, and that of its folder.
    path : str
        Path of the operator's function below `fn`, such as ``"my.solarize"``.
    root : Path
        Where its folder is put.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    ArgumentValueError
        If a name is bad, or there is such a folder. Nothing is written then.
    """
    parts = checked_name(path)
    if len(checked_name(package)) != 1:
        raise ArgumentValueError(
            f"scaffold: a package's name must have no dots (got {package!r}). Leave them out."
        )
    folder = root / package
    if folder.exists():
        raise ArgumentValueError(
            f"scaffold: {package!r} must be a new folder ({folder} exists). Choose another name."
        )
    name = parts[-1]
    words = {
        "package": package,
        "path": path,
        "name": name,
        "constant": name.upper(),
        "cpp_class": cpp_class(parts),
        "python_class": cpp_class([name]).removesuffix("Operator"),
    }
    templates = {
        "pyproject.toml": _PROJECT,
        "setup.py": _SETUP,
        f"{package}/__init__.py": _DESCRIPTION,
        f"{package}/native.cpp": _SOURCE,
        f"{package}/fn.py": _FUNCTIONS,
        f"{package}/py.typed": Template(""),
        f"tests/test_{name}.py": _TEST,
    }
    for file, template in templates.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(template.substitute(words), "utf-8")
    return [folder / file for file in templates]
