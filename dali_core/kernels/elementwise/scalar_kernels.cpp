#include <cmath>
#include <stdexcept>

#include "dali_core/kernels/elementwise/kernels.hpp"

namespace dali_core {
namespace {

template <typename T, typename Rule>
void apply_to_integers(const void* const* operands, void* result, int64_t count) {
  const T* const a = static_cast<const T*>(operands[0]);
  const T* const b = static_cast<const T*>(operands[1]);
  T* const out = static_cast<T*>(result);
  for (int64_t i = 0; i < count; ++i) {
    if (b[i] == T(0)) throw_zero_divisor(data_type_of<T>());
    out[i] = Rule::of(a[i], b[i]);
  }
}

template <typename Rule>
ElementwiseFunction division(DataType type) {
  return visit_computed(type, [](auto a) -> ElementwiseFunction {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>)
      return nullptr;
    else
      return &apply_to_integers<T, Rule>;
  });
}

// The compiler must not choose another implementation for each instruction set, so these are calls.
template <typename T, T (*rule)(T)>
void apply_one(const void* const* operands, void* result, int64_t count) {
  const T* const a = static_cast<const T*>(operands[0]);
  T* const out = static_cast<T*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = rule(a[i]);
}

template <typename T, T (*rule)(T, T)>
void apply_two(const void* const* operands, void* result, int64_t count) {
  const T* const a = static_cast<const T*>(operands[0]);
  const T* const b = static_cast<const T*>(operands[1]);
  T* const out = static_cast<T*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = rule(a[i], b[i]);
}

template <float (*of_float)(float), double (*of_double)(double)>
ElementwiseFunction one(DataType type) {
  if (type == DataType::kFloat) return &apply_one<float, of_float>;
  return type == DataType::kFloat64 ? &apply_one<double, of_double> : nullptr;
}

template <float (*of_float)(float, float), double (*of_double)(double, double)>
ElementwiseFunction two(DataType type) {
  if (type == DataType::kFloat) return &apply_two<float, of_float>;
  return type == DataType::kFloat64 ? &apply_two<double, of_double> : nullptr;
}

template <typename T>
T power(T base, T exponent) {
  return PowRule::of(base, exponent);
}

template <typename Rule>
ElementwiseFunction mixed(bool first_is_unsigned) {
  if (first_is_unsigned)
    return [](const void* const* operands, void* result, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        static_cast<bool*>(result)[i] = Rule::of(static_cast<const uint64_t*>(operands[0])[i],
                                                 static_cast<const int64_t*>(operands[1])[i]);
    };
  return [](const void* const* operands, void* result, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      static_cast<bool*>(result)[i] = Rule::of(static_cast<const int64_t*>(operands[0])[i],
                                               static_cast<const uint64_t*>(operands[1])[i]);
  };
}

}  // namespace

void throw_zero_divisor(DataType type) {
  throw std::invalid_argument(
      "divisors must not be zero (got 0, of type " + std::string(name_of(type)) +
      "). Use dali_core.math.max, or floating point numbers, whose quotients are infinite.");
}

ElementwiseFunction mixed_comparison(Function function, bool first_is_unsigned) {
  switch (function) {
    case Function::kEqual:
      return mixed<MixedRule<EqualRule>>(first_is_unsigned);
    case Function::kNotEqual:
      return mixed<NotRule<MixedRule<EqualRule>>>(first_is_unsigned);
    case Function::kLess:
      return mixed<MixedRule<LessRule>>(first_is_unsigned);
    case Function::kLessEqual:
      return mixed<MixedRule<LessEqualRule>>(first_is_unsigned);
    case Function::kGreater:
      return mixed<SwappedRule<MixedRule<LessRule>>>(first_is_unsigned);
    case Function::kGreaterEqual:
      return mixed<SwappedRule<MixedRule<LessEqualRule>>>(first_is_unsigned);
    default:
      return nullptr;
  }
}

ElementwiseFunction scalar_kernel(Function function, DataType type) {
  switch (function) {
    case Function::kFloorDiv:
      return division<FloorDivRule>(type);
    case Function::kMod:
      if (auto kernel = two<&fmodf, &fmod>(type)) return kernel;
      return division<ModRule>(type);
    case Function::kPow:
    case Function::kFloatPow:
      return visit_computed(type, [](auto a) -> ElementwiseFunction {
        return &apply_two<decltype(a), &power<decltype(a)>>;
      });
    case Function::kAtan2:
      return two<&atan2f, &atan2>(type);
    case Function::kCbrt:
      return one<&cbrtf, &cbrt>(type);
    case Function::kExp:
      return one<&expf, &exp>(type);
    case Function::kLog:
      return one<&logf, &log>(type);
    case Function::kLog2:
      return one<&log2f, &log2>(type);
    case Function::kLog10:
      return one<&log10f, &log10>(type);
    case Function::kSin:
      return one<&sinf, &sin>(type);
    case Function::kCos:
      return one<&cosf, &cos>(type);
    case Function::kTan:
      return one<&tanf, &tan>(type);
    case Function::kAsin:
      return one<&asinf, &asin>(type);
    case Function::kAcos:
      return one<&acosf, &acos>(type);
    case Function::kAtan:
      return one<&atanf, &atan>(type);
    case Function::kSinh:
      return one<&sinhf, &sinh>(type);
    case Function::kCosh:
      return one<&coshf, &cosh>(type);
    case Function::kTanh:
      return one<&tanhf, &tanh>(type);
    case Function::kAsinh:
      return one<&asinhf, &asinh>(type);
    case Function::kAcosh:
      return one<&acoshf, &acosh>(type);
    case Function::kAtanh:
      return one<&atanhf, &atanh>(type);
    default:
      return nullptr;
  }
}

}  // namespace dali_core
