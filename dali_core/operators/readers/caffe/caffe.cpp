// fn.readers.caffe: reads one entry of a database, and gives image and label of the Datum in it.
#include <cstring>

#include "dali_core/native_io/records/listed_records.hpp"
#include "dali_core/native_io/records/wire_format.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class CaffeReader : public Operator {
 public:
  explicit CaffeReader(const OperatorConfig& config)
      : records_(config),
        gives_image_(config.get<bool>("image_available")),
        gives_label_(config.get<bool>("label_available")) {}

  int batches_ahead() const override { return records_.batches_ahead(); }

  void run(SampleContext& sample) const override {
    records_.with_record(sample, [&](const OpenFile& file, int64_t offset, int64_t size) {
      const uint8_t* const data = ListedRecords::read(sample, file, offset, size);
      write(sample, {data, static_cast<size_t>(size)});
    });
  }

 private:
  // https://github.com/BVLC/caffe/blob/master/src/caffe/proto/caffe.proto
  void write(SampleContext& sample, RecordData datum) const {
    RecordData image;
    bool has_label = false;
    int32_t label = 0;
    WireReader reader(datum);
    for (WireReader::Field field; reader.next(field);) {
      if (field.is(4, WireReader::kBytes)) image = field.bytes;
      if (!field.is(5, WireReader::kVarint)) continue;
      has_label = true;
      label = static_cast<int32_t>(field.value);
    }
    int next = 0;
    if (gives_image_) {
      const auto size = static_cast<int64_t>(image.size);
      void* const target = sample.output(next++, DataType::kUInt8, {size}).as<uint8_t>();
      if (size > 0) std::memcpy(target, image.data, image.size);
    }
    if (!gives_label_) return;
    Tensor& target = sample.output(next, DataType::kInt32, {has_label ? 1 : 0});
    if (has_label) *target.as<int32_t>() = label;
  }

  ListedRecords records_;
  bool gives_image_, gives_label_;
};

DALI_CORE_REGISTER_OPERATOR("readers.caffe", CaffeReader)

}  // namespace dali_core
