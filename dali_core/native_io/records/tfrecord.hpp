// Files of TFRecords: a length of 8 bytes, its checksum, the data, their checksum; and again.
//
// The format: https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/native_io/checksum/crc32c.hpp"
#include "dali_core/native_io/records/byte_source.hpp"
#include "dali_core/native_io/records/record.hpp"

namespace dali_core {

constexpr int64_t kTfrecordHeader = 12, kTfrecordFrame = 16;

// Rotated and shifted, so that checksums of data with checksums inside are good ones, too.
inline uint32_t masked_crc32c(const uint8_t* data, size_t size) {
  const uint32_t crc = crc32c(data, size);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

// The length that the 12 bytes of a header give; -1 if its checksum is another.
inline int64_t tfrecord_length(const uint8_t* header) {
  if (number_at<uint32_t>(header + 8) != masked_crc32c(header, 8)) return -1;
  const auto length = number_at<uint64_t>(header);
  return length >> 62 == 0 ? static_cast<int64_t>(length) : -1;
}

// The data of a record that has been read whole.
inline RecordData tfrecord_data(const uint8_t* record, int64_t size) {
  if (size < kTfrecordFrame || tfrecord_length(record) != size - kTfrecordFrame)
    throw std::runtime_error(
        "the record must begin with its length and the checksum of that (it does not). The file is "
        "damaged, or its index is of another file.");
  const RecordData found{record + kTfrecordHeader, static_cast<size_t>(size - kTfrecordFrame)};
  if (number_at<uint32_t>(found.data + found.size) != masked_crc32c(found.data, found.size))
    throw std::runtime_error(
        "the record must have the checksum that is stored with it (it has "
        "another). The file is damaged: copy it again.");
  return found;
}

class TfrecordWalk {
 public:
  explicit TfrecordWalk(ByteSource& source) : source_(source) {}

  // Lists the records in their order. A damaged stretch is one record with a problem; the walk
  // continues where the next length has its checksum.
  std::vector<Record> records() {
    for (int64_t position = 0; position < source_.size();) {
      const int64_t size = size_at(position);
      if (size < 0) {
        add_problem(position);
        position = next_sound(position + 1);
      } else {
        records_.push_back({position, size, ""});
        position += size;
      }
    }
    return std::move(records_);
  }

 private:
  // The size of the record, with its frame; -1 if there is no sound one.
  int64_t size_at(int64_t position) {
    if (!source_.has(position, kTfrecordHeader)) return -1;
    const int64_t length = tfrecord_length(source_.at(position, kTfrecordHeader));
    const bool is_whole = length >= 0 && source_.has(position, kTfrecordFrame) &&
                          source_.has(position + kTfrecordFrame, length);
    return is_whole ? length + kTfrecordFrame : -1;
  }

  int64_t next_sound(int64_t position) {
    while (position < source_.size() && size_at(position) < 0) ++position;
    return position;
  }

  void add_problem(int64_t position) {
    records_.push_back({position, 0,
                        "the file must have a record at byte " + std::to_string(position) +
                            ", with a length whose checksum is right and which is inside the file "
                            "(it has not). It is damaged, or is no TFRecord file."});
  }

  ByteSource& source_;
  std::vector<Record> records_;
};

}  // namespace dali_core
