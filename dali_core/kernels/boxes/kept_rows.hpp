// Rows of a tensor that stay when boxes are removed.
#pragma once

#include <cstring>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

inline void write_kept_rows(SampleContext& sample, int output, const Tensor& input,
                            const std::vector<int64_t>& kept) {
  Shape shape = input.shape;
  shape[0] = static_cast<int64_t>(kept.size());
  Tensor& rows = sample.output(output, input.type, shape, input.layout);
  const int64_t bytes = input.shape[0] == 0 ? 0 : input.num_bytes() / input.shape[0];
  for (size_t i = 0; bytes > 0 && i < kept.size(); ++i)
    std::memcpy(rows.as<char>() + static_cast<int64_t>(i) * bytes,
                input.as<char>() + kept[i] * bytes, static_cast<size_t>(bytes));
}

}  // namespace dali_core
