// fn.readers.mxnet: reads one record of a file, and gives the image and the labels in it.
#include <cstring>
#include <stdexcept>
#include <string>

#include "dali_core/native_io/records/byte_source.hpp"
#include "dali_core/native_io/records/listed_records.hpp"
#include "dali_core/native_io/records/recordio.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class MxnetReader : public Operator {
 public:
  explicit MxnetReader(const OperatorConfig& config) : records_(config) {}

  int batches_ahead() const override { return records_.batches_ahead(); }

  void run(SampleContext& sample) const override {
    records_.with_record(sample, [&](const OpenFile& file, int64_t offset, int64_t most) {
      uint8_t* record = nullptr;
      int64_t size = -1;
      if (file.is_remote()) {
        // The listing says how many bytes the record has at most.
        record = ListedRecords::read(sample, file, offset, most);
        MemorySource source(record, static_cast<size_t>(most));
        size = RecordioWalk(source).size_at(0);
      } else {
        // Index files give no sizes, and what comes next need not be in them.
        FileSource source(file);
        size = RecordioWalk(source).size_at(offset);
      }
      if (size < 0)
        throw std::runtime_error("the file must have a whole record at byte " +
                                 std::to_string(offset) +
                                 " (it has none). It is damaged, or its index is of another file.");
      if (record == nullptr) record = ListedRecords::read(sample, file, offset, size);
      write(sample, divide_record(joined_parts(record, size)));
    });
  }

 private:
  static void write(SampleContext& sample, const ImageRecord& record) {
    const auto size = static_cast<int64_t>(record.image.size);
    void* const image = sample.output(0, DataType::kUInt8, {size}).as<uint8_t>();
    if (size > 0) std::memcpy(image, record.image.data, record.image.size);
    const auto count = static_cast<int64_t>(record.labels.size / sizeof(float));
    std::memcpy(sample.output(1, DataType::kFloat, {count}).as<float>(), record.labels.data,
                record.labels.size);
  }

  ListedRecords records_;
};

DALI_CORE_REGISTER_OPERATOR("readers.mxnet", MxnetReader)

}  // namespace dali_core
