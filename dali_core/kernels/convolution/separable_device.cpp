#include "dali_core/kernels/convolution/separable_device.hpp"

#include <algorithm>

namespace dali_core {
namespace {

// Rows of sums begin where groups of four are aligned.
constexpr int64_t padded(int64_t count) { return (count + 3) / 4 * 4; }

// Planes that follow each other and have the same windows.
class SeparablePlanes {
 public:
  SeparablePlanes(const DataAxes& axes, const std::vector<SeparableWindow>& windows,
                  int64_t num_planes, TaskData& data, SeparableTasks& tasks)
      : windows_(windows),
        planes_(num_planes),
        depth_(axes.extents[0]),
        height_(axes.extents[1]),
        width_(axes.extents[2]),
        channels_(axes.channels),
        row_(width_ * channels_),
        data_(data),
        tasks_(tasks) {}

  // Returns the weights behind those of these planes.
  const float* add(const char* input, char* output, DataType from, DataType to,
                   const float* weights) {
    if (add_tiles(input, output, from, to, weights))
      return weights + count_weights(0) + count_weights(1) + count_weights(2);
    inputs_.assign(windows_.size(), input);
    from_ = from;
    const bool blends_columns = !is_identity(1);
    const bool blends_rows = !is_identity(2) || windows_.size() > 1;
    const bool blends_slices = needs_slices();
    if (blends_slices) add_depth(weights, blends_rows || blends_columns ? nullptr : output, to);
    weights += count_weights(0);
    // Along the height comes last, also if nothing else comes.
    const bool ends_with_rows = blends_rows && !blends_columns && windows_.size() == 1;
    const float* const of_height = weights;
    weights += count_weights(1);
    int64_t in_row = row_;
    if (blends_rows) in_row = add_width(weights, ends_with_rows ? output : nullptr, to);
    weights += count_weights(2);
    if (blends_columns || windows_.size() > 1 || (!blends_rows && !blends_slices))
      add_height(of_height, in_row, output, to);
    return weights;
  }

 private:
  // Whether convolving along an axis changes nothing; it does not change the bits of sums either.
  bool is_identity(int axis) const {
    return windows_.size() == 1 && windows_[0].along[axis].size() == 1 &&
           windows_[0].along[axis][0] == 1.0f;
  }

  bool needs_slices() const {
    return std::any_of(windows_.begin(), windows_.end(),
                       [](const SeparableWindow& window) { return window.along[0].size() > 1; });
  }

  int64_t count_weights(int axis) const {
    size_t count = 0;
    for (const SeparableWindow& window : windows_) count += window.along[axis].size();
    return static_cast<int64_t>(count);
  }

  // One kernel for both axes of usual images; false: it takes others.
  bool add_tiles(const char* input, char* output, DataType from, DataType to,
                 const float* weights) {
    if (from != DataType::kUInt8 || (channels_ != 1 && channels_ != 3) || windows_.size() != 1 ||
        depth_ != 1 || !is_identity(0) || row_ > kMostTiledNumbers)
      return false;
    TileTask task{};
    task.size_down = count_weights(1);
    task.size_across = count_weights(2);
    if (task.size_down == 1 || task.size_across == 1) return false;
    task.channels = static_cast<int>(channels_);
    if (task.shared_bytes() > kMostSharedBytes) return false;
    task.input = reinterpret_cast<const uint8_t*>(input);
    task.output = output;
    task.weights_down = weights + count_weights(0);
    task.weights_across = task.weights_down + task.size_down;
    task.planes = planes_;
    task.height = height_;
    task.width = width_;
    task.to = to;
    task.tiles_down = quick_divisor(blocks_for(height_, kConvolvedRows));
    task.tiles_across = quick_divisor(blocks_for(row_, kConvolvedNumbers));
    tasks_.tiles.push_back(task);
    return true;
  }

  AxisTask task_for(int64_t lines, int64_t extent, int64_t across, AxisLines in,
                    AxisLines out) const {
    AxisTask task{};
    task.num_windows = 1;
    task.lines = lines;
    task.extent = extent;
    task.across = across;
    task.in = in;
    task.out = out;
    task.from = from_;
    task.groups_along = quick_divisor((extent + kPlacesAlong - 1) / kPlacesAlong);
    task.together = places_across(across, from_);
    task.groups_across = quick_divisor((across + task.together - 1) / task.together);
    return task;
  }

  void add_task(int pass, AxisTask task, const void* input, void* output, DataType to,
                const float* weights) {
    task.input = input;
    task.output = output;
    task.to = to;
    task.weights = weights;
    tasks_.passes[pass].add(task, task.items());
  }

  // Without an output, sums are left to the next axis.
  void add_depth(const float* weights, void* output, DataType to) {
    const int64_t slice = height_ * row_;
    const AxisLines lines = {depth_ * slice, slice};
    AxisTask task = task_for(planes_, depth_, slice, lines, lines);
    std::vector<const void*> sums;
    for (size_t i = 0; i < windows_.size(); ++i) {
      const std::vector<float>& along = windows_[i].along[0];
      if (i > 0 && along == windows_[i - 1].along[0]) {
        sums.push_back(sums.back());
      } else {
        void* const to_sums = output ? output : data_.scratch<float>(planes_ * depth_ * slice);
        task.sizes[0] = static_cast<int64_t>(along.size());
        add_task(0, task, inputs_[i], to_sums, output ? to : DataType::kFloat, weights);
        sums.push_back(to_sums);
      }
      weights += along.size();
    }
    inputs_ = sums;
    from_ = DataType::kFloat;
  }

  // Returns the numbers from a row of the sums to the next one.
  int64_t add_width(const float* weights, void* output, DataType to) {
    const int64_t lines = planes_ * depth_ * height_;
    const int64_t out_row = output ? row_ : padded(row_);
    AxisTask task = task_for(lines, width_, channels_, {row_, channels_}, {out_row, channels_});
    float* const sums =
        output ? nullptr
               : data_.scratch<float>(static_cast<int64_t>(windows_.size()) * lines * out_row);
    for (size_t i = 0; i < windows_.size(); ++i) {
      const std::vector<float>& along = windows_[i].along[2];
      float* const to_sums = sums + static_cast<int64_t>(i) * lines * out_row;
      task.sizes[0] = static_cast<int64_t>(along.size());
      add_task(1, task, inputs_[i], output ? output : to_sums, output ? to : DataType::kFloat,
               weights);
      inputs_[i] = to_sums;
      weights += along.size();
    }
    from_ = DataType::kFloat;
    return out_row;
  }

  void add_height(const float* weights, int64_t in_row, void* output, DataType to) {
    AxisTask task = task_for(planes_ * depth_, height_, row_, {height_ * in_row, in_row},
                             {height_ * row_, row_});
    task.num_windows = static_cast<int64_t>(windows_.size());
    task.window_stride = planes_ * depth_ * height_ * in_row;
    for (size_t i = 0; i < windows_.size(); ++i)
      task.sizes[i] = static_cast<int64_t>(windows_[i].along[1].size());
    add_task(2, task, inputs_[0], output, to, weights);
  }

  const std::vector<SeparableWindow>& windows_;
  int64_t planes_, depth_, height_, width_, channels_;
  int64_t row_;  // numbers in a row
  TaskData& data_;
  SeparableTasks& tasks_;
  std::vector<const void*> inputs_;  // one for each window
  DataType from_ = DataType::kNone;
};

}  // namespace

SeparableResult::SeparableResult(const Tensor& input, DataType dtype)
    : Inferred{DataType::kNone, input.shape, input.layout}, axes(data_axes(input)) {
  type = convolved_type(dtype, input.type);
}

void SeparableResult::add(std::vector<SeparableWindow> of_plane) {
  for (int axis = 0; axis < 3; ++axis)
    for (const SeparableWindow& window : of_plane)
      weights.insert(weights.end(), window.along[axis].begin(), window.along[axis].end());
  windows.push_back(std::move(of_plane));
}

void add_separable(const SeparableResult& result, TaskData& data, SeparableTasks& tasks) {
  const Tensor input = data.input();
  Tensor& output = data.output();
  const float* weights = data.array(result.weights);
  const auto parts = static_cast<int64_t>(result.windows.size());
  const int64_t planes = result.axes.num_planes / parts;
  const int64_t size = planes * result.axes.plane_size();
  for (int64_t part = 0; part < parts; ++part) {
    SeparablePlanes of_part(result.axes, result.windows[static_cast<size_t>(part)], planes, data,
                            tasks);
    weights = of_part.add(input.as<char>() + part * size * size_of(input.type),
                          output.as<char>() + part * size * size_of(result.type), input.type,
                          result.type, weights);
  }
}

}  // namespace dali_core
