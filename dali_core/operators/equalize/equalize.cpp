#include "dali_core/kernels/histogram/equalize.hpp"

#include "dali_core/kernels/histogram/equalize_image.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {
namespace {

// A block counts so many pixels, or more where there would be too many blocks.
constexpr int64_t kSmallestPart = 1 << 14;
constexpr int64_t kMostParts = 64;

}  // namespace

class Equalize : public TaskOperator<Equalize> {
 public:
  struct Tasks {
    KernelTasks<EqualizeTask> counts, levels, pixels;

    void launch(DeviceBatch& batch) const {
      counts.launch(batch, "count_levels");
      levels.launch(batch, "find_levels");
      pixels.launch(batch, "map_levels");
    }
  };

  explicit Equalize(const OperatorConfig&) {}

  static EqualizedImages infer(const SampleContext& sample) {
    return EqualizedImages(sample.input(0));
  }

  void run(SampleContext& sample) const override { equalize_image(sample); }

  static void add(const EqualizedImages& images, TaskData& data, Tasks& tasks) {
    const Tensor input = data.input();
    const int64_t parts = std::min((images.num_pixels - 1) / kSmallestPart + 1, kMostParts);
    const int64_t channels = images.num_images * images.channels;
    EqualizeTask task{};
    task.input = input.as<uint8_t>();
    task.output = data.output().as<uint8_t>();
    task.histograms = data.scratch<uint32_t>(channels * parts * kNumLevels);
    task.levels = data.scratch<uint8_t>(channels * kNumLevels);
    task.num_images = images.num_images;
    task.num_pixels = images.num_pixels;
    task.part = (images.num_pixels - 1) / parts + 1;
    task.channels = quick_divisor(images.channels);
    task.parts = quick_divisor(parts);
    task.image_size = quick_divisor(images.num_pixels * images.channels);
    tasks.counts.add(task, images.num_images * parts * kNumLevels);
    tasks.levels.add(task, channels * kNumLevels);
    tasks.pixels.add(task, (task.image_size.divisor - 1) / 16 + 2);
  }
};

DALI_CORE_REGISTER_OPERATOR("equalize", Equalize)

}  // namespace dali_core
