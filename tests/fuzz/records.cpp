// Walks through files of TFRecords and of RecordIO: each byte is in one record or damaged, and what
// is inside of records is found inside of them.
#include <stdexcept>

#include "dali_core/native_io/records/recordio.hpp"
#include "dali_core/native_io/records/tfrecord.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

namespace {

void check_order(const std::vector<Record>& records, const MemorySource& source) {
  int64_t last = 0;
  for (const Record& record : records) {
    FUZZ_CHECK(record.offset >= last && source.has(record.offset, record.size));
    FUZZ_CHECK(record.problem.empty() == (record.size > 0));
    last = record.offset + record.size;
  }
}

void check_inside(RecordData part, const uint8_t* data, size_t size) {
  FUZZ_CHECK(part.data >= data && part.size <= size);
  FUZZ_CHECK(static_cast<size_t>(part.data - data) <= size - part.size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool is_tfrecord = data[0] % 2 == 0;
  ++data;
  --size;
  const ExactCopy copy(data, size);
  FUZZ_CHECK(crc32c(copy.data(), size) == ~crc32c_by_tables(~0u, copy.data(), size));
  MemorySource source(copy.data(), size);
  const auto records =
      is_tfrecord ? TfrecordWalk(source).records() : RecordioWalk(source).records();
  check_order(records, source);
  for (const Record& record : records) {
    if (!record.problem.empty()) continue;
    const auto record_size = static_cast<size_t>(record.size);
    const ExactCopy one(copy.data() + record.offset, record_size);
    auto* const bytes = const_cast<uint8_t*>(one.data());
    try {
      if (is_tfrecord) {
        check_inside(tfrecord_data(bytes, record.size), bytes, record_size);
        continue;
      }
      const RecordData joined = joined_parts(bytes, record.size);
      check_inside(joined, bytes, record_size);
      const ImageRecord found = divide_record(joined);
      check_inside(found.labels, joined.data, joined.size);
      check_inside(found.image, joined.data, joined.size);
      FUZZ_CHECK(found.labels.size % 4 == 0 && found.labels.size > 0);
    } catch (const std::runtime_error&) {
      // The expected error.
    }
  }
  return 0;
}
