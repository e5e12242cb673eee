// fn.readers.numpy: reads an array of a list of files, or the part of it that is asked for.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/window/slice_window.hpp"
#include "dali_core/native_io/files/open_file.hpp"
#include "dali_core/native_io/files/path_list.hpp"
#include "dali_core/native_io/npy/npy_window.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Most headers, and small arrays as a whole, are in the first bytes that are read.
constexpr int64_t kFirstRead = 4096;

// The region of interest, in the terms of fn.slice; none if nothing of it is given.
std::optional<SliceArguments> region_of(const OperatorConfig& config) {
  OperatorConfig slice = config;
  slice.values["normalized_anchor"] = slice.values["normalized_shape"] = int64_t{1};
  slice.num_inputs = 1;
  bool is_given = false;
  for (const char* const name : {"start", "end", "shape", "axes"})
    for (const char* const prefix : {"", "rel_"}) {
      const std::string ours = std::string(prefix) + "roi_" + name,
                        theirs = prefix + std::string(name);
      if (!config.has(ours)) continue;
      is_given |= theirs != "axes";
      if (config.has_constant(ours)) slice.values[theirs] = config.values.at(ours);
      std::replace(slice.tensor_arguments.begin(), slice.tensor_arguments.end(), ours, theirs);
    }
  return is_given ? std::optional<SliceArguments>(std::in_place, slice) : std::nullopt;
}

uint64_t bits_of(DataType type, double value) {
  uint64_t bits = 0;
  visit_type(type, [&](auto zero) {
    const auto element = convert<decltype(zero)>(static_cast<float>(value));
    std::memcpy(&bits, &element, sizeof(element));
  });
  return bits;
}

}  // namespace

class NumpyReader : public Operator {
 public:
  explicit NumpyReader(const OperatorConfig& config)
      : reader_(config.reader),
        storage_(config),
        paths_(paths_of(config)),
        root_(config.get<std::string>("file_root")),
        region_(region_of(config)),
        policy_(out_of_bounds_policy(config, false)),
        fill_value_(config.get<double>("fill_value")) {
    if (config.get_or<int64_t>("read_ahead", 1) != 0)
      batches_ahead_ = config.get_or<int>("prefetch_queue_depth", 1);
  }

  int batches_ahead() const override { return batches_ahead_; }

  void run(SampleContext& sample) const override {
    const auto file =
        std::make_shared<const std::string>(paths_->path(sample.reader_index(reader_)));
    sample.set_source(file);
    const OpenFile opened(joined_path(root_, *file), storage_);
    const int64_t size = opened.size();
    int64_t at_hand = std::min(size, kFirstRead);
    std::vector<uint8_t> first(static_cast<size_t>(at_hand));
    opened.read_at(0, reinterpret_cast<char*>(first.data()), at_hand);
    const int64_t header_bytes = std::min(npy_header_bytes(first.data(), at_hand), size);
    if (header_bytes > at_hand) {
      first.resize(static_cast<size_t>(header_bytes));
      opened.read_at(at_hand, reinterpret_cast<char*>(first.data()) + at_hand,
                     header_bytes - at_hand);
      at_hand = header_bytes;
    }
    const NpyHeader header = parse_npy_header(first.data(), at_hand, size);

    Window window(header.shape);
    if (region_) {
      window = region_->window(sample, header.shape, {});
      apply_policy(window, header.shape, policy_);
    }
    Tensor& output = sample.output(0, header.type, window.extent);
    if (!is_inside(window, header.shape))
      fill_elements(output.data, output.num_elements(), size_of(header.type),
                    bits_of(header.type, fill_value_));
    NpyWindow(header, window)
        .read(
            [&](int64_t position, char* target, int64_t bytes) {
              position += header.data_offset;
              if (position < at_hand) {
                const int64_t known = std::min(bytes, at_hand - position);
                std::memcpy(target, first.data() + position, static_cast<size_t>(known));
                position += known;
                target += known;
                bytes -= known;
              }
              opened.read_at(position, target, bytes);
            },
            output.data);
  }

 private:
  static bool is_inside(const Window& window, const Shape& shape) {
    for (int i = 0; i < shape.ndim; ++i)
      if (!window.is_inside(i, shape)) return false;
    return true;
  }

  int reader_;
  Storage storage_;
  int batches_ahead_ = 0;
  std::shared_ptr<const PathList> paths_;
  std::string root_;
  std::optional<SliceArguments> region_;
  OutOfBounds policy_;
  double fill_value_;
};

DALI_CORE_REGISTER_OPERATOR("readers.numpy", NumpyReader)

}  // namespace dali_core
