// Carries out the steps of a group of elementwise operators in float, eight elements a thread at a
// time, which stay in registers. All threads of a sample take the same branches.
#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/elementwise/float_program.hpp"

namespace dali_core {

constexpr int kFloats = 2 * kGroup;

// Where the elements of a thread lie: two groups, `apart` elements from each other.
struct FloatPlace {
  int64_t first;
  int64_t apart;
  int64_t count;
  int64_t lead;
};

template <typename T>
inline __device__ void load_plain(const T* in, const FloatPlace& place, float (&values)[kFloats]) {
  const bool is_aligned = is_group_aligned<T>(in, place.lead);
  const int64_t last = place.first + place.apart;
  if (is_aligned && place.first >= 0 && last + kGroup <= place.count) {
    const GroupWords<T> loaded[2] = {load_whole<true>(in + place.first),
                                     load_whole<true>(in + last)};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float group[kGroup];
      loaded[k].to_floats(group);
#pragma unroll
      for (int i = 0; i < kGroup; ++i) values[k * kGroup + i] = group[i];
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kFloats; ++i) {
    const int64_t number = (i < kGroup ? place.first : last) + i % kGroup;
    values[i] = number >= 0 && number < place.count ? convert<float>(in[number]) : 0.0f;
  }
}

// Types that are less usual, one by one.
__device__ __noinline__ float load_single(const void* in, int64_t number, DataType type) {
  switch (type) {
    case DataType::kInt16:
      return static_cast<float>(static_cast<const int16_t*>(in)[number]);
    case DataType::kInt32:
      return static_cast<float>(static_cast<const int32_t*>(in)[number]);
    case DataType::kFloat16:
      return half_to_float(static_cast<const Half*>(in)[number]);
    case DataType::kUInt8:
      return static_cast<const uint8_t*>(in)[number];
    default:
      return static_cast<const float*>(in)[number];
  }
}

inline __device__ void load_operand(const FloatOperand& operand, const FloatPlace& place,
                                    float (&values)[kFloats]) {
  if (operand.type == DataType::kUInt8)
    return load_plain(static_cast<const uint8_t*>(operand.data), place, values);
  if (operand.type == DataType::kFloat)
    return load_plain(static_cast<const float*>(operand.data), place, values);
#pragma unroll
  for (int i = 0; i < kFloats; ++i) {
    const int64_t number = place.first + i / kGroup * place.apart + i % kGroup;
    values[i] = number >= 0 && number < place.count
                    ? load_single(operand.data, number, operand.type)
                    : 0.0f;
  }
}

using FloatSlots = float[kFloatSlots][kFloats];

inline __device__ void fetch(const FloatOperand& operand, const FloatPlace& place,
                             const float (&previous)[kFloats], const FloatSlots& slots,
                             float (&values)[kFloats]) {
  switch (operand.source) {
    case FloatSource::kPlain:
      return load_operand(operand, place, values);
    case FloatSource::kPrevious:
#pragma unroll
      for (int i = 0; i < kFloats; ++i) values[i] = previous[i];
      return;
    case FloatSource::kSlot:
#pragma unroll
      for (int i = 0; i < kFloats; ++i) values[i] = operand.number ? slots[1][i] : slots[0][i];
      return;
    default:
      const float single = operand.source == FloatSource::kConstant
                               ? operand.constant
                               : load_single(operand.data, 0, operand.type);
#pragma unroll
      for (int i = 0; i < kFloats; ++i) values[i] = single;
  }
}

template <typename Rule>
inline __device__ void for_each_float(float (&values)[kFloats], const Rule& rule) {
#pragma unroll
  for (int i = 0; i < kFloats; ++i) values[i] = rule(i);
}

inline __device__ void run_step(const FloatStep& step, const FloatPlace& place,
                                float (&previous)[kFloats], const FloatSlots& slots) {
  float a[kFloats], b[kFloats], c[kFloats];
  fetch(step.operands[0], place, previous, slots, a);
  switch (step.function) {
    case Function::kPlus:
      return for_each_float(previous, [&](int i) { return PlusRule::of(a[i]); });
    case Function::kMinus:
      return for_each_float(previous, [&](int i) { return MinusRule::of(a[i]); });
    case Function::kAbs:
    case Function::kFabs:
      return for_each_float(previous, [&](int i) { return AbsRule::of(a[i]); });
    case Function::kSqrt:
      return for_each_float(previous, [&](int i) { return SqrtRule::of(a[i]); });
    default:
      break;
  }
  fetch(step.operands[1], place, previous, slots, b);
  switch (step.function) {
    case Function::kAdd:
      return for_each_float(previous, [&](int i) { return AddRule::of(a[i], b[i]); });
    case Function::kSub:
      return for_each_float(previous, [&](int i) { return SubRule::of(a[i], b[i]); });
    case Function::kMul:
      return for_each_float(previous, [&](int i) { return MulRule::of(a[i], b[i]); });
    case Function::kTrueDiv:
      return for_each_float(previous, [&](int i) { return DivRule::of(a[i], b[i]); });
    case Function::kMin:
      return for_each_float(previous, [&](int i) { return MinRule::of(a[i], b[i]); });
    case Function::kMax:
      return for_each_float(previous, [&](int i) { return MaxRule::of(a[i], b[i]); });
    default:
      fetch(step.operands[2], place, previous, slots, c);
      for_each_float(previous, [&](int i) { return ClampRule::of(a[i], b[i], c[i]); });
  }
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(256, 3)
    run_float_program(const dali_core::FloatTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const FloatTask task = tasks[sample_of_block()];
  FloatPlace place;
  place.count = task.count;
  place.lead = group_lead(task.out, sizeof(float));
  place.apart = static_cast<int64_t>(blockDim.x) * kGroup;
  const bool is_aligned = is_group_aligned<float>(task.out, place.lead);
  // Blocks make what is contiguous: the groups of a thread are as far apart as a block is wide.
  const int64_t per_block = 2 * place.apart;
  for (int64_t begin = blockIdx.x * per_block - place.lead; begin < task.count;
       begin += gridDim.x * per_block) {
    place.first = begin + static_cast<int64_t>(threadIdx.x) * kGroup;
    if (place.first >= task.count) return;
    float previous[kFloats] = {};
    FloatSlots slots = {};
    for (int number = 0; number < task.num_steps; ++number) {
      const FloatStep& step = task.steps[number];
      run_step(step, place, previous, slots);
#pragma unroll
      for (int k = 0; k < kFloatSlots; ++k)
        if (step.slot == k)
#pragma unroll
          for (int i = 0; i < kFloats; ++i) slots[k][i] = previous[i];
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      ElementGroup<float> group;
#pragma unroll
      for (int i = 0; i < kGroup; ++i) group.elements[i] = previous[k * kGroup + i];
      store_group(task.out, place.first + k * place.apart, task.count, is_aligned, group);
    }
  }
}
