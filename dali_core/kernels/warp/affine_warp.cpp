#include "dali_core/kernels/warp/affine_warp.hpp"

namespace dali_core {
namespace {

template <int kDims>
WarpMap<kDims> map_of(const AffineWarp& warp, int64_t frame) {
  const AffineTransform& transform = warp.transforms[warp.transforms.size() > 1 ? frame : 0];
  WarpMap<kDims> map;
  for (int row = 0; row < kDims; ++row)
    for (int column = 0; column <= kDims; ++column)
      map.rows[row][column] = static_cast<float>(transform.matrix[row][column]);
  return map;
}

// Calls `function(task, map)` for each frame.
template <int kDims, typename Function>
void for_each_frame(WarpTask<kDims> task, const AffineWarp& warp, const Tensor& image,
                    Tensor& output, const Function& function) {
  const int64_t input_bytes = image.num_bytes() / warp.source.frames;
  const int64_t output_bytes = output.num_bytes() / warp.source.frames;
  for (int64_t frame = 0; frame < warp.source.frames; ++frame) {
    task.source.pixels = image.as<char>() + frame * input_bytes;
    task.output = output.as<char>() + frame * output_bytes;
    function(task, map_of<kDims>(warp, frame));
  }
}

template <int kDims>
void run_frames(const WarpArguments& arguments, const AffineWarp& warp, SampleContext& sample,
                Tensor& output) {
  const Tensor& image = sample.input(0);
  WarpTask<kDims> task = arguments.task<kDims>(image, warp.source, warp.extent, output);
  task.scratch = sample.scratch<char>(0, warp_scratch_size(warp.source.channels));
  for_each_frame(
      task, warp, image, output,
      [](const WarpTask<kDims>& frame, const WarpMap<kDims>& map) { warp_frame(frame, map); });
}

template <int kDims>
void add_frames(const WarpArguments& arguments, const AffineWarp& warp, TaskData& data,
                KernelTasks<AffineTask<kDims>>& tasks) {
  const Tensor image = data.input();
  Tensor& output = data.output();
  const WarpTask<kDims> task = arguments.task<kDims>(image, warp.source, warp.extent, output);
  int64_t pixels = 1;
  for (const int32_t extent : task.extent) pixels *= extent;
  for_each_frame(
      task, warp, image, output, [&](const WarpTask<kDims>& frame, const WarpMap<kDims>& map) {
        AffineTask<kDims> added{frame.source,
                                map,
                                frame.output,
                                pixels,
                                quick_divisor(frame.extent[0]),
                                quick_divisor(frame.extent[1]),
                                frame.input_type,
                                frame.output_type,
                                frame.nearest,
                                frame.fill_value,
                                0,
                                {}};
        if (goes_by_groups(added)) {
          // The first group of a row may begin ahead of it.
          const int64_t groups = blocks_for(frame.extent[0] + kGroup - 1, kGroup);
          added.tiles_across = quick_divisor(blocks_for(groups, kWarpTileGroups));
          added.tiles = added.tiles_across.divisor * blocks_for(frame.extent[1], kWarpTileRows);
        }
        tasks.add(added, added.tiles ? added.tiles * kWarpTileThreads : pixels);
      });
}

}  // namespace

void run_affine_warp(const WarpArguments& arguments, const AffineWarp& warp,
                     SampleContext& sample) {
  Tensor& output = *sample.output(warp);
  if (output.num_elements() == 0) return;
  if (warp.source.num_dims == 2)
    run_frames<2>(arguments, warp, sample, output);
  else
    run_frames<3>(arguments, warp, sample, output);
}

void add_affine_warp(const WarpArguments& arguments, const AffineWarp& warp, TaskData& data,
                     AffineWarpTasks& tasks) {
  if (warp.source.num_dims == 2)
    add_frames<2>(arguments, warp, data, tasks.images);
  else
    add_frames<3>(arguments, warp, data, tasks.volumes);
}

}  // namespace dali_core
