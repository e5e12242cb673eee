#include "context.hpp"

#include <algorithm>

#include "event.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "stream.hpp"

namespace simulated {
namespace {

std::map<CUcontext, Context*>& contexts() {
  static auto& all = *new std::map<CUcontext, Context*>;
  return all;
}

std::set<CUcontext>& destroyed() {
  static auto& all = *new std::set<CUcontext>;
  return all;
}

std::vector<CUcontext>& stack() {
  static thread_local std::vector<CUcontext> of_thread;
  return of_thread;
}

Context* open_context(Device& device, CUcontext handle, unsigned flags) {
  auto* context = new Context;
  context->device = &device;
  context->handle = handle;
  context->id = new_handle();
  context->flags = flags;
  contexts()[handle] = context;
  destroyed().erase(handle);
  return context;
}

void destroy(Context& context) {
  wait_for_context(context);
  forget_streams(context);
  forget_events(context);
  forget_modules(context);
  forget_memory(context);
  contexts().erase(context.handle);
  destroyed().insert(context.handle);
}

void destroy_primary(Device& device) {
  Context* context = device.primary;
  device.primary = nullptr;
  device.retains = 0;
  if (context) destroy(*context);
}

}  // namespace

Context& context_of(CUcontext handle) {
  const auto found = contexts().find(handle);
  if (found == contexts().end()) {
    fail(destroyed().count(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT);
  }
  return *found->second;
}

Context& current_context() {
  require(!stack().empty() && stack().back(), CUDA_ERROR_INVALID_CONTEXT);
  Context& context = context_of(stack().back());
  require_whole(context);
  return context;
}

void require_some_context() { require(!stack().empty(), CUDA_ERROR_INVALID_CONTEXT); }

void require_whole(const Context& context) {
  require(context.broken == CUDA_SUCCESS, context.broken);
}

void break_context(Context& context, CUresult error) {
  if (context.broken == CUDA_SUCCESS) context.broken = error;
}

void break_current_context(CUresult error) {
  if (stack().empty()) return;
  const auto found = contexts().find(stack().back());
  if (found != contexts().end()) break_context(*found->second, error);
}

std::vector<Context*> all_contexts() {
  std::vector<Context*> all;
  for (const auto& [handle, context] : contexts()) all.push_back(context);
  return all;
}

}  // namespace simulated

using namespace simulated;

DRIVER(cuDevicePrimaryCtxRetain, CUcontext* handle, CUdevice ordinal) {
  Device& device = device_at(ordinal);
  require(handle, CUDA_ERROR_INVALID_VALUE);
  if (!device.primary_handle) device.primary_handle = reinterpret_cast<CUcontext>(new_handle());
  if (!device.primary) {
    device.primary = open_context(device, device.primary_handle, device.primary_flags);
  }
  ++device.retains;
  *handle = device.primary_handle;
}

DRIVER(cuDevicePrimaryCtxRelease, CUdevice ordinal) {
  Device& device = device_at(ordinal);
  require(device.retains > 0, CUDA_ERROR_INVALID_CONTEXT);
  if (--device.retains == 0) destroy_primary(device);
}

DRIVER(cuDevicePrimaryCtxReset, CUdevice ordinal) { destroy_primary(device_at(ordinal)); }

DRIVER(cuDevicePrimaryCtxGetState, CUdevice ordinal, unsigned* flags, int* active) {
  const Device& device = device_at(ordinal);
  require(flags && active, CUDA_ERROR_INVALID_VALUE);
  *flags = device.primary_flags;
  *active = device.primary != nullptr;
}

DRIVER(cuDevicePrimaryCtxSetFlags, CUdevice ordinal, unsigned flags) {
  Device& device = device_at(ordinal);
  device.primary_flags = flags;
  if (device.primary) device.primary->flags = flags;
}

DRIVER(cuCtxCreate, CUcontext* handle, unsigned flags, CUdevice ordinal) {
  Device& device = device_at(ordinal);
  require(handle, CUDA_ERROR_INVALID_VALUE);
  *handle = reinterpret_cast<CUcontext>(new_handle());
  open_context(device, *handle, flags);
  stack().push_back(*handle);
}

DRIVER(cuCtxDestroy, CUcontext handle) {
  Context& context = context_of(handle);
  require(handle != context.device->primary_handle, CUDA_ERROR_INVALID_CONTEXT);
  if (!stack().empty() && stack().back() == handle) stack().pop_back();
  destroy(context);
}

DRIVER(cuCtxPushCurrent, CUcontext handle) {
  context_of(handle);
  stack().push_back(handle);
}

DRIVER(cuCtxPopCurrent, CUcontext* handle) {
  require(!stack().empty(), CUDA_ERROR_INVALID_CONTEXT);
  if (handle) *handle = stack().back();
  stack().pop_back();
}

DRIVER(cuCtxSetCurrent, CUcontext handle) {
  if (handle) context_of(handle);
  if (!stack().empty()) stack().pop_back();
  if (handle) stack().push_back(handle);
}

DRIVER(cuCtxGetCurrent, CUcontext* handle) {
  require(handle, CUDA_ERROR_INVALID_VALUE);
  *handle = stack().empty() ? nullptr : stack().back();
}

// This one returns the device of a broken context, too.
DRIVER(cuCtxGetDevice, CUdevice* ordinal) {
  require(ordinal, CUDA_ERROR_INVALID_VALUE);
  require(!stack().empty(), CUDA_ERROR_INVALID_CONTEXT);
  *ordinal = context_of(stack().back()).device->ordinal;
}

DRIVER(cuCtxGetFlags, unsigned* flags) {
  require(flags, CUDA_ERROR_INVALID_VALUE);
  *flags = current_context().flags;
}

DRIVER(cuCtxGetId, CUcontext handle, unsigned long long* id) {
  require(id, CUDA_ERROR_INVALID_VALUE);
  *id = (handle ? context_of(handle) : current_context()).id;
}

DRIVER(cuCtxGetApiVersion, CUcontext handle, unsigned* version) {
  require(version, CUDA_ERROR_INVALID_VALUE);
  handle ? context_of(handle) : current_context();
  *version = 3020;
}

DRIVER(cuCtxGetStreamPriorityRange, int* least, int* greatest) {
  current_context();
  if (least) *least = 0;
  if (greatest) *greatest = -5;
}

DRIVER(cuCtxSynchronize, ) {
  Context& context = current_context();
  wait_for_context(context);
  require_whole(context);
}

DRIVER(cuDeviceCanAccessPeer, int* can, CUdevice device, CUdevice peer) {
  require(can, CUDA_ERROR_INVALID_VALUE);
  *can = &device_at(device) != &device_at(peer);
}

DRIVER(cuDeviceGetP2PAttribute, int* value, CUdevice_P2PAttribute attribute, CUdevice device,
       CUdevice peer) {
  require(value && &device_at(device) != &device_at(peer), CUDA_ERROR_INVALID_VALUE);
  *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
}

DRIVER(cuCtxEnablePeerAccess, CUcontext peer, unsigned flags) {
  Context& context = current_context();
  const int other = context_of(peer).device->ordinal;
  require(flags == 0, CUDA_ERROR_INVALID_VALUE);
  require(other != context.device->ordinal, CUDA_ERROR_INVALID_DEVICE);
  require(context.peers.insert(other).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
}

DRIVER(cuCtxDisablePeerAccess, CUcontext peer) {
  Context& context = current_context();
  const int other = context_of(peer).device->ordinal;
  require(context.peers.erase(other) == 1, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}
