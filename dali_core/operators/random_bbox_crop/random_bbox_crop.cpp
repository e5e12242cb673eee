#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/kernels/boxes/kept_rows.hpp"
#include "dali_core/kernels/boxes/random_box_crop.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

FloatRange read_range(const std::vector<double>& numbers, size_t first, const char* name) {
  if (numbers[first] > numbers[first + 1])
    throw std::invalid_argument(std::string(name) +
                                " must be a range, the least number first (got " +
                                std::to_string(numbers[first]) + " to " +
                                std::to_string(numbers[first + 1]) + "). Swap them.");
  return {static_cast<float>(numbers[first]), static_cast<float>(numbers[first + 1])};
}

// Where the numbers of a box are in its row.
struct BoxColumns {
  int ndim = 0;
  bool has_extents = false;
  int start[kMaxBoxDims] = {};
  int end[kMaxBoxDims] = {};

  explicit BoxColumns(const std::string& layout) : ndim(static_cast<int>(layout.size()) / 2) {
    has_extents = layout.find('W') != std::string::npos;
    const std::string starts = "xyz", ends = has_extents ? "WHD" : "XYZ";
    bool is_known = (ndim == 2 || ndim == 3) && layout.size() % 2 == 0;
    for (int dim = 0; is_known && dim < ndim; ++dim) {
      const size_t first = layout.find(starts[dim]), last = layout.find(ends[dim]);
      is_known = first != std::string::npos && last != std::string::npos;
      start[dim] = static_cast<int>(first);
      end[dim] = static_cast<int>(last);
    }
    if (!is_known)
      throw std::invalid_argument(
          "bbox_layout must name the start of a box, and its end or its "
          "extents (got \"" +
          layout + "\"). Use letters such as \"xyXY\", \"xyWH\" or \"xyzXYZ\".");
  }
};

}  // namespace

class RandomBoxCrop : public Operator {
 public:
  explicit RandomBoxCrop(const OperatorConfig& config)
      : crop_shape_(config, "crop_shape"),
        input_shape_(config, "input_shape"),
        shape_layout_(config.get_or<std::string>("shape_layout", "")),
        box_layout_(config.get_or<std::string>("bbox_layout", "")),
        gives_numbers_(config.get<bool>("output_bbox_indices")),
        seed_(config.seed) {
    if (config.has("ltrb")) box_layout_ = config.get<bool>("ltrb") ? "xyXY" : "xyWH";
    if (!box_layout_.empty()) BoxColumns{box_layout_};
    if (crop_shape_.given() && !input_shape_.given())
      throw std::invalid_argument(
          "input_shape must be given together with crop_shape (got crop_shape only). Boxes cannot "
          "be placed otherwise.");
    rules_.thresholds.clear();
    for (const double threshold : config.get<std::vector<double>>("thresholds"))
      rules_.thresholds.push_back(static_cast<float>(threshold));
    rules_.is_overlap = config.get<std::string>("threshold_type") == "overlap";
    rules_.needs_all = config.get<bool>("all_boxes_above_threshold");
    rules_.allows_whole = config.get<bool>("allow_no_crop") && !crop_shape_.given();
    rules_.prune_threshold = config.get_or<float>("bbox_prune_threshold", -1);
    rules_.scaling = read_range(config.get<std::vector<double>>("scaling"), 0, "scaling");
    const auto ratios = config.get<std::vector<double>>("aspect_ratio");
    if (ratios.size() != 2 && ratios.size() != 6)
      throw std::invalid_argument("aspect_ratio must be a range, or three (got " +
                                  std::to_string(ratios.size()) +
                                  " numbers). Pass two numbers, or six.");
    rules_.aspect_ratios.clear();
    for (size_t i = 0; i < ratios.size(); i += 2)
      rules_.aspect_ratios.push_back(read_range(ratios, i, "aspect_ratio"));
    rules_.num_attempts = config.get<int64_t>("num_attempts");
    const auto total = config.get<int64_t>("total_num_attempts");
    if (total == 0)
      throw std::invalid_argument(
          "total_num_attempts must be at least 1 (got 0). Leave it out for no limit.");
    rules_.total_num_attempts = std::max<int64_t>(total, 0);
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const BoxColumns columns = columns_of(input);
    if (sample.num_inputs() > 1) check_labels(sample.input(1), input.shape[0]);
    const std::vector<Region> boxes = read_boxes(input, columns);
    BoxCropRules rules = rules_;
    rules.ndim = columns.ndim;
    const BoxCropExtents extents = read_extents(sample, columns.ndim);
    RandomStream random = sample.random(seed_);
    const BoxCrop crop = random_box_crop(boxes, rules, extents, random);
    write_window(sample, crop, extents, columns.ndim);
    const auto num_kept = static_cast<int64_t>(crop.kept.size());
    float* out = sample.output(2, DataType::kFloat, {num_kept, input.shape[1]}).as<float>();
    for (const int64_t number : crop.kept) {
      const Region box = inside(crop.window, boxes[static_cast<size_t>(number)], columns.ndim);
      for (int dim = 0; dim < columns.ndim; ++dim) {
        out[columns.start[dim]] = box.start[dim];
        out[columns.end[dim]] = columns.has_extents ? box.extent(dim) : box.end[dim];
      }
      out += input.shape[1];
    }
    int next = 3;
    if (sample.num_inputs() > 1) write_kept_rows(sample, next++, sample.input(1), crop.kept);
    if (gives_numbers_)
      std::copy(crop.kept.begin(), crop.kept.end(),
                sample.output(next, DataType::kInt32, {num_kept}).as<int32_t>());
  }

 private:
  BoxColumns columns_of(const Tensor& boxes) const {
    const int64_t count = boxes.shape.ndim == 2 ? boxes.shape[1] : 0;
    const BoxColumns columns(!box_layout_.empty() ? box_layout_ : count == 6 ? "xyzXYZ" : "xyXY");
    if (boxes.type != DataType::kFloat || count != 2 * columns.ndim)
      throw std::invalid_argument("boxes must be float32 of shape (N, " +
                                  std::to_string(2 * columns.ndim) + ") (got " +
                                  name_of(boxes.type) + " of shape " + to_string(boxes.shape) +
                                  "). Cast or reshape them, or set bbox_layout.");
    return columns;
  }

  static std::vector<Region> read_boxes(const Tensor& input, const BoxColumns& columns) {
    constexpr float kTolerance = 1e-5f;  // of sums of a start and an extent
    std::vector<Region> boxes(static_cast<size_t>(input.shape[0]));
    const float* row = input.as<float>();
    for (Region& box : boxes) {
      for (int dim = 0; dim < columns.ndim; ++dim) {
        box.start[dim] = row[columns.start[dim]];
        box.end[dim] = row[columns.end[dim]] + (columns.has_extents ? box.start[dim] : 0.0f);
        if (!(box.start[dim] >= -kTolerance && box.end[dim] <= 1 + kTolerance) ||
            !std::isfinite(box.extent(dim)))
          throw std::invalid_argument(
              "boxes must start at 0 or later, and end at 1 or before (got " +
              std::to_string(box.start[dim]) + " to " + std::to_string(box.end[dim]) + " in box " +
              std::to_string(&box - boxes.data()) +
              "). Divide by the extents of the image, and clip.");
      }
      row += input.shape[1];
    }
    return boxes;
  }

  BoxCropExtents read_extents(const SampleContext& sample, int ndim) const {
    BoxCropExtents extents;
    if (input_shape_.given()) read_shape(sample, input_shape_, "input_shape", ndim, extents.image);
    if (crop_shape_.given()) read_shape(sample, crop_shape_, "crop_shape", ndim, extents.window);
    return extents;
  }

  void read_shape(const SampleContext& sample, const ListArgument<int64_t>& argument,
                  const char* name, int ndim, int64_t* extents) const {
    std::vector<int64_t> storage;
    const std::vector<int64_t>& shape = argument.at(sample, storage);
    const std::string letters = std::string("WHD").substr(0, static_cast<size_t>(ndim));
    const std::string layout = shape_layout_.empty() ? letters : shape_layout_;
    if (!std::is_permutation(layout.begin(), layout.end(), letters.begin(), letters.end()) ||
        shape.size() != layout.size())
      throw std::invalid_argument(
          std::string(name) + " must be one extent for each of the letters " + letters +
          " in shape_layout (got " + std::to_string(shape.size()) + " numbers for \"" + layout +
          "\"). Leave out others, such as channels.");
    for (size_t i = 0; i < layout.size(); ++i) extents[letters.find(layout[i])] = shape[i];
  }

  void write_window(SampleContext& sample, const BoxCrop& crop, const BoxCropExtents& extents,
                    int ndim) const {
    float* const start = sample.output(0, DataType::kFloat, {ndim}).as<float>();
    float* const extent = sample.output(1, DataType::kFloat, {ndim}).as<float>();
    for (int dim = 0; dim < ndim; ++dim) {
      const bool is_pixels = crop_shape_.given();
      const auto image = static_cast<float>(extents.image[dim]);
      start[dim] = is_pixels ? std::round(crop.window.start[dim] * image) : crop.window.start[dim];
      extent[dim] = is_pixels ? static_cast<float>(extents.window[dim]) : crop.window.extent(dim);
    }
  }

  BoxCropRules rules_;
  ListArgument<int64_t> crop_shape_, input_shape_;
  std::string shape_layout_, box_layout_;
  bool gives_numbers_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random_bbox_crop", RandomBoxCrop)

}  // namespace dali_core
