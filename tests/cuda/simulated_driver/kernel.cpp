#include "kernel.hpp"

#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

// Only defined if kernels are compiled with AddressSanitizer, which has to know the stack of a
// thread.
extern "C" __attribute__((weak)) void __sanitizer_start_switch_fiber(void** own, const void* stack,
                                                                     std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_finish_switch_fiber(void* own, const void** from,
                                                                      std::size_t* size);

namespace simulated {

__thread Indices indices;

namespace {

constexpr std::size_t kStack = std::size_t{128} << 10;

std::map<std::string, Kernel>& kernels() {
  static auto& all = *new std::map<std::string, Kernel>;
  return all;
}

// Where a stack continues.
struct Context {
  ucontext_t full;
  void* place[5];        // see __builtin_setjmp
  bool entered = false;  // whether `place` is set
};

// A thread of a block, then one of the next block. Only pages that it touches are allocated.
struct Fibre {
  Context context;
  std::unique_ptr<char[]> stack{new char[kStack]};
  Index index;
  unsigned number;
  bool ended;
  void* sanitizer = nullptr;
};

// Threads that synchronize.
struct Meeting {
  unsigned arrived = 0;
  unsigned generation = 0;
};

struct Warp {
  Meeting meeting;
  unsigned arrived = 0;  // by lane
  unsigned alive = 0;
  std::uint64_t brought[32];
};

struct Scheduler {
  Context context;
  std::vector<std::unique_ptr<Fibre>> fibres;
  std::vector<char> shared;
  std::vector<Warp> warps;
  Meeting meeting;
  unsigned alive = 0;
  bool moved = false;  // whether any fiber made progress
  Fibre* running = nullptr;
  const Launch* launch = nullptr;
  void* sanitizer = nullptr;
  const void* stack = nullptr;
  std::size_t stack_size = 0;
};

Scheduler& scheduler_of_thread() {
  thread_local Scheduler own;
  return own;
}

void leaves_for(void** own, const void* stack, std::size_t size) {
  if (sanitized()) __sanitizer_start_switch_fiber(own, stack, size);
}

void arrived(void* own, const void** from, std::size_t* size) {
  if (sanitized()) __sanitizer_finish_switch_fiber(own, from, size);
}

[[noreturn]] void give_up(const char* text) {
  std::fprintf(stderr, "simulated driver: %s\n", text);
  std::abort();
}

Fibre& running(const Scheduler& scheduler) {
  if (!scheduler.running) give_up("a barrier in a kernel whose source did not seem to have any");
  return *scheduler.running;
}

Warp& warp_of(Scheduler& scheduler, const Fibre& fibre) {
  return scheduler.warps[fibre.number / 32];
}

// The function that sets a place must not be the one that jumps to another.
[[noreturn]] __attribute__((noinline)) void jump(Context& to) {
  if (to.entered) __builtin_longjmp(to.place, 1);
  setcontext(&to.full);
  std::abort();
}

// Continues with another stack, until that returns to this one. `swapcontext` is two calls of the
// operating system, and kernels synchronize often; AddressSanitizer takes a call of `longjmp` for
// the end of functions.
__attribute__((noinline)) void switch_to(Context& own, Context& other) {
  own.entered = true;
  if (__builtin_setjmp(own.place) == 0) jump(other);
  asm volatile("" ::: "memory");  // others have run
}

void let_others_run(Scheduler& scheduler) {
  Fibre& self = running(scheduler);
  leaves_for(&self.sanitizer, scheduler.stack, scheduler.stack_size);
  switch_to(self.context, scheduler.context);
  arrived(self.sanitizer, &scheduler.stack, &scheduler.stack_size);
}

void run_threads() {
  Scheduler& scheduler = scheduler_of_thread();
  arrived(nullptr, &scheduler.stack, &scheduler.stack_size);
  while (true) {
    scheduler.launch->run_thread();
    Fibre& self = running(scheduler);
    self.ended = scheduler.moved = true;
    --scheduler.alive;
    warp_of(scheduler, self).alive &= ~(1u << self.number % 32);
    let_others_run(scheduler);
  }
}

void resume(Scheduler& scheduler, Fibre& fibre) {
  scheduler.running = &fibre;
  indices.thread = fibre.index;
  leaves_for(&scheduler.sanitizer, fibre.stack.get(), kStack);
  switch_to(scheduler.context, fibre.context);
  arrived(scheduler.sanitizer, nullptr, nullptr);
}

std::unique_ptr<Fibre> make_fibre() {
  auto fibre = std::make_unique<Fibre>();
  ucontext_t& context = fibre->context.full;
  getcontext(&context);
  context.uc_stack.ss_sp = fibre->stack.get();
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, run_threads, 0);
  return fibre;
}

// Finished threads are not waited for.
template <class AllAreHere>
void meet(Scheduler& scheduler, Meeting& meeting, AllAreHere all_are_here) {
  const unsigned generation = meeting.generation;
  while (meeting.generation == generation) {
    if (all_are_here()) {
      ++meeting.generation;
    } else {
      let_others_run(scheduler);
    }
  }
  scheduler.moved = true;
}

void meet_in_warp(Scheduler& scheduler, unsigned mask) {
  const Fibre& self = running(scheduler);
  Warp& warp = warp_of(scheduler, self);
  warp.arrived |= 1u << self.number % 32;
  meet(scheduler, warp.meeting, [&] {
    if (mask & warp.alive & ~warp.arrived) return false;
    warp.arrived = 0;
    return true;
  });
}

void run_with_barriers(Scheduler& scheduler, const Launch& launch, const Geometry& geometry) {
  const Index& block = geometry.block;
  const unsigned count = block.x * block.y * block.z;
  while (scheduler.fibres.size() < count) scheduler.fibres.push_back(make_fibre());
  scheduler.launch = &launch;
  scheduler.alive = count;
  scheduler.meeting = {};
  scheduler.warps.assign((count + 31) / 32, Warp());
  for (unsigned number = 0; number < count; ++number) {
    Fibre& fibre = *scheduler.fibres[number];
    fibre.index = {number % block.x, number / block.x % block.y, number / block.x / block.y};
    fibre.number = number;
    fibre.ended = false;
    warp_of(scheduler, fibre).alive |= 1u << number % 32;
  }
  while (scheduler.alive > 0) {
    scheduler.moved = false;
    for (unsigned number = 0; number < count; ++number) {
      if (!scheduler.fibres[number]->ended) resume(scheduler, *scheduler.fibres[number]);
    }
    if (!scheduler.moved) {
      give_up("threads of a block wait for others that never come");
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
  Scheduler& scheduler = scheduler_of_thread();
  running(scheduler);
  Meeting& meeting = scheduler.meeting;
  ++meeting.arrived;
  meet(scheduler, meeting, [&] {
    if (meeting.arrived < scheduler.alive) return false;
    meeting.arrived = 0;
    return true;
  });
}

unsigned lane() { return running(scheduler_of_thread()).number % 32; }

void warp_barrier(unsigned mask) { meet_in_warp(scheduler_of_thread(), mask); }

std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned from) {
  Scheduler& scheduler = scheduler_of_thread();
  const Fibre& self = running(scheduler);
  Warp& warp = warp_of(scheduler, self);
  warp.brought[self.number % 32] = value;
  meet_in_warp(scheduler, mask);
  const std::uint64_t result = warp.brought[from % 32];
  meet_in_warp(scheduler, mask);  // no thread writes the next one before all have read this
  return result;
}

unsigned vote(unsigned mask, bool yes) {
  Scheduler& scheduler = scheduler_of_thread();
  const Fibre& self = running(scheduler);
  Warp& warp = warp_of(scheduler, self);
  warp.brought[self.number % 32] = yes;
  meet_in_warp(scheduler, mask);
  unsigned votes = 0;
  for (unsigned other = 0; other < 32; ++other) {
    if (mask & warp.alive & 1u << other && warp.brought[other]) votes |= 1u << other;
  }
  meet_in_warp(scheduler, mask);
  return votes;
}

void* dynamic_shared() {
  std::vector<char>& shared = scheduler_of_thread().shared;
  const auto address = reinterpret_cast<std::uintptr_t>(shared.data());
  return shared.data() + (16 - address % 16) % 16;
}

void run(const Kernel& kernel, const Launch& launch, const Geometry& geometry) {
  Scheduler& scheduler = scheduler_of_thread();
  const Index& grid = indices.grid = geometry.grid;
  indices.block_size = geometry.block;
  Index& block = indices.block;
  for (block.z = 0; block.z < grid.z; ++block.z) {
    for (block.y = 0; block.y < grid.y; ++block.y) {
      for (block.x = 0; block.x < grid.x; ++block.x) {
        scheduler.shared.assign(geometry.shared_bytes + 16, static_cast<char>(0xcd));
        if (kernel.has_barriers) {
          run_with_barriers(scheduler, launch, geometry);
        } else {
          launch.run_block(geometry.block);
        }
      }
    }
  }
}

}  // namespace simulated
