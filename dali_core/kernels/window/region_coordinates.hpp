// A pair of numbers (height, width) for each region, absolute or relative.
#pragma once

#include <stdexcept>
#include <string>

#include "dali_core/operator.hpp"

namespace dali_core {

struct PixelPair {
  int64_t y = 0;
  int64_t x = 0;
};

// The arguments `name` and `name` + "_rel", of which one may be given.
class RegionCoordinates {
 public:
  using Rule = int64_t (*)(float relative, int64_t extent);

  // `rule` turns relative numbers into pixels.
  RegionCoordinates(const OperatorConfig& config, const std::string& name, Rule rule)
      : absolute_(config, name), relative_(config, name + "_rel"), rule_(rule) {}

  bool given() const { return absolute_.given || relative_.given; }

  // The pair for region `number` of `count`; `extent` is what relative numbers refer to.
  PixelPair at(const SampleContext& sample, int64_t number, int64_t count, PixelPair extent) const {
    const Source& source = absolute_.given ? absolute_ : relative_;
    const double y = source.number_at(sample, 2 * number, 2 * count);
    const double x = source.number_at(sample, 2 * number + 1, 2 * count);
    const char* const name = source.name.c_str();
    if (absolute_.given) return {checked_position(y, name), checked_position(x, name)};
    checked_position(y * static_cast<double>(extent.y), name);
    checked_position(x * static_cast<double>(extent.x), name);
    return {rule_(static_cast<float>(y), extent.y), rule_(static_cast<float>(x), extent.x)};
  }

 private:
  // Rows of two, or all numbers in one dimension.
  struct Source {
    std::string name;
    int slot;
    bool given;
    std::vector<double> constant;

    Source(const OperatorConfig& config, const std::string& argument)
        : name(argument), slot(config.tensor_slot(argument)), given(config.has(argument)) {
      if (given && slot < 0) constant = config.get<std::vector<double>>(argument);
    }

    double number_at(const SampleContext& sample, int64_t index, int64_t count) const {
      const int64_t size =
          slot < 0 ? static_cast<int64_t>(constant.size()) : sample.argument(slot).num_elements();
      const bool is_flat = slot < 0 || sample.argument(slot).shape.ndim <= 1;
      const bool has_rows =
          !is_flat && sample.argument(slot).shape.ndim == 2 && sample.argument(slot).shape[1] == 2;
      if (size != count || (!is_flat && !has_rows))
        throw std::invalid_argument(name + " must have a row of height and width for each of the " +
                                    std::to_string(count / 2) + " regions (got " +
                                    (slot < 0 ? std::to_string(size) + " numbers"
                                              : "shape " + to_string(sample.argument(slot).shape)) +
                                    "). Pass an array of two columns.");
      if (slot < 0) return constant[static_cast<size_t>(index)];
      const Tensor& tensor = sample.argument(slot);
      return visit_type(tensor.type, [&](auto zero) {
        return convert<double>(tensor.as<decltype(zero)>()[index]);
      });
    }
  };

  Source absolute_, relative_;
  Rule rule_;
};

}  // namespace dali_core
