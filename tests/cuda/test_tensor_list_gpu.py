"""Batches on a device: constructors, views, gathering and copies."""

from __future__ import annotations

import pytest

from tests.cuda.test_tensor_gpu import run


def test_construct_from_samples() -> None:
    run("tensor_list_gpu/construct_from_samples")


def test_construct_from_array_or_list() -> None:
    run("tensor_list_gpu/construct_from_array_or_list")


def test_samples_and_slices() -> None:
    run("tensor_list_gpu/samples_and_slices")


def test_viewed_as_one_tensor() -> None:
    run("tensor_list_gpu/viewed_as_one_tensor")


def test_contiguous_samples_of_several_owners_are_one_view() -> None:
    # Contiguous, but each released separately: a view of all keeps them all alive.
    run("tensor_list_gpu/contiguous_samples_of_several_owners_are_one_view")


def test_copies() -> None:
    run("tensor_list_gpu/copies")


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("kernel", [False, True])
def test_copy_to_external(contiguous: bool, kernel: bool) -> None:
    run(
        "tensor_list_gpu/copy_to_external",
        arguments=[contiguous, kernel, int(kernel or not contiguous)],
    )


def test_copies_of_any_size_and_alignment() -> None:
    run("tensor_list_gpu/copies_of_any_size_and_alignment")


def test_tensor_list_is_on_one_device() -> None:
    run("tensor_list_gpu/tensor_list_is_on_one_device", devices=2)


def test_calls_of_the_driver_that_fail() -> None:
    run("tensor_list_gpu/calls_of_the_driver_that_fail")
