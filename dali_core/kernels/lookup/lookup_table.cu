// Looks elements up, four a thread.
#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/lookup/lookup_table.hpp"

namespace dali_core {

// Entries of a size are copied as they are.
template <typename Entry>
__device__ void look_up_entries(const LookUpTask& task, int64_t first, int64_t lead,
                                const int64_t* entries) {
  const Entry* const table = static_cast<const Entry*>(task.table);
  ElementGroup<Entry> found;
  for (int i = 0; i < kGroup; ++i) found.elements[i] = table[entries[i]];
  store_group(static_cast<Entry*>(task.out), first, task.count,
              is_group_aligned<Entry>(task.out, lead), found);
}

// Tables of bytes, types of which are known outside of the loop.
template <typename Entry>
__device__ void look_up_bytes(const LookUpTask& task) {
  const Entry* const table = static_cast<const Entry*>(task.table);
  const uint32_t last = static_cast<uint32_t>(task.num_keys);
  map_groups(static_cast<const uint8_t*>(task.in), static_cast<Entry*>(task.out), task.count,
             [&](const GroupWords<uint8_t>& keys) {
               ElementGroup<Entry> found;
#pragma unroll
               for (int i = 0; i < kGroup; ++i) {
                 const uint32_t key = keys.words[0] >> (8 * i) & 255;
                 found.elements[i] = table[key < last ? key : last];
               }
               return found;
             });
}

}  // namespace dali_core

extern "C" __global__ void look_up(const dali_core::LookUpTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const LookUpTask task = tasks[sample_of_block()];
  if (task.from == DataType::kUInt8) {
    switch (size_of(task.to)) {
      case 1:
        return look_up_bytes<uint8_t>(task);
      case 2:
        return look_up_bytes<uint16_t>(task);
      case 4:
        return look_up_bytes<uint32_t>(task);
      default:
        break;
    }
  }
  const int64_t lead = group_lead(task.out, size_of(task.to));
  const int64_t groups = num_groups(task.count, lead);
  for (int64_t group = first_item(); group < groups; group += item_step()) {
    const int64_t first = group * kGroup - lead;
    int64_t entries[kGroup];
    with_type(task.from, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!is_floating<T> && !std::is_same_v<T, bool>) {
        T elements[kGroup] = {};
        load_group(static_cast<const T*>(task.in), first, task.count,
                   is_group_aligned<T>(task.in, lead), elements);
        for (int i = 0; i < kGroup; ++i) entries[i] = table_entry(elements[i], task.num_keys);
      }
    });
    switch (size_of(task.to)) {
      case 1:
        look_up_entries<uint8_t>(task, first, lead, entries);
        break;
      case 2:
        look_up_entries<uint16_t>(task, first, lead, entries);
        break;
      case 4:
        look_up_entries<uint32_t>(task, first, lead, entries);
        break;
      default:
        look_up_entries<uint64_t>(task, first, lead, entries);
    }
  }
}
