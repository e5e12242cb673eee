// Warp shuffles and votes.
#pragma once

template <class T>
inline T simulated_shuffle(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = simulated::exchange(mask, bits, from);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// For lanes beyond the segment of `width` lanes, a thread gets its own value.
template <class T>
inline T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const unsigned first = simulated::lane() / width * width;
  return simulated_shuffle(mask, value, first + static_cast<unsigned>(from) % width);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned self = simulated::lane();
  return simulated_shuffle(mask, value, self % width < by ? self : self - by);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned self = simulated::lane();
  return simulated_shuffle(mask, value, self % width + by < unsigned(width) ? self + by : self);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32) {
  const unsigned self = simulated::lane();
  const unsigned other = self ^ static_cast<unsigned>(by);
  return simulated_shuffle(mask, value, other / width <= self / width ? other : self);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return simulated::vote(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == mask;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { simulated::warp_barrier(mask); }
