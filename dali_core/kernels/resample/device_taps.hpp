// Taps of axes, which the device fills in.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/resample/resample.hpp"
#include "dali_core/kernels/resample/resample_sample.hpp"

namespace dali_core {

enum class AxisKind { kDepth, kRows, kColumns };

// Taps of all axes of a batch, in one piece of memory and by one kernel. An axis like the one of
// its kind before it shares its taps.
class TapsOfBatch {
 public:
  // Addresses are relative to memory that is known later; starts are relative to `base`.
  DeviceTaps add(AxisKind kind, const ResampleAxis& axis, const AxisTaps& taps, bool is_fixed,
                 int64_t base);

  // How much memory they take, aligned to 256 bytes.
  size_t num_bytes() const { return num_bytes_; }

  // Fills them in.
  void launch(DeviceBatch& batch, char* memory);

 private:
  struct Last {
    ResampleAxis axis;
    bool is_fixed = false;
    int64_t base = 0;
    DeviceTaps taps{};
    bool is_known = false;
  };

  template <typename T>
  T* take(int64_t count);

  std::vector<TapsTask> tasks_;
  std::array<Last, 3> last_{};
  size_t num_bytes_ = 256;  // so that no relative address is null
  int64_t most_outputs_ = 0;
};

// The address in memory for a relative one; null stays null.
template <typename T>
T* placed_at(char* memory, T* relative) {
  return relative ? reinterpret_cast<T*>(memory + reinterpret_cast<uintptr_t>(relative)) : nullptr;
}
DeviceTaps placed_at(char* memory, const DeviceTaps& taps);

}  // namespace dali_core
