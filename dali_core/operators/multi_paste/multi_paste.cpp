// fn.multi_paste: how relative coordinates become pixels.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/convert/cast_operator.hpp"
#include "dali_core/kernels/paste/paste_tasks.hpp"
#include "dali_core/kernels/window/region_coordinates.hpp"

namespace dali_core {

inline int64_t relative_anchor(float position, int64_t extent) {
  return static_cast<int64_t>(std::floor(position * static_cast<float>(extent)));
}

inline int64_t relative_extent(float share, int64_t extent) {
  return static_cast<int64_t>(std::ceil(share * static_cast<float>(extent)));
}

namespace {

// A region of one image and its place on the canvas.
struct ChosenRegion {
  const Tensor* image;
  PixelPair from;
  PixelPair extent;
  PixelPair to;
};

PixelPair image_extent(const Tensor& image) {
  return {image.shape[image.shape.ndim - 3], image.shape[image.shape.ndim - 2]};
}

std::string to_string(PixelPair pair) {
  return "(" + std::to_string(pair.y) + ", " + std::to_string(pair.x) + ")";
}

bool fits(PixelPair start, PixelPair extent, PixelPair room) {
  return start.y >= 0 && start.x >= 0 && extent.y <= room.y - start.y &&
         extent.x <= room.x - start.x;
}

// Pastes the region of every frame.
void paste_frames(const ChosenRegion& region, Tensor& canvas) {
  const int64_t channels = canvas.shape[canvas.shape.ndim - 1];
  const PixelPair source = image_extent(*region.image);
  const PixelPair target = image_extent(canvas);
  const int64_t num_frames = canvas.shape.ndim == 4 ? canvas.shape[0] : 1;
  for (int64_t frame = 0; frame < num_frames; ++frame)
    for (int64_t y = 0; y < region.extent.y; ++y) {
      const int64_t in_row = frame * source.y + region.from.y + y;
      const int64_t out_row = frame * target.y + region.to.y + y;
      const int64_t from = (in_row * source.x + region.from.x) * channels;
      const int64_t to = (out_row * target.x + region.to.x) * channels;
      convert_elements(element_at(region.image->data, region.image->type, from), region.image->type,
                       element_at(canvas.data, canvas.type, to), canvas.type,
                       region.extent.x * channels);
    }
}

// The images of the batch: where they are differs between the host and a device.
template <typename Get>
struct BatchImages {
  BatchImages(int count, Get function) : num_samples(count), get(function) {}

  int num_samples;
  Get get;  // (input, sample)
};

// Plans canvases on a device: regions in another type are converted ahead, row by row.
class DevicePasting {
 public:
  explicit DevicePasting(DeviceBatch& batch) : batch_(batch) {}

  void add(const std::vector<ChosenRegion>& regions, const Tensor& canvas) {
    if (canvas.num_elements() == 0) return;
    if (canvas.shape.ndim == 3) return add_frame(regions, canvas, 0);
    for (int64_t frame = 0; frame < canvas.shape[0]; ++frame)
      add_frame(regions, SampleFrames::slice(canvas, frame), frame);
  }

  void launch() const {
    casts_.launch(batch_, "cast_elements");
    canvases_.launch(batch_, "paste_regions");
  }

 private:
  void add_frame(const std::vector<ChosenRegion>& regions, const Tensor& canvas, int64_t frame) {
    const int64_t pixel_bytes = canvas.shape[2] * size_of(canvas.type);
    const std::vector<uint8_t> black = {0};
    PasteTask task = canvas_task(canvas, canvas.shape[1] * pixel_bytes, black, nullptr);
    const auto count = static_cast<int>(regions.size());
    const UploadedArray<PastedRegion> others =
        batch_.upload<PastedRegion>(static_cast<size_t>(std::max(count - 1, 0)));
    for (int i = 0; i < count; ++i)
      (i == 0 ? task.first : others.host[i - 1]) =
          pasted(regions[static_cast<size_t>(i)], canvas, frame, pixel_bytes);
    task.num_regions = count;
    task.others = others.device;
    canvases_.add(task, paste_threads(task));
  }

  PastedRegion pasted(const ChosenRegion& region, const Tensor& canvas, int64_t frame,
                      int64_t pixel_bytes) {
    const Tensor& image = *region.image;
    const PixelPair source = image_extent(image);
    const int64_t row_pitch = source.x * pixel_bytes;
    const int64_t first_row = frame * source.y + region.from.y;
    PastedRegion pasted{data_on_device(batch_, image),
                        image.num_bytes(),
                        first_row * row_pitch + region.from.x * pixel_bytes,
                        row_pitch,
                        region.to.y,
                        region.to.y + region.extent.y,
                        region.to.x * pixel_bytes,
                        (region.to.x + region.extent.x) * pixel_bytes};
    if (image.type == canvas.type || pasted.top == pasted.bottom || pasted.left == pasted.right)
      return pasted;
    const int64_t row = source.x * canvas.shape[2];
    const int64_t elements = region.extent.y * row;
    const void* const in = element_at(pasted.image, image.type, first_row * row);
    pasted.image_bytes = elements * size_of(canvas.type);
    pasted.offset = region.from.x * pixel_bytes;
    void* const out = batch_.scratch(static_cast<size_t>(pasted.image_bytes));
    const CastTask cast{in, out, elements, image.type, canvas.type};
    casts_.add(cast, cast_threads(cast));
    pasted.image = out;
    return pasted;
  }

  DeviceBatch& batch_;
  KernelTasks<CastTask> casts_;
  KernelTasks<PasteTask> canvases_;
};

}  // namespace

class MultiPaste : public Operator {
 public:
  explicit MultiPaste(const OperatorConfig& config)
      : in_ids_(config, "in_ids"),
        output_size_(config, "output_size"),
        in_anchors_(config, "in_anchors", relative_anchor),
        shapes_(config, "shapes", relative_extent),
        out_anchors_(config, "out_anchors", relative_anchor),
        type_(config.get_or<DataType>("dtype", DataType::kNone)) {
    if (in_ids_.given() && config.num_inputs != 1)
      throw std::invalid_argument("there must be one input if in_ids is given (got " +
                                  std::to_string(config.num_inputs) +
                                  "). Pass one input, or leave out in_ids.");
  }

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    std::vector<ChosenRegion> regions;
    const BatchImages images(sample.batch_size(), [&](int input, int other) -> const Tensor& {
      return sample.input_of_sample(input, other);
    });
    Tensor& canvas = *sample.output(infer(sample, images, regions));
    std::memset(canvas.data, 0, static_cast<size_t>(canvas.num_bytes()));
    for (const ChosenRegion& region : regions) paste_frames(region, canvas);
  }

  void plan(DeviceBatch& batch) const override {
    std::vector<std::vector<ChosenRegion>> regions(static_cast<size_t>(batch.size()));
    const BatchImages images(batch.size(), [&](int input, int other) -> const Tensor& {
      return batch.input(input, other);
    });
    batch.for_each([&](int i, SampleContext& sample) {
      batch.declare(i, infer(sample, images, regions[static_cast<size_t>(i)]));
    });
    batch.allocate();
    DevicePasting pasting(batch);
    batch.for_each([&](int i, SampleContext&) {
      pasting.add(regions[static_cast<size_t>(i)], batch.output(0, i));
    });
    pasting.launch();
  }

 private:
  static void check_image(const Tensor& image) {
    const int ndim = image.shape.ndim;
    const bool has_layout = ndim == 3 || ndim == 4;
    const char* const expected = ndim == 4 ? "FHWC" : "HWC";
    if (!has_layout || image_layout(image, "FHWC") != Layout(expected))
      throw std::invalid_argument("inputs must have the layout \"HWC\" or \"FHWC\" (got \"" +
                                  std::string(image.layout.c_str()) + "\" for shape " +
                                  dali_core::to_string(image.shape) +
                                  "). Reorder the dimensions before this operator.");
  }

  template <typename Images>
  Inferred infer(SampleContext& sample, const Images& images,
                 std::vector<ChosenRegion>& regions) const {
    const Tensor& first = sample.input(0);
    check_image(first);
    const PixelPair size = canvas_size(sample, images);
    Shape shape = first.shape;
    shape[shape.ndim - 3] = size.y;
    shape[shape.ndim - 2] = size.x;
    regions = find_regions(sample, images, size);
    set_sources(sample, regions);
    return {type_ == DataType::kNone ? first.type : type_, shape,
            Layout(shape.ndim == 4 ? "FHWC" : "HWC")};
  }

  template <typename Images>
  PixelPair canvas_size(const SampleContext& sample, const Images& images) const {
    if (output_size_.given()) {
      std::vector<int64_t> storage;
      const std::vector<int64_t>& size = output_size_.at(sample, storage);
      return {size[0], size[1]};
    }
    const PixelPair size = image_extent(sample.input(0));
    for (int i = 0; i < sample.num_inputs(); ++i)
      for (int other = 0; other < images.num_samples; ++other) {
        const Tensor& image = images.get(i, other);
        if (image.type == DataType::kNone) continue;
        check_image(image);
        const PixelPair extent = image_extent(image);
        if (extent.y != size.y || extent.x != size.x)
          throw std::invalid_argument(
              "all images must have the same extents if output_size is not given (got " +
              to_string(size) + " and " + to_string(extent) + "). Pass output_size.");
      }
    return size;
  }

  // The canvas is from all files that are pasted, in their order.
  static void set_sources(SampleContext& sample, const std::vector<ChosenRegion>& regions) {
    std::string sources;
    for (const ChosenRegion& region : regions)
      if (region.image->source && !region.image->source->empty())
        sources += (sources.empty() ? "" : ";") + *region.image->source;
    sample.set_source(sources.empty() ? nullptr : std::make_shared<const std::string>(sources));
  }

  template <typename Images>
  std::vector<ChosenRegion> find_regions(const SampleContext& sample, const Images& images,
                                         PixelPair canvas) const {
    std::vector<int64_t> storage;
    const std::vector<int64_t> none;
    const auto& ids = in_ids_.given() ? in_ids_.at(sample, storage) : none;
    const int64_t count = in_ids_.given() ? static_cast<int64_t>(ids.size()) : sample.num_inputs();
    std::vector<ChosenRegion> regions;
    for (int64_t i = 0; i < count; ++i) {
      ChosenRegion region;
      region.image =
          in_ids_.given() ? &chosen_image(images, ids[i]) : &sample.input(static_cast<int>(i));
      check_kind(*region.image, sample.input(0));
      const PixelPair extent = image_extent(*region.image);
      if (in_anchors_.given()) region.from = in_anchors_.at(sample, i, count, extent);
      region.extent = shapes_.given()
                          ? shapes_.at(sample, i, count, extent)
                          : PixelPair{extent.y - region.from.y, extent.x - region.from.x};
      if (out_anchors_.given()) region.to = out_anchors_.at(sample, i, count, canvas);
      check_place(region, extent, canvas, i);
      regions.push_back(region);
    }
    return regions;
  }

  template <typename Images>
  static const Tensor& chosen_image(const Images& images, int64_t id) {
    if (id < 0 || id >= images.num_samples)
      throw std::invalid_argument(
          "in_ids must be from 0 to " + std::to_string(images.num_samples - 1) +
          ", numbers of samples in the batch (got " + std::to_string(id) + "). Count from 0.");
    const Tensor& image = images.get(0, static_cast<int>(id));
    if (image.type == DataType::kNone)
      throw std::runtime_error("sample " + std::to_string(id) +
                               ", which in_ids refer to, must be good (it failed before). Choose "
                               "another one.");
    return image;
  }

  // Type, frames and channels are those of the sample's first image.
  static void check_kind(const Tensor& image, const Tensor& first) {
    check_image(image);
    const int ndim = first.shape.ndim;
    if (image.type != first.type || image.shape.ndim != ndim ||
        image.shape[ndim - 1] != first.shape[ndim - 1] ||
        (ndim == 4 && image.shape[0] != first.shape[0]))
      throw std::invalid_argument("all images must have the same type, frames and channels (got " +
                                  std::string(name_of(first.type)) + " of shape " +
                                  dali_core::to_string(first.shape) + ", and " +
                                  name_of(image.type) + " of shape " +
                                  dali_core::to_string(image.shape) + "). Convert them before.");
  }

  static void check_place(const ChosenRegion& region, PixelPair image, PixelPair canvas,
                          int64_t number) {
    const std::string which = "region " + std::to_string(number);
    if (region.extent.y < 0 || region.extent.x < 0 || !fits(region.from, region.extent, image))
      throw std::invalid_argument(which + " must lie inside its image (got start " +
                                  to_string(region.from) + " and extents " +
                                  to_string(region.extent) + " in an image of " + to_string(image) +
                                  "). Change in_anchors or shapes.");
    if (!fits(region.to, region.extent, canvas))
      throw std::invalid_argument(which + " must lie inside the canvas (got start " +
                                  to_string(region.to) + " and extents " +
                                  to_string(region.extent) + " on a canvas of " +
                                  to_string(canvas) + "). Change out_anchors or output_size.");
  }

  ListArgument<int64_t> in_ids_, output_size_;
  RegionCoordinates in_anchors_, shapes_, out_anchors_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("multi_paste", MultiPaste)

}  // namespace dali_core
