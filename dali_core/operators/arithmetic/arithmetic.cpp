#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dali_core/kernels/elementwise/device_elementwise.hpp"
#include "dali_core/kernels/elementwise/elementwise.hpp"
#include "dali_core/kernels/elementwise/functions.hpp"
#include "dali_core/kernels/elementwise/kernels.hpp"
#include "dali_core/kernels/elementwise/promotion.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Which types a function takes and gives.
enum class Kind {
  kAny,         // gives the operands' type
  kNumbers,     // the same, and not all operands may be BOOL
  kFloats,      // the same, but integers become FLOAT
  kComparison,  // gives BOOL
  kIntegers,    // gives the operands' type, which is not floating point
};

struct Description {
  Function function;
  Kind kind;
  int num_operands;
};

const std::map<std::string, Description>& functions() {
  using F = Function;
  static const std::map<std::string, Description> table = {
      {"pos", {F::kPlus, Kind::kAny, 1}},
      {"neg", {F::kMinus, Kind::kNumbers, 1}},
      {"abs", {F::kAbs, Kind::kNumbers, 1}},
      {"invert", {F::kInvert, Kind::kIntegers, 1}},
      {"add", {F::kAdd, Kind::kNumbers, 2}},
      {"sub", {F::kSub, Kind::kNumbers, 2}},
      {"mul", {F::kMul, Kind::kAny, 2}},
      {"truediv", {F::kTrueDiv, Kind::kFloats, 2}},
      {"floordiv", {F::kFloorDiv, Kind::kNumbers, 2}},
      {"mod", {F::kMod, Kind::kNumbers, 2}},
      {"pow", {F::kPow, Kind::kNumbers, 2}},
      {"fpow", {F::kFloatPow, Kind::kFloats, 2}},
      {"min", {F::kMin, Kind::kNumbers, 2}},
      {"max", {F::kMax, Kind::kNumbers, 2}},
      {"clamp", {F::kClamp, Kind::kNumbers, 3}},
      {"eq", {F::kEqual, Kind::kComparison, 2}},
      {"ne", {F::kNotEqual, Kind::kComparison, 2}},
      {"lt", {F::kLess, Kind::kComparison, 2}},
      {"le", {F::kLessEqual, Kind::kComparison, 2}},
      {"gt", {F::kGreater, Kind::kComparison, 2}},
      {"ge", {F::kGreaterEqual, Kind::kComparison, 2}},
      {"and", {F::kAnd, Kind::kIntegers, 2}},
      {"or", {F::kOr, Kind::kIntegers, 2}},
      {"xor", {F::kXor, Kind::kIntegers, 2}},
      {"lshift", {F::kShiftLeft, Kind::kIntegers, 2}},
      {"rshift", {F::kShiftRight, Kind::kIntegers, 2}},
      {"atan2", {F::kAtan2, Kind::kFloats, 2}},
      {"fabs", {F::kFabs, Kind::kFloats, 1}},
      {"floor", {F::kFloor, Kind::kFloats, 1}},
      {"ceil", {F::kCeil, Kind::kFloats, 1}},
      {"sqrt", {F::kSqrt, Kind::kFloats, 1}},
      {"rsqrt", {F::kRsqrt, Kind::kFloats, 1}},
      {"cbrt", {F::kCbrt, Kind::kFloats, 1}},
      {"exp", {F::kExp, Kind::kFloats, 1}},
      {"log", {F::kLog, Kind::kFloats, 1}},
      {"log2", {F::kLog2, Kind::kFloats, 1}},
      {"log10", {F::kLog10, Kind::kFloats, 1}},
      {"sin", {F::kSin, Kind::kFloats, 1}},
      {"cos", {F::kCos, Kind::kFloats, 1}},
      {"tan", {F::kTan, Kind::kFloats, 1}},
      {"asin", {F::kAsin, Kind::kFloats, 1}},
      {"acos", {F::kAcos, Kind::kFloats, 1}},
      {"atan", {F::kAtan, Kind::kFloats, 1}},
      {"sinh", {F::kSinh, Kind::kFloats, 1}},
      {"cosh", {F::kCosh, Kind::kFloats, 1}},
      {"tanh", {F::kTanh, Kind::kFloats, 1}},
      {"asinh", {F::kAsinh, Kind::kFloats, 1}},
      {"acosh", {F::kAcosh, Kind::kFloats, 1}},
      {"atanh", {F::kAtanh, Kind::kFloats, 1}},
  };
  return table;
}

const Description& described(const std::string& name) {
  const auto found = functions().find(name);
  if (found == functions().end())
    throw std::invalid_argument("function must be one of expressions (got \"" + name + "\").");
  return found->second;
}

Tensor constant_of(DataType type, int64_t integer, double real) {
  Tensor constant;
  constant.storage = std::shared_ptr<void>(
      new char[sizeof(double)], [](void* memory) { delete[] static_cast<char*>(memory); });
  constant.data = constant.storage.get();
  constant.type = type;
  visit_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_floating<T>)
      *constant.as<T>() = convert<T>(real);
    else
      *constant.as<T>() = static_cast<T>(integer);  // the graph has checked that it fits
  });
  return constant;
}

}  // namespace

// One function of an expression. `operands` has for each operand the number of an input, or -1 for
// the next constant.
class Arithmetic : public Operator, public ElementwiseStep {
 public:
  explicit Arithmetic(const OperatorConfig& config)
      : description_(described(config.get<std::string>("function"))),
        alone_({this}, {std::vector<int>(static_cast<size_t>(config.num_inputs), -1)}),
        alone_on_device_({this}, {std::vector<int>(static_cast<size_t>(config.num_inputs), -1)}) {
    const auto types = config.get<std::vector<int64_t>>("constant_types");
    const auto integers = config.get<std::vector<int64_t>>("constant_integers");
    const auto reals = config.get<std::vector<double>>("constant_reals");
    const size_t count_of_constants = std::min({types.size(), integers.size(), reals.size()});
    size_t next = 0;
    // Documents of graphs come from anywhere.
    for (const int64_t input : config.get<std::vector<int64_t>>("operands")) {
      if (input >= config.num_inputs || (input < 0 && next >= count_of_constants))
        throw std::invalid_argument("operands must be inputs or constants (got number " +
                                    std::to_string(input) + ").");
      ElementwiseOperand operand;
      operand.input = static_cast<int>(input);
      if (input < 0) {
        operand.constant =
            constant_of(static_cast<DataType>(types[next]), integers[next], reals[next]);
        ++next;
      }
      operands_.push_back(std::move(operand));
    }
    if (static_cast<int>(operands_.size()) != description_.num_operands)
      throw std::invalid_argument("functions must have all their operands (got " +
                                  std::to_string(operands_.size()) + ").");
  }

  // A group of one.
  void run(SampleContext& sample) const override { alone_.run(sample, {&sample}); }
  void plan(DeviceBatch& batch) const override { alone_on_device_.plan(batch); }

  ElementwiseKernel kernel(const DataType* types) const override {
    const Kind kind = description_.kind;
    const int count = description_.num_operands;
    DataType common = types[0];
    for (int i = 1; i < count; ++i) common = promoted_type(common, types[i]);
    check(common, types);
    const bool is_comparison = kind == Kind::kComparison;
    if (is_comparison && promoted_type(types[0], types[1]) == DataType::kInt64)
      if (types[0] == DataType::kUInt64 || types[1] == DataType::kUInt64)
        return mixed(types[0] == DataType::kUInt64);
    if (kind == Kind::kFloats && !is_float_type(common)) common = DataType::kFloat;
    DataType computed = common == DataType::kFloat16 ? DataType::kFloat : common;
    if (description_.function == Function::kMod && common == DataType::kFloat &&
        (types[0] != types[1]))
      computed = DataType::kFloat64;  // what the rounding of an integer loses may be the remainder
    ElementwiseKernel kernel;
    kernel.function = vector_kernel(description_.function, computed);
    if (kernel.function == nullptr)
      kernel.function = scalar_kernel(description_.function, computed);
    for (int i = 0; i < count; ++i) kernel.operands[i] = computed;
    kernel.computed = is_comparison ? DataType::kBool : computed;
    kernel.result = is_comparison ? DataType::kBool : common;
    kernel.number = static_cast<int>(description_.function);
    return kernel;
  }

 private:
  ElementwiseKernel mixed(bool first_is_unsigned) const {
    ElementwiseKernel kernel;
    kernel.function = mixed_comparison(description_.function, first_is_unsigned);
    kernel.operands[0] = first_is_unsigned ? DataType::kUInt64 : DataType::kInt64;
    kernel.operands[1] = first_is_unsigned ? DataType::kInt64 : DataType::kUInt64;
    kernel.computed = kernel.result = DataType::kBool;
    kernel.number = static_cast<int>(description_.function);
    return kernel;
  }

  void check(DataType common, const DataType* types) const {
    const Kind kind = description_.kind;
    if (common == DataType::kBool && (kind == Kind::kNumbers || kind == Kind::kFloats))
      throw std::invalid_argument(
          "operands must have numbers (got only bool). Use &, |, ^ or ~, or fn.cast.");
    if (is_float_type(common) && kind == Kind::kIntegers)
      throw std::invalid_argument("operands must be integers or bool (got " + names(types) +
                                  "). Use fn.cast.");
  }

  std::string names(const DataType* types) const {
    std::string text;
    for (int i = 0; i < description_.num_operands; ++i)
      text += std::string(i > 0 ? " and " : "") + name_of(types[i]);
    return text;
  }

  const Description description_;
  const ElementwiseProgram alone_;
  const DeviceElementwise alone_on_device_;
};

DALI_CORE_REGISTER_OPERATOR("arithmetic", Arithmetic)

}  // namespace dali_core
