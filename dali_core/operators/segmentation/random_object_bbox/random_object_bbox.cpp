#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "dali_core/kernels/labelled_objects/labelled_objects.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class RandomObjectBox : public Operator {
 public:
  explicit RandomObjectBox(const OperatorConfig& config)
      : probability_(config, "foreground_prob"),
        background_(config, "background"),
        classes_(config, "classes"),
        weights_(config, "class_weights"),
        threshold_(config, "threshold"),
        k_largest_(config.get_or<int64_t>("k_largest", 0)),
        ignores_class_(config.get<bool>("ignore_class")),
        gives_class_(config.get<bool>("output_class")),
        format_(config.get<std::string>("format")),
        seed_(config.seed) {
    if (ignores_class_ && (classes_.given() || weights_.given() || gives_class_))
      throw std::invalid_argument(
          "ignore_class must not be given together with classes, class_weights or output_class "
          "(got one of them, too). Leave out one or the other.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& mask = sample.input(0);
    const Classes classes = read_classes(sample);
    RandomStream random = sample.random(seed_);
    const bool is_foreground = random.next_float() < probability_.at(sample);
    LabelledObject chosen{classes.background, {}, mask.shape};
    if (is_foreground) {
      std::vector<LabelledObject> objects = find_objects(mask, [&](int64_t label) {
        return label != classes.background &&
               (classes.is_any || std::count(classes.labels.begin(), classes.labels.end(), label));
      });
      remove_small(objects, sample, mask.shape.ndim);
      if (!ignores_class_) keep_one_class(objects, classes, random.next_double());
      keep_largest(objects);
      if (!objects.empty())
        chosen = objects[random.next_below(static_cast<uint32_t>(objects.size()))];
    }
    write(sample, chosen, mask.shape.ndim);
  }

 private:
  struct Classes {
    int64_t background = 0;
    bool is_any = false;  // all labels but the background, with equal weights
    std::vector<int64_t> labels;
    std::vector<double> weights;
  };

  Classes read_classes(const SampleContext& sample) const {
    Classes found;
    std::vector<int64_t> label_storage;
    std::vector<float> weight_storage;
    if (classes_.given()) found.labels = classes_.at(sample, label_storage);
    const bool has_zero = std::count(found.labels.begin(), found.labels.end(), 0) > 0;
    if (background_.given()) {
      found.background = background_.at(sample);
      if (std::count(found.labels.begin(), found.labels.end(), found.background) > 0)
        throw std::invalid_argument("classes must not have the background in it (got " +
                                    std::to_string(found.background) +
                                    "). Set another background.");
    } else if (has_zero) {
      found.background = free_label_below(found.labels);
    }
    if (weights_.given()) {
      for (const float weight : weights_.at(sample, weight_storage))
        found.weights.push_back(weight);
      for (int64_t label = 0; !classes_.given() && found.labels.size() < found.weights.size();
           ++label)
        if (label != found.background) found.labels.push_back(label);
      if (found.weights.size() != found.labels.size())
        throw std::invalid_argument("class_weights must be one for each of the " +
                                    std::to_string(found.labels.size()) + " classes (got " +
                                    std::to_string(found.weights.size()) + "). Complete them.");
    } else {
      found.weights.assign(found.labels.size(), 1);
    }
    found.is_any = !classes_.given() && !weights_.given();
    return found;
  }

  // The label below the least, or where there is none, the greatest that is free.
  static int64_t free_label_below(const std::vector<int64_t>& labels) {
    const std::set<int64_t> taken(labels.begin(), labels.end());
    if (*taken.begin() > INT32_MIN) return *taken.begin() - 1;
    int64_t label = INT32_MAX;
    while (taken.count(label) > 0) --label;
    return label;
  }

  void remove_small(std::vector<LabelledObject>& objects, const SampleContext& sample,
                    int ndim) const {
    if (!threshold_.given()) return;
    std::vector<int64_t> storage;
    const std::vector<int64_t>& least = threshold_.at(sample, storage);
    if (least.size() != 1 && least.size() != static_cast<size_t>(ndim))
      throw std::invalid_argument("threshold must be one number, or one for each of " +
                                  std::to_string(ndim) + " dimensions (got " +
                                  std::to_string(least.size()) + "). Complete it.");
    const auto is_small = [&](const LabelledObject& object) {
      for (int dim = 0; dim < ndim; ++dim)
        if (object.end[dim] - object.start[dim] < least[least.size() == 1 ? 0 : dim]) return true;
      return false;
    };
    objects.erase(std::remove_if(objects.begin(), objects.end(), is_small), objects.end());
  }

  // Draws one of the classes that have objects, and removes those of others.
  static void keep_one_class(std::vector<LabelledObject>& objects, const Classes& classes,
                             double draw) {
    std::map<int64_t, double> weights;
    for (const LabelledObject& object : objects) weights[object.label] = classes.is_any ? 1 : 0;
    for (size_t i = 0; i < classes.labels.size(); ++i) {
      const auto found = weights.find(classes.labels[i]);
      if (found != weights.end()) found->second += classes.weights[i];
    }
    double sum = 0;
    for (const auto& [label, weight] : weights) sum += weight;
    const int64_t* chosen = nullptr;
    double left = draw * sum;
    for (const auto& [label, weight] : weights) {
      if (weight <= 0) continue;
      chosen = &label;
      if (left < weight) break;
      left -= weight;
    }
    const auto is_other = [&](const LabelledObject& object) {
      return chosen == nullptr || object.label != *chosen;
    };
    objects.erase(std::remove_if(objects.begin(), objects.end(), is_other), objects.end());
  }

  void keep_largest(std::vector<LabelledObject>& objects) const {
    if (k_largest_ == 0 || static_cast<int64_t>(objects.size()) <= k_largest_) return;
    std::stable_sort(objects.begin(), objects.end(),
                     [](const LabelledObject& a, const LabelledObject& b) {
                       return a.box_volume() > b.box_volume();
                     });
    objects.resize(static_cast<size_t>(k_largest_));
  }

  void write(SampleContext& sample, const LabelledObject& object, int ndim) const {
    const bool is_box = format_ == "box";
    int32_t* const first =
        sample.output(0, DataType::kInt32, {is_box ? 2 * ndim : ndim}).as<int32_t>();
    int32_t* const second =
        is_box ? first + ndim : sample.output(1, DataType::kInt32, {ndim}).as<int32_t>();
    for (int dim = 0; dim < ndim; ++dim) {
      const int64_t start = object.start.ndim ? object.start[dim] : 0;
      first[dim] = static_cast<int32_t>(start);
      second[dim] = static_cast<int32_t>(object.end[dim] - (format_ == "anchor_shape" ? start : 0));
    }
    if (!gives_class_) return;
    if (object.label < INT32_MIN || object.label > INT32_MAX)
      throw std::invalid_argument("labels must be int32 to be an output (got " +
                                  std::to_string(object.label) +
                                  "). Cast the mask, or leave out output_class.");
    *sample.output(is_box ? 1 : 2, DataType::kInt32, {}).as<int32_t>() =
        static_cast<int32_t>(object.label);
  }

  Argument<float> probability_;
  Argument<int64_t> background_;
  ListArgument<int64_t> classes_;
  ListArgument<float> weights_;
  ListArgument<int64_t> threshold_;
  int64_t k_largest_;
  bool ignores_class_, gives_class_;
  std::string format_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("segmentation.random_object_bbox", RandomObjectBox)

}  // namespace dali_core
