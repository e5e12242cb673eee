// Functions that Numba has compiled, by their addresses: `dali_core.plugin.numba` compiles them to
// functions of C with the signatures below, and keeps them. They return 0, or 1 if the function of
// the user has raised an exception.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

namespace {

// Outputs, then inputs: where their elements are, and all extents one after the other.
using RunFunction = int32_t (*)(void* const* data, const int64_t* extents);
// For each output, and each input, the extents of all samples.
using SetupFunction = int32_t (*)(int64_t* outputs, const int64_t* inputs, int64_t num_samples);

// The extents that the setup function does not set, as in the reference.
constexpr int64_t kUnset = 0;

[[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& cure) {
  throw std::invalid_argument(what + " (got " + got + "). " + cure);
}

}  // namespace

class NumbaFunctionOperator : public Operator {
 public:
  explicit NumbaFunctionOperator(const OperatorConfig& config)
      : run_(reinterpret_cast<RunFunction>(config.get<int64_t>("run_fn"))),
        setup_(reinterpret_cast<SetupFunction>(config.get<int64_t>("setup_fn"))),
        output_ndim_(config.get<std::vector<int>>("outs_ndim")),
        input_ndim_(config.get<std::vector<int>>("ins_ndim")) {
    for (const int type : config.get<std::vector<int>>("out_types"))
      output_types_.push_back(static_cast<DataType>(type));
    for (const int type : config.get<std::vector<int>>("in_types"))
      input_types_.push_back(static_cast<DataType>(type));
  }

  void run(SampleContext& sample) const override {
    const int num_outputs = static_cast<int>(output_types_.size());
    std::vector<void*> data;
    std::vector<int64_t> extents;
    const std::vector<Shape> shapes = output_shapes(sample);
    for (int i = 0; i < num_outputs; ++i) {
      Tensor& output = sample.output(i, output_types_[i], shapes[i]);
      data.push_back(output.data);
      append(extents, output.shape);
    }
    for (int i = 0; i < sample.num_inputs(); ++i) {
      const Tensor& input = sample.input(i);
      data.push_back(input.data);
      append(extents, input.shape);
    }
    if (run_(data.data(), extents.data()) != 0) refuse_exception("run_fn");
  }

 private:
  static void append(std::vector<int64_t>& extents, const Shape& shape) {
    extents.insert(extents.end(), shape.dims, shape.dims + shape.ndim);
  }

  [[noreturn]] static void refuse_exception(const char* function) {
    refuse(std::string(function) + " must not raise an exception",
           "one, whose text compiled code does not keep",
           "Call the function on this sample in Python to see it.");
  }

  void check_input(const Tensor& input, int i) const {
    const std::string which = "input " + std::to_string(i);
    if (input.type != input_types_[i])
      refuse(which + " must be of type " + name_of(input_types_[i]) + ", which in_types says",
             name_of(input.type), "Cast it, or change in_types.");
    if (input.shape.ndim != input_ndim_[i])
      refuse(which + " must have " + std::to_string(input_ndim_[i]) +
                 " dimensions, which ins_ndim says",
             "shape " + to_string(input.shape), "Reshape it, or change ins_ndim.");
  }

  std::vector<Shape> output_shapes(const SampleContext& sample) const {
    std::vector<Shape> shapes;
    for (int i = 0; i < sample.num_inputs(); ++i) {
      check_input(sample.input(i), i);
      if (!setup_) shapes.push_back(sample.input(i).shape);
    }
    return setup_ ? set_up_shapes(sample) : shapes;
  }

  std::vector<Shape> set_up_shapes(const SampleContext& sample) const {
    const int num_samples = sample.batch_size();
    std::vector<int64_t> inputs, outputs;
    for (int i = 0; i < sample.num_inputs(); ++i) {
      for (int number = 0; number < num_samples; ++number) {
        // Of a sample that failed there is no shape: its extents are 0.
        const Tensor& input = sample.input_of_sample(i, number);
        for (int d = 0; d < input_ndim_[i]; ++d)
          inputs.push_back(d < input.shape.ndim ? input.shape[d] : 0);
      }
    }
    for (const int ndim : output_ndim_)
      outputs.insert(outputs.end(), static_cast<size_t>(ndim) * num_samples, kUnset);
    if (setup_(outputs.data(), inputs.data(), num_samples) != 0) refuse_exception("setup_fn");
    std::vector<Shape> shapes;
    const int64_t* extents = outputs.data();
    for (size_t i = 0; i < output_ndim_.size(); ++i) {
      const int ndim = output_ndim_[i];
      Shape shape;
      for (int d = 0; d < ndim; ++d) {
        const int64_t extent = extents[static_cast<int64_t>(sample.index_in_batch()) * ndim + d];
        if (extent < 0)
          refuse("setup_fn must set extents of at least 0",
                 std::to_string(extent) + " for dimension " + std::to_string(d) + " of output " +
                     std::to_string(i),
                 "Set all extents of all samples.");
        shape.push_back(extent);
      }
      shapes.push_back(shape);
      extents += static_cast<int64_t>(ndim) * num_samples;
    }
    return shapes;
  }

  RunFunction run_;
  SetupFunction setup_;
  std::vector<DataType> output_types_, input_types_;
  std::vector<int> output_ndim_, input_ndim_;
};

class NumbaFunctionWithSetupOperator : public NumbaFunctionOperator {
 public:
  using NumbaFunctionOperator::NumbaFunctionOperator;
  bool reads_batch() const override { return true; }
};

DALI_CORE_REGISTER_OPERATOR("numba_function", NumbaFunctionOperator)
DALI_CORE_REGISTER_OPERATOR("numba_function.with_setup", NumbaFunctionWithSetupOperator)

}  // namespace dali_core
