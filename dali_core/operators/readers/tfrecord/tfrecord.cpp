// fn.readers.tfrecord: reads one record of a file, and gives features of the example in it.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/records/example.hpp"
#include "dali_core/native_io/records/listed_records.hpp"
#include "dali_core/native_io/records/tfrecord.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

enum class FeatureType : int64_t { kInt64 = 0, kString = 1, kFloat = 2 };

// A feature as the listing in Python describes it.
struct FeatureRecord {
  int64_t kind, type, ndim, extents[8], has_default, integer;
  double number;
};
static_assert(sizeof(FeatureRecord) == 14 * sizeof(int64_t));

// What the user wants to know of a record.
struct WantedFeature {
  enum Kind : int64_t { kFixed = 0, kVariable = 1, kSequence = 2 };

  std::string name;
  Kind kind;
  FeatureType type;
  Shape shape;
  bool has_default;
  int64_t integer;
  float number;
  std::string text;

  FeatureValues::Kind stored_as() const {
    if (type == FeatureType::kString) return FeatureValues::kBytes;
    return type == FeatureType::kFloat ? FeatureValues::kFloats : FeatureValues::kIntegers;
  }

  DataType data_type() const {
    if (type == FeatureType::kString) return DataType::kUInt8;
    return type == FeatureType::kFloat ? DataType::kFloat : DataType::kInt64;
  }

  // The shape of several values with this one.
  Shape shape_of(int64_t count) const {
    Shape all{count};
    for (int i = 0; i < shape.ndim; ++i) all.push_back(shape[i]);
    return all;
  }

  [[noreturn]] void refuse(const std::string& rule, const std::string& got) const {
    throw std::runtime_error("the record's feature \"" + name + "\" must " + rule + " (got " + got +
                             "). Describe it as it is, or leave out the record.");
  }
};

std::string name_of(FeatureValues::Kind kind) {
  constexpr const char* kNames[] = {"nothing", "bytes", "floats", "integers"};
  return kNames[kind];
}

}  // namespace

class TfrecordReader : public Operator {
 public:
  explicit TfrecordReader(const OperatorConfig& config)
      : records_(config), is_sequence_(config.get<bool>("sequence_features")) {
    const auto names = config.get<std::vector<std::string>>("features");
    const auto words = config.get<std::vector<int64_t>>("feature_records");
    const auto texts = config.get<std::vector<std::string>>("text_defaults");
    std::vector<FeatureRecord> records(names.size());
    std::memcpy(records.data(), words.data(),
                std::min(words.size() * sizeof(words[0]), records.size() * sizeof(records[0])));
    for (size_t i = 0; i < names.size(); ++i) {
      const FeatureRecord& record = records[i];
      Shape shape;
      for (int64_t d = 0; d < record.ndim; ++d) shape.push_back(record.extents[d]);
      wanted_.push_back({names[i], static_cast<WantedFeature::Kind>(record.kind),
                         static_cast<FeatureType>(record.type), shape, record.has_default != 0,
                         record.integer, static_cast<float>(record.number), texts[i]});
    }
  }

  int batches_ahead() const override { return records_.batches_ahead(); }

  void run(SampleContext& sample) const override {
    records_.with_record(sample, [&](const OpenFile& file, int64_t offset, int64_t size) {
      const uint8_t* const record = ListedRecords::read(sample, file, offset, size);
      read_example(sample, tfrecord_data(record, size));
    });
  }

 private:
  void read_example(SampleContext& sample, RecordData example) const {
    std::vector<RecordData> found(wanted_.size());
    // Of several with one name, the last one counts, as in any reader of such messages.
    const auto find = [&](RecordData key, RecordData value, bool is_list) {
      for (size_t i = 0; i < wanted_.size(); ++i)
        if (is_list == (wanted_[i].kind == WantedFeature::kSequence) &&
            is_named(key, wanted_[i].name))
          found[i] = value;
    };
    each_feature(
        example, [&](RecordData key, RecordData value) { find(key, value, false); },
        [&](RecordData key, RecordData value) {
          if (is_sequence_) find(key, value, true);
        });
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].kind == WantedFeature::kSequence)
        write_sequence(sample, static_cast<int>(i), wanted_[i], found[i]);
      else
        write_feature(sample, static_cast<int>(i), wanted_[i], FeatureValues::of(found[i]));
    }
  }

  static void write_feature(SampleContext& sample, int output, const WantedFeature& wanted,
                            const FeatureValues& values) {
    if (values.kind == FeatureValues::kNone) return write_missing(sample, output, wanted);
    if (values.kind != wanted.stored_as())
      wanted.refuse("hold " + name_of(wanted.stored_as()), name_of(values.kind));
    const int64_t count = values.count();
    if (wanted.type == FeatureType::kString) {
      if (count != 1) wanted.refuse("be one string", std::to_string(count) + " strings");
      values.each_text([&](RecordData text) {
        const auto size = static_cast<int64_t>(text.size);
        void* const target = sample.output(output, DataType::kUInt8, {size}).as<uint8_t>();
        if (size > 0) std::memcpy(target, text.data, text.size);
      });
      return;
    }
    const int64_t unit = wanted.shape.num_elements();
    Shape shape = wanted.shape;
    if (wanted.kind == WantedFeature::kVariable) {
      if (unit == 0 ? count != 0 : count % unit != 0)
        wanted.refuse("have a multiple of " + std::to_string(unit) + " values",
                      std::to_string(count));
      shape = wanted.shape_of(unit == 0 ? 0 : count / unit);
    } else if (count != unit) {
      wanted.refuse("have " + std::to_string(unit) + " values", std::to_string(count));
    }
    Tensor& result = sample.output(output, wanted.data_type(), shape);
    write_numbers(result, 0, values);
  }

  static void write_missing(SampleContext& sample, int output, const WantedFeature& wanted) {
    if (wanted.kind == WantedFeature::kVariable) {
      sample.output(output, wanted.data_type(), wanted.shape_of(0));
      return;
    }
    if (!wanted.has_default) wanted.refuse("be there, since it has no default", "none");
    if (wanted.type == FeatureType::kString) {
      const auto size = static_cast<int64_t>(wanted.text.size());
      std::copy(wanted.text.begin(), wanted.text.end(),
                sample.output(output, DataType::kUInt8, {size}).as<uint8_t>());
      return;
    }
    Tensor& result = sample.output(output, wanted.data_type(), wanted.shape);
    const int64_t count = result.num_elements();
    if (wanted.type == FeatureType::kFloat)
      std::fill_n(result.as<float>(), count, wanted.number);
    else
      std::fill_n(result.as<int64_t>(), count, wanted.integer);
  }

  // The steps of a sequence; a list that is missing has none.
  static void write_sequence(SampleContext& sample, int output, const WantedFeature& wanted,
                             RecordData list) {
    std::vector<FeatureValues> steps;
    WireReader reader(list);
    for (WireReader::Field field; reader.next(field);)
      if (field.is(1, WireReader::kBytes)) steps.push_back(FeatureValues::of(field.bytes));
    const int64_t unit = wanted.shape.num_elements();
    for (const FeatureValues& step : steps) {
      // A step without values may be of any type.
      const int64_t count = step.count();
      if (step.kind != wanted.stored_as() && (count > 0 || unit > 0))
        wanted.refuse("hold " + name_of(wanted.stored_as()) + " at each step", name_of(step.kind));
      if (count != unit)
        wanted.refuse("have " + std::to_string(unit) + " values at each step",
                      std::to_string(count));
    }
    Tensor& result = sample.output(output, wanted.data_type(),
                                   wanted.shape_of(static_cast<int64_t>(steps.size())));
    int64_t place = 0;
    for (const FeatureValues& step : steps) {
      write_numbers(result, place, step);
      place += unit;
    }
  }

  // From an element on; the values have been counted.
  static void write_numbers(Tensor& result, int64_t place, const FeatureValues& values) {
    if (values.kind == FeatureValues::kFloats) {
      float* target = result.as<float>() + place;
      values.each_number([&](uint64_t bits) {
        const auto word = static_cast<uint32_t>(bits);
        std::memcpy(target++, &word, sizeof(word));
      });
    } else {
      int64_t* target = result.as<int64_t>() + place;
      values.each_number([&](uint64_t bits) { *target++ = static_cast<int64_t>(bits); });
    }
  }

  ListedRecords records_;
  bool is_sequence_;
  std::vector<WantedFeature> wanted_;
};

DALI_CORE_REGISTER_OPERATOR("readers.tfrecord", TfrecordReader)

}  // namespace dali_core
