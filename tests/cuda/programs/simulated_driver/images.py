"""Images compiled by NVRTC. The device has compute capability 8.6."""

from pathlib import Path

from cuda.bindings import driver, nvrtc

from tests.cuda import simulated_driver
from tests.cuda.calls import done, error, use_device


def compiled(source: bytes, architecture: str) -> bytes:
    """Compile device code: a cubin for ``sm_XX``, PTX for ``compute_XX``."""
    _, program = nvrtc.nvrtcCreateProgram(source, b"image.cu", 0, [], [])
    options = [f"--gpu-architecture={architecture}".encode()]
    code = nvrtc.nvrtcCompileProgram(program, len(options), options)[0]
    assert code == nvrtc.nvrtcResult.NVRTC_SUCCESS, architecture
    is_cubin = architecture.startswith("sm_")
    size = nvrtc.nvrtcGetCUBINSize if is_cubin else nvrtc.nvrtcGetPTXSize
    get = nvrtc.nvrtcGetCUBIN if is_cubin else nvrtc.nvrtcGetPTX
    image = bytes(size(program)[1])
    get(program, image)
    return image


source = (Path(simulated_driver.__file__).parents[1] / "kernels" / "simulated.cu").read_bytes()
use_device()
expected = {
    "sm_75": "NO_BINARY_FOR_GPU",
    "sm_80": "CUDA_SUCCESS",
    "sm_86": "CUDA_SUCCESS",
    "sm_89": "NO_BINARY_FOR_GPU",
    "sm_90": "NO_BINARY_FOR_GPU",
    "sm_100": "NO_BINARY_FOR_GPU",
    "compute_75": "CUDA_SUCCESS",
    "compute_90": "INVALID_PTX",
}
images = {architecture: compiled(source, architecture) for architecture in expected}
found = {name: error(driver.cuModuleLoadData(image)) for name, image in images.items()}
assert found == expected
for architecture in ("sm_86", "compute_75"):
    module = done(driver.cuModuleLoadData(images[architecture]))
    for kernel in (b"simulated_sum", b"simulated_fill_float"):
        done(driver.cuModuleGetFunction(module, kernel))
    # It was compiled for the host, but is not in this image.
    without = source.replace(b"simulated_neighbours", b"simulated_others")
    module = done(driver.cuModuleLoadData(compiled(without, architecture)))
    assert error(driver.cuModuleGetFunction(module, b"simulated_neighbours")) == "NOT_FOUND"
