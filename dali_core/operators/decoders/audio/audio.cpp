#include <string>

#include "dali_core/native_io/sound/decode_sound.hpp"

namespace dali_core {

class DecodeAudio : public Operator {
 public:
  explicit DecodeAudio(const OperatorConfig& config)
      : request_(config), sample_rate_(config, "sample_rate") {}

  void run(SampleContext& sample) const override {
    const Tensor& bytes = sample.input(0);
    if (bytes.type != DataType::kUInt8 || bytes.shape.ndim != 1)
      throw std::invalid_argument(
          "the input must be the bytes of a file, one-dimensional uint8 (got " +
          std::string(name_of(bytes.type)) + " of shape " + to_string(bytes.shape) +
          "). Read files with fn.readers.file.");
    const DecodedRates rates =
        decode_sound(sample, request_, bytes.data, bytes.num_elements(), sample_rate_.at(sample));
    *sample.output(1, DataType::kFloat, {}).as<float>() = rates.output;
  }

 private:
  SoundRequest request_;
  Argument<float> sample_rate_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.audio", DecodeAudio)

}  // namespace dali_core
