// fn.random_patch: where a patch starts that has an element of foreground or background in it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

class RandomPatch : public Operator {
 public:
  explicit RandomPatch(const OperatorConfig& config)
      : shape_(config, "shape"),
        positive_(config, "positive"),
        classes_(config, "classes"),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const Tensor& labels = sample.input(0);
    std::vector<int64_t> storage;
    const auto& patch = shape_.at(sample, storage);
    const auto ndim = static_cast<int>(patch.size());
    check_shapes(labels.shape, patch.data(), ndim);
    RandomStream random = sample.random(seed_);
    const bool is_positive = random.next_double() < static_cast<double>(positive_.at(sample));
    const double class_draw = random.next_double();
    const double draw = random.next_double();
    int64_t centre = 0;
    visit_type(labels.type, [&](auto zero) {
      centre = chosen(labels.as<decltype(zero)>(), labels.num_elements(), is_positive, class_draw,
                      draw, sample);
    });
    int64_t* const start = sample.output(0, DataType::kInt64, {ndim}).as<int64_t>();
    for (int dim = ndim - 1; dim >= 0; --dim) {
      const int64_t extent = labels.shape[dim];
      start[dim] = std::clamp<int64_t>(centre % extent - patch[dim] / 2, 0, extent - patch[dim]);
      centre /= extent;
    }
  }

 private:
  static void check_shapes(const Shape& labels, const int64_t* patch, int ndim) {
    const bool fits = labels.ndim == ndim || (labels.ndim == ndim + 1 && labels[ndim] == 1);
    if (ndim == 0 || !fits)
      throw std::invalid_argument("shape must have a number for each dimension of the map (got " +
                                  std::to_string(ndim) + " numbers, and a map of shape " +
                                  to_string(labels) + "). Pass one for each.");
    for (int dim = 0; dim < ndim; ++dim)
      if (patch[dim] < 1 || patch[dim] > labels[dim])
        throw std::invalid_argument("a patch must lie inside of the map (got an extent of " +
                                    std::to_string(patch[dim]) + " in a map of shape " +
                                    to_string(labels) + "). Pad before.");
  }

  // The number of an element of foreground or background; of the other if there is none.
  template <typename T>
  int64_t chosen(const T* labels, int64_t count, bool is_positive, double class_draw, double draw,
                 const SampleContext& sample) const {
    std::vector<double> classes;
    if (classes_.given()) {
      std::vector<int64_t> storage;
      const auto& listed = classes_.at(sample, storage);
      classes.assign(listed.begin(), listed.end());
    }
    const auto is_foreground = [&](int64_t i) {
      const auto label = convert<double>(labels[i]);
      if (classes.empty()) return label != 0.0;
      return std::find(classes.begin(), classes.end(), label) != classes.end();
    };
    int64_t found = -1;
    if (is_positive) {
      found = classes.empty() ? element(count, draw, is_foreground)
                              : of_class(labels, count, classes, class_draw, draw);
    } else {
      found = element(count, draw, [&](int64_t i) { return !is_foreground(i); });
    }
    // Of a map with one of the two only, any element is of it.
    return found >= 0 ? found : static_cast<int64_t>(draw * static_cast<double>(count));
  }

  template <typename T>
  static int64_t of_class(const T* labels, int64_t count, const std::vector<double>& classes,
                          double class_draw, double draw) {
    const auto is = [labels](double wanted) {
      return [labels, wanted](int64_t i) { return convert<double>(labels[i]) == wanted; };
    };
    std::vector<double> present;
    for (const double label : classes) {
      const auto holds = is(label);
      int64_t i = 0;
      while (i < count && !holds(i)) ++i;
      if (i < count) present.push_back(label);
    }
    if (present.empty()) return -1;
    const auto which = static_cast<size_t>(class_draw * static_cast<double>(present.size()));
    return element(count, draw, is(present[which]));
  }

  // One of the elements for which a condition holds, or -1.
  template <typename Condition>
  static int64_t element(int64_t count, double draw, Condition holds) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += holds(i);
    auto left = static_cast<int64_t>(draw * static_cast<double>(found));
    for (int64_t i = 0; i < count; ++i)
      if (holds(i) && left-- == 0) return i;
    return -1;
  }

  ListArgument<int64_t> shape_;
  Argument<float> positive_;
  ListArgument<int64_t> classes_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random_patch", RandomPatch)

}  // namespace dali_core
