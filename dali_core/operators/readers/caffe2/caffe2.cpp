// fn.readers.caffe2: reads one entry of a database, and gives the tensors in it.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/records/listed_records.hpp"
#include "dali_core/native_io/records/tensor_proto.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

enum class LabelType : int64_t { kSingle, kSparse, kDense, kWeighted, kNone };

[[noreturn]] void refuse(const std::string& rule, const std::string& got) {
  throw std::runtime_error("the entry must have " + rule + " (got " + got +
                           "). Describe entries as they are, or leave this one out.");
}

// The tensors of an entry, one after the other.
class Tensors {
 public:
  explicit Tensors(std::vector<TensorProto> all) : all_(std::move(all)) {}

  const TensorProto& next(const char* what) {
    if (next_ == all_.size())
      refuse(std::string("a tensor for ") + what, std::to_string(all_.size()) + " tensors");
    return all_[next_++];
  }

 private:
  std::vector<TensorProto> all_;
  size_t next_ = 0;
};

void write_image(SampleContext& sample, int output, const TensorProto& image) {
  if (image.type == TensorProto::kString) {
    if (!image.has_text) refuse("the bytes of an image", "none");
    const auto size = static_cast<int64_t>(image.text.size);
    void* const target = sample.output(output, DataType::kUInt8, {size}).as<uint8_t>();
    if (size > 0) std::memcpy(target, image.text.data, image.text.size);
    return;
  }
  if (image.type != TensorProto::kByte) refuse("an image of type STRING or BYTE", "another type");
  const auto bytes = static_cast<int64_t>(image.bytes.size);
  bool fits = image.dims.size() == 3;
  for (const int64_t extent : image.dims) fits = fits && extent >= 0 && extent <= bytes;
  if (!fits ||
      checked_product(checked_product(image.dims[0], image.dims[1]), image.dims[2]) != bytes)
    refuse("an image with as many bytes as its three extents say",
           std::to_string(bytes) + " bytes");
  Shape shape;
  for (const int64_t extent : image.dims) shape.push_back(extent);
  void* const target = sample.output(output, DataType::kUInt8, shape).as<uint8_t>();
  if (bytes > 0) std::memcpy(target, image.bytes.data, image.bytes.size);
}

// All numbers of a tensor.
void write_numbers(SampleContext& sample, int output, const TensorProto& tensor, const char* what) {
  if (tensor.type == TensorProto::kFloat) {
    const auto count = static_cast<int64_t>(tensor.floats.size());
    std::copy(tensor.floats.begin(), tensor.floats.end(),
              sample.output(output, DataType::kFloat, {count}).as<float>());
    return;
  }
  const auto count = static_cast<int64_t>(tensor.integers.size());
  if (tensor.type == TensorProto::kInt32) {
    int32_t* target = sample.output(output, DataType::kInt32, {count}).as<int32_t>();
    for (const int64_t number : tensor.integers) *target++ = static_cast<int32_t>(number);
  } else if (tensor.type == TensorProto::kInt64) {
    std::copy(tensor.integers.begin(), tensor.integers.end(),
              sample.output(output, DataType::kInt64, {count}).as<int64_t>());
  } else {
    refuse(std::string(what) + " of type FLOAT, INT32 or INT64", "another type");
  }
}

// Numbers of labels become elements of a vector.
template <typename T, typename Value>
void write_labels(Tensor& labels, const TensorProto& numbers, Value&& value) {
  T* const target = labels.as<T>();
  const int64_t count = labels.num_elements();
  std::fill_n(target, count, T{0});
  for (size_t i = 0; i < numbers.integers.size(); ++i) {
    const int64_t label = numbers.integers[i];
    if (label < 0 || label >= count)
      refuse("labels below num_labels = " + std::to_string(count), std::to_string(label));
    target[label] = value(i);
  }
}

}  // namespace

class Caffe2Reader : public Operator {
 public:
  explicit Caffe2Reader(const OperatorConfig& config)
      : records_(config),
        gives_image_(config.get<bool>("image_available")),
        gives_box_(config.get<bool>("bbox")),
        labels_(config.get<LabelType>("label_type")),
        num_labels_(config.get<int64_t>("num_labels")),
        num_others_(config.get<int64_t>("additional_inputs")) {}

  int batches_ahead() const override { return records_.batches_ahead(); }

  void run(SampleContext& sample) const override {
    records_.with_record(sample, [&](const OpenFile& file, int64_t offset, int64_t size) {
      const uint8_t* const data = ListedRecords::read(sample, file, offset, size);
      write(sample, Tensors(TensorProto::all_of({data, static_cast<size_t>(size)})));
    });
  }

 private:
  void write(SampleContext& sample, Tensors tensors) const {
    int output = 0;
    if (gives_image_) write_image(sample, output++, tensors.next("the image"));
    if (labels_ != LabelType::kNone) output = write_label(sample, output, tensors);
    for (int64_t i = 0; i < num_others_; ++i)
      write_numbers(sample, output++, tensors.next("an additional input"), "additional inputs");
    if (!gives_box_) return;
    const TensorProto& box = tensors.next("the box");
    if (box.type != TensorProto::kInt32 || box.integers.size() != 4)
      refuse("a box of four INT32", std::to_string(box.integers.size()) + " integers");
    write_numbers(sample, output, box, "a box");
  }

  int write_label(SampleContext& sample, int output, Tensors& tensors) const {
    const TensorProto& label = tensors.next("the label");
    if (labels_ == LabelType::kSingle || labels_ == LabelType::kDense) {
      const bool is_float = label.type == TensorProto::kFloat;
      const size_t count = is_float ? label.floats.size() : label.integers.size();
      if (!is_float && label.type != TensorProto::kInt32)
        refuse("a label of type FLOAT or INT32", "another type");
      if (labels_ == LabelType::kSingle && count != 1)
        refuse("one label", std::to_string(count) + " numbers");
      write_numbers(sample, output, label, "a label");
      return output + 1;
    }
    if (label.type != TensorProto::kInt32)
      refuse("numbers of labels of type INT32", "another type");
    if (labels_ == LabelType::kSparse) {
      Tensor& dense = sample.output(output, DataType::kInt32, {num_labels_});
      write_labels<int32_t>(dense, label, [](size_t) { return 1; });
      write_numbers(sample, output + 1, label, "numbers of labels");
      return output + 2;
    }
    const TensorProto& weights = tensors.next("the weights of labels");
    if (weights.type != TensorProto::kFloat || weights.floats.size() != label.integers.size())
      refuse(
          "a weight of type FLOAT for each of " + std::to_string(label.integers.size()) + " labels",
          std::to_string(weights.floats.size()));
    Tensor& dense = sample.output(output, DataType::kFloat, {num_labels_});
    write_labels<float>(dense, label, [&](size_t i) { return weights.floats[i]; });
    write_numbers(sample, output + 1, weights, "weights");
    return output + 2;
  }

  ListedRecords records_;
  bool gives_image_, gives_box_;
  LabelType labels_;
  int64_t num_labels_, num_others_;
};

DALI_CORE_REGISTER_OPERATOR("readers.caffe2", Caffe2Reader)

}  // namespace dali_core
