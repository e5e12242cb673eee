// Tensors of Caffe2 in messages TensorProto.
//
// https://github.com/pytorch/pytorch/blob/v1.0.0/caffe2/proto/caffe2.proto
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/records/wire_format.hpp"

namespace dali_core {

struct TensorProto {
  enum Type : uint64_t { kNone = 0, kFloat = 1, kInt32 = 2, kByte = 3, kString = 4, kInt64 = 10 };

  Type type = kNone;
  std::vector<int64_t> dims;
  std::vector<float> floats;
  std::vector<int64_t> integers;  // of either size
  RecordData bytes;
  RecordData text;  // the first one
  bool has_text = false;

  static TensorProto of(RecordData message) {
    TensorProto tensor;
    WireReader reader(message);
    for (WireReader::Field field; reader.next(field);) {
      switch (field.number) {
        case 1:
          add_integers(field, tensor.dims);
          break;
        case 2:
          if (field.type == WireReader::kVarint) tensor.type = static_cast<Type>(field.value);
          break;
        case 3:
          add_floats(field, tensor.floats);
          break;
        case 4:
        case 10:
          add_integers(field, tensor.integers);
          break;
        case 5:
          if (field.type == WireReader::kBytes) tensor.bytes = field.bytes;
          break;
        case 6:
          if (field.type == WireReader::kBytes && !tensor.has_text) {
            tensor.text = field.bytes;
            tensor.has_text = true;
          }
          break;
        default:
          break;
      }
    }
    return tensor;
  }

  // Those of an entry, in their order.
  static std::vector<TensorProto> all_of(RecordData entry) {
    std::vector<TensorProto> tensors;
    WireReader reader(entry);
    for (WireReader::Field field; reader.next(field);)
      if (field.is(1, WireReader::kBytes)) tensors.push_back(of(field.bytes));
    return tensors;
  }

 private:
  // Numbers may be packed into one field.
  static void add_integers(const WireReader::Field& field, std::vector<int64_t>& numbers) {
    if (field.type == WireReader::kVarint) numbers.push_back(static_cast<int64_t>(field.value));
    if (field.type != WireReader::kBytes) return;
    for (WireReader packed(field.bytes); !packed.at_end();)
      numbers.push_back(static_cast<int64_t>(packed.varint()));
  }

  static void add_floats(const WireReader::Field& field, std::vector<float>& numbers) {
    if (field.type == WireReader::kFixed32) {
      const auto word = static_cast<uint32_t>(field.value);
      numbers.push_back(number_at<float>(reinterpret_cast<const uint8_t*>(&word)));
    }
    if (field.type != WireReader::kBytes) return;
    if (field.bytes.size % 4 != 0) WireReader::refuse();
    for (size_t i = 0; i < field.bytes.size; i += 4)
      numbers.push_back(number_at<float>(field.bytes.data + i));
  }
};

}  // namespace dali_core
