#include "dali_core/permutation.hpp"

namespace dali_core {
namespace {

// Numbers that are encrypted at a time: as many as keep vector registers busy.
constexpr int kLanes = 64;

}  // namespace

void Permutation::list(int64_t* elements) const {
  if (size_ < 2) {
    for (uint64_t i = 0; i < size_; ++i) elements[i] = static_cast<int64_t>(i);
    return;
  }
  uint64_t values[kLanes] = {}, positions[kLanes];
  int count = 0;
  for (uint64_t next = 0; next < size_ || count > 0;) {
    for (; count < kLanes && next < size_; ++count, ++next) values[count] = positions[count] = next;
    encrypt<kLanes>(values);
    int num_outside = 0;  // which walk on
    for (int i = 0; i < count; ++i) {
      if (values[i] < size_) {
        elements[positions[i]] = static_cast<int64_t>(values[i]);
      } else {
        values[num_outside] = values[i];
        positions[num_outside++] = positions[i];
      }
    }
    count = num_outside;
  }
}

}  // namespace dali_core
