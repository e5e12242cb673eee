// fn.readers.coco: reads one image of a list, and gives what is annotated in it.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "dali_core/native_io/files/open_file.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Numbers behind each other in parts: where a part begins and ends.
struct Part {
  int64_t begin, end;

  int64_t count() const { return end - begin; }
};

Part part_of(const std::vector<int64_t>& ends, int64_t number) {
  return {number == 0 ? 0 : ends[static_cast<size_t>(number) - 1],
          ends[static_cast<size_t>(number)]};
}

// The label of an object at the pixels of a mask whose centres are inside.
class MaskPainter {
 public:
  MaskPainter(int32_t* mask, int64_t width, int64_t height)
      : mask_(mask), width_(width), height_(height) {}

  void paint_polygon(const float* vertices, int64_t count, int32_t label) {
    for (int64_t y = 0; y < height_; ++y) {
      const double center = static_cast<double>(y) + 0.5;
      crossings_.clear();
      for (int64_t i = 0; i < count; ++i) {
        const float* const a = vertices + 2 * i;
        const float* const b = vertices + 2 * ((i + 1) % count);
        if ((a[1] <= center) == (b[1] <= center)) continue;
        const double share = (center - a[1]) / (static_cast<double>(b[1]) - a[1]);
        crossings_.push_back(a[0] + share * (static_cast<double>(b[0]) - a[0]));
      }
      std::sort(crossings_.begin(), crossings_.end());
      for (size_t i = 0; i + 1 < crossings_.size(); i += 2)
        for (int64_t x = first_pixel(crossings_[i]); x < first_pixel(crossings_[i + 1]); ++x)
          mask_[y * width_ + x] = label;
    }
  }

  void paint_runs(const int64_t* runs, int64_t count, int32_t label) {
    int64_t place = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t end = std::min(runs[i], width_ * height_ - place) + place;
      for (; place < end; ++place)
        if (i % 2 == 1) mask_[place % height_ * width_ + place / height_] = label;
    }
  }

 private:
  // The first pixel of a row whose centre lies behind a position.
  int64_t first_pixel(double position) const {
    if (!(position > 0)) return 0;
    if (position >= static_cast<double>(width_)) return width_;
    return static_cast<int64_t>(std::floor(position + 0.5));
  }

  int32_t* mask_;
  int64_t width_, height_;
  std::vector<double> crossings_;
};

}  // namespace

class CocoReader : public Operator {
 public:
  explicit CocoReader(const OperatorConfig& config)
      : reader_(config.reader),
        storage_(config),
        root_(config.get<std::string>("file_root")),
        masks_(config.get<std::string>("kind_of_masks")),
        gives_ids_(config.get<bool>("gives_ids")),
        scales_vertices_(config.get_or<bool>("ratio", false)) {
    if (config.get_or<int64_t>("read_ahead", 1) != 0)
      batches_ahead_ = config.get_or<int>("prefetch_queue_depth", 1);
    for (const std::string& file : config.get<std::vector<std::string>>("files"))
      files_.push_back(std::make_shared<const std::string>(file));
    ids_ = config.get<std::vector<int64_t>>("ids");
    objects_ = config.get<std::vector<int64_t>>("objects");
    boxes_ = floats(config, "boxes");
    labels_ = config.get<std::vector<int64_t>>("labels");
    if (masks_.empty()) return;
    sizes_ = config.get<std::vector<int64_t>>("sizes");
    polygon_ends_ = config.get<std::vector<int64_t>>("polygon_ends");
    polygons_ = config.get<std::vector<int64_t>>("polygons");
    vertices_ = floats(config, "vertices");
    run_ends_ = config.get<std::vector<int64_t>>("run_ends");
    runs_ = config.get<std::vector<int64_t>>("runs");
  }

  int batches_ahead() const override { return batches_ahead_; }

  void run(SampleContext& sample) const override {
    const int64_t index = sample.reader_index(reader_);
    const auto& file = files_[static_cast<size_t>(index)];
    sample.set_source(file);
    const OpenFile opened(joined_path(root_, *file), storage_);
    read_output(sample, 0, opened, 0, opened.size());

    const Part objects{objects_[static_cast<size_t>(index)],
                       objects_[static_cast<size_t>(index) + 1]};
    std::copy_n(boxes_.begin() + 4 * objects.begin, 4 * objects.count(),
                sample.output(1, DataType::kFloat, {objects.count(), 4}).as<float>());
    std::copy_n(labels_.begin() + objects.begin, objects.count(),
                sample.output(2, DataType::kInt32, {objects.count()}).as<int32_t>());
    int next = 3;
    if (masks_ == "pixels") {
      write_mask(sample, next++, index, objects);
    } else if (!masks_.empty()) {
      write_polygons(sample, next, objects);
      next += 2;
    }
    if (gives_ids_)
      *sample.output(next, DataType::kInt32, {1}).as<int32_t>() =
          static_cast<int32_t>(ids_[static_cast<size_t>(index)]);
  }

 private:
  static std::vector<float> floats(const OperatorConfig& config, const char* name) {
    const auto numbers = config.get<std::vector<double>>(name);
    return std::vector<float>(numbers.begin(), numbers.end());
  }

  void write_polygons(SampleContext& sample, int output, const Part& objects) const {
    const Part polygons{objects.begin == 0 ? 0 : polygon_ends_[objects.begin - 1],
                        objects.end == 0 ? 0 : polygon_ends_[objects.end - 1]};
    const Part vertices{polygons.begin == 0 ? 0 : polygons_[polygons.begin - 1],
                        polygons.end == 0 ? 0 : polygons_[polygons.end - 1]};
    const int64_t unit = masks_ == "coordinates" ? 2 : 1;
    int32_t* row = sample.output(output, DataType::kInt32, {polygons.count(), 3}).as<int32_t>();
    for (int64_t object = objects.begin; object < objects.end; ++object) {
      const Part own = part_of(polygon_ends_, object);
      for (int64_t polygon = own.begin; polygon < own.end; ++polygon) {
        const Part numbers = part_of(polygons_, polygon);
        *row++ = static_cast<int32_t>(object - objects.begin);
        *row++ = static_cast<int32_t>((numbers.begin - vertices.begin) * unit);
        *row++ = static_cast<int32_t>((numbers.end - vertices.begin) * unit);
      }
    }
    std::copy_n(vertices_.begin() + 2 * vertices.begin, 2 * vertices.count(),
                sample.output(output + 1, DataType::kFloat, {vertices.count(), 2}).as<float>());
  }

  void write_mask(SampleContext& sample, int output, int64_t index, const Part& objects) const {
    const int64_t width = sizes_[static_cast<size_t>(2 * index)];
    const int64_t height = sizes_[static_cast<size_t>(2 * index + 1)];
    Tensor& mask = sample.output(output, DataType::kInt32, {height, width, 1}, Layout("HWC"));
    std::fill_n(mask.as<int32_t>(), mask.num_elements(), 0);
    MaskPainter painter(mask.as<int32_t>(), width, height);
    std::vector<float> scaled;
    for (int64_t object = objects.begin; object < objects.end; ++object) {
      const auto label = static_cast<int32_t>(labels_[static_cast<size_t>(object)]);
      const Part own = part_of(polygon_ends_, object);
      for (int64_t polygon = own.begin; polygon < own.end; ++polygon) {
        const Part numbers = part_of(polygons_, polygon);
        scaled.assign(vertices_.begin() + 2 * numbers.begin, vertices_.begin() + 2 * numbers.end);
        if (scales_vertices_)
          for (size_t i = 0; i < scaled.size(); ++i)
            scaled[i] *= static_cast<float>(i % 2 == 0 ? width : height);
        painter.paint_polygon(scaled.data(), numbers.count(), label);
      }
      const Part runs = part_of(run_ends_, object);
      painter.paint_runs(runs_.data() + runs.begin, runs.count(), label);
    }
  }

  int reader_;
  Storage storage_;
  int batches_ahead_ = 0;
  std::string root_, masks_;
  bool gives_ids_, scales_vertices_;
  std::vector<std::shared_ptr<const std::string>> files_;
  std::vector<int64_t> ids_, sizes_, objects_, labels_, polygon_ends_, polygons_, run_ends_, runs_;
  std::vector<float> boxes_, vertices_;
};

DALI_CORE_REGISTER_OPERATOR("readers.coco", CocoReader)

}  // namespace dali_core
