// Frames, planes of channels, and data axes of images, volumes and sequences: what operators that
// compute on neighbourhoods tell apart.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dali_core/geometry.hpp"

namespace dali_core {

// A dense tensor is `num_planes` planes of extents[0] x extents[1] x extents[2] pixels (depth,
// height, width; 1 where there are fewer axes) of `channels` contiguous numbers.
struct DataAxes {
  int num_axes = 0;
  int first_axis = 0;  // the dimension of the outermost data axis
  int64_t extents[3] = {1, 1, 1};
  int64_t channels = 1;
  int64_t num_planes = 1;
  int64_t num_frames = -1;        // outermost; negative: there are no frames
  int64_t planes_of_a_frame = 1;  // planes that follow each other and belong to the same frame

  int64_t plane_size() const { return extents[0] * extents[1] * extents[2] * channels; }
  int64_t frame_of(int64_t plane) const {
    return num_frames < 0 ? 0 : plane / planes_of_a_frame % num_frames;
  }
};

// In front of the data axes there may be F and one C; C may come last instead. Data without a
// layout has data axes only.
inline DataAxes data_axes(const Tensor& input) {
  const int ndim = input.shape.ndim;
  const Layout& layout = input.layout;
  const auto fail = [&](const std::string& what) -> void {
    throw std::invalid_argument("the input must have " + what + " (got layout \"" + layout.c_str() +
                                "\" for shape " + to_string(input.shape) +
                                "). Give the layout where the data enters the pipeline, or "
                                "reorder the dimensions.");
  };
  if (!layout.empty() && layout.ndim() != ndim) fail("one letter of the layout a dimension");
  DataAxes axes;
  bool has_channels = false;
  int begin = 0;
  for (; begin < layout.ndim() && (layout[begin] == 'F' || layout[begin] == 'C'); ++begin) {
    const int64_t extent = input.shape[begin];
    if (layout[begin] == 'C' && has_channels) fail("channels in one dimension");
    has_channels |= layout[begin] == 'C';
    if (axes.num_frames >= 0) {
      axes.planes_of_a_frame *= extent;
    } else if (layout[begin] == 'F') {
      axes.num_frames = extent;
    }
    axes.num_planes *= extent;
  }
  int end = ndim;
  if (end > begin && layout.ndim() == ndim && layout[end - 1] == 'C' && !has_channels) {
    axes.channels = input.shape[--end];
    has_channels = true;
  }
  for (int i = begin; i < end && !layout.empty(); ++i)
    if (layout[i] == 'F' || layout[i] == 'C') fail("frames first, and channels first or last");
  axes.first_axis = begin;
  axes.num_axes = end - begin;
  if (axes.num_axes < 1 || axes.num_axes > 3) fail("one to three data axes, beside F and C");
  for (int i = 0; i < axes.num_axes; ++i)
    axes.extents[3 - axes.num_axes + i] = input.shape[begin + i];
  return axes;
}

}  // namespace dali_core
