// Modules: images of device code, and the functions that programs get from them.
#pragma once

#include <memory>
#include <string>

#include "context.hpp"
#include "kernel.hpp"

namespace simulated {

struct Module;

struct DeviceFunction {
  const Kernel* kernel = nullptr;
  Module* module = nullptr;
  Context* context = nullptr;
  int dynamic_shared = 49152;  // the maximum of a launch
};

DeviceFunction& function_of(CUfunction handle);
std::size_t number_of_modules();
void forget_modules(Context& context);

// Throws the driver's error for images that a device cannot run.
std::string read_image(const void* image, int major, int minor);
bool has_entry(const std::string& image, const std::string& name);

}  // namespace simulated
