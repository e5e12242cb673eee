// Points inside of JPEG scans: where they lie, and which files have them.
#include "dali_core/kernels/jpeg/scan_index.hpp"

#include <memory>
#include <vector>

#include "check.hpp"

using namespace dali_core;

namespace {

std::shared_ptr<const ScanPoints> points(size_t count) {
  return std::make_shared<ScanPoints>(count);
}

}  // namespace

TEST(points_lie_at_the_start_of_each_row_and_along_it) {
  for (const int64_t columns : {1, 7, 8, 9, 64}) {
    for (const int64_t pixels : {8, 16, 32}) {
      const ScanGrid grid(columns, pixels);
      for (int64_t group = 0; group < 5 * columns; ++group) {
        const int64_t point = grid.point_before(group);
        CHECK(grid.group_of(point) <= group && group < grid.group_of(point + 1));
        CHECK(grid.group_of(point) / columns == group / columns);
        CHECK((group - grid.group_of(point)) * pixels < ScanGrid::kSpacingPixels);
      }
    }
  }
}

TEST(files_differ_by_each_byte_and_by_their_length) {
  const ScanIndexes indexes(1 << 20);
  for (const size_t size : {1, 63, 64, 65, 200}) {
    std::vector<uint8_t> file(size);
    const ScanIndexes::Key key = indexes.key_of({file.data(), size});
    CHECK(key == indexes.key_of({file.data(), size}));
    for (uint8_t& byte : file) {
      byte ^= 1;
      CHECK(!(key == indexes.key_of({file.data(), size})));
      byte ^= 1;
    }
    CHECK(!(key == indexes.key_of({file.data(), size - 1})));
  }
}

TEST(more_points_take_the_place_of_fewer) {
  ScanIndexes indexes(1 << 20);
  const ScanIndexes::Key key{5, 6};
  CHECK(indexes.find(key) == nullptr);
  for (const size_t count : {3, 7, 5}) indexes.keep(key, points(count));
  CHECK_EQUAL(indexes.find(key)->size(), size_t{7});
  CHECK(indexes.find({5, 7}) == nullptr);
  CHECK(!indexes.is_full());
}

TEST(memory_for_points_is_bounded) {
  constexpr size_t kPoints = 1000;
  ScanIndexes indexes(10 * kPoints * sizeof(ScanPoint));
  size_t kept = 0;
  for (uint64_t number = 0; number < 20; ++number) {
    indexes.keep({number, 1}, points(kPoints));
    if (indexes.find({number, 1}) != nullptr) ++kept;
  }
  CHECK_EQUAL(kept, size_t{9});
  CHECK(indexes.is_full());
}
