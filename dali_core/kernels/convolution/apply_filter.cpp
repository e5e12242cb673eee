#include "dali_core/kernels/convolution/apply_filter.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace dali_core {
namespace {

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

// Other names of the borders, as the reference has them.
Border border_named(const std::string& given) {
  const std::string name = in_lower_case(given);
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_one_of({"reflect_101", "reflect101", "101"})) return Border::kReflect101;
  if (is_one_of({"reflect_1001", "reflect1001", "1001", "reflect"})) return Border::kReflect1001;
  if (is_one_of({"wrap"})) return Border::kWrap;
  if (is_one_of({"clamp", "edge"})) return Border::kClamp;
  if (is_one_of({"constant", "fill", "pad"})) return Border::kConstant;
  throw std::invalid_argument(
      "border must be 'reflect_101', 'reflect_1001', 'wrap', 'clamp' or 'constant' (got '" + given +
      "'). Choose one of them.");
}

bool is_valid_mode(const std::string& given) {
  const std::string name = in_lower_case(given);
  if (name != "same" && name != "valid")
    throw std::invalid_argument("mode must be 'same' or 'valid' (got '" + given +
                                "'). Choose one of them.");
  return name == "valid";
}

bool is_framed(const Tensor& tensor) { return tensor.layout[0] == 'F'; }

// Frames of all inputs together, or negative: those that have frames must have as many.
int64_t common_frames(const SampleContext& sample, const DataAxes& axes) {
  int64_t num_frames = axes.num_frames;
  for (int i = 1; i < sample.num_inputs(); ++i) {
    const Tensor& input = sample.input(i);
    if (!is_framed(input)) continue;
    if (num_frames >= 0 && input.shape[0] != num_frames)
      throw std::invalid_argument("inputs with frames must have as many of them (got " +
                                  std::to_string(num_frames) + ", and " +
                                  std::to_string(input.shape[0]) + " in input " +
                                  std::to_string(i) + "). Pass one for each frame.");
    num_frames = input.shape[0];
  }
  return num_frames;
}

void check_fill_value(const Tensor& value) {
  const bool framed = is_framed(value);
  if (framed && value.num_elements() == 0) return;
  if (framed ? value.shape.ndim != 1 : value.num_elements() != 1)
    throw std::invalid_argument(
        "the fill value must be one number, or one for each frame with "
        "layout \"F\" (got shape " +
        to_string(value.shape) + "). Reshape it.");
}

float fill_value(const Tensor& value, int64_t frame) {
  if (value.num_elements() == 0) return 0;
  return visit_type(value.type, [&](auto zero) {
    return convert<float>(value.as<decltype(zero)>()[is_framed(value) ? frame : 0]);
  });
}

// Checks the filter, and finds its extents.
void find_window(const Tensor& input, const Tensor& filter, const DataAxes& axes, int64_t* window) {
  const int first = is_framed(filter) ? 1 : 0;
  const int n = axes.num_axes;
  if (n < 2)
    throw std::invalid_argument("the input must have two or three data axes (got " +
                                std::to_string(n) + " in shape " + to_string(input.shape) +
                                " with layout \"" + input.layout.c_str() +
                                "\"). Give a layout that fits.");
  if (filter.shape.ndim - first != n)
    throw std::invalid_argument(
        "the filter must have a dimension for each of the " + std::to_string(n) +
        " data axes (got shape " + to_string(filter.shape) + " for an input of shape " +
        to_string(input.shape) + " with layout \"" + input.layout.c_str() +
        "\"). Reshape it, or give the input a layout that tells its channels and frames.");
  if (filter.type != DataType::kFloat)
    throw std::invalid_argument(std::string("the filter must be of type float32 (got ") +
                                name_of(filter.type) + "). Use fn.cast.");
  for (int i = 0; i < n; ++i) {
    const int64_t extent = filter.shape[first + i];
    if (extent < 1)
      throw std::invalid_argument("the filter must have numbers (got shape " +
                                  to_string(filter.shape) + "). Pass one that has.");
    window[3 - n + i] = extent;
  }
}

}  // namespace

FilterOperator::FilterOperator(const OperatorConfig& config)
    : anchor_(config, "anchor"),
      border_(border_named(config.get<std::string>("border"))),
      valid_(is_valid_mode(config.get<std::string>("mode"))),
      dtype_(config.get_or<DataType>("dtype", DataType::kNone)) {}

FilterResult FilterOperator::infer(const SampleContext& sample) const {
  const Tensor& input = sample.input(0);
  const Tensor& filter = sample.input(1);
  FilterResult result;
  result.axes = data_axes(input);
  result.type = convolved_type(dtype_, input.type);
  result.num_frames = common_frames(sample, result.axes);
  // The input is used again for each frame if it has none itself.
  result.repeats_input = result.num_frames >= 0 && result.axes.num_frames < 0;
  find_window(input, filter, result.axes, result.window);
  if (sample.num_inputs() > 2) check_fill_value(sample.input(2));
  const bool has_anchors = result.axes.num_frames >= 0 && anchor_.is_per_frame(sample);
  result.has_frames =
      has_anchors || is_framed(filter) || (sample.num_inputs() > 2 && is_framed(sample.input(2)));
  for (int64_t frame = 0; frame < (has_anchors ? result.num_frames : 1); ++frame)
    result.anchors.push_back(anchor_of(sample, result, frame));

  if (result.repeats_input) result.shape.push_back(result.num_frames);
  for (int i = 0; i < input.shape.ndim; ++i) result.shape.push_back(input.shape[i]);
  const int n = result.axes.num_axes;
  for (int i = 3 - n; i < 3; ++i) {
    int64_t& extent =
        result.shape[(result.repeats_input ? 1 : 0) + result.axes.first_axis + i - (3 - n)];
    if (valid_) extent -= result.window[i] - 1;
    if (extent < 0 || (valid_ && extent == 0))
      throw std::invalid_argument("the filter must fit into the input in mode 'valid' (got shape " +
                                  to_string(filter.shape) + " for an input of shape " +
                                  to_string(input.shape) + "). Use a smaller one, or mode 'same'.");
    result.output_extents[i] = extent;
  }
  result.layout = input.layout;
  if (result.repeats_input && !input.layout.empty())
    result.layout = Layout((std::string("F") + input.layout.c_str()).c_str());
  return result;
}

std::array<int64_t, 3> FilterOperator::anchor_of(const SampleContext& sample,
                                                 const FilterResult& result, int64_t frame) const {
  const int n = result.axes.num_axes;
  const std::vector<int64_t> given =
      anchor_.at(sample, n, result.axes.num_frames >= 0 ? result.num_frames : -1, frame);
  std::array<int64_t, 3> anchor = {};
  for (int i = 0; i < n; ++i) {
    const int64_t extent = result.window[3 - n + i];
    if (given[i] < -1 || given[i] >= extent)
      throw std::invalid_argument("anchor must be a place in the filter, or -1 (got " +
                                  std::to_string(given[i]) + " for the extent " +
                                  std::to_string(extent) + "). Pass a smaller one.");
    anchor[3 - n + i] = given[i] < 0 ? extent / 2 : given[i];
  }
  return anchor;
}

void FilterOperator::run(SampleContext& sample) const {
  const FilterResult result = infer(sample);
  const Tensor& input = sample.input(0);
  const Tensor& filter = sample.input(1);
  Tensor& output = *sample.output(result);
  for (int64_t plane = 0; plane < result.num_planes(); ++plane) {
    const int64_t frame = result.frame_of(plane);
    const std::array<int64_t, 3>& anchor = result.anchor_of(frame);
    GeneralWindow window = {filter.as<float>(), {}, {}, border_, 0, valid_};
    if (is_framed(filter)) window.weights += frame * result.window_size();
    std::copy_n(result.window, 3, window.extents);
    std::copy_n(anchor.begin(), 3, window.anchor);
    if (sample.num_inputs() > 2) window.fill_value = fill_value(sample.input(2), frame);
    const int64_t source = plane % result.axes.num_planes * result.axes.plane_size();
    const ConvolvedPlane where = {
        input.as<uint8_t>() + source * size_of(input.type), input.type,
        output.as<uint8_t>() + plane * result.output_size() * size_of(result.type), result.type};
    convolve_general(sample, where, result.axes, window);
  }
}

void FilterOperator::add(const FilterResult& result, TaskData& data, Tasks& tasks) const {
  const Tensor input = data.input();
  const Tensor filter = data.input(1);
  const Tensor fill = data.sample().num_inputs() > 2 ? data.input(2) : Tensor();
  FilterTask task{};
  std::copy_n(result.axes.extents, 3, task.extents);
  std::copy_n(result.window, 3, task.window);
  task.channels = result.axes.channels;
  task.output_width = result.output_extents[2];
  // Pixels that a thread makes beyond the end of a row are not stored, but must be somewhere.
  task.border = valid_ ? Border::kClamp : border_;
  task.from = input.type;
  task.to = result.type;
  task.fill_type = fill.type;
  task.depth = quick_divisor(result.output_extents[0]);
  task.height = quick_divisor(result.output_extents[1]);
  task.groups = quick_divisor((task.output_width + kFilteredPixels - 1) / kFilteredPixels);
  task.channel_groups = quick_divisor(filters_pixels(task.channels, task.from) ? 1 : task.channels);
  // Planes that follow each other and have the same filter.
  const int64_t together = !result.has_frames     ? result.num_planes()
                           : result.repeats_input ? result.axes.num_planes
                                                  : result.axes.planes_of_a_frame;
  for (int64_t plane = 0; plane < result.num_planes(); plane += together) {
    const int64_t frame = result.frame_of(plane);
    const int64_t source = plane % result.axes.num_planes * result.axes.plane_size();
    task.planes = together;
    task.input = input.as<char>() + source * size_of(input.type);
    task.output = data.output().as<char>() + plane * result.output_size() * size_of(result.type);
    task.weights = filter.as<float>() + (is_framed(filter) ? frame * result.window_size() : 0);
    if (!valid_) std::copy_n(result.anchor_of(frame).begin(), 3, task.anchor);
    if (fill.num_elements() > 0 && fill.type != DataType::kNone)
      task.fill = fill.as<char>() + (is_framed(fill) ? frame * size_of(fill.type) : 0);
    tasks.add(task, task.items());
  }
}

}  // namespace dali_core
