// Discrete cosine transforms, as products with a matrix: few coefficients of few numbers are asked
// for.
#pragma once

#include <cstdint>
#include <vector>

namespace dali_core {

struct CosineRule {
  int type;  // 1 to 4
  bool is_orthonormal;
  double lifter;

  bool operator==(const CosineRule& other) const {
    return type == other.type && is_orthonormal == other.is_orthonormal && lifter == other.lifter;
  }
};

// The first `num_rows` rows of the matrix for `count` numbers.
std::vector<float> cosine_matrix(const CosineRule& rule, int64_t num_rows, int64_t count);

// `in` has `outer` times `inner` signals of `count` numbers, which are `inner` apart.
void apply_matrix(const std::vector<float>& matrix, int64_t num_rows, int64_t count, int64_t outer,
                  int64_t inner, const float* in, float* out);

}  // namespace dali_core
