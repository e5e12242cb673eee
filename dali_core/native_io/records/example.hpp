// Messages Example and SequenceExample of TensorFlow: features, which are lists of bytes, floats or
// integers, by their names; and lists of features.
//
// https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/example/feature.proto
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "dali_core/native_io/records/wire_format.hpp"

namespace dali_core {

// A list of values; of which kind, its field says.
struct FeatureValues {
  enum Kind : uint32_t { kNone = 0, kBytes = 1, kFloats = 2, kIntegers = 3 };

  Kind kind = kNone;
  RecordData list;

  static FeatureValues of(RecordData feature) {
    FeatureValues found;
    WireReader reader(feature);
    for (WireReader::Field field; reader.next(field);)
      if (field.type == WireReader::kBytes && field.number <= kIntegers)
        found = {static_cast<Kind>(field.number), field.bytes};
    return found;
  }

  // Calls `use` with each text.
  template <typename Use>
  void each_text(Use&& use) const {
    WireReader reader(list);
    for (WireReader::Field field; reader.next(field);)
      if (field.is(1, WireReader::kBytes)) use(field.bytes);
  }

  // Calls `use` with each number: floats as their bits. Numbers may be packed into one field.
  template <typename Use>
  void each_number(Use&& use) const {
    const auto one = kind == kFloats ? WireReader::kFixed32 : WireReader::kVarint;
    WireReader reader(list);
    for (WireReader::Field field; reader.next(field);) {
      if (field.is(1, one)) use(field.value);
      if (!field.is(1, WireReader::kBytes)) continue;
      if (kind == kFloats) {
        if (field.bytes.size % 4 != 0) WireReader::refuse();
        for (size_t i = 0; i < field.bytes.size; i += 4)
          use(uint64_t{number_at<uint32_t>(field.bytes.data + i)});
      } else {
        for (WireReader packed(field.bytes); !packed.at_end();) use(packed.varint());
      }
    }
  }

  int64_t count() const {
    int64_t found = 0;
    if (kind == kBytes)
      each_text([&](RecordData) { ++found; });
    else if (kind != kNone)
      each_number([&](uint64_t) { ++found; });
    return found;
  }
};

// Calls `use` with key and value of each entry of a map, whose message is in field 1.
template <typename Use>
void each_entry(RecordData map, Use&& use) {
  WireReader reader(map);
  for (WireReader::Field entry; reader.next(entry);) {
    if (!entry.is(1, WireReader::kBytes)) continue;
    RecordData key, value;
    WireReader parts(entry.bytes);
    for (WireReader::Field part; parts.next(part);) {
      if (part.is(1, WireReader::kBytes)) key = part.bytes;
      if (part.is(2, WireReader::kBytes)) value = part.bytes;
    }
    use(key, value);
  }
}

// Calls `use_feature` with the name and message of each feature of an example, or of the context of
// a sequence example, and `use_list` with those of each list of features.
template <typename UseFeature, typename UseList>
void each_feature(RecordData example, UseFeature&& use_feature, UseList&& use_list) {
  WireReader reader(example);
  for (WireReader::Field field; reader.next(field);) {
    if (field.is(1, WireReader::kBytes)) each_entry(field.bytes, use_feature);
    if (field.is(2, WireReader::kBytes)) each_entry(field.bytes, use_list);
  }
}

inline bool is_named(RecordData key, const std::string& name) {
  return key.size == name.size() && std::memcmp(key.data, name.data(), key.size) == 0;
}

}  // namespace dali_core
