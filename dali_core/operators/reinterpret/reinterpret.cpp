// fn.reinterpret: bytes stay where they are; this is how many elements of another type they make.
#include <string>

#include "dali_core/kernels/reshape/reshaping.hpp"

namespace dali_core {

// The shape in elements of `to`, where only the type changes.
inline Shape reinterpreted(Shape shape, DataType from, DataType to) {
  if (size_of(from) == size_of(to)) return shape;
  const int last = shape.ndim - 1;
  const int64_t bytes = (last < 0 ? 1 : shape[last]) * size_of(from);
  if (bytes % size_of(to) != 0 || (last < 0 && bytes != size_of(to)))
    throw std::invalid_argument("the bytes of the last dimension must be a multiple of those of " +
                                std::string(name_of(to)) + " (got " + std::to_string(bytes) +
                                " for shape " + to_string(shape) + "). Pass a shape.");
  if (last >= 0) shape[last] = bytes / size_of(to);
  return shape;
}

class Reinterpret : public ForwardingOperator {
 public:
  explicit Reinterpret(const OperatorConfig& config)
      : reshaping_(config), type_(config.get_or<DataType>("dtype", DataType::kNone)) {
    if (!reshaping_.changes_shape() && !reshaping_.sets_layout() && !config.has("dtype"))
      throw std::invalid_argument(
          "dtype, shape, rel_shape, src_dims or layout must be given (got none). Say what to "
          "change.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const DataType type = type_ == DataType::kNone ? input.type : type_;
    Shape shape = reshaping_.shape(sample, input.num_bytes() / size_of(type));
    if (!reshaping_.sets_extents()) shape = reinterpreted(shape, input.type, type);
    if (checked_product(shape.num_elements(), size_of(type)) != input.num_bytes())
      throw std::invalid_argument("the output must have as many bytes as the input (got shape " +
                                  to_string(shape) + " of " + name_of(type) + " for " +
                                  to_string(input.shape) + " of " + name_of(input.type) +
                                  "). Check shape and dtype.");
    const Layout layout = reshaping_.layout(input.layout, shape);
    sample.forward(0, input, shape, layout).type = type;
  }

 private:
  Reshaping reshaping_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("reinterpret", Reinterpret)

}  // namespace dali_core
