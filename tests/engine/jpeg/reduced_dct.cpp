// The inverse transforms of our own JPEG decoder to fewer samples than a block has coefficients.
#include "dali_core/kernels/jpeg/jpeg_reduced_dct.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "dali_core/kernels/jpeg/huffman_jpeg_file.hpp"

using namespace dali_core;

namespace {

constexpr double kPi = 3.14159265358979323846;

// In units of 1 / 8192: sample `x` of `side`, as a sum of samples of the full transform.
int factor(int side, int x, int frequency) {
  const int summed = 8 / side;
  double sum = 0;
  for (int i = 0; i < summed; ++i)
    sum += std::cos((2 * (summed * x + i) + 1) * frequency * kPi / 16);
  return static_cast<int>(std::lround(8192 * std::sqrt(2.0) * sum));
}

// The mean of samples of the transform as the standard has it.
double exact_sample(int side, const std::vector<double>& coefficients, int y, int x) {
  double sum = 0;
  for (int v = 0; v < 8; ++v)
    for (int u = 0; u < 8; ++u) {
      double basis = coefficients[static_cast<size_t>(8 * v + u)] / 4;
      if (u == 0) basis /= std::sqrt(2.0);
      if (v == 0) basis /= std::sqrt(2.0);
      double vertical = 0, horizontal = 0;
      const int summed = 8 / side;
      for (int i = 0; i < summed; ++i) {
        vertical += std::cos((2 * (summed * y + i) + 1) * v * kPi / 16) / summed;
        horizontal += std::cos((2 * (summed * x + i) + 1) * u * kPi / 16) / summed;
      }
      sum += basis * vertical * horizontal;
    }
  return std::min(255.0, std::max(0.0, 128 + sum));
}

// A row of blocks, and one more that is all zero.
struct Row {
  Row(std::minstd_rand& random, int num_blocks, int largest)
      : blocks(64 * (static_cast<size_t>(num_blocks) + 1)),
        counts(static_cast<size_t>(num_blocks) + 1) {
    const auto draw = [&random](int limit) { return static_cast<int>(random() >> 4) % limit; };
    for (int block = 0; block < num_blocks; ++block) {
      const int kinds[] = {1, 2, 10, 64};
      const int count = kinds[draw(4)];
      counts[static_cast<size_t>(block)] = static_cast<uint8_t>(count);
      for (int i = 0; i < count; ++i)
        blocks[static_cast<size_t>(64 * block + kJpegOrder[i])] =
            static_cast<int16_t>((draw(2 * largest) - largest) / (1 + i));
    }
  }

  std::vector<int16_t> blocks;
  std::vector<uint8_t> counts;
};

}  // namespace

TEST(factors_are_sums_of_cosines) {
  using namespace reduced_dct;
  const int outer[] = {kOuterOf1, kOuterOf3, kOuterOf5, kOuterOf7};
  const int inner[] = {kInnerOf1, kInnerOf3, kInnerOf5, kInnerOf7};
  const int half[] = {kHalfOf1, kHalfOf3, kHalfOf5, kHalfOf7};
  for (int i = 0; i < 4; ++i) {
    CHECK_EQUAL(outer[i], factor(4, 0, 2 * i + 1));
    CHECK_EQUAL(inner[i], factor(4, 1, 2 * i + 1));
    CHECK_EQUAL(half[i], factor(2, 0, 2 * i + 1));
  }
  CHECK_EQUAL(kEvenOf2, factor(4, 0, 2));
  CHECK_EQUAL(kEvenOf6, factor(4, 0, 6));
}

TEST(fewer_samples_are_those_of_plain_arithmetic) {
  std::minstd_rand random(9);
  int safe = 0;
  for (int round = 0; round < 600; ++round) {
    const int side = 1 << round % 3;
    const int num_blocks = 1 + round % 7;
    Row row(random, num_blocks, 1 << (round % 14));
    Row copy = row;
    uint16_t steps[64];
    for (uint16_t& step : steps)
      step = static_cast<uint16_t>(1 + (random() >> 4) % (round % 9 == 0 ? 65535 : 8));
    const int64_t stride = int64_t{side} * (num_blocks + 1);
    std::vector<uint8_t> found(static_cast<size_t>(side * stride)), expected(found.size());
    const bool is_safe = reduced_inverse_dct_row(side, row.blocks.data(), row.counts.data(),
                                                 num_blocks, steps, found.data(), stride);
    CHECK_EQUAL(plain_reduced_inverse_dct_row(side, copy.blocks.data(), copy.counts.data(),
                                              num_blocks, steps, expected.data(), stride),
                is_safe);
    CHECK(std::all_of(row.blocks.begin(), row.blocks.end(), [](int16_t one) { return one == 0; }));
    if (!is_safe) continue;
    ++safe;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side * num_blocks; ++x)
        CHECK_EQUAL(int{found[static_cast<size_t>(y * stride + x)]},
                    int{expected[static_cast<size_t>(y * stride + x)]});
  }
  CHECK(safe > 300);
  CHECK(safe < 600);
}

TEST(fewer_samples_are_means) {
  std::minstd_rand random(4);
  uint16_t steps[64];
  std::fill_n(steps, 64, uint16_t{3});
  for (int round = 0; round < 300; ++round) {
    const int side = 1 << round % 3;
    Row row(random, 1, 60);
    std::vector<double> coefficients(64);
    for (size_t i = 0; i < 64; ++i) coefficients[i] = 3.0 * row.blocks[i];
    uint8_t found[32];
    CHECK(reduced_inverse_dct_row(side, row.blocks.data(), row.counts.data(), 1, steps, found,
                                  int64_t{2} * side));
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        CHECK(std::abs(found[2 * side * y + x] - exact_sample(side, coefficients, y, x)) < 1.0);
  }
}
