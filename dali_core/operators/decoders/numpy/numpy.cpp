// fn.decoders.numpy: the array of a file that is in memory.
#include <algorithm>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/native_io/npy/npy_window.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class NumpyDecoder : public Operator {
 public:
  explicit NumpyDecoder(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype", DataType::kNone)) {}

  void run(SampleContext& sample) const override {
    const Tensor& file = sample.input(0);
    int64_t longest = file.shape.ndim == 1 ? file.shape[0] : -1;  // other dimensions may be 1
    for (int i = 0; i < file.shape.ndim; ++i) longest = std::max(longest, file.shape[i]);
    if (file.type != DataType::kUInt8 || longest != file.num_elements())
      throw std::invalid_argument(
          "the input must be the bytes of a file, uint8 in one dimension "
          "(got " +
          std::string(name_of(file.type)) + " of shape " + to_string(file.shape) +
          "). Pass what fn.readers.file gives.");
    const auto* const bytes = file.as<uint8_t>();
    const int64_t size = file.num_elements();
    const NpyHeader header = parse_npy_header(bytes, size, size);
    const int64_t end = header.data_offset + header.shape.num_elements() * size_of(header.type);
    if (size > end)
      throw std::runtime_error("the file must end with the array (got " +
                               std::to_string(size - end) +
                               " bytes behind it). Cut them off, or use fn.readers.numpy.");
    const void* const data = bytes + header.data_offset;
    const DataType type = type_ == DataType::kNone ? header.type : type_;
    Tensor& output = sample.output(0, type, header.shape);
    const int64_t count = output.num_elements();
    NpyWindow window(header, Window(header.shape));
    if (type == header.type) {
      window.copy(data, output.data);
      return;
    }
    // Elements in the file need not be aligned.
    void* const unconverted =
        sample.scratch<char>(0, static_cast<size_t>(count * size_of(header.type)));
    window.copy(data, unconverted);
    convert_elements(unconverted, header.type, output.data, type, count);
  }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.numpy", NumpyDecoder)

}  // namespace dali_core
