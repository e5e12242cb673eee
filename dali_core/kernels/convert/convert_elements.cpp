#include "dali_core/kernels/convert/convert_elements.hpp"

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

#define DC_SIMD_SOURCE "dali_core/kernels/convert/convert_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

constexpr int64_t kElementsInBlock = 1024;

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

// Block by block, so that what is in between stays in the cache.
void convert_in_two_steps(const char* in, DataType from, char* out, DataType to, int64_t count) {
  const DataType between = type_between(from, to);
  const ConvertRun first_step = DC_SIMD_DISPATCH(find_run, from, between);
  const ConvertRun second_step = DC_SIMD_DISPATCH(find_run, between, to);
  alignas(64) char block[kElementsInBlock * sizeof(int64_t)];
  for (int64_t first = 0; first < count; first += kElementsInBlock) {
    const int64_t length = std::min(kElementsInBlock, count - first);
    first_step(in + first * size_of(from), block, length);
    if (second_step != nullptr)
      second_step(block, out + first * size_of(to), length);
    else
      convert_in_two_steps(block, between, out + first * size_of(to), to, length);
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
  convert_in_two_steps(static_cast<const char*>(in), from, static_cast<char*>(out), to, count);
}

}  // namespace dali_core
