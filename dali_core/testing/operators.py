"""Conformance suite for operators, also those of other packages.

Derive a class from `OperatorSuite` in a test module, name the operator, give examples of calls, and
run pytest::

    from dali_core.testing import Example, OperatorSuite, images

    class TestSolarize(OperatorSuite):
        operator = "my.solarize"
        examples = (Example("photos", [images()], {"threshold": 100}),)

Every argument that may come with a sample must be given by an example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dali_core.testing import descriptions, misuse, results
from dali_core.testing.examples import Example


class OperatorSuite:
    """Conformance tests of every operator.

    Attributes
    ----------
    operator : str
        Path of its function below `fn`.
    examples : sequence of Example
        Small calls, over which all checks go.
    """

    operator: ClassVar[str]
    examples: ClassVar[Sequence[Example]]

    def test_has_examples(self) -> None:
        """There is an example, and all arguments that may come with a sample are in one."""
        descriptions.check_examples(self.operator, self.examples)

    def test_documentation(self) -> None:
        """Sentences describe the operator, its inputs and arguments; the docstring has them."""
        descriptions.check_documentation(self.operator)

    def test_results_do_not_depend_on_how_they_are_computed(self, tmp_path: Path) -> None:
        """Threads, batch sizes and prefetching change nothing."""
        self._each(results.check_ways_to_compute, tmp_path)

    def test_type_layout_and_dimensions_are_stable(self, tmp_path: Path) -> None:
        """All batches have one type, layout and number of dimensions."""
        self._each(results.check_stable, tmp_path)

    def test_class_does_what_the_function_does(self, tmp_path: Path) -> None:
        """`ops` and `fn` give the same."""
        self._each(results.check_class, tmp_path)

    def test_random_results_depend_on_the_seeds(self, tmp_path: Path) -> None:
        """Random numbers follow from the seeds, and from nothing else."""
        results.check_seeds(self.operator, self.examples, tmp_path)

    def test_inputs_stay_what_they_are(self, tmp_path: Path) -> None:
        """The operator does not write into its inputs."""
        self._each(results.check_inputs_untouched, tmp_path)

    def test_batch_of_no_samples(self, tmp_path: Path) -> None:
        """An empty batch stays empty."""
        self._each(results.check_empty_batch, tmp_path)

    def test_argument_of_each_sample_equals_constant(self, tmp_path: Path) -> None:
        """It makes no difference whether a value is constant or comes with each sample."""
        self._each(results.check_arguments_per_sample, tmp_path)

    def test_fused_results_are_the_same(self, tmp_path: Path) -> None:
        """In a chain of image operators it gives bit for bit what it gives alone."""
        self._each(results.check_fused, tmp_path)

    def test_wrong_arguments(self, tmp_path: Path) -> None:
        """Unknown, missing, misplaced and unsuitable arguments raise an error that names them."""
        for check in misuse.ARGUMENT_CHECKS:
            self._each(check, tmp_path / check.__name__)

    def test_wrong_inputs(self, tmp_path: Path) -> None:
        """Too many, too few and unsuitable inputs raise an error."""
        for check in misuse.INPUT_CHECKS:
            self._each(check, tmp_path / check.__name__)

    def _each(self, check: Callable[[str, Example, dict[str, Any]], None], folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for example in self.examples:
            check(self.operator, example, example.arguments_in(folder))
