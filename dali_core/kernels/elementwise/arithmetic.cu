// Carries out the instructions of a group of elementwise operators, four elements a thread at a
// time. All threads of a sample take the same branches.
#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/elementwise/elementwise_code.hpp"
#include "dali_core/kernels/elementwise/functions.hpp"

namespace dali_core {

template <typename T>
__device__ T value_of(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    const uint32_t low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof value);
    return value;
  } else if constexpr (std::is_same_v<T, double>) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    return static_cast<T>(bits);
  }
}

template <typename T>
__device__ uint64_t bits_of(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return bits_of(to_float(value));
  } else if constexpr (std::is_same_v<T, float>) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  } else if constexpr (std::is_same_v<T, double>) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  } else {
    return static_cast<uint64_t>(value);  // with the sign
  }
}

// Functions of the C library: each is code of some length, which is there only once.
__device__ __noinline__ float library_function(Function function, float a, float b) {
  switch (function) {
    case Function::kMod:
      return fmodf(a, b);
    case Function::kPow:
    case Function::kFloatPow:
      return PowRule::of(a, b);
    case Function::kAtan2:
      return atan2f(a, b);
    case Function::kCbrt:
      return cbrtf(a);
    case Function::kExp:
      return expf(a);
    case Function::kLog:
      return logf(a);
    case Function::kLog2:
      return log2f(a);
    case Function::kLog10:
      return log10f(a);
    case Function::kSin:
      return sinf(a);
    case Function::kCos:
      return cosf(a);
    case Function::kTan:
      return tanf(a);
    case Function::kAsin:
      return asinf(a);
    case Function::kAcos:
      return acosf(a);
    case Function::kAtan:
      return atanf(a);
    case Function::kSinh:
      return sinhf(a);
    case Function::kCosh:
      return coshf(a);
    case Function::kTanh:
      return tanhf(a);
    case Function::kAsinh:
      return asinhf(a);
    case Function::kAcosh:
      return acoshf(a);
    default:
      return atanhf(a);
  }
}

__device__ __noinline__ double library_function(Function function, double a, double b) {
  switch (function) {
    case Function::kMod:
      return fmod(a, b);
    case Function::kPow:
    case Function::kFloatPow:
      return PowRule::of(a, b);
    case Function::kAtan2:
      return atan2(a, b);
    case Function::kCbrt:
      return cbrt(a);
    case Function::kExp:
      return exp(a);
    case Function::kLog:
      return log(a);
    case Function::kLog2:
      return log2(a);
    case Function::kLog10:
      return log10(a);
    case Function::kSin:
      return sin(a);
    case Function::kCos:
      return cos(a);
    case Function::kTan:
      return tan(a);
    case Function::kAsin:
      return asin(a);
    case Function::kAcos:
      return acos(a);
    case Function::kAtan:
      return atan(a);
    case Function::kSinh:
      return sinh(a);
    case Function::kCosh:
      return cosh(a);
    case Function::kTanh:
      return tanh(a);
    case Function::kAsinh:
      return asinh(a);
    case Function::kAcosh:
      return acosh(a);
    default:
      return atanh(a);
  }
}

// Quotients and remainders by zero are 0: kernels cannot raise errors.
template <bool kRemainder, typename Wide>
__device__ __noinline__ Wide divide(Wide a, Wide b, DataType type) {
  if (b == 0) return 0;
  if (type == DataType::kUInt64 || type == DataType::kInt64)
    return kRemainder ? ModRule::of(a, b) : FloorDivRule::of(a, b);
  if (type == DataType::kUInt32) {
    const uint32_t x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    return static_cast<Wide>(kRemainder ? x % y : x / y);
  }
  const int32_t x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  return static_cast<Wide>(kRemainder ? ModRule::of(x, y) : FloorDivRule::of(x, y));
}

template <typename T>
__device__ __noinline__ T integer_power(T base, T exponent) {
  return PowRule::of(base, exponent);
}

// Narrow integers wrap around behind the instruction, so that shifts are all that has to know them.
template <typename T>
__device__ int wide_distance(T distance, DataType type) {
  return static_cast<int>(static_cast<uint64_t>(distance) & (size_of(type) == 8 ? 63 : 31));
}

struct GroupOperands {
  uint64_t bits[kMaxCodeOperands][kGroup];
};

template <typename T, typename Rule>
__device__ void apply_one(const GroupOperands& in, uint64_t (&out)[kGroup], Rule&& rule) {
#pragma unroll
  for (int i = 0; i < kGroup; ++i) out[i] = bits_of(rule(value_of<T>(in.bits[0][i])));
}

template <typename First, typename Second = First, typename Rule>
__device__ void apply_two(const GroupOperands& in, uint64_t (&out)[kGroup], Rule&& rule) {
#pragma unroll
  for (int i = 0; i < kGroup; ++i)
    out[i] = bits_of(rule(value_of<First>(in.bits[0][i]), value_of<Second>(in.bits[1][i])));
}

template <typename First, typename Second>
__device__ void compare(Function function, const GroupOperands& in, uint64_t (&out)[kGroup]) {
  const auto with = [&](auto rule) {
    apply_two<First, Second>(in, out, [](First a, Second b) { return decltype(rule)::of(a, b); });
  };
  if constexpr (std::is_same_v<First, Second>) {
    switch (function) {
      case Function::kEqual:
        return with(EqualRule());
      case Function::kNotEqual:
        return with(NotRule<EqualRule>());
      case Function::kLess:
        return with(LessRule());
      case Function::kLessEqual:
        return with(LessEqualRule());
      case Function::kGreater:
        return with(SwappedRule<LessRule>());
      default:
        return with(SwappedRule<LessEqualRule>());
    }
  } else {
    switch (function) {
      case Function::kEqual:
        return with(MixedRule<EqualRule>());
      case Function::kNotEqual:
        return with(NotRule<MixedRule<EqualRule>>());
      case Function::kLess:
        return with(MixedRule<LessRule>());
      case Function::kLessEqual:
        return with(MixedRule<LessEqualRule>());
      case Function::kGreater:
        return with(SwappedRule<MixedRule<LessRule>>());
      default:
        return with(SwappedRule<MixedRule<LessEqualRule>>());
    }
  }
}

template <typename T>
__device__ void compute_integers(Function function, DataType type, const GroupOperands& in,
                                 uint64_t (&out)[kGroup]) {
  switch (function) {
    case Function::kInvert:
      return apply_one<T>(in, out, [=](T a) {
        return type == DataType::kBool ? static_cast<T>(a ^ 1) : InvertRule::of(a);
      });
    case Function::kFloorDiv:
      return apply_two<T>(in, out, [=](T a, T b) { return divide<false>(a, b, type); });
    case Function::kMod:
      return apply_two<T>(in, out, [=](T a, T b) { return divide<true>(a, b, type); });
    case Function::kPow:
      return apply_two<T>(in, out, [](T a, T b) { return integer_power(a, b); });
    case Function::kAnd:
      return apply_two<T>(in, out, [](T a, T b) { return AndRule::of(a, b); });
    case Function::kOr:
      return apply_two<T>(in, out, [](T a, T b) { return OrRule::of(a, b); });
    case Function::kXor:
      return apply_two<T>(in, out, [](T a, T b) { return XorRule::of(a, b); });
    case Function::kShiftLeft:
      return apply_two<T>(in, out, [=](T a, T b) {
        return static_cast<T>(static_cast<uint64_t>(a) << wide_distance(b, type));
      });
    case Function::kShiftRight:
      return apply_two<T>(in, out,
                          [=](T a, T b) { return static_cast<T>(a >> wide_distance(b, type)); });
    default:
      return compare<T, T>(function, in, out);
  }
}

template <typename T>
__device__ void compute_floats(Function function, const GroupOperands& in,
                               uint64_t (&out)[kGroup]) {
  switch (function) {
    case Function::kTrueDiv:
    case Function::kFloorDiv:
      return apply_two<T>(in, out, [](T a, T b) { return DivRule::of(a, b); });
    case Function::kSqrt:
      return apply_one<T>(in, out, [](T a) { return SqrtRule::of(a); });
    case Function::kRsqrt:
      return apply_one<T>(in, out, [](T a) { return RsqrtRule::of(a); });
    case Function::kFloor:
      return apply_one<T>(in, out, [](T a) { return FloorRule::of(a); });
    case Function::kCeil:
      return apply_one<T>(in, out, [](T a) { return CeilRule::of(a); });
    case Function::kEqual:
    case Function::kNotEqual:
    case Function::kLess:
    case Function::kLessEqual:
    case Function::kGreater:
    case Function::kGreaterEqual:
      return compare<T, T>(function, in, out);
    default:
      return apply_two<T>(in, out, [=](T a, T b) { return library_function(function, a, b); });
  }
}

// What is written for all types alike, and the others.
template <typename T>
__device__ void compute(Function function, DataType type, const GroupOperands& in,
                        uint64_t (&out)[kGroup]) {
  switch (function) {
    case Function::kPlus:
      return apply_one<T>(in, out, [](T a) { return PlusRule::of(a); });
    case Function::kMinus:
      return apply_one<T>(in, out, [](T a) { return MinusRule::of(a); });
    case Function::kAbs:
    case Function::kFabs:
      return apply_one<T>(in, out, [](T a) { return AbsRule::of(a); });
    case Function::kAdd:
      return apply_two<T>(in, out, [](T a, T b) { return AddRule::of(a, b); });
    case Function::kSub:
      return apply_two<T>(in, out, [](T a, T b) { return SubRule::of(a, b); });
    case Function::kMul:
      return apply_two<T>(in, out, [](T a, T b) { return MulRule::of(a, b); });
    case Function::kMin:
      return apply_two<T>(in, out, [](T a, T b) { return MinRule::of(a, b); });
    case Function::kMax:
      return apply_two<T>(in, out, [](T a, T b) { return MaxRule::of(a, b); });
    case Function::kClamp:
#pragma unroll
      for (int i = 0; i < kGroup; ++i)
        out[i] = bits_of(ClampRule::of(value_of<T>(in.bits[0][i]), value_of<T>(in.bits[1][i]),
                                       value_of<T>(in.bits[2][i])));
      return;
    default:
      if constexpr (std::is_floating_point_v<T>)
        compute_floats<T>(function, in, out);
      else
        compute_integers<T>(function, type, in, out);
  }
}

__device__ void compute_any(const ElementwiseInstruction& step, const GroupOperands& in,
                            uint64_t (&out)[kGroup]) {
  const Function function = static_cast<Function>(step.function);
  switch (step.computed_in) {
    case ComputedIn::kSigned:
      return compute<int64_t>(function, step.result, in, out);
    case ComputedIn::kUnsigned:
      return compute<uint64_t>(function, step.result, in, out);
    case ComputedIn::kFloat:
      return compute<float>(function, step.result, in, out);
    case ComputedIn::kDouble:
      return compute<double>(function, step.result, in, out);
    case ComputedIn::kUnsignedWithSigned:
      return compare<uint64_t, int64_t>(function, in, out);
    default:
      return compare<int64_t, uint64_t>(function, in, out);
  }
}

__device__ void widen(Widening widening, uint64_t (&values)[kGroup]) {
  const auto each = [&](auto change) {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) values[i] = bits_of(change(values[i]));
  };
  switch (widening) {
    case Widening::kSignedToFloat:
      return each([](uint64_t v) { return static_cast<float>(value_of<int64_t>(v)); });
    case Widening::kUnsignedToFloat:
      return each([](uint64_t v) { return static_cast<float>(v); });
    case Widening::kSignedToDouble:
      return each([](uint64_t v) { return static_cast<double>(value_of<int64_t>(v)); });
    case Widening::kUnsignedToDouble:
      return each([](uint64_t v) { return static_cast<double>(v); });
    case Widening::kFloatToDouble:
      return each([](uint64_t v) { return static_cast<double>(value_of<float>(v)); });
    default:
      return;
  }
}

// Makes a result what an element of its type can be.
__device__ void narrow(const ElementwiseInstruction& step, uint64_t (&values)[kGroup]) {
  const auto each = [&](auto change) {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) values[i] = bits_of(change(values[i]));
  };
  switch (step.result) {
    case DataType::kUInt8:
      return each([](uint64_t v) { return static_cast<uint8_t>(v); });
    case DataType::kUInt16:
      return each([](uint64_t v) { return static_cast<uint16_t>(v); });
    case DataType::kUInt32:
      return each([](uint64_t v) { return static_cast<uint32_t>(v); });
    case DataType::kInt8:
      return each([](uint64_t v) { return static_cast<int8_t>(v); });
    case DataType::kInt16:
      return each([](uint64_t v) { return static_cast<int16_t>(v); });
    case DataType::kInt32:
      return each([](uint64_t v) { return static_cast<int32_t>(v); });
    case DataType::kBool:
      return each([](uint64_t v) { return v != 0; });
    case DataType::kFloat16:
      return each([](uint64_t v) { return to_half(value_of<float>(v)); });
    case DataType::kFloat:
      if (step.computed_in == ComputedIn::kDouble)
        each([](uint64_t v) { return static_cast<float>(value_of<double>(v)); });
      return;
    default:
      return;
  }
}

// Where the four elements of a thread lie.
struct GroupPlace {
  int64_t first;
  int64_t count;
  int64_t lead;
};

__device__ int64_t strided_place(const ElementwiseTask& task, const int64_t* strides,
                                 int64_t number) {
  int64_t place = 0;
#pragma unroll 1
  for (int dim = task.num_dims - 1; dim > 0; --dim) {
    const int64_t rest = quotient(number, task.extents[dim]);
    place += (number - rest * task.extents[dim].divisor) * strides[dim];
    number = rest;
  }
  return place + number * strides[0];
}

struct GroupBits {
  uint64_t values[kGroup];
};

// Calls `function` with a zero of the unsigned type of as many bytes.
template <typename Function>
__device__ void with_bits(int64_t bytes, Function&& function) {
  switch (bytes) {
    case 1:
      return function(uint8_t{});
    case 2:
      return function(uint16_t{});
    case 4:
      return function(uint32_t{});
    default:
      return function(uint64_t{});
  }
}

// Elements as they are in memory become what instructions compute with.
__device__ void extend(DataType type, uint64_t (&values)[kGroup]) {
  const auto each = [&](auto change) {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) values[i] = bits_of(change(values[i]));
  };
  switch (type) {
    case DataType::kInt8:
      return each([](uint64_t v) { return static_cast<int8_t>(v); });
    case DataType::kInt16:
      return each([](uint64_t v) { return static_cast<int16_t>(v); });
    case DataType::kInt32:
      return each([](uint64_t v) { return static_cast<int32_t>(v); });
    case DataType::kFloat16:
      return each([](uint64_t v) { return Half{static_cast<uint16_t>(v)}; });
    default:
      return;
  }
}

// There only once: it is called for each operand, and is long.
__device__ __noinline__ GroupBits fetch(const ElementwiseTask& task, const OperandMemory& memory,
                                        const GroupPlace& place) {
  GroupBits bits;
  uint64_t (&values)[kGroup] = bits.values;
  if (memory.spread == Spread::kPlain) {
    with_bits(size_of(memory.type), [&](auto zero) {
      using T = decltype(zero);
      const T* const in = static_cast<const T*>(memory.data);
      if (is_group_aligned<T>(in, place.lead) && place.first >= 0 &&
          place.first + kGroup <= place.count) {
        const ElementGroup<T> group = *reinterpret_cast<const ElementGroup<T>*>(in + place.first);
#pragma unroll
        for (int i = 0; i < kGroup; ++i) values[i] = group.elements[i];
        return;
      }
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const int64_t number = place.first + i;
        values[i] = number >= 0 && number < place.count ? in[number] : 0;
      }
    });
  } else {
    int64_t numbers[kGroup];
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const int64_t number = place.first + i;
      const bool is_inside = number >= 0 && number < place.count;
      numbers[i] = memory.spread == Spread::kStrided && is_inside
                       ? strided_place(task, memory.strides, number)
                       : 0;
    }
    with_bits(size_of(memory.type), [&](auto zero) {
      const auto* const in = static_cast<const decltype(zero)*>(memory.data);
#pragma unroll
      for (int i = 0; i < kGroup; ++i) values[i] = in[numbers[i]];
    });
  }
  extend(memory.type, values);
  return bits;
}

__device__ void run_group(const ElementwiseTask& task, const GroupPlace& place) {
  uint64_t slots[kMaxSlots][kGroup];
  uint64_t previous[kGroup] = {};
  for (int number = 0; number < task.num_instructions; ++number) {
    const ElementwiseInstruction step = task.instructions[number];
    GroupOperands operands = {};
#pragma unroll
    for (int k = 0; k < kMaxCodeOperands; ++k) {
      if (k >= step.num_operands) break;
      uint64_t (&values)[kGroup] = operands.bits[k];
      const OperandCode operand = step.operands[k];
      if (operand.source == OperandSource::kMemory) {
        const GroupBits fetched = fetch(task, task.memory[operand.number], place);
#pragma unroll
        for (int i = 0; i < kGroup; ++i) values[i] = fetched.values[i];
      } else {
#pragma unroll
        for (int i = 0; i < kGroup; ++i)
          values[i] = operand.source == OperandSource::kPrevious ? previous[i]
                      : operand.source == OperandSource::kSlot   ? slots[operand.number][i]
                                                                 : task.constants[operand.number];
      }
      widen(operand.widening, values);
    }
    compute_any(step, operands, previous);
    narrow(step, previous);
    if (step.slot >= 0)
      for (int i = 0; i < kGroup; ++i) slots[step.slot][i] = previous[i];
  }
  if (task.type == DataType::kFloat16)
#pragma unroll
    for (int i = 0; i < kGroup; ++i) previous[i] = to_half(value_of<float>(previous[i])).bits;
  with_bits(size_of(task.type), [&](auto zero) {
    using T = decltype(zero);
    ElementGroup<T> group;
    for (int i = 0; i < kGroup; ++i) group.elements[i] = static_cast<T>(previous[i]);
    T* const out = static_cast<T*>(task.out);
    store_group(out, place.first, place.count, is_group_aligned<T>(out, place.lead), group);
  });
}

}  // namespace dali_core

extern "C" __global__ void run_elementwise(const dali_core::ElementwiseTask* tasks, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::ElementwiseTask& task = tasks[number];
  dali_core::GroupPlace place;
  place.count = task.count;
  place.lead = dali_core::group_lead(task.out, dali_core::size_of(task.type));
  const int64_t groups = dali_core::num_groups(place.count, place.lead);
  const int64_t num_threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t group = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; group < groups;
       group += num_threads) {
    place.first = group * dali_core::kGroup - place.lead;
    dali_core::run_group(task, place);
  }
}
