// Operators that compute sizes from their arguments, with invalid numbers, for sanitizers: each
// returns a readable result, or rejects the sample.
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batch.hpp"
#include "check.hpp"
#include "huge_numbers.hpp"
#include "sample_program.hpp"

using namespace dali_core;

namespace {

using Values = std::map<std::string, ArgumentValue>;
using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;

struct Case {
  std::string name;
  int num_inputs;  // images of 2 x 3 pixels
  Values values;
};

const std::vector<Case> kCases = {
    {"constant",
     0,
     {{"idata", Integers{1}}, {"shape", Integers{2, 2, 2}}, {"layout", std::string()}}},
    {"full", 1, {{"shape", Integers{2, 3, 3}}}},
    {"zeros", 0, {{"shape", Integers{2, 2, 2}}, {"dtype", int64_t{6}}, {"value", int64_t{1}}}},
    {"random.uniform", 0, {{"shape", Integers{2, 2}}, {"range", Reals{0, 1}}}},
    {"random.coin_flip", 0, {{"shape", Integers{2, 2}}, {"probability", 0.5}}},
    {"one_hot",
     1,
     {{"num_classes", int64_t{3}},
      {"axis", int64_t{1}},
      {"on_value", 1.0},
      {"off_value", 0.0},
      {"dtype", int64_t{9}}}},
    {"pad", 1, {{"shape", Integers{4, 4, 4}}, {"align", Integers{2, 2, 2}}, {"fill_value", 0.0}}},
    {"pad", 1, {{"axes", Integers{0, 1}}, {"shape", Integers{4}}, {"fill_value", 0.0}}},
    {"reshape", 1, {{"shape", Integers{3, 3, 2}}}},
    {"reshape", 1, {{"rel_shape", Reals{0.5, 2, 1}}}},
    {"reshape", 1, {{"src_dims", Integers{2, 1, 0}}}},
    {"reinterpret", 1, {{"shape", Integers{9}}, {"dtype", int64_t{1}}}},
    {"cat", 2, {{"axis", int64_t{0}}}},
    {"stack", 2, {{"axis", int64_t{0}}}},
    {"expand_dims", 1, {{"axes", Integers{0, 2}}}},
    {"squeeze", 1, {{"axes", Integers{0}}}},
    {"crop",
     1,
     {{"crop", Reals{2, 2}},
      {"crop_pos_x", 0.5},
      {"fill_values", Reals{1}},
      {"out_of_bounds_policy", std::string("pad")}}},
    {"crop",
     1,
     {{"crop_w", 2.0}, {"crop_h", 2.0}, {"out_of_bounds_policy", std::string("reflect_101")}}},
    {"slice",
     1,
     {{"start", Integers{0, 1}},
      {"shape", Integers{2, 2}},
      {"axes", Integers{0, 1}},
      {"out_of_bounds_policy", std::string("pad")}}},
    {"slice",
     1,
     {{"rel_start", Reals{0, 0}},
      {"rel_end", Reals{1, 1}},
      {"out_of_bounds_policy", std::string("trim_to_shape")}}},
    {"multi_paste",
     2,
     {{"output_size", Integers{4, 4}},
      {"in_anchors", Reals{0, 0, 0, 0}},
      {"shapes", Reals{1, 1, 1, 1}},
      {"out_anchors", Reals{0, 0, 1, 1}}}},
    {"multi_paste",
     1,
     {{"in_ids", Integers{0}},
      {"output_size", Integers{4, 4}},
      {"shapes_rel", Reals{0.5, 0.5}},
      {"out_anchors_rel", Reals{0.5, 0.5}}}},
    {"roi_random_crop",
     0,
     {{"crop_shape", Integers{2, 2}},
      {"roi_start", Integers{1, 1}},
      {"roi_shape", Integers{2, 2}},
      {"in_shape", Integers{6, 6}}}},
    {"roi_random_crop",
     0,
     {{"crop_shape", Integers{2}}, {"roi_start", Integers{1}}, {"roi_end", Integers{4}}}},
    {"random_crop_generator",
     1,
     {{"random_area", Reals{0.1, 1}}, {"random_aspect_ratio", Reals{0.5, 2}}}},
    {"paste",
     1,
     {{"ratio", 2.0},
      {"paste_x", 0.5},
      {"paste_y", 0.5},
      {"min_canvas_size", 0.0},
      {"fill_value", Integers{1}}}},
    {"erase",
     1,
     {{"anchor", Reals{0, 0}},
      {"shape", Reals{1, 1}},
      {"fill_value", Reals{0}},
      {"axis_names", std::string("HW")}}},
    {"clahe", 1, {{"clip_limit", 2.0}, {"luma_only", int64_t{0}}}},
    {"jitter", 1, {{"nDegree", 2.0}, {"mask", int64_t{1}}, {"interp_type", int64_t{1}}}},
};

// The arguments that descriptions have defaults for, where the cases do not give them.
const std::map<std::string, Values> kDefaults = {
    {"random.uniform", {{"dtype", int64_t{9}}}},
    {"random.coin_flip", {{"dtype", int64_t{6}}}},
    {"crop",
     {{"crop_pos_x", 0.5},
      {"crop_pos_y", 0.5},
      {"crop_pos_z", 0.5},
      {"rounding", std::string("round")},
      {"fill_values", Reals{0}},
      {"out_of_bounds_policy", std::string("error")}}},
    {"slice",
     {{"normalized_anchor", int64_t{1}},
      {"normalized_shape", int64_t{1}},
      {"fill_values", Reals{0}},
      {"out_of_bounds_policy", std::string("error")}}},
    {"random_crop_generator", {{"num_attempts", int64_t{10}}}},
    {"erase", {{"centered_anchor", int64_t{0}}}},
    {"expand_dims", {{"new_axis_names", std::string()}}},
    {"jitter", {{"fill_value", 0.0}}},
    // No others pass the description.
    {"clahe", {{"tiles_x", int64_t{2}}, {"tiles_y", int64_t{2}}}},
};

// An image in memory of exactly its size, or the extents of one.
Tensor input_of(const std::string& name) {
  const bool is_extents = name == "random_crop_generator";
  Tensor tensor;
  tensor.type = is_extents ? DataType::kInt64 : DataType::kUInt8;
  tensor.shape = is_extents ? Shape{3} : Shape{2, 3, 3};
  tensor.layout = is_extents ? "" : "HWC";
  const auto bytes = static_cast<size_t>(tensor.num_bytes());
  tensor.storage =
      std::shared_ptr<void>(new char[bytes], [](void* data) { delete[] static_cast<char*>(data); });
  tensor.data = tensor.storage.get();
  std::memset(tensor.data, 1, bytes);
  if (is_extents)
    for (int i = 0; i < 3; ++i) tensor.as<int64_t>()[i] = 3;
  return tensor;
}

// The argument with a number in its place, or in the first of its places.
ArgumentValue replaced(ArgumentValue value, int64_t number, bool only_first) {
  std::visit(
      [&](auto& old) {
        using Old = std::decay_t<decltype(old)>;
        if constexpr (std::is_arithmetic_v<Old>)
          old = static_cast<Old>(number);
        else if constexpr (std::is_same_v<Old, Integers> || std::is_same_v<Old, Reals>)
          for (size_t i = 0; i < (only_first ? 1 : old.size()); ++i)
            old[i] = static_cast<typename Old::value_type>(number);
      },
      value);
  return value;
}

// The argument as a per-sample argument.
Tensor per_sample(const ArgumentValue& value) {
  Integers integers;
  std::visit(
      [&](const auto& given) {
        using Given = std::decay_t<decltype(given)>;
        if constexpr (std::is_same_v<Given, Integers>) integers = given;
        if constexpr (std::is_same_v<Given, int64_t>) integers = {given};
        if constexpr (std::is_same_v<Given, double>) integers = {convert<int64_t>(given)};
        if constexpr (std::is_same_v<Given, Reals>)
          for (const double number : given) integers.push_back(convert<int64_t>(number));
      },
      value);
  Tensor tensor;
  tensor.type = DataType::kInt64;
  const bool is_scalar =
      std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
  if (!is_scalar) tensor.shape = {static_cast<int64_t>(integers.size())};
  auto owner = std::make_shared<Integers>(std::move(integers));
  tensor.data = owner->data();
  tensor.storage = std::move(owner);
  return tensor;
}

struct Counts {
  int made = 0;
  int refused = 0;
  std::string message;  // of the last error
};

void run(const Case& test, const Values& values, const std::string& tensor_argument,
         Counts& counts) {
  static const std::shared_ptr<BufferPool> pool = BufferPool::create();
  OperatorConfig config;
  config.name = test.name;
  config.values = values;
  if (const auto defaults = kDefaults.find(test.name); defaults != kDefaults.end())
    config.values.insert(defaults->second.begin(), defaults->second.end());
  config.num_inputs = test.num_inputs;
  Instruction instruction;
  const int num_values = test.num_inputs + 3;
  Batch batch(0, 1, num_values, 0, 1, 0);
  batch.output_of_value.assign(static_cast<size_t>(num_values), -1);
  for (int i = 0; i < test.num_inputs; ++i) {
    batch.values[static_cast<size_t>(i)][0] = input_of(test.name);
    instruction.inputs.push_back(i);
  }
  if (!tensor_argument.empty()) {
    batch.values[static_cast<size_t>(test.num_inputs)][0] = per_sample(values.at(tensor_argument));
    config.values.erase(tensor_argument);
    config.tensor_arguments = {tensor_argument};
    instruction.arguments = {test.num_inputs};
  }
  instruction.outputs = {num_values - 2, num_values - 1};  // some operators have two
  const auto found = operator_registry().find(test.name);
  if (found == operator_registry().end()) throw CheckFailed(test.name + " must be linked");
  try {
    instruction.op = found->second.make(config);
  } catch (const std::invalid_argument&) {  // SizeError is one as well
    ++counts.refused;
    return;
  } catch (const OutOfMemory&) {
    ++counts.refused;
    return;
  }
  ThreadTimes times{1};
  Worker worker{*pool, times};
  SampleProgram({instruction}).run(batch, 0, worker);
  if (batch.failed()) {
    counts.message = batch.failures().front().message;
    CHECK(!counts.message.empty());
    ++counts.refused;
    return;
  }
  const Tensor& output = batch.values[static_cast<size_t>(num_values) - 2][0];
  CHECK(is_possible(output.shape, output.type));
  std::vector<char> copied(static_cast<size_t>(output.num_bytes()));
  if (!copied.empty()) std::memcpy(copied.data(), output.data, copied.size());
  ++counts.made;
}

}  // namespace

TEST(every_case_is_possible_as_it_is) {
  for (const Case& test : kCases) {
    if (test.name == "squeeze") continue;  // no extent is 1
    Counts counts;
    run(test, test.values, "", counts);
    check(counts.made == 1, test.name + ": " + counts.message, __FILE__, __LINE__);
  }
}

TEST(extreme_numbers_are_refused_or_give_results) {
  Counts counts;
  for (const Case& test : kCases)
    for (const auto& [name, value] : test.values)
      for (const int64_t number : kHugeNumbers)
        for (const bool only_first : {false, true}) {
          Values values = test.values;
          values[name] = replaced(value, number, only_first);
          run(test, values, "", counts);
          if (!std::holds_alternative<std::string>(value)) run(test, values, name, counts);
        }
  CHECK(counts.refused > 500);
  CHECK(counts.made > 100);
}
