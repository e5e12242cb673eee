// Chooses in parallel, each number with the draws that it has when all are drawn one by one.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/random/choice.hpp"
#include "dali_core/kernels/random/rejection.hpp"

namespace dali_core {

// Below a bound that is less than 1 there is nothing but 0 to give.
__device__ uint64_t num_choices(const ChoiceTask& task) {
  uint64_t number = task.num_choices;
  if (number > 0) return number;
  with_type(task.bound_type, [&](auto zero) {
    const auto bound = *static_cast<const decltype(zero)*>(task.bound);
    if constexpr (!is_floating<decltype(zero)>)
      number = bound > 0 ? static_cast<uint64_t>(bound) : 1;
  });
  return number;
}

}  // namespace dali_core

extern "C" __global__ void choose(const dali_core::ChoiceTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const ChoiceTask task = tasks[sample_of_block()];
  const uint64_t choices = num_choices(task);
  // So many take two draws each.
  if (task.sums == nullptr && choices > 0xFFFFFFFFu) {
    *task.has_rejected = 1;
    return;
  }
  for (int64_t i = first_item(); i < task.count; i += item_step()) {
    RandomStream random(task.seed, task.key);
    if (task.sums != nullptr) {
      random.seek(static_cast<uint32_t>(2 * i));
      task.chosen[i] =
          static_cast<int64_t>(choose_by_sums(task.sums, choices, random.next_double()));
      continue;
    }
    random.seek(static_cast<uint32_t>(i));
    bool is_rejected = false;
    task.chosen[i] = draw_below(random.next_uint32(), static_cast<uint32_t>(choices), is_rejected);
    if (is_rejected) *task.has_rejected = 1;
  }
}

// Chooses again, one by one, where a draw was to be rejected: all behind that one move up.
extern "C" __global__ void choose_again(const dali_core::ChoiceTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count || threadIdx.x > 0) return;
  const ChoiceTask task = tasks[sample_of_block()];
  if (*task.has_rejected == 0 || task.sums != nullptr) return;
  const uint64_t choices = num_choices(task);
  RandomStream random(task.seed, task.key);
  for (int64_t i = 0; i < task.count; ++i)
    task.chosen[i] = static_cast<int64_t>(choose_below(random, choices));
}

namespace dali_core {

template <typename Unit>
__device__ void copy_chosen_units(const ChosenCopy& task) {
  const Unit* const in = static_cast<const Unit*>(task.in);
  Unit* const out = static_cast<Unit*>(task.out);
  for (int64_t i = first_item(); i < task.count; i += item_step()) {
    const int64_t slice = quotient(i, task.units_of_slice);
    out[i] = in[task.chosen[slice] * task.units_of_slice + (i - slice * task.units_of_slice)];
  }
}

}  // namespace dali_core

extern "C" __global__ void copy_chosen(const dali_core::ChosenCopy* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const ChosenCopy task = tasks[sample_of_block()];
  switch (task.unit_bytes) {
    case 1:
      return copy_chosen_units<uint8_t>(task);
    case 2:
      return copy_chosen_units<uint16_t>(task);
    case 4:
      return copy_chosen_units<uint32_t>(task);
    default:
      return copy_chosen_units<uint64_t>(task);
  }
}
