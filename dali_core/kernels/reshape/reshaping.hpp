// The shape that fn.reshape and fn.reinterpret give to a sample, from `shape`, `rel_shape` and
// `src_dims`.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

class Reshaping {
 public:
  explicit Reshaping(const OperatorConfig& config)
      : shape_(config, "shape"),
        relative_(config, "rel_shape"),
        source_dims_(config, "src_dims"),
        shape_is_input_(config.num_inputs > 1),
        sets_layout_(config.has("layout")),
        layout_(config.get_or<std::string>("layout", "")) {
    if (shape_is_input_ + shape_.given() + relative_.given() > 1)
      throw std::invalid_argument(
          "at most one of the second input, shape and rel_shape must be given (got more). Keep "
          "one.");
    if (shape_.given() && shape_.is_constant())
      check_extents("shape", config.get<std::vector<int64_t>>("shape"));
    if (relative_.given() && relative_.is_constant()) {
      const auto extents = config.get<std::vector<float>>("rel_shape");
      if (extents.empty())
        throw std::invalid_argument("rel_shape must have a number for each dimension (got none).");
      check_extents("rel_shape", extents);
    }
  }

  bool changes_shape() const {
    return shape_is_input_ || shape_.given() || relative_.given() || source_dims_.given();
  }
  bool sets_layout() const { return sets_layout_; }

  // Whether the user gives the extents of the output, rather than a choice of the input's.
  bool sets_extents() const { return shape_is_input_ || shape_.given() || relative_.given(); }

  // `num_elements` is how many elements the output must have, and fills an extent left open.
  Shape shape(const SampleContext& sample, int64_t num_elements) const {
    const Shape& input = sample.input(0).shape;
    if (shape_is_input_ || shape_.given()) {
      std::vector<int64_t> storage;
      const std::vector<int64_t>& extents =
          shape_is_input_ ? shape_input(sample.input(1), storage) : shape_.at(sample, storage);
      Shape shape;
      for (int64_t extent : extents) shape.push_back(extent);
      return complete(shape, input, num_elements);
    }
    const Shape base = source_dims_.given() ? chosen_dims(sample, input) : input;
    return relative_.given() ? complete(scaled(sample, base), input, num_elements) : base;
  }

  Layout layout(const Layout& input, const Shape& shape) const {
    if (!sets_layout_) return input.ndim() == shape.ndim ? input : Layout();
    if (!layout_.empty() && layout_.ndim() != shape.ndim)
      throw std::invalid_argument("layout must have one letter a dimension (got \"" +
                                  std::string(layout_.c_str()) + "\" for shape " +
                                  to_string(shape) + "). Pass a layout that fits.");
    return layout_;
  }

 private:
  template <typename T>
  static void check_extents(const char* name, const std::vector<T>& extents) {
    int open = 0;
    for (T extent : extents) {
      open += extent < 0;
      if (extent == 0)
        throw std::invalid_argument(std::string(name) +
                                    " must not have an extent of 0 (got one). Use -1 for an "
                                    "extent that follows from the others.");
    }
    if (open > 1) throw_open(name);
  }

  [[noreturn]] static void throw_open(const char* name) {
    throw std::invalid_argument(std::string(name) +
                                " must leave at most one extent open (got several negative "
                                "numbers). Set all but one.");
  }

  static const std::vector<int64_t>& shape_input(const Tensor& tensor,
                                                 std::vector<int64_t>& storage) {
    visit_type(tensor.type, [&](auto zero) {
      using Stored = decltype(zero);
      if (is_floating<Stored> || std::is_same_v<Stored, bool>)
        throw std::invalid_argument("the shape must consist of integers (got type " +
                                    std::string(name_of(tensor.type)) + "). Use fn.cast.");
      for (int64_t i = 0; i < tensor.num_elements(); ++i)
        storage.push_back(convert<int64_t>(tensor.as<Stored>()[i]));
    });
    return storage;
  }

  Shape chosen_dims(const SampleContext& sample, const Shape& input) const {
    std::vector<int64_t> storage;
    Shape shape;
    for (int64_t dim : source_dims_.at(sample, storage)) {
      if (dim < -1 || dim >= input.ndim)
        throw std::invalid_argument("src_dims must have dimensions of the input or -1 (got " +
                                    std::to_string(dim) + " for shape " + to_string(input) +
                                    "). Count from 0.");
      shape.push_back(dim < 0 ? 1 : input[static_cast<int>(dim)]);
    }
    return shape;
  }

  // Products of extents; an open one stays negative.
  Shape scaled(const SampleContext& sample, const Shape& base) const {
    std::vector<float> storage;
    const std::vector<float>& factors = relative_.at(sample, storage);
    const int count = static_cast<int>(factors.size());
    const bool appends = !source_dims_.given() && count == base.ndim + 1 && factors.back() < 0;
    if (source_dims_.given() ? count != base.ndim : count > base.ndim && !appends)
      throw std::invalid_argument(
          "rel_shape must have one number for each entry of src_dims, or else at most one for each "
          "dimension of the input and a last one of -1 (got " +
          std::to_string(count) + " for " + std::to_string(base.ndim) +
          " dimensions). Use src_dims to add dimensions.");
    Shape shape;
    for (int i = 0; i < count; ++i)
      shape.push_back(factors[i] < 0
                          ? -1
                          : checked_extent(std::round(factors[i] * static_cast<float>(base[i])),
                                           "an extent that rel_shape gives"));
    return shape;
  }

  static Shape complete(Shape shape, const Shape& input, int64_t num_elements) {
    int open = -1;
    int64_t known = 1;
    for (int i = 0; i < shape.ndim; ++i) {
      if (shape[i] >= 0) {
        known = checked_product(known, shape[i]);
      } else {
        if (open >= 0) throw_open("the shape");
        open = i;
      }
    }
    if (open < 0) return shape;
    if (known == 0)
      throw std::invalid_argument("the open extent must follow from the others (got 0 elements " +
                                  std::string("beside it, for an input of shape ") +
                                  to_string(input) + "). Set all extents.");
    shape[open] = num_elements / known;
    return shape;
  }

  ListArgument<int64_t> shape_;
  ListArgument<float> relative_;
  ListArgument<int64_t> source_dims_;
  bool shape_is_input_;
  bool sets_layout_;
  Layout layout_;
};

}  // namespace dali_core
