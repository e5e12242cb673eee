// Launches of kernels.
#include <cstdint>

#include "memory.hpp"
#include "module.hpp"

namespace simulated {
namespace {

// The arguments, one by one or from a buffer.
std::unique_ptr<Launch> pack(const Kernel& kernel, void** arguments, void** extra) {
  if (kernel.parameters.empty()) return kernel.pack(nullptr);
  if (arguments) {
    require(!extra, CUDA_ERROR_INVALID_VALUE);
    return kernel.pack(arguments);
  }
  require(extra, CUDA_ERROR_INVALID_VALUE);
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(extra[1]);
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(extra[1]);
  }
  require(buffer && bytes >= kernel.parameter_bytes, CUDA_ERROR_INVALID_VALUE);
  std::vector<void*> each;
  for (const Parameter& parameter : kernel.parameters) each.push_back(buffer + parameter.offset);
  return kernel.pack(each.data());
}

void check_geometry(const Geometry& geometry, const DeviceFunction& function) {
  const Index& grid = geometry.grid;
  const Index& block = geometry.block;
  const bool grid_fits = grid.x > 0 && grid.x <= 2147483647u && grid.y > 0 && grid.y <= 65535 &&
                         grid.z > 0 && grid.z <= 65535;
  const bool block_fits = block.x > 0 && block.x <= 1024 && block.y > 0 && block.y <= 1024 &&
                          block.z > 0 && block.z <= 64 &&
                          std::uint64_t{block.x} * block.y * block.z <= 1024;
  const bool shared_fits =
      geometry.shared_bytes <= static_cast<std::size_t>(function.dynamic_shared);
  require(grid_fits && block_fits && shared_fits, CUDA_ERROR_INVALID_VALUE);
}

// A fault of the device occurs when a stream executes the kernel, and is sticky.
bool may_run(Context& context, const Launch& launch) {
  const std::lock_guard<std::mutex> lock(mutex());
  bool sticky = false;
  const CUresult injected = counter_of("kernel").next(sticky);
  if (injected != CUDA_SUCCESS) break_context(context, injected);
  for (const void* pointer : launch.pointers) {
    const Allocation* found = allocation_at(reinterpret_cast<std::uintptr_t>(pointer));
    if (!pointer || (found && reachable(*found, context))) continue;
    report("a kernel was given an address that is not in memory its device can reach", pointer);
    break_context(context, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  return context.broken == CUDA_SUCCESS;
}

void launch(CUfunction handle, const Geometry& geometry, CUstream in, void** arguments,
            void** extra) {
  const auto stream = stream_of(in);
  const DeviceFunction& function = function_of(handle);
  require(function.context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  check_geometry(geometry, function);
  const Kernel* kernel = function.kernel;
  const std::shared_ptr<Launch> packed = pack(*kernel, arguments, extra);
  Context& context = *stream->context;
  submit(stream, Kind::work, [&context, kernel, packed, geometry] {
    if (may_run(context, *packed) && settings().runs_kernels) run(*kernel, *packed, geometry);
  });
}

}  // namespace
}  // namespace simulated

using namespace simulated;

DRIVER(cuLaunchKernel, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
       void** arguments, void** extra) {
  launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, stream,
         arguments, extra);
}

DRIVER(cuLaunchKernelEx, const CUlaunchConfig* config, CUfunction function, void** arguments,
       void** extra) {
  require(config, CUDA_ERROR_INVALID_VALUE);
  launch(function,
         {{config->gridDimX, config->gridDimY, config->gridDimZ},
          {config->blockDimX, config->blockDimY, config->blockDimZ},
          config->sharedMemBytes},
         config->hStream, arguments, extra);
}
