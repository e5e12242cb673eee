// fn.lookup_table: which entry of the table belongs to an element.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

constexpr int64_t kLargestKey = 65535;

// The table has one entry more than there are keys it can hold: the last one is the default.
template <typename T>
DC_HOST_DEV int64_t table_entry(T element, int64_t num_keys) {
  // A negative number becomes a large one, which the table does not have either.
  const auto key = static_cast<std::make_unsigned_t<T>>(element);
  return static_cast<uint64_t>(key) < static_cast<uint64_t>(num_keys) &&
                 (std::is_unsigned_v<T> || element >= 0)
             ? static_cast<int64_t>(key)
             : num_keys;
}

// What the kernel `look_up` does for one sample.
struct LookUpTask {
  const void* in;
  void* out;
  const void* table;
  int64_t count;
  int64_t num_keys;
  DataType from;
  DataType to;
};

}  // namespace dali_core
