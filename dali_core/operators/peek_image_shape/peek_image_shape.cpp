// fn.peek_image_shape: from what a header says to the shape of the decoded image.
#include <array>
#include <utility>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/native_io/image_decoding/image_decoder.hpp"
#include "dali_core/native_io/image_decoding/sample_sink.hpp"

namespace dali_core {
// Height, width and channels, as decoding gives them.
inline std::array<int64_t, 3> decoded_shape(const ImageInfo& info, ImageType type,
                                            bool adjust_orientation) {
  std::array<int64_t, 3> shape = {info.height, info.width, 3};
  if (adjust_orientation && info.orientation.transpose) std::swap(shape[0], shape[1]);
  if (type == ImageType::kGray) {
    shape[2] = 1;
  } else if (type == ImageType::kAnyData) {
    // The four components of a JPEG are inks, which become RGB.
    const bool has_inks = info.format == "jpeg" && info.channels == 4;
    shape[2] = has_inks ? 3 : info.channels;
  }
  return shape;
}

class PeekImageShape : public Operator {
 public:
  explicit PeekImageShape(const OperatorConfig& config)
      : image_type_(config.get<ImageType>("image_type")),
        type_(config.get<DataType>("dtype")),
        adjust_orientation_(config.get<bool>("adjust_orientation")),
        backends_(config) {}

  void run(SampleContext& sample) const override {
    const ImageInfo info = peek_image(encoded_input(sample.input(0), false), backends_);
    const auto shape = decoded_shape(info, image_type_, adjust_orientation_);
    Tensor& output = sample.output(0, type_, Shape{3});
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      for (int i = 0; i < 3; ++i) output.as<To>()[i] = convert<To>(shape[i]);
    });
  }

 private:
  ImageType image_type_;
  DataType type_;
  bool adjust_orientation_;
  DecoderBackends backends_;
};

DALI_CORE_REGISTER_OPERATOR("peek_image_shape", PeekImageShape)

}  // namespace dali_core
