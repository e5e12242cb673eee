// Files of RecordIO, as MXNet writes them: a magic number, a length with a flag, the data, filled
// up to 4 bytes. Data that hold the magic number are cut there into several parts.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/native_io/records/byte_source.hpp"
#include "dali_core/native_io/records/record.hpp"

namespace dali_core {

constexpr uint32_t kRecordioMagic = 0xced7230a;
constexpr int64_t kRecordioHeader = 8;

struct RecordioPart {
  enum Kind : uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

  uint32_t kind = kWhole;
  int64_t length = 0;  // of the data

  int64_t padded_size() const { return kRecordioHeader + (length + 3) / 4 * 4; }
  bool begins() const { return kind == kWhole || kind == kFirst; }
};

// Reads the header of a part; false if there is none.
inline bool read_part(const uint8_t* header, RecordioPart& part) {
  if (number_at<uint32_t>(header) != kRecordioMagic) return false;
  const auto word = number_at<uint32_t>(header + 4);
  part.kind = word >> 29;
  part.length = word & ((1u << 29) - 1);
  return part.kind <= RecordioPart::kLast;
}

class RecordioWalk {
 public:
  explicit RecordioWalk(ByteSource& source) : source_(source) {}

  // Lists the records in their order. A damaged stretch is one record with a problem; the walk
  // continues at the next magic number that begins a record.
  std::vector<Record> records() {
    for (int64_t position = 0; position < source_.size();) {
      const int64_t size = size_at(position);
      if (size < 0) {
        add_problem(position);
        position = next_sound(position - position % 4 + 4);
      } else {
        records_.push_back({position, size, ""});
        position += size;
      }
    }
    return std::move(records_);
  }

  // The size of the record at a position, with all of its parts; -1 if there is no sound one.
  int64_t size_at(int64_t position) {
    const int64_t first = position;
    for (bool is_first = true;; is_first = false) {
      RecordioPart part;
      if (!source_.has(position, kRecordioHeader) ||
          !read_part(source_.at(position, kRecordioHeader), part) || part.begins() != is_first ||
          !source_.has(position + kRecordioHeader, part.length))
        return -1;
      const bool is_last = part.kind == RecordioPart::kWhole || part.kind == RecordioPart::kLast;
      // The last record of a file may lack the padding.
      const int64_t left = source_.size() - position;
      position += part.padded_size() < left ? part.padded_size() : left;
      if (is_last) return position - first;
    }
  }

 private:
  int64_t next_sound(int64_t position) {
    while (position < source_.size() && size_at(position) < 0) position += 4;
    return position < source_.size() ? position : source_.size();
  }

  void add_problem(int64_t position) {
    records_.push_back({position, 0,
                        "the file must have a whole record at byte " + std::to_string(position) +
                            " (it has none). It is damaged, or is no RecordIO file."});
  }

  ByteSource& source_;
  std::vector<Record> records_;
};

// Joins the parts of a record in place, with the magic number between them.
inline RecordData joined_parts(uint8_t* record, int64_t size) {
  MemorySource source(record, static_cast<size_t>(size));
  if (RecordioWalk(source).size_at(0) != size)
    throw std::runtime_error(
        "the record must be whole, each part with its magic number and length (it is not). The "
        "file is damaged, or its index is of another file.");
  RecordioPart part;
  read_part(record, part);
  uint8_t* const data = record + kRecordioHeader;
  int64_t joined = part.length;
  for (int64_t next = part.padded_size();
       part.kind != RecordioPart::kWhole && part.kind != RecordioPart::kLast;) {
    read_part(record + next, part);
    std::memcpy(data + joined, &kRecordioMagic, sizeof(kRecordioMagic));
    joined += 4;
    std::memmove(data + joined, record + next + kRecordioHeader, static_cast<size_t>(part.length));
    joined += part.length;
    next += part.padded_size();
  }
  return {data, static_cast<size_t>(joined)};
}

// What a record of MXNet holds: labels and an image.
struct ImageRecord {
  RecordData labels;  // 32-bit floats, at least one, not aligned
  RecordData image;
};

// Divides the data of a record: a number of labels, a label, two identifiers of 8 bytes, then the
// labels if that number is not 0, and the image.
inline ImageRecord divide_record(RecordData record) {
  constexpr size_t kHeader = 24;
  if (record.size < kHeader)
    throw std::runtime_error("the record must have a header of 24 bytes (got " +
                             std::to_string(record.size) + " bytes). It is no image of MXNet.");
  const size_t count = number_at<uint32_t>(record.data);
  const uint8_t* const rest = record.data + kHeader;
  const size_t size = record.size - kHeader;
  if (count > size / 4)
    throw std::runtime_error("the record must have as many labels as its header says (got " +
                             std::to_string(count) + " for " + std::to_string(size) +
                             " bytes). It is damaged.");
  if (count == 0) return {{record.data + 4, 4}, {rest, size}};
  return {{rest, 4 * count}, {rest + 4 * count, size - 4 * count}};
}

}  // namespace dali_core
