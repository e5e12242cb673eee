// Messages of Protocol Buffers, field by field, without a description of them.
//
// The format: https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "dali_core/native_io/records/record.hpp"

namespace dali_core {

class WireReader {
 public:
  enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  struct Field {
    uint32_t number = 0;
    uint32_t type = 0;
    uint64_t value = 0;  // of the types that are numbers
    RecordData bytes;    // of the others

    bool is(uint32_t wanted, Type of) const { return number == wanted && type == of; }
  };

  explicit WireReader(RecordData message)
      : position_(message.data), end_(message.data + message.size) {}

  // Reads the next field; false at the end.
  bool next(Field& field) {
    if (position_ == end_) return false;
    const uint64_t tag = varint();
    field.number = static_cast<uint32_t>(tag >> 3);
    field.type = static_cast<uint32_t>(tag & 7);
    if (field.number == 0 || tag >> 32 != 0) refuse();
    switch (field.type) {
      case kVarint:
        field.value = varint();
        break;
      case kFixed64:
        field.value = number_at<uint64_t>(take(8));
        break;
      case kFixed32:
        field.value = number_at<uint32_t>(take(4));
        break;
      case kBytes: {
        const uint64_t size = varint();
        if (size > static_cast<uint64_t>(end_ - position_)) refuse();
        field.bytes = {take(static_cast<size_t>(size)), static_cast<size_t>(size)};
        break;
      }
      default:  // groups, which are deprecated
        refuse();
    }
    return true;
  }

  bool at_end() const { return position_ == end_; }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = *take(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    refuse();
  }

  [[noreturn]] static void refuse() {
    throw std::runtime_error(
        "the record must be a message of Protocol Buffers whose fields are inside of it (it is "
        "not). The file is damaged, or of another kind.");
  }

 private:
  const uint8_t* take(size_t size) {
    if (size > static_cast<size_t>(end_ - position_)) refuse();
    const uint8_t* const data = position_;
    position_ += size;
    return data;
  }

  const uint8_t* position_;
  const uint8_t* end_;
};

}  // namespace dali_core
