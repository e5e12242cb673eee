// Reference-counted state of a device, of its streams, and of blocks of its memory.
//
// Nothing here calls the driver: modules pass functions that do. Objects are released by reference
// count; the last owner may be a native thread, long after the module's own objects are gone.
#pragma once

#include <cuda.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace dali_core {

struct StreamState;

// Memory to be freed once an event is done. Without a pointer: the stream that frees it itself has
// gone, and the event tells when it has.
struct PendingFree {
  CUevent event = nullptr;
  CUdeviceptr pointer = 0;
};

// A device with its primary context, which is retained while the device is in use.
struct DeviceState {
  using Close = void (*)(DeviceState*);

  DeviceState(int number, CUcontext context, Close close)
      : number(number), context(context), owner_process(::getpid()), close_(close) {}
  ~DeviceState() { close_(this); }
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  // A forked child has neither the context nor the threads that may have held locks.
  bool is_inherited() const { return ::getpid() != owner_process; }

  // An event to use, or null if a new one is to be made.
  CUevent take_event() {
    std::lock_guard<std::mutex> lock(mutex);
    if (idle_events.empty()) return nullptr;
    const CUevent event = idle_events.back();
    idle_events.pop_back();
    return event;
  }
  // False if there are enough, or no room to note it: it is to be destroyed.
  bool give_event(CUevent event) noexcept {
    std::lock_guard<std::mutex> lock(mutex);
    if (idle_events.size() >= kMaxIdleEvents) return false;
    try {
      idle_events.push_back(event);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  bool add_pending_free(PendingFree pending) noexcept {
    std::lock_guard<std::mutex> lock(mutex);
    try {
      pending_frees.push_back(pending);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  std::vector<PendingFree> take_pending_frees() noexcept {
    std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(pending_frees, {});
  }

  // Hands over whatever is to be returned to the driver.
  void return_all(void (*event)(CUevent), void (*module)(CUmodule), void (*block)(CUdeviceptr)) {
    for (const PendingFree& pending : pending_frees) {
      event(pending.event);
      if (pending.pointer) block(pending.pointer);
    }
    for (const CUevent idle : idle_events) event(idle);
    for (const auto& loaded : modules) module(loaded.second);
  }

  // Runs `find` until it has succeeded once.
  CUresult find_pool_once(CUresult (*find)(DeviceState*)) {
    if (pool_is_known) return CUDA_SUCCESS;
    std::lock_guard<std::mutex> lock(pool_mutex);
    const CUresult status = pool_is_known ? CUDA_SUCCESS : find(this);
    if (status == CUDA_SUCCESS) pool_is_known = true;
    return status;
  }

  // All streams whose memory may still be on its way back.
  std::vector<std::shared_ptr<StreamState>> streams_in_use() noexcept;

  void add_use(int64_t bytes) {
    const int64_t now = used_bytes += bytes;
    int64_t high = used_high_bytes;
    while (now > high && !used_high_bytes.compare_exchange_weak(high, now)) {
    }
  }

  // Notes the failure that made the context useless. False: it was known already.
  bool note_failure(const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex);
    if (is_broken) return false;
    first_failure = text;
    is_broken = true;
    return true;
  }
  std::string known_failure() {
    std::lock_guard<std::mutex> lock(mutex);
    return first_failure;
  }

  // Null if it is not loaded; otherwise it counts as launched.
  CUfunction kernel_to_launch(const char* name) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = kernels.find(name);
    if (found == kernels.end()) return nullptr;
    last_kernel = found->first.c_str();
    return found->second;
  }
  bool has_kernel(const char* name) {
    std::lock_guard<std::mutex> lock(mutex);
    return kernels.find(name) != kernels.end();
  }
  void add_kernel(const std::string& name, CUfunction function) {
    std::lock_guard<std::mutex> lock(mutex);
    kernels[name] = function;
  }
  CUmodule find_module(const std::string& stem) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = modules.find(stem);
    return found == modules.end() ? nullptr : found->second;
  }
  // False if another thread was quicker.
  bool add_module(const std::string& stem, CUmodule module) {
    std::lock_guard<std::mutex> lock(mutex);
    return modules.emplace(stem, module).second;
  }

  static constexpr size_t kMaxIdleEvents = 256;

  const int number;
  const CUcontext context;
  const ::pid_t owner_process;

  std::mutex mutex;  // of the containers
  std::vector<CUevent> idle_events;
  std::vector<StreamState*> streams;
  std::vector<PendingFree> pending_frees;
  std::map<std::string, CUmodule> modules;
  std::map<std::string, CUfunction, std::less<>> kernels;
  std::string first_failure;

  std::atomic<bool> is_broken{false};
  std::atomic<const char*> last_kernel{nullptr};
  std::atomic<int64_t> used_bytes{0};
  std::atomic<int64_t> used_high_bytes{0};

  // Where memory comes from, found out at the first allocation; null: not from a pool.
  std::mutex pool_mutex;
  std::atomic<bool> pool_is_known{false};
  CUmemoryPool pool = nullptr;
  bool pool_is_own = false;
  // The device's default pool, if it keeps what others release there, and what it kept before.
  CUmemoryPool retained_pool = nullptr;
  uint64_t threshold_before = 0;

 private:
  const Close close_;
};

// A stream, our own or an external one.
struct StreamState : std::enable_shared_from_this<StreamState> {
  using Close = void (*)(StreamState*);

  StreamState(std::shared_ptr<DeviceState> device, CUstream stream, bool is_own,
              std::shared_ptr<void> keep, Close close)
      : device(std::move(device)),
        stream(stream),
        is_own(is_own),
        keep(std::move(keep)),
        close_(close) {
    std::lock_guard<std::mutex> lock(this->device->mutex);
    this->device->streams.push_back(this);
  }
  ~StreamState() {
    if (!device->is_inherited()) {
      std::lock_guard<std::mutex> lock(device->mutex);
      auto& streams = device->streams;
      streams.erase(std::find(streams.begin(), streams.end(), this));
    }
    close_(this);
  }
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;

  // Whether the stream lives as long as this; not so for a handle of another library's stream.
  bool is_held() const { return is_own || keep; }

  const std::shared_ptr<DeviceState> device;
  const CUstream stream;
  const bool is_own;
  std::atomic<bool> has_pending_frees{false};

 private:
  const std::shared_ptr<void> keep;  // a foreign stream's Python object
  const Close close_;
};

inline std::vector<std::shared_ptr<StreamState>> DeviceState::streams_in_use() noexcept {
  std::vector<std::shared_ptr<StreamState>> found;
  std::lock_guard<std::mutex> lock(mutex);
  try {
    found.reserve(streams.size());
  } catch (const std::bad_alloc&) {
    return found;
  }
  for (StreamState* state : streams) {
    if (!state->has_pending_frees) continue;
    if (auto alive = state->weak_from_this().lock()) found.push_back(std::move(alive));
  }
  return found;
}

}  // namespace dali_core
