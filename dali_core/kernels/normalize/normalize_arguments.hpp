// mean, std, scale and shift of a sample, as one rule for each channel.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/kernels/normalize/crop_mirror_normalize.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class NormalizeArguments {
 public:
  explicit NormalizeArguments(const OperatorConfig& config)
      : mean_(config, "mean"),
        std_(config, "std"),
        scale_(config.get<float>("scale")),
        shift_(config.get<float>("shift")) {
    if (scale_ == 0)
      throw std::invalid_argument(
          "scale must not be 0 (got 0). Every pixel would become the same.");
  }

  // Rules of the first `channels` channels. A list may also name the channels that pad.
  void channels(const SampleContext& sample, int64_t channels, int64_t padded_channels,
                ChannelNormalization* rules) const {
    std::vector<float> mean_storage, std_storage;
    const std::vector<float>& mean = mean_.at(sample, mean_storage);
    const std::vector<float>& std = std_.at(sample, std_storage);
    check("mean", mean, channels, padded_channels);
    check("std", std, channels, padded_channels);
    for (int64_t c = 0; c < channels; ++c)
      rules[c] = channel_normalization(mean[mean.size() == 1 ? 0 : c], std[std.size() == 1 ? 0 : c],
                                       scale_, shift_);
  }

 private:
  static void check(const char* name, const std::vector<float>& values, int64_t channels,
                    int64_t padded_channels) {
    const int64_t count = static_cast<int64_t>(values.size());
    if (count != 1 && count != channels && count != padded_channels)
      throw std::invalid_argument(
          std::string(name) + " must be one number or one for each of the " +
          std::to_string(channels) + " channels (got " + std::to_string(count) +
          " numbers). Pass as many as there are channels.");
  }

  ListArgument<float> mean_, std_;
  float scale_, shift_;
};

}  // namespace dali_core
