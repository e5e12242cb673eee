// Expressions, conversions and indices on the limits of all types, for sanitizers: no overflows, no
// reads out of bounds.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "batch.hpp"
#include "check.hpp"
#include "dali_core/convert.hpp"
#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/elementwise/elementwise.hpp"
#include "sample_program.hpp"

using namespace dali_core;

namespace {

const std::vector<std::string> kUnary = {
    "neg",  "abs",  "invert", "fabs",  "floor", "ceil",  "sqrt", "rsqrt", "cbrt",
    "exp",  "log",  "log2",   "log10", "sin",   "cos",   "tan",  "asin",  "acos",
    "atan", "sinh", "cosh",   "tanh",  "asinh", "acosh", "atanh"};
const std::vector<std::string> kBinary = {
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "fpow", "min",    "max",    "eq",
    "ne",  "lt",  "le",  "gt",      "ge",       "and", "or",  "xor",  "lshift", "rshift", "atan2"};
constexpr int kNumTypes = 12;

// Memory of exactly the size, so that reads out of bounds are detected.
Tensor exact(DataType type, const Shape& shape, const Layout& layout = {}) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = shape;
  tensor.layout = layout;
  const auto bytes = static_cast<size_t>(std::max<int64_t>(tensor.num_bytes(), 1));
  tensor.storage =
      std::shared_ptr<void>(new char[bytes], [](void* data) { delete[] static_cast<char*>(data); });
  tensor.data = tensor.storage.get();
  return tensor;
}

// The limits of a type and numbers around 0, each `times` times.
Tensor ends(DataType type, const Shape& shape, int64_t times = 1) {
  Tensor tensor = exact(type, shape);
  visit_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      const int64_t k = i / times % 7;
      T& value = tensor.as<T>()[i];
      if constexpr (std::is_same_v<T, bool>) {
        value = k % 2 == 1;
      } else if constexpr (is_floating<T>) {
        const float values[] = {0,
                                1e30f,
                                -1e30f,
                                -1,
                                0.5f,
                                std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity()};
        value = convert<T>(values[k]);
      } else {
        using Limits = std::numeric_limits<T>;
        const T values[] = {Limits::max(), Limits::min(),        T(1), static_cast<T>(-1),
                            T(2),          T(Limits::max() / 2), T(3)};
        value = values[k];
      }
    }
  });
  return tensor;
}

std::shared_ptr<const Operator> make(const std::string& name, OperatorConfig config) {
  config.name = name;
  return std::shared_ptr<const Operator>(operator_registry().at(name).make(config));
}

std::shared_ptr<const Operator> function(const std::string& name, int num_operands) {
  OperatorConfig config;
  config.num_inputs = num_operands;
  config.values["function"] = name;
  std::vector<int64_t> operands;
  for (int i = 0; i < num_operands; ++i) operands.push_back(i);
  config.values["operands"] = operands;
  config.values["constant_types"] = std::vector<int64_t>{};
  config.values["constant_integers"] = std::vector<int64_t>{};
  config.values["constant_reals"] = std::vector<double>{};
  return make("arithmetic", config);
}

// Returns the result of an operator on some tensors; without a type if it rejects them.
Tensor run(const std::shared_ptr<const Operator>& op, const std::vector<Tensor>& inputs) {
  static const std::shared_ptr<BufferPool> pool = BufferPool::create();
  static ThreadTimes times{1};
  static Worker worker{*pool, times};
  const int count = static_cast<int>(inputs.size());
  Batch batch(0, 1, count + 1, 0, 1, 0);
  batch.output_of_value.assign(static_cast<size_t>(count) + 1, -1);
  Instruction instruction;
  instruction.op = op;
  for (int i = 0; i < count; ++i) {
    batch.values[static_cast<size_t>(i)][0] = inputs[static_cast<size_t>(i)];
    instruction.inputs.push_back(i);
  }
  instruction.outputs = {count};
  SampleProgram({instruction}).run(batch, 0, worker);
  if (!batch.failed()) return batch.values[static_cast<size_t>(count)][0];
  CHECK(!batch.failures().front().message.empty());
  return {};
}

template <typename T>
T only(const Tensor& tensor) {
  CHECK_EQUAL(tensor.num_elements(), 1);
  CHECK_EQUAL(static_cast<int>(tensor.type), static_cast<int>(data_type_of<T>()));
  return *tensor.as<T>();
}

template <typename T>
Tensor scalar(T value) {
  Tensor tensor = exact(data_type_of<T>(), {});
  *tensor.as<T>() = value;
  return tensor;
}

}  // namespace

TEST(functions_of_all_types) {
  for (const std::string& name : kUnary) {
    const auto op = function(name, 1);
    for (int type = 0; type < kNumTypes; ++type)
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{1037}, Shape{3, 5}}) {
        const Tensor result = run(op, {ends(static_cast<DataType>(type), shape)});
        if (result.type != DataType::kNone) CHECK(result.shape == shape);
      }
  }
}

TEST(functions_of_all_pairs_of_types) {
  const Shape shapes[][2] = {{{49}, {49}}, {{4, 1, 3}, {5, 1}}, {{1030}, {}}};
  for (const std::string& name : kBinary) {
    const auto op = function(name, 2);
    for (int one = 0; one < kNumTypes; ++one)
      for (int other = 0; other < kNumTypes; ++other)
        for (const auto& pair : shapes) {
          if (pair[1].ndim == 0 && one != other) continue;
          // With 49 elements, every number is combined with every other one.
          const Tensor a = ends(static_cast<DataType>(one), pair[0]);
          const Tensor b = ends(static_cast<DataType>(other), pair[1], 7);
          const Tensor result = run(op, {a, b});
          if (result.type != DataType::kNone) CHECK(result.shape == broadcast(pair[0], pair[1]));
        }
  }
}

TEST(three_operands) {
  const auto op = function("clamp", 3);
  for (int type = 0; type < kNumTypes; ++type) {
    const auto of = static_cast<DataType>(type);
    const Tensor result = run(op, {ends(of, {8, 3}), ends(of, {3}, 2), ends(DataType::kInt8, {})});
    CHECK_EQUAL(result.type == DataType::kNone, false);
  }
}

TEST(integer_overflow_wraps_around) {
  const auto lowest = scalar(std::numeric_limits<int32_t>::min());
  const auto minus_one = scalar(int32_t{-1});
  CHECK_EQUAL(only<int32_t>(run(function("floordiv", 2), {lowest, minus_one})),
              std::numeric_limits<int32_t>::min());
  CHECK_EQUAL(only<int32_t>(run(function("mod", 2), {lowest, minus_one})), 0);
  CHECK_EQUAL(only<int32_t>(run(function("neg", 1), {lowest})),
              std::numeric_limits<int32_t>::min());
  CHECK_EQUAL(only<int32_t>(run(function("abs", 1), {lowest})),
              std::numeric_limits<int32_t>::min());
  CHECK_EQUAL(only<int32_t>(run(function("lshift", 2), {minus_one, scalar(int32_t{33})})), -2);
  const auto large = scalar(uint16_t{65535});
  CHECK_EQUAL(static_cast<int>(only<uint16_t>(run(function("mul", 2), {large, large}))), 1);
}

TEST(divisors_of_zero_are_refused) {
  for (const char* name : {"floordiv", "mod"}) {
    CHECK(run(function(name, 2), {scalar(int64_t{5}), scalar(int64_t{0})}).type == DataType::kNone);
    CHECK(run(function(name, 2), {scalar(5.0f), scalar(0.0f)}).type == DataType::kFloat);
  }
}

TEST(slices_with_enormous_numbers) {
  const int64_t numbers[] = {0,
                             1,
                             -1,
                             2,
                             -3,
                             7,
                             int64_t{1} << 62,
                             std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::min()};
  for (const int64_t extent : {0, 1, 5})
    for (const int64_t begin : numbers)
      for (const int64_t end : numbers)
        for (const int64_t step : numbers) {
          OperatorConfig config;
          config.num_inputs = 1;
          config.values["entries"] = std::vector<int64_t>{1, 1, begin, 1, end, 1, step};
          const Tensor input = ends(DataType::kInt16, {extent, 3});
          const Tensor result = run(make("subscript", config), {input});
          if (step == 0) {
            CHECK(result.type == DataType::kNone);
          } else {
            CHECK(result.shape[0] <= extent);
            CHECK_EQUAL(result.shape[1], 3);
          }
        }
}

TEST(runs_are_converted_as_single_elements_are) {
  // Around the widths of registers and the length of blocks.
  for (const int64_t count : {0, 1, 7, 8, 9, 63, 255, 256, 257, 521})
    for (int from = 0; from < kNumTypes; ++from)
      for (int to = 0; to < kNumTypes; ++to) {
        const Tensor input = ends(static_cast<DataType>(from), {count});
        Tensor actual = exact(static_cast<DataType>(to), {count});
        Tensor expected = exact(static_cast<DataType>(to), {count});
        convert_elements(input.data, input.type, actual.data, actual.type, count);
        visit_type(input.type, [&](auto in) {
          visit_type(actual.type, [&](auto out) {
            using To = decltype(out);
            for (int64_t i = 0; i < count; ++i)
              expected.as<To>()[i] = convert<To>(input.as<decltype(in)>()[i]);
          });
        });
        const auto bytes = static_cast<size_t>(actual.num_bytes());
        check(std::memcmp(actual.data, expected.data, bytes) == 0,
              std::to_string(count) + " elements of type " + std::to_string(from) + " to " +
                  std::to_string(to),
              __FILE__, __LINE__);
      }
}
