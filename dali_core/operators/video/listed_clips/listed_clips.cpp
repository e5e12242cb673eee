// Lists clips of readers of videos, which are decoded elsewhere: output 0 is a path, output 1
// numbers of frames.
#include <algorithm>
#include <cstring>

#include "dali_core/native_io/video/clip_reader.hpp"

namespace dali_core {
namespace {

class ListedClips : public Operator {
 public:
  explicit ListedClips(const OperatorConfig& config)
      : reader_(config.reader), table_(config), notes_(config, /*first_output=*/2) {}

  void run(SampleContext& sample) const override {
    const ClipTable::Clip clip = table_.find(sample, reader_);
    const std::string& path = *clip.path;
    std::memcpy(sample.output(0, DataType::kUInt8, {static_cast<int64_t>(path.size())}).data,
                path.data(), path.size());
    const std::vector<int64_t>& numbers = clip.frames.numbers;
    std::copy(
        numbers.begin(), numbers.end(),
        sample.output(1, DataType::kInt64, {static_cast<int64_t>(numbers.size())}).as<int64_t>());
    notes_.write(sample, clip);
  }

 private:
  int reader_;
  ClipTable table_;
  ClipNotes notes_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("video.listed_clips", ListedClips)

}  // namespace dali_core
