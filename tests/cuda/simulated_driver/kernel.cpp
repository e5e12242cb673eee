#include "kernel.hpp"

#include <ucontext.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

// Only there if kernels are compiled with AddressSanitizer, which has to know on which stack a thread
// is.
extern "C" __attribute__((weak)) void __sanitizer_start_switch_fiber(void** own, const void* stack,
                                                                     std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_finish_switch_fiber(void* own, const void** from,
                                                                      std::size_t* size);

#define SIMULATED_INDEX __thread __attribute__((tls_model("initial-exec"))) simulated::Index
SIMULATED_INDEX threadIdx;
SIMULATED_INDEX blockIdx;
SIMULATED_INDEX blockDim;
SIMULATED_INDEX gridDim;
#undef SIMULATED_INDEX

namespace simulated {
namespace {

constexpr std::size_t kStack = std::size_t{128} << 10;

std::map<std::string, Kernel>& kernels() {
  static auto& all = *new std::map<std::string, Kernel>;
  return all;
}

// A thread of a block. Only memory that it touches is real.
struct Fibre {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStack]};
  Index index;
  bool ended;
  void* sanitizer = nullptr;
};

struct Scheduler {
  ucontext_t context;
  std::vector<std::unique_ptr<Fibre>> fibres;
  std::vector<char> shared;
  Fibre* running = nullptr;
  const Launch* launch = nullptr;
  void* sanitizer = nullptr;
  const void* stack = nullptr;
  std::size_t stack_size = 0;
};

thread_local Scheduler scheduler;

void leaves_for(void** own, const void* stack, std::size_t size) {
  if (sanitized()) __sanitizer_start_switch_fiber(own, stack, size);
}

void arrived(void* own, const void** from, std::size_t* size) {
  if (sanitized()) __sanitizer_finish_switch_fiber(own, from, size);
}

void begin() {
  arrived(nullptr, &scheduler.stack, &scheduler.stack_size);
  Fibre& self = *scheduler.running;
  scheduler.launch->run_thread();
  self.ended = true;
  leaves_for(nullptr, scheduler.stack, scheduler.stack_size);
  swapcontext(&self.context, &scheduler.context);
}

void resume(Fibre& fibre) {
  scheduler.running = &fibre;
  threadIdx = fibre.index;
  leaves_for(&scheduler.sanitizer, fibre.stack.get(), kStack);
  swapcontext(&scheduler.context, &fibre.context);
  arrived(scheduler.sanitizer, nullptr, nullptr);
}

// Each thread runs to its next barrier, then all the next piece. Those that ended do not count.
void run_with_barriers(const Launch& launch, const Geometry& geometry) {
  const Index& block = geometry.block;
  const std::size_t count = std::size_t{block.x} * block.y * block.z;
  while (scheduler.fibres.size() < count) scheduler.fibres.push_back(std::make_unique<Fibre>());
  scheduler.launch = &launch;
  for (std::size_t number = 0; number < count; ++number) {
    Fibre& fibre = *scheduler.fibres[number];
    const auto place = static_cast<unsigned>(number);
    fibre.index = {place % block.x, place / block.x % block.y, place / block.x / block.y};
    fibre.ended = false;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.get();
    fibre.context.uc_stack.ss_size = kStack;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, begin, 0);
  }
  for (bool again = true; again;) {
    again = false;
    for (std::size_t number = 0; number < count; ++number) {
      Fibre& fibre = *scheduler.fibres[number];
      if (fibre.ended) continue;
      resume(fibre);
      again |= !fibre.ended;
    }
  }
}

}  // namespace

bool sanitized() { return __sanitizer_start_switch_fiber != nullptr; }

void add_kernel(const Kernel& kernel) { kernels()[kernel.name] = kernel; }

const Kernel* find_kernel(const char* name) {
  const auto found = kernels().find(name);
  return found == kernels().end() ? nullptr : &found->second;
}

void barrier() {
  Fibre& self = *scheduler.running;
  leaves_for(&self.sanitizer, scheduler.stack, scheduler.stack_size);
  swapcontext(&self.context, &scheduler.context);
  arrived(self.sanitizer, &scheduler.stack, &scheduler.stack_size);
}

void* dynamic_shared() {
  const auto address = reinterpret_cast<std::uintptr_t>(scheduler.shared.data());
  return scheduler.shared.data() + (16 - address % 16) % 16;
}

void run(const Kernel& kernel, const Launch& launch, const Geometry& geometry) {
  gridDim = geometry.grid;
  blockDim = geometry.block;
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z) {
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
        scheduler.shared.assign(geometry.shared_bytes + 16, static_cast<char>(0xcd));
        if (kernel.has_barriers) {
          run_with_barriers(launch, geometry);
        } else {
          launch.run_block(geometry.block);
        }
      }
    }
  }
}

}  // namespace simulated
