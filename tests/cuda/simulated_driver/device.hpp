// Defines CUDA C++ for g++, which compiles device code for the host. Included before each source.
#pragma once

#include <math.h>
#include <stdint.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>

#include "kernel.hpp"

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __syncthreads() ::simulated::barrier()

#define threadIdx (::simulated::indices.thread)
#define blockIdx (::simulated::indices.block)
#define blockDim (::simulated::indices.block_size)
#define gridDim (::simulated::indices.grid)
constexpr int warpSize = 32;

#include "intrinsics.hpp"
#include "vectors.hpp"
#include "warp.hpp"

namespace simulated {

template <auto kernel, class Signature>
class LaunchOf;

template <auto kernel, class... Parameters>
class LaunchOf<kernel, void (*)(Parameters...)> final : public Launch {
 public:
  static std::unique_ptr<Launch> pack(void* const* arguments) {
    return pack_each(arguments, std::index_sequence_for<Parameters...>());
  }

  void run_thread() const override { std::apply(kernel, arguments_); }

  void run_block(const Index& block) const override {
    Index& own = indices.thread;
    for (own.z = 0; own.z < block.z; ++own.z) {
      for (own.y = 0; own.y < block.y; ++own.y) {
        for (own.x = 0; own.x < block.x; ++own.x) std::apply(kernel, arguments_);
      }
    }
  }

  static bool add(const char* name, bool has_barriers) {
    Kernel made{name, has_barriers, {}, 0, &pack};
    (made.parameters.push_back(next<Parameters>(made.parameter_bytes)), ...);
    add_kernel(made);
    return true;
  }

 private:
  template <class T>
  static Parameter next(std::size_t& bytes) {
    static_assert(std::is_trivially_copyable_v<T>, "what a kernel gets is copied as bytes");
    const std::size_t offset = (bytes + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes = offset + sizeof(T);
    return {offset, sizeof(T)};
  }

  template <std::size_t... number>
  static std::unique_ptr<Launch> pack_each(void* const* arguments, std::index_sequence<number...>) {
    auto made = std::make_unique<LaunchOf>();
    (made->take(std::get<number>(made->arguments_), arguments[number]), ...);
    return made;
  }

  template <class T>
  void take(T& to, const void* from) {
    std::memcpy(&to, from, sizeof to);
    if constexpr (std::is_pointer_v<T>) pointers.push_back(to);
  }

  std::tuple<Parameters...> arguments_;
};

}  // namespace simulated

#define SIMULATED_KERNEL(name, function, has_barriers)        \
  [[maybe_unused]] static const bool simulated_added_##name = \
      ::simulated::LaunchOf<&function, decltype(&function)>::add(#name, has_barriers);
