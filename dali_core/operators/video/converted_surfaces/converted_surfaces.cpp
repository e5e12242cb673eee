#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/kernels/tasks/task_operator.hpp"
#include "dali_core/kernels/video/surface_pixel.hpp"
#include "dali_core/native_io/video/clip_operator.hpp"

namespace dali_core {

class ConvertedSurfaces : public TaskOperator<ConvertedSurfaces> {
 public:
  explicit ConvertedSurfaces(const OperatorConfig& config)
      : description_(config, "description"),
        colours_(config),
        swaps_(config.get<ImageType>("image_type") == ImageType::kBGR) {}

  struct Result : Inferred {
    SurfaceTask task;
  };

  Result infer(const SampleContext& sample) const {
    const SurfaceTask task = task_of(sample);
    const int64_t sizes[2] = {task.height, task.width};
    const bool is_turned = task.transpose != 0;
    return {{DataType::kUInt8,
             {task.num_frames, sizes[is_turned], sizes[!is_turned], task.channels},
             "FHWC"},
            task};
  }

  struct Tasks : KernelTasks<SurfaceTask> {
    void launch(DeviceBatch& batch) const { KernelTasks::launch(batch, "convert_surfaces"); }
  };

  void add(const Result& result, TaskData& data, Tasks& tasks) const {
    SurfaceTask task = result.task;
    task.out = data.output().as<uint8_t>();
    tasks.add(task, task.num_frames * task.height * task.width);
  }

 private:
  SurfaceTask task_of(const SampleContext& sample) const {
    const Tensor& surfaces = sample.input(0);
    SurfaceTask task{};
    task.channels = colours_.channels();
    if (surfaces.num_elements() == 0) return task;
    std::vector<int64_t> storage;
    const std::vector<int64_t>& said = description_.at(sample, storage);
    if (said.size() != 6)
      throw std::invalid_argument("description must have 6 numbers (got " +
                                  std::to_string(said.size()) + "). Pass all of them.");
    FramePlanes planes;
    planes.height = static_cast<int>(said[0]);
    planes.width = static_cast<int>(said[1]);
    planes.bits = static_cast<int>(said[2]);
    planes.full_range = said[3] != 0;
    planes.matrix = static_cast<uint8_t>(said[4]);
    planes.orientation = static_cast<int>(said[5]);
    planes.num_planes = 3;
    planes.chroma_shift_x = planes.chroma_shift_y = 1;
    // They are on the device: only what they mean is of use here.
    static const uint8_t somewhere = 0;
    for (const uint8_t*& plane : planes.data) plane = &somewhere;
    const FrameConverter converter = colours_.converter(planes);
    const int64_t bytes = planes.bits > 8 ? 2 : 1;
    task.frame_bytes = int64_t{planes.height} * planes.width / 2 * 3 * bytes;
    if (planes.height % 2 != 0 || planes.width % 2 != 0 || surfaces.shape.ndim != 2 ||
        surfaces.shape[1] != task.frame_bytes || surfaces.type != DataType::kUInt8)
      throw std::invalid_argument("the input must be surfaces of " +
                                  std::to_string(task.frame_bytes) + " bytes (got shape " +
                                  to_string(surfaces.shape) + "). Pass those of even sizes.");
    task.in = surfaces.data;
    task.num_frames = surfaces.shape[0];
    task.height = planes.height;
    task.width = planes.width;
    task.bits = planes.bits;
    task.transpose = converter.orientation().transpose;
    task.flip_y = converter.orientation().flip_y;
    task.flip_x = converter.orientation().flip_x;
    task.swaps = swaps_ ? 1 : 0;
    std::memcpy(task.factors, converter.mix().factors, sizeof task.factors);
    std::memcpy(task.offsets, converter.mix().offsets, sizeof task.offsets);
    return task;
  }

  ListArgument<int64_t> description_;
  VideoColours colours_;
  bool swaps_;
};

DALI_CORE_REGISTER_OPERATOR("video.converted_surfaces", ConvertedSurfaces)

}  // namespace dali_core
