#include "dali_core/operators/peek_image_shape/peek_image_shape.hpp"

#include "dali_core/operators/decoders/image_decoder.hpp"
#include "dali_core/operators/decoders/sample_sink.hpp"

namespace dali_core {
namespace {

DataType checked_shape_type(DataType type) {
  switch (type) {
    case DataType::kInt32:
    case DataType::kUInt32:
    case DataType::kInt64:
    case DataType::kUInt64:
    case DataType::kFloat:
    case DataType::kFloat64:
      return type;
    default:
      throw std::invalid_argument(
          "dtype must be a type of 32 or 64 bits, which holds every extent (got " +
          std::string(name_of(type)) + "). Use INT64, or cast the result.");
  }
}

}  // namespace

class PeekImageShape : public Operator {
 public:
  explicit PeekImageShape(const OperatorConfig& config)
      : image_type_(config.get_or<ImageType>("image_type", ImageType::kRGB)),
        type_(checked_shape_type(config.get_or<DataType>("dtype", DataType::kInt64))),
        adjust_orientation_(config.get_or<bool>("adjust_orientation", true)),
        backends_(config) {}

  void run(SampleContext& sample) const override {
    const ImageInfo info = peek_image(encoded_input(sample.input(0)), backends_);
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
