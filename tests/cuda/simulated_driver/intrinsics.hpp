// Intrinsics of CUDA C++.
#pragma once

template <class T>
using simulated_same = typename std::enable_if<true, T>::type;

#define SIMULATED_LEAST_AND_GREATEST(T)                            \
  inline T min(T a, simulated_same<T> b) { return b < a ? b : a; } \
  inline T max(T a, simulated_same<T> b) { return a < b ? b : a; }
SIMULATED_LEAST_AND_GREATEST(int)
SIMULATED_LEAST_AND_GREATEST(unsigned)
SIMULATED_LEAST_AND_GREATEST(long)
SIMULATED_LEAST_AND_GREATEST(unsigned long)
SIMULATED_LEAST_AND_GREATEST(long long)
SIMULATED_LEAST_AND_GREATEST(unsigned long long)
#undef SIMULATED_LEAST_AND_GREATEST
// The greater and the less of a NaN and a number is the number. The host's functions return a NaN
// if the NaN is a signalling one.
inline float simulated_maximum(float a, float b) { return !(a == a) ? b : a < b ? b : a; }
inline float simulated_minimum(float a, float b) { return !(a == a) ? b : a > b ? b : a; }
#define fmaxf(a, b) simulated_maximum(a, b)
#define fminf(a, b) simulated_minimum(a, b)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

template <class To, class From>
inline To simulated_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline int __float_as_int(float value) { return simulated_bits<int>(value); }
inline unsigned __float_as_uint(float value) { return simulated_bits<unsigned>(value); }
inline float __int_as_float(int value) { return simulated_bits<float>(value); }
inline float __uint_as_float(unsigned value) { return simulated_bits<float>(value); }
inline long long __double_as_longlong(double value) { return simulated_bits<long long>(value); }
inline double __longlong_as_double(long long value) { return simulated_bits<double>(value); }

inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }
inline double rsqrt(double value) { return 1.0 / sqrt(value); }
inline float __saturatef(float value) { return fminf(fmaxf(value, 0.0f), 1.0f); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fadd_rz(float a, float b) {
  const double sum = static_cast<double>(a) + b;  // exact, or nearly
  const float rounded = static_cast<float>(sum);
  return fabs(static_cast<double>(rounded)) > fabs(sum) ? nextafterf(rounded, 0.0f) : rounded;
}
inline float __fadd_rd(float a, float b) {
  const double sum = static_cast<double>(a) + b;
  const double of_b = sum - a;
  const double lost = (a - (sum - of_b)) + (b - of_b);
  const float rounded = static_cast<float>(sum);
  const bool is_above = rounded > sum || (rounded == sum && lost < 0);
  return is_above ? nextafterf(rounded, -std::numeric_limits<float>::infinity()) : rounded;
}
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }

// Conversions saturate, and return 0 for NaN.
template <class To>
inline To simulated_saturated(double value) {
  if (value != value) return 0;
  if (value <= static_cast<double>(std::numeric_limits<To>::min())) {
    return std::numeric_limits<To>::min();
  }
  if (value >= static_cast<double>(std::numeric_limits<To>::max())) {
    return std::numeric_limits<To>::max();
  }
  return static_cast<To>(value);
}
inline int __float2int_rn(float value) { return simulated_saturated<int>(rintf(value)); }
inline int __float2int_rz(float value) { return simulated_saturated<int>(truncf(value)); }
inline int __float2int_rd(float value) { return simulated_saturated<int>(floorf(value)); }
inline int __float2int_ru(float value) { return simulated_saturated<int>(ceilf(value)); }
inline unsigned __float2uint_rn(float value) { return simulated_saturated<unsigned>(rintf(value)); }
inline unsigned __float2uint_rz(float value) {
  return simulated_saturated<unsigned>(truncf(value));
}
inline long long __float2ll_rn(float value) { return simulated_saturated<long long>(rintf(value)); }
inline int __double2int_rn(double value) { return simulated_saturated<int>(rint(value)); }
inline long long __double2ll_rn(double value) {
  return simulated_saturated<long long>(rint(value));
}
inline float __int2float_rn(int value) { return static_cast<float>(value); }
inline float __uint2float_rn(unsigned value) { return static_cast<float>(value); }
inline float __double2float_rn(double value) { return static_cast<float>(value); }

inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __clz(int value) { return value ? __builtin_clz(value) : 32; }
inline int __clzll(long long value) { return value ? __builtin_clzll(value) : 64; }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t{a} * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (int place = 0; place < 4; ++place) {
    const unsigned choice = selector >> (4 * place) & 0xf;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (choice & 7)) & 0xff);
    if (choice & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * place);
  }
  return result;
}

// Hints for caches.
template <class T>
inline T __ldg(const T* from) {
  return *from;
}
template <class T>
inline T __ldcs(const T* from) {
  return *from;
}
template <class T>
inline T __ldcg(const T* from) {
  return *from;
}
template <class T>
inline void __stcs(T* to, std::remove_const_t<T> value) {
  *to = value;
}
template <class T>
inline void __stcg(T* to, std::remove_const_t<T> value) {
  *to = value;
}

// Streams run concurrently, so these have to be atomic.
template <class T, class Change>
inline T simulated_exchange(T* to, Change change) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  auto* place = reinterpret_cast<Bits*>(to);
  Bits seen = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (true) {
    const T before = simulated_bits<T>(seen);
    const Bits after = simulated_bits<Bits>(change(before));
    if (__atomic_compare_exchange_n(place, &seen, after, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      return before;
    }
  }
}
template <class T>
inline T atomicAdd(T* to, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T before) { return static_cast<T>(before + value); });
}
template <class T>
inline T atomicSub(T* to, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T before) { return static_cast<T>(before - value); });
}
template <class T>
inline T atomicMax(T* to, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T before) { return before < value ? value : before; });
}
template <class T>
inline T atomicMin(T* to, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T before) { return value < before ? value : before; });
}
template <class T>
inline T atomicOr(T* to, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T before) { return before | value; });
}
template <class T>
inline T atomicAnd(T* to, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T before) { return before & value; });
}
template <class T>
inline T atomicExch(T* to, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T) { return value; });
}
template <class T>
inline T atomicCAS(T* to, std::remove_const_t<T> expected, std::remove_const_t<T> value) {
  return simulated_exchange(to, [=](T before) { return before == expected ? value : before; });
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {}
