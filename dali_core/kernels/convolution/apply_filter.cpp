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

bool has_frames(const Tensor& tensor) { return tensor.layout[0] == 'F'; }

// Frames of all inputs together, or negative: those that have frames must have as many.
int64_t common_frames(const SampleContext& sample, const DataAxes& axes) {
  int64_t num_frames = axes.num_frames;
  for (int i = 1; i < sample.num_inputs(); ++i) {
    const Tensor& input = sample.input(i);
    if (!has_frames(input)) continue;
    if (num_frames >= 0 && input.shape[0] != num_frames)
      throw std::invalid_argument("inputs with frames must have as many of them (got " +
                                  std::to_string(num_frames) + ", and " +
                                  std::to_string(input.shape[0]) + " in input " +
                                  std::to_string(i) + "). Pass one for each frame.");
    num_frames = input.shape[0];
  }
  return num_frames;
}

float fill_value(const SampleContext& sample, int64_t frame) {
  if (sample.num_inputs() < 3) return 0;
  const Tensor& value = sample.input(2);
  const bool framed = has_frames(value);
  if (framed && value.num_elements() == 0) return 0;
  if (framed ? value.shape.ndim != 1 : value.num_elements() != 1)
    throw std::invalid_argument(
        "the fill value must be one number, or one for each frame with "
        "layout \"F\" (got shape " +
        to_string(value.shape) + "). Reshape it.");
  return visit_type(value.type, [&](auto zero) {
    return convert<float>(value.as<decltype(zero)>()[framed ? frame : 0]);
  });
}

}  // namespace

FilterOperator::FilterOperator(const OperatorConfig& config)
    : anchor_(config, "anchor"),
      border_(border_named(config.get<std::string>("border"))),
      valid_(is_valid_mode(config.get<std::string>("mode"))),
      dtype_(config.get_or<DataType>("dtype", DataType::kNone)) {}

void FilterOperator::run(SampleContext& sample) const {
  const Tensor& input = sample.input(0);
  const DataAxes axes = data_axes(input);
  const DataType type = convolved_type(dtype_, input.type);
  const int64_t num_frames = common_frames(sample, axes);
  // The input is used again for each frame if it has none itself.
  const bool repeated = num_frames >= 0 && axes.num_frames < 0;
  const int64_t num_planes = axes.num_planes * (repeated ? num_frames : 1);

  Shape shape;
  if (repeated) shape.push_back(num_frames);
  for (int i = 0; i < input.shape.ndim; ++i) shape.push_back(input.shape[i]);
  const GeneralWindow any_window = window_of(sample, axes, num_frames, 0);
  int64_t output_size = axes.channels;
  for (int i = 0; i < axes.num_axes; ++i) {
    int64_t& extent = shape[(repeated ? 1 : 0) + axes.first_axis + i];
    if (valid_) extent -= any_window.extents[3 - axes.num_axes + i] - 1;
    if (extent < 0 || (valid_ && extent == 0))
      throw std::invalid_argument("the filter must fit into the input in mode 'valid' (got shape " +
                                  to_string(sample.input(1).shape) + " for an input of shape " +
                                  to_string(input.shape) + "). Use a smaller one, or mode 'same'.");
    output_size *= extent;
  }
  Layout layout = input.layout;
  if (repeated && !layout.empty()) layout = Layout(std::string("F") + layout.c_str());
  Tensor& output = sample.output(0, type, shape, layout);
  for (int64_t plane = 0; plane < num_planes; ++plane) {
    const int64_t frame = repeated ? plane / axes.num_planes : axes.frame_of(plane);
    const GeneralWindow window = window_of(sample, axes, num_frames, frame);
    const int64_t source = plane % axes.num_planes * axes.plane_size();
    const ConvolvedPlane where = {input.as<uint8_t>() + source * size_of(input.type), input.type,
                                  output.as<uint8_t>() + plane * output_size * size_of(type), type};
    convolve_general(sample, where, axes, window);
  }
}

GeneralWindow FilterOperator::window_of(const SampleContext& sample, const DataAxes& axes,
                                        int64_t num_frames, int64_t frame) const {
  const Tensor& filter = sample.input(1);
  const int first = has_frames(filter) ? 1 : 0;
  const int n = axes.num_axes;
  if (n < 2)
    throw std::invalid_argument("the input must have two or three data axes (got " +
                                std::to_string(n) + " in shape " +
                                to_string(sample.input(0).shape) + " with layout \"" +
                                sample.input(0).layout.c_str() + "\"). Give a layout that fits.");
  if (filter.shape.ndim - first != n)
    throw std::invalid_argument(
        "the filter must have a dimension for each of the " + std::to_string(n) +
        " data axes (got shape " + to_string(filter.shape) + " for an input of shape " +
        to_string(sample.input(0).shape) + " with layout \"" + sample.input(0).layout.c_str() +
        "\"). Reshape it, or give the input a layout that tells its channels and frames.");
  if (filter.type != DataType::kFloat)
    throw std::invalid_argument(std::string("the filter must be of type float32 (got ") +
                                name_of(filter.type) + "). Use fn.cast.");
  GeneralWindow window = {filter.as<float>(),        {1, 1, 1}, {0, 0, 0}, border_,
                          fill_value(sample, frame), valid_};
  const std::vector<int64_t> anchor =
      anchor_.at(sample, n, axes.num_frames >= 0 ? num_frames : -1, frame);
  int64_t size = 1;
  for (int i = 0; i < n; ++i) {
    const int64_t extent = filter.shape[first + i];
    if (extent < 1)
      throw std::invalid_argument("the filter must have numbers (got shape " +
                                  to_string(filter.shape) + "). Pass one that has.");
    if (anchor[i] < -1 || anchor[i] >= extent)
      throw std::invalid_argument("anchor must be a place in the filter, or -1 (got " +
                                  std::to_string(anchor[i]) + " for the extent " +
                                  std::to_string(extent) + "). Pass a smaller one.");
    window.extents[3 - n + i] = extent;
    window.anchor[3 - n + i] = anchor[i] < 0 ? extent / 2 : anchor[i];
    size *= extent;
  }
  if (first == 1) window.weights += frame * size;
  return window;
}

}  // namespace dali_core
