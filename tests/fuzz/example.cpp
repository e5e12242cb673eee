// Messages Example and SequenceExample: all that is found in them is inside of them, and is found
// as often as it was counted.
#include <stdexcept>

#include "dali_core/native_io/records/example.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

namespace {

void check_inside(RecordData part, const uint8_t* data, size_t size) {
  if (part.data == nullptr) return;
  FUZZ_CHECK(part.data >= data && part.size <= size);
  FUZZ_CHECK(static_cast<size_t>(part.data - data) <= size - part.size);
}

void check_feature(RecordData feature, const uint8_t* data, size_t size) {
  const FeatureValues values = FeatureValues::of(feature);
  check_inside(values.list, data, size);
  int64_t found = 0;
  if (values.kind == FeatureValues::kBytes) {
    values.each_text([&](RecordData text) {
      check_inside(text, data, size);
      ++found;
    });
  } else if (values.kind != FeatureValues::kNone) {
    values.each_number([&](uint64_t) { ++found; });
  }
  FUZZ_CHECK(found == values.count() && found <= static_cast<int64_t>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ExactCopy copy(data, size);
  const uint8_t* const start = copy.data();
  try {
    each_feature(
        {start, size},
        [&](RecordData key, RecordData value) {
          check_inside(key, start, size);
          check_inside(value, start, size);
          is_named(key, "label");
          check_feature(value, start, size);
        },
        [&](RecordData key, RecordData list) {
          check_inside(key, start, size);
          WireReader reader(list);
          for (WireReader::Field field; reader.next(field);)
            if (field.is(1, WireReader::kBytes)) check_feature(field.bytes, start, size);
        });
  } catch (const std::runtime_error&) {
    // The expected error.
  }
  return 0;
}
