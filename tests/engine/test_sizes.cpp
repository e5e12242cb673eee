// Sizes are rejected before they overflow, and before the machine runs out of memory.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "check.hpp"
#include "dali_core/memory.hpp"
#include "dali_core/operator.hpp"
#include "huge_numbers.hpp"

using namespace dali_core;

namespace {

// The result of an unchecked multiplication.
bool fits(int64_t a, int64_t b, int64_t c, int64_t limit) {
  const __int128 product = static_cast<__int128>(a) * b;
  return product <= limit && product * c <= limit;
}

}  // namespace

TEST(products_of_extents_do_not_wrap) {
  for (const int64_t a : kHugeNumbers)
    for (const int64_t b : kHugeNumbers) {
      const Shape shape{a, b};
      const bool possible = a >= 0 && b >= 0 && fits(a, b, 4, kMaxBytes);
      CHECK_EQUAL(is_possible(shape, DataType::kInt32), possible);
      if (!possible) CHECK_THROWS(check_size(shape, DataType::kInt32), SizeError);
      const __int128 product = static_cast<__int128>(a) * b;
      if (product > INT64_MAX || product < INT64_MIN)
        CHECK_THROWS(shape.num_elements(), SizeError);
      else
        CHECK_EQUAL(shape.num_elements(), static_cast<int64_t>(product));
    }
}

TEST(extents_beside_one_of_0_count) {
  // Strides and parts of such a tensor are products of the others.
  const int64_t large = int64_t{1} << 40;
  CHECK(!is_possible({0, large, large}, DataType::kUInt8));
  CHECK(!is_possible({large, large, 0}, DataType::kUInt8));
  CHECK(is_possible({large, 0}, DataType::kUInt8));
  CHECK(is_possible({}, DataType::kFloat64));
}

TEST(a_tensor_has_at_most_as_many_bytes_as_a_process_can_address) {
  CHECK(is_possible({kMaxBytes}, DataType::kUInt8));
  CHECK(!is_possible({kMaxBytes + 1}, DataType::kUInt8));
  CHECK(!is_possible({kMaxBytes}, DataType::kInt16));
}

TEST(a_view_has_a_size_that_may_be) {
  Tensor tensor;
  tensor.type = DataType::kUInt8;
  tensor.shape = {0, 4};
  CHECK(viewed_as(tensor, {4, 0, 7}, "HWC").shape == Shape({4, 0, 7}));
  CHECK_THROWS(viewed_as(tensor, {0, INT64_MAX, 2}, ""), SizeError);
}

TEST(numbers_beyond_a_range_and_nan_are_refused) {
  CHECK_EQUAL(checked_extent(2.9f, "x"), 2);
  CHECK_EQUAL(checked_position(-kMaxExtent, "x"), -kMaxExtent);
  for (const double wrong : {-1.0, 1e30, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS(checked_extent(wrong, "x"), SizeError);
  for (const int64_t wrong : {kMaxExtent + 1, INT64_MIN, INT64_MAX})
    CHECK_THROWS(checked_position(wrong, "x"), SizeError);
  CHECK_THROWS(checked_sum(INT64_MAX, 1), SizeError);
  CHECK_THROWS(checked_product(INT64_MIN, -1), SizeError);
}

TEST(an_argument_that_its_type_cannot_hold_is_refused) {
  OperatorConfig config;
  for (const int64_t wide : {(int64_t{1} << 32) + 1, int64_t{1} << 31, INT64_MIN}) {
    config.values["number"] = wide;
    CHECK_EQUAL(config.get<int64_t>("number"), wide);
    CHECK_THROWS(config.get<int>("number"), std::invalid_argument);
    CHECK_THROWS(config.get<std::vector<int>>("number"), std::invalid_argument);
    CHECK_THROWS(config.get<DataType>("number"), std::invalid_argument);
    CHECK(config.get<bool>("number"));
    config.values["number"] = std::vector<int64_t>{1, wide};
    CHECK_THROWS(config.get<std::vector<int>>("number"), std::invalid_argument);
  }
  config.values["number"] = 1e19;
  CHECK_THROWS(config.get<int64_t>("number"), std::invalid_argument);
  config.values["number"] = -7.5;
  CHECK_EQUAL(config.get<int64_t>("number"), -7);
}

TEST(a_pool_gives_no_more_than_there_is) {
  BlockSource source = BlockSource::host_memory();
  source.most_bytes = 1000;
  const auto pool = BufferPool::create(source);
  CHECK_THROWS(pool->allocate(1001), OutOfMemory);
  CHECK_THROWS(pool->allocate(SIZE_MAX), OutOfMemory);
  CHECK_THROWS(pool->allocate((std::size_t{1} << 63) + 4), OutOfMemory);
  CHECK_EQUAL(pool->used_bytes(), 0u);
  const auto most = pool->allocate(700);
  CHECK_THROWS(pool->allocate(700), OutOfMemory);
  CHECK(pool->allocate(100) != nullptr);
  try {
    pool->allocate(12345);
  } catch (const OutOfMemory& error) {
    const std::string message = error.what();
    CHECK(message.find("12345") != std::string::npos);
    CHECK(message.find("at most 1000") != std::string::npos);
  }
}

TEST(temporary_memory_is_limited) {
  Scratch scratch;
  CHECK_THROWS(scratch.get<double>(0, SIZE_MAX / 8 + 2), SizeError);
  CHECK_THROWS(scratch.get<char>(0, static_cast<size_t>(-1)), SizeError);
  CHECK_THROWS(scratch.get<char>(0, static_cast<size_t>(kMaxExtent)), OutOfMemory);
  CHECK(scratch.get<char>(0, 100) != nullptr);
}

TEST(the_least_limit_of_control_groups_counts) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("groups-" + std::to_string(::getpid()));
  fs::create_directories(folder / "a" / "b");
  const std::string root = folder.string();
  const auto write = [&](const std::string& group, const char* text) {
    std::ofstream(root + group + "/memory.max") << text;
  };
  CHECK_EQUAL(control_group_limit(root, "/a/b", "memory.max"), SIZE_MAX);
  write("", "max\n");
  write("/a/b", "max\n");
  CHECK_EQUAL(control_group_limit(root, "/a/b", "memory.max"), SIZE_MAX);
  write("/a", "4096\n");
  CHECK_EQUAL(control_group_limit(root, "/a/b", "memory.max"), 4096u);
  write("/a/b", "123\n");
  CHECK_EQUAL(control_group_limit(root, "/a/b", "memory.max"), 123u);
  CHECK_EQUAL(control_group_limit(root, "/", "memory.max"), SIZE_MAX);
  CHECK(host_memory_limit() > 0);
  fs::remove_all(folder);
}
