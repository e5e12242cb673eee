// fn.readers.sequence: the images of a sequence, decoded into one tensor.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/files/open_file.hpp"
#include "dali_core/native_io/files/path_list.hpp"
#include "dali_core/native_io/image_decoding/image_decoder.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Takes the frames of one sequence, the first of which says how large all are.
class SequenceSink : public ImageSink {
 public:
  SequenceSink(SampleContext& sample, int64_t num_frames)
      : sample_(sample), num_frames_(num_frames) {}

  void* allocate(int64_t height, int64_t width, int channels) override {
    if (place_ == 0) {
      shape_ = Shape{num_frames_, height, width, int64_t{channels}};
      data_ = sample_.output(0, DataType::kUInt8, shape_, "FHWC").as<uint8_t>();
    } else if (Shape{num_frames_, height, width, int64_t{channels}} != shape_) {
      throw std::runtime_error("the images of a sequence must have one size (got " +
                               std::to_string(height) + " x " + std::to_string(width) + " after " +
                               std::to_string(shape_[1]) + " x " + std::to_string(shape_[2]) +
                               "). Resize the files, or read them one by one.");
    }
    return data_ + place_++ * height * width * channels;
  }

 private:
  SampleContext& sample_;
  int64_t num_frames_;
  int64_t place_ = 0;
  Shape shape_;
  uint8_t* data_ = nullptr;
};

ImageRequest request_of(const OperatorConfig& config) {
  ImageRequest request;
  request.output_type = config.get<ImageType>("image_type");
  return request;
}

class SequenceReader : public Operator {
 public:
  explicit SequenceReader(const OperatorConfig& config)
      : reader_(config.reader),
        storage_(config),
        paths_(paths_of(config)),
        root_(config.get<std::string>("file_root")),
        first_frames_(config.get<std::vector<int64_t>>("first_frames")),
        first_sequences_(config.get<std::vector<int64_t>>("first_sequences")),
        length_(config.get<int64_t>("sequence_length")),
        step_(config.get<int64_t>("step")),
        stride_(config.get<int64_t>("stride")),
        request_(request_of(config)),
        backends_(config) {}

  void run(SampleContext& sample) const override {
    const int64_t index = sample.reader_index(reader_);
    const auto after = std::upper_bound(first_sequences_.begin(), first_sequences_.end(), index);
    const auto folder = static_cast<size_t>(after - first_sequences_.begin() - 1);
    const int64_t first = first_frames_[folder] + (index - first_sequences_[folder]) * step_;
    SequenceSink sink(sample, length_);
    for (int64_t i = 0; i < length_; ++i) {
      const auto file = std::make_shared<const std::string>(paths_->path(first + i * stride_));
      sample.set_source(file);
      const OpenFile opened(joined_path(root_, *file), storage_);
      const int64_t size = opened.size();
      auto* const bytes = sample.scratch<uint8_t>(0, static_cast<size_t>(size));
      opened.read(reinterpret_cast<char*>(bytes), size);
      decode_image({bytes, static_cast<size_t>(size)}, request_, backends_, sink);
    }
    sample.set_source(std::make_shared<const std::string>(paths_->path(first)));
  }

 private:
  int reader_;
  Storage storage_;
  std::shared_ptr<const PathList> paths_;
  std::string root_;
  std::vector<int64_t> first_frames_, first_sequences_;
  int64_t length_, step_, stride_;
  ImageRequest request_;
  DecoderBackends backends_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("readers.sequence", SequenceReader)

}  // namespace dali_core
