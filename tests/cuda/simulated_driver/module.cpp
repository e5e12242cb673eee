#include "module.hpp"

#include <unordered_map>

#include "memory.hpp"

namespace simulated {

struct Module {
  CUmodule handle = nullptr;
  Context* context = nullptr;  // null for a library, which has a module in each context
  std::string image;
  std::map<std::string, CUfunction> functions;
  std::map<Context*, Module*> of_contexts;
  std::map<std::string, CUkernel> kernels;
};

namespace {

struct LibraryKernel {
  CUlibrary library;
  std::string name;
};

template <class Handle, class Value>
Value& value_of(std::unordered_map<Handle, Value>& all, Handle handle) {
  const auto found = all.find(handle);
  require(found != all.end(), CUDA_ERROR_INVALID_HANDLE);
  return found->second;
}

std::unordered_map<CUmodule, std::unique_ptr<Module>>& modules() {
  static auto& all = *new std::unordered_map<CUmodule, std::unique_ptr<Module>>;
  return all;
}

std::unordered_map<CUlibrary, std::unique_ptr<Module>>& libraries() {
  static auto& all = *new std::unordered_map<CUlibrary, std::unique_ptr<Module>>;
  return all;
}

std::unordered_map<CUkernel, LibraryKernel>& library_kernels() {
  static auto& all = *new std::unordered_map<CUkernel, LibraryKernel>;
  return all;
}

std::unordered_map<CUfunction, DeviceFunction>& device_functions() {
  static auto& all = *new std::unordered_map<CUfunction, DeviceFunction>;
  return all;
}

Module& open_module(Context& context, std::string image) {
  auto module = std::make_unique<Module>();
  module->handle = reinterpret_cast<CUmodule>(new_handle());
  module->context = &context;
  module->image = std::move(image);
  Module& made = *module;
  modules()[made.handle] = std::move(module);
  return made;
}

void close_module(CUmodule handle) {
  for (const auto& [name, function] : modules().at(handle)->functions) {
    device_functions().erase(function);
  }
  modules().erase(handle);
}

const Kernel* kernel_in(const std::string& image, const char* name) {
  require(name, CUDA_ERROR_INVALID_VALUE);
  require(has_entry(image, name), CUDA_ERROR_NOT_FOUND);
  const Kernel* kernel = find_kernel(name);
  if (!kernel) report("a kernel that was not compiled into the simulated driver", name);
  require(kernel, CUDA_ERROR_NOT_FOUND);
  return kernel;
}

CUfunction function_in(Module& module, const char* name) {
  const Kernel* kernel = kernel_in(module.image, name);
  CUfunction& handle = module.functions[name];
  if (!handle) {
    handle = reinterpret_cast<CUfunction>(new_handle());
    device_functions()[handle] = {kernel, &module, module.context};
  }
  return handle;
}

std::string image_for_devices(const void* image) {
  return read_image(image, settings().major, settings().minor);
}

int attribute_of(CUfunction_attribute attribute, int dynamic_shared) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 32;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return settings().major * 10 + settings().minor;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return dynamic_shared;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    default:
      fail(CUDA_ERROR_INVALID_VALUE);
  }
}

void give_parameter(const Kernel& kernel, size_t number, size_t* offset, size_t* bytes) {
  require(offset && number < kernel.parameters.size(), CUDA_ERROR_INVALID_VALUE);
  *offset = kernel.parameters[number].offset;
  if (bytes) *bytes = kernel.parameters[number].size;
}

}  // namespace

DeviceFunction& function_of(CUfunction handle) {
  require_some_context();
  // A kernel of a library refers to its function in the current context.
  const auto kernel = library_kernels().find(reinterpret_cast<CUkernel>(handle));
  if (kernel != library_kernels().end()) {
    Module& library = *value_of(libraries(), kernel->second.library);
    Context& context = current_context();
    Module*& module = library.of_contexts[&context];
    if (!module) module = &open_module(context, library.image);
    handle = function_in(*module, kernel->second.name.c_str());
  }
  DeviceFunction& found = value_of(device_functions(), handle);
  require_whole(*found.context);
  return found;
}

std::size_t number_of_modules() { return modules().size() + libraries().size(); }

void forget_modules(Context& context) {
  std::vector<CUmodule> gone;
  for (const auto& [handle, module] : modules()) {
    if (module->context == &context) gone.push_back(handle);
  }
  for (const CUmodule handle : gone) close_module(handle);
  for (const auto& [handle, library] : libraries()) library->of_contexts.erase(&context);
}

}  // namespace simulated

using namespace simulated;

DRIVER(cuModuleLoadDataEx, CUmodule* handle, const void* image, unsigned, CUjit_option*, void**) {
  Context& context = current_context();
  require(handle, CUDA_ERROR_INVALID_VALUE);
  waited_for_device();  // loading may synchronize, as it allocates
  *handle = open_module(context, image_for_devices(image)).handle;
}

DRIVER(cuModuleLoadData, CUmodule* handle, const void* image) {
  body_of_cuModuleLoadDataEx(handle, image, 0, nullptr, nullptr);
}

DRIVER(cuModuleUnload, CUmodule handle) {
  require(modules().count(handle) == 1, CUDA_ERROR_INVALID_HANDLE);
  Context& context = *modules().at(handle)->context;
  require_whole(context);
  wait_for_context(context);
  require(modules().count(handle) == 1, CUDA_ERROR_INVALID_HANDLE);
  close_module(handle);
}

DRIVER(cuModuleGetFunction, CUfunction* function, CUmodule handle, const char* name) {
  require_some_context();
  Module& module = *value_of(modules(), handle);
  require_whole(*module.context);
  require(function, CUDA_ERROR_INVALID_VALUE);
  *function = function_in(module, name);
}

DRIVER(cuModuleGetLoadingMode, CUmoduleLoadingMode* mode) {
  require(mode, CUDA_ERROR_INVALID_VALUE);
  *mode = CU_MODULE_LAZY_LOADING;
}

DRIVER(cuLibraryLoadData, CUlibrary* handle, const void* image, CUjit_option*, void**, unsigned,
       CUlibraryOption*, void**, unsigned) {
  require(handle, CUDA_ERROR_INVALID_VALUE);
  auto library = std::make_unique<Module>();
  library->image = image_for_devices(image);
  *handle = reinterpret_cast<CUlibrary>(new_handle());
  libraries()[*handle] = std::move(library);
}

DRIVER(cuLibraryUnload, CUlibrary handle) {
  Module& library = *value_of(libraries(), handle);
  for (const auto& [context, module] : library.of_contexts) close_module(module->handle);
  for (const auto& [name, kernel] : library.kernels) library_kernels().erase(kernel);
  libraries().erase(handle);
}

DRIVER(cuLibraryGetKernel, CUkernel* kernel, CUlibrary handle, const char* name) {
  Module& library = *value_of(libraries(), handle);
  require(kernel, CUDA_ERROR_INVALID_VALUE);
  kernel_in(library.image, name);
  CUkernel& known = library.kernels[name];
  if (!known) known = reinterpret_cast<CUkernel>(new_handle());
  library_kernels()[known] = {handle, name};
  *kernel = known;
}

DRIVER(cuKernelGetFunction, CUfunction* function, CUkernel kernel) {
  require(function, CUDA_ERROR_INVALID_VALUE);
  const DeviceFunction& found = function_of(reinterpret_cast<CUfunction>(kernel));
  *function = found.module->functions.at(found.kernel->name);
}

DRIVER(cuFuncGetAttribute, int* value, CUfunction_attribute attribute, CUfunction function) {
  require(value, CUDA_ERROR_INVALID_VALUE);
  *value = attribute_of(attribute, function_of(function).dynamic_shared);
}

DRIVER(cuFuncSetAttribute, CUfunction function, CUfunction_attribute attribute, int value) {
  DeviceFunction& found = function_of(function);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return;
  require(
      attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 && value <= 101376,
      CUDA_ERROR_INVALID_VALUE);
  found.dynamic_shared = value;
}

DRIVER(cuFuncGetModule, CUmodule* module, CUfunction function) {
  require(module, CUDA_ERROR_INVALID_VALUE);
  *module = function_of(function).module->handle;
}

DRIVER(cuFuncGetName, const char** name, CUfunction function) {
  require(name, CUDA_ERROR_INVALID_VALUE);
  *name = function_of(function).kernel->name;
}

DRIVER(cuFuncLoad, CUfunction function) { function_of(function); }

DRIVER(cuFuncGetParamInfo, CUfunction function, size_t number, size_t* offset, size_t* bytes) {
  give_parameter(*function_of(function).kernel, number, offset, bytes);
}

DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* blocks, CUfunction function,
       int threads, size_t shared_bytes, unsigned) {
  function_of(function);
  require(blocks && threads > 0 && threads <= 1024, CUDA_ERROR_INVALID_VALUE);
  const std::size_t by_shared = shared_bytes ? 102400 / shared_bytes : 32;
  *blocks = static_cast<int>(std::min<std::size_t>({32, 2048u / threads, by_shared}));
}

DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, CUfunction function, int threads,
       size_t shared_bytes) {
  body_of_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                               shared_bytes, 0);
}
