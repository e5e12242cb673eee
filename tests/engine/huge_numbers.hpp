#pragma once
// Invalid numbers for extents, counts or positions.
#include <cstdint>

namespace dali_core {

constexpr int64_t kHugeNumbers[] = {int64_t{1} << 31,
                                    (int64_t{1} << 32) + 1,
                                    int64_t{1} << 53,
                                    (int64_t{1} << 61) + 1,
                                    (int64_t{1} << 62) + 1,
                                    INT64_MAX,
                                    -1,
                                    -(int64_t{1} << 31) - 1,
                                    INT64_MIN};

}  // namespace dali_core
