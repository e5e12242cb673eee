// fn.roi_random_crop: where a window may start along one dimension.
#include <cstdint>

#include "dali_core/operator.hpp"

namespace dali_core {

struct StartRange {
  int64_t first;
  int64_t last;
};

inline StartRange window_starts(int64_t region_start, int64_t region_end, int64_t window) {
  const int64_t flush_right = region_end - window;
  return region_start < flush_right ? StartRange{region_start, flush_right}
                                    : StartRange{flush_right, region_start};
}

// Restricts starts so that the window lies inside data that holds both window and region.
inline StartRange inside_data(StartRange starts, int64_t window, int64_t extent) {
  const int64_t largest = extent - window;
  return {starts.first > 0 ? starts.first : 0, starts.last < largest ? starts.last : largest};
}

class RoiRandomCrop : public Operator {
 public:
  explicit RoiRandomCrop(const OperatorConfig& config)
      : crop_shape_(config, "crop_shape"),
        start_(config, "roi_start"),
        end_(config, "roi_end"),
        shape_(config, "roi_shape"),
        in_shape_(config, "in_shape"),
        seed_(config.seed) {
    if (in_shape_.given() && config.num_inputs > 0)
      throw std::invalid_argument(
          "in_shape must not be given together with an input (got both). The input has a shape.");
  }

  void run(SampleContext& sample) const override {
    std::vector<int64_t> storage[4];
    const auto& windows = crop_shape_.at(sample, storage[0]);
    const auto& starts = start_.at(sample, storage[1]);
    const auto& ends = (end_.given() ? end_ : shape_).at(sample, storage[2]);
    const std::vector<int64_t> extents = data_extents(sample, storage[3]);
    const size_t ndim = windows.size();
    check_count("roi_start", starts.size(), ndim);
    check_count(end_.given() ? "roi_end" : "roi_shape", ends.size(), ndim);
    Tensor& output = sample.output(0, DataType::kInt64, Shape{static_cast<int64_t>(ndim)});
    RandomStream random = sample.random(seed_);
    for (size_t i = 0; i < ndim; ++i) {
      checked_position(windows[i], "crop_shape");
      checked_position(starts[i], "roi_start");
      checked_position(ends[i], end_.given() ? "roi_end" : "roi_shape");
      const int64_t end = end_.given() ? ends[i] : starts[i] + ends[i];
      if (end < starts[i] || windows[i] < 0)
        throw std::invalid_argument(
            "window and region must not have negative extents (got a window of " +
            std::to_string(windows[i]) + ", and a region from " + std::to_string(starts[i]) +
            " to " + std::to_string(end) + " in dimension " + std::to_string(i) +
            "). Put the start first.");
      StartRange range = window_starts(starts[i], end, windows[i]);
      if (knows_data(sample)) {
        check_inside(i, extents, windows[i], starts[i], end);
        range = inside_data(range, windows[i], extents[i]);
      }
      output.as<int64_t>()[i] =
          range.first + static_cast<int64_t>(random.next_double() *
                                             static_cast<double>(range.last - range.first + 1));
    }
  }

 private:
  bool knows_data(const SampleContext& sample) const {
    return in_shape_.given() || sample.num_inputs() > 0;
  }

  std::vector<int64_t> data_extents(const SampleContext& sample,
                                    std::vector<int64_t>& storage) const {
    if (in_shape_.given()) return in_shape_.at(sample, storage);
    if (sample.num_inputs() == 0) return {};
    const Shape& shape = sample.input(0).shape;
    return std::vector<int64_t>(shape.dims, shape.dims + shape.ndim);
  }

  static void check_count(const char* name, size_t count, size_t ndim) {
    if (count != ndim)
      throw std::invalid_argument(std::string(name) + " must have as many numbers as crop_shape, " +
                                  std::to_string(ndim) + " (got " + std::to_string(count) +
                                  "). Give one for each dimension.");
  }

  static void check_inside(size_t dim, const std::vector<int64_t>& extents, int64_t window,
                           int64_t start, int64_t end) {
    if (dim >= extents.size())
      throw std::invalid_argument(
          "crop_shape must have at most as many numbers as the data has "
          "dimensions, " +
          std::to_string(extents.size()) + " (got more). Leave out the others.");
    if (window > extents[dim] || start < 0 || end > extents[dim])
      throw std::invalid_argument(
          "window and region must fit into the data (got a window of " + std::to_string(window) +
          ", and a region from " + std::to_string(start) + " to " + std::to_string(end) +
          ", in an extent of " + std::to_string(extents[dim]) + "). Clip or pad before.");
  }

  ListArgument<int64_t> crop_shape_, start_, end_, shape_, in_shape_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("roi_random_crop", RoiRandomCrop)

}  // namespace dali_core
