// Philox, permutations, half precision and conversions, against known answers and brute force.
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "check.hpp"
#include "dali_core/convert.hpp"
#include "dali_core/half.hpp"
#include "dali_core/permutation.hpp"
#include "dali_core/philox.hpp"

using namespace dali_core;

// Known answers of the authors' Random123 library.
TEST(philox_gives_the_published_numbers) {
  CHECK(philox4x32({0, 0, 0, 0}, 0, 0) ==
        (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) ==
        (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
        (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(random_streams_differ_by_seed_epoch_and_sample_only) {
  std::set<uint64_t> seen;
  for (uint64_t seed : {uint64_t{1}, uint64_t{2}, uint64_t{1} << 32})
    for (uint64_t epoch : {0, 1})
      for (uint64_t sample : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32}) {
        const uint64_t draw = RandomStream(seed, {epoch, sample}).next_uint64();
        CHECK_EQUAL(draw, RandomStream(seed, {epoch, sample}).next_uint64());
        seen.insert(draw);
      }
  CHECK_EQUAL(seen.size(), 18u);
}

TEST(random_numbers_stay_in_their_intervals) {
  RandomStream random(3, {0, 0});
  double sum = 0;
  std::vector<int> counts(6);
  for (int i = 0; i < 60000; ++i) {
    const float value = random.uniform(-2, 3);
    CHECK(value >= -2 && value < 3);
    sum += value;
    ++counts.at(random.next_below(6));
    const double fraction = random.next_double();
    CHECK(fraction >= 0 && fraction < 1);
  }
  CHECK(std::abs(sum / 60000 - 0.5) < 0.03);
  for (int count : counts) CHECK(std::abs(count - 10000) < 500);
  // Rounding up to the end of a narrow interval far from zero must not happen.
  for (int i = 0; i < 1000; ++i) CHECK(random.uniform(16777214, 16777215) < 16777215);
}

TEST(permutations_are_permutations) {
  for (uint64_t size : {0, 1, 2, 3, 4, 5, 7, 16, 17, 63, 64, 65, 1000, 4097}) {
    std::vector<bool> seen(size);
    const Permutation order(size, 42, 1);
    std::vector<int64_t> elements(size);
    order.list(elements.data());
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t element = order(i);
      CHECK(element < size && !seen[element]);
      CHECK_EQUAL(elements[i], static_cast<int64_t>(element));
      seen[element] = true;
    }
  }
}

TEST(permutations_differ_by_seed_and_epoch) {
  const auto distance = [](const Permutation& a, const Permutation& b) {
    int different = 0;
    for (uint64_t i = 0; i < 1000; ++i) different += a(i) != b(i);
    return different;
  };
  const Permutation order(1000, 1, 0);
  CHECK_EQUAL(distance(order, Permutation(1000, 1, 0)), 0);
  CHECK(distance(order, Permutation(1000, 2, 0)) > 980);
  CHECK(distance(order, Permutation(1000, 1, 1)) > 980);
  CHECK(distance(order, Permutation(1000, uint64_t{1} << 32 | 1, 0)) > 980);
  CHECK(distance(order, Permutation(1000, 1, uint64_t{1} << 32)) > 980);
}

TEST(permutations_of_huge_sets_work) {
  const uint64_t size = (uint64_t{1} << 62) + 5;
  const Permutation order(size, 9, 3);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 1000; ++i) {
    CHECK(order(size - 1 - i) < size);
    seen.insert(order(size - 1 - i));
  }
  CHECK_EQUAL(seen.size(), 1000u);
}

// Every element is at every position about equally often, over the epochs.
TEST(permutations_are_uniform) {
  const int size = 5, epochs = 20000;
  int counts[size][size] = {};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const Permutation order(size, 77, static_cast<uint64_t>(epoch));
    for (int i = 0; i < size; ++i) ++counts[i][order(static_cast<uint64_t>(i))];
  }
  for (auto& row : counts)
    for (int count : row) CHECK(std::abs(count - epochs / size) < 300);  // five sigma
}

TEST(halves_survive_a_round_trip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const float value = to_float(half);
    const bool is_nan = (bits & 0x7fff) > 0x7c00;
    CHECK_EQUAL(std::isnan(value), is_nan);
    if (!is_nan) CHECK_EQUAL(to_half(value).bits, bits);
  }
}

TEST(floats_round_to_the_nearest_half) {
  for (uint32_t bits = 0; bits < 0x7bff; bits += 3) {
    const float low = to_float(Half{static_cast<uint16_t>(bits)});
    const float high = to_float(Half{static_cast<uint16_t>(bits + 1)});
    const float middle = low + (high - low) / 2;  // exact
    const uint32_t even = bits + (bits & 1);
    CHECK_EQUAL(to_half(middle).bits, even);
    CHECK_EQUAL(to_half(std::nextafter(middle, 0.0f)).bits, bits);
    CHECK_EQUAL(to_half(std::nextafter(middle, high)).bits, bits + 1);
    CHECK_EQUAL(to_half(-middle).bits, even | 0x8000);
  }
  CHECK_EQUAL(to_half(65519.99f).bits, 0x7bff);
  CHECK_EQUAL(to_half(65520.0f).bits, 0x7c00);
  CHECK_EQUAL(to_half(std::numeric_limits<float>::infinity()).bits, 0x7c00);
  CHECK_EQUAL(to_half(1e-30f).bits, 0);
}

namespace {

template <typename To, typename From>
void check_integers_saturate() {
  using Wide = __int128;
  std::vector<From> values{0,
                           1,
                           std::numeric_limits<From>::min(),
                           std::numeric_limits<From>::max(),
                           static_cast<From>(std::numeric_limits<To>::max()),
                           static_cast<From>(std::numeric_limits<To>::min()),
                           static_cast<From>(-1),
                           100};
  for (From value : values) {
    Wide expected = value;
    if (expected < static_cast<Wide>(std::numeric_limits<To>::min()))
      expected = std::numeric_limits<To>::min();
    if (expected > static_cast<Wide>(std::numeric_limits<To>::max()))
      expected = std::numeric_limits<To>::max();
    check(convert<To>(value) == static_cast<To>(expected), "integers saturate", __FILE__, __LINE__);
  }
}

template <typename To, typename From>
void check_floats_saturate() {
  using Limits = std::numeric_limits<To>;
  const From infinity = std::numeric_limits<From>::infinity();
  CHECK(convert<To>(infinity) == Limits::max());
  CHECK(convert<To>(-infinity) == Limits::min());
  CHECK(convert<To>(std::numeric_limits<From>::quiet_NaN()) == 0);
  CHECK(convert<To>(From(1e30)) == Limits::max());
  CHECK(convert<To>(From(-1e30)) == Limits::min());
  CHECK(convert<To>(From(0.5)) == 1);
  CHECK(convert<To>(std::nextafter(From(0.5), From(0))) == 0);
  CHECK(convert<To>(From(2.5)) == 3);
  CHECK(convert<To>(From(100)) == 100);
  CHECK(convert<To>(From(-2.5)) == (std::is_signed_v<To> ? static_cast<To>(-3) : To(0)));
}

template <typename To>
void check_conversions_to() {
  check_integers_saturate<To, uint8_t>();
  check_integers_saturate<To, uint16_t>();
  check_integers_saturate<To, uint32_t>();
  check_integers_saturate<To, uint64_t>();
  check_integers_saturate<To, int8_t>();
  check_integers_saturate<To, int16_t>();
  check_integers_saturate<To, int32_t>();
  check_integers_saturate<To, int64_t>();
  check_floats_saturate<To, float>();
  check_floats_saturate<To, double>();
}

}  // namespace

TEST(conversions_saturate_and_round_half_away_from_zero) {
  check_conversions_to<uint8_t>();
  check_conversions_to<uint16_t>();
  check_conversions_to<uint32_t>();
  check_conversions_to<uint64_t>();
  check_conversions_to<int8_t>();
  check_conversions_to<int16_t>();
  check_conversions_to<int32_t>();
  check_conversions_to<int64_t>();
}

TEST(conversions_to_bool_and_half) {
  CHECK(convert<bool>(0.5f) && !convert<bool>(0.25f) && convert<bool>(-7));
  CHECK(!convert<bool>(Half{0x8000}));
  CHECK_EQUAL(convert<Half>(1).bits, 0x3c00);
  CHECK_EQUAL(convert<Half>(1e9).bits, 0x7c00);
  CHECK_EQUAL(convert<uint8_t>(Half{0x5bf8}), 255);  // 255.0
  CHECK_EQUAL(convert<double>(Half{0x3555}), 0.333251953125);
}
