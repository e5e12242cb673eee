// A kernel that was compiled for the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace simulated {

struct Index {
  unsigned x, y, z;
};

// The built-in variables of device code. Not in static thread-local storage: shared memory, which
// is thread-local as well, is too large for it. All at one address, since that takes a call.
struct Indices {
  Index thread, block, block_size, grid;
};
extern __thread Indices indices;

struct Geometry {
  Index grid;
  Index block;
  std::size_t shared_bytes;
};

// A kernel with its arguments.
class Launch {
 public:
  virtual ~Launch() = default;
  virtual void run_thread() const = 0;                   // the one of the index variables
  virtual void run_block(const Index& block) const = 0;  // for kernels without barriers

  // The arguments that are addresses.
  std::vector<const void*> pointers;
};

struct Parameter {
  std::size_t offset, size;
};

struct Kernel {
  const char* name;
  bool has_barriers;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes;
  std::unique_ptr<Launch> (*pack)(void* const* arguments);
};

void add_kernel(const Kernel& kernel);
const Kernel* find_kernel(const char* name);

// Runs all blocks, one after the other, in this thread.
void run(const Kernel& kernel, const Launch& launch, const Geometry& geometry);

// Whether kernels are compiled with AddressSanitizer.
bool sanitized();

// For device code. Only kernels with barriers may wait.
void* dynamic_shared();
void barrier();
void warp_barrier(unsigned mask);
unsigned lane();

// The value of another thread of the warp, and the ballot.
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned from);
unsigned vote(unsigned mask, bool yes);

}  // namespace simulated
