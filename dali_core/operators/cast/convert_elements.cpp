#include "dali_core/convert_elements.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "dali_core/convert.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

using ConvertRun = void (*)(const void* in, void* out, int64_t count);

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/operators/cast/convert_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

constexpr int64_t kElementsInBlock = 512;

// Of two types without a loop of their own, the type in between. It loses nothing: rounding and
// saturating in two steps gives what one step gives.
DataType type_between(DataType from, DataType to) {
  switch (from) {
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kUInt16:
      return DataType::kInt32;
    case DataType::kUInt32:
      return DataType::kInt64;
    case DataType::kFloat16:
      return DataType::kFloat;
    default:
      return to == DataType::kFloat16 ? DataType::kFloat : DataType::kInt32;
  }
}

}  // namespace

void convert_elements(const void* in, DataType from, void* out, DataType to, int64_t count) {
  if (from == to) {
    if (count > 0) std::memcpy(out, in, static_cast<size_t>(count * size_of(to)));
    return;
  }
  if (size_of(from) == 0 || size_of(to) == 0)
    throw std::invalid_argument("a tensor without an element type cannot be computed on");
  // Both are a byte, of 0 or 1.
  if (from == DataType::kBool) return convert_elements(in, DataType::kUInt8, out, to, count);
  if (const ConvertRun convert_run = DC_SIMD_DISPATCH(find_run, from, to))
    return convert_run(in, out, count);
  const DataType between = type_between(from, to);
  alignas(64) char block[kElementsInBlock * sizeof(int64_t)];
  for (int64_t first = 0; first < count; first += kElementsInBlock) {
    const int64_t length = std::min(kElementsInBlock, count - first);
    convert_elements(static_cast<const char*>(in) + first * size_of(from), from, block, between,
                     length);
    convert_elements(block, between, static_cast<char*>(out) + first * size_of(to), to, length);
  }
}

}  // namespace dali_core
