#include "argument_limits.hpp"

#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "dali_core/convert.hpp"
#include "dali_core/frame_numbers.hpp"

namespace dali_core {
namespace {

std::string in_words(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

}  // namespace

void ArgumentLimits::check(const Tensor& values) const {
  const int64_t count = values.num_elements();
  if (!rule.empty())
    visit_type(values.type, [&](auto zero) {
      const auto* const numbers = values.as<decltype(zero)>();
      for (int64_t i = 0; i < count; ++i) {
        const auto value = convert<double>(numbers[i]);
        if ((above ? value > least : value >= least) && value <= most) continue;
        const std::string entry = count > 1 ? ", entry " + std::to_string(i) + "," : "";
        throw std::invalid_argument("argument '" + name + "'" + entry + " must be " + rule +
                                    " (got " + in_words(value) + "). Pass such numbers.");
      }
    });
  const int64_t frames = is_per_frame(values) ? values.shape[0] : 1;
  const auto length = static_cast<double>(frames > 0 ? count / frames : 0);
  if (frames > 0 && (length < least_length || length > most_length))
    throw std::invalid_argument("argument '" + name + "' must have " + length_rule + " (got " +
                                in_words(length) + "). Pass as many.");
}

}  // namespace dali_core
