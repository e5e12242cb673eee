#include "dali_core/kernels/lookup/lookup_table.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {
namespace {

// Calls `function` with an object of the C++ type behind `type` if that is an integer.
template <typename Function>
void visit_integer(DataType type, Function&& function) {
  visit_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_floating<T> || std::is_same_v<T, bool>)
      throw std::invalid_argument("the input must consist of integers (got type " +
                                  std::string(name_of(type)) + "). Use fn.cast.");
    else
      function(zero);
  });
}

template <typename To, typename From>
void look_up(const From* __restrict in, To* __restrict out, int64_t count, const To* table,
             int64_t num_keys) {
  for (int64_t i = 0; i < count; ++i) out[i] = table[table_entry(in[i], num_keys)];
}

}  // namespace

class LookupTable : public KernelOperator<LookupTable, LookUpTask> {
 public:
  static constexpr auto kKernel = "look_up";

  explicit LookupTable(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype",
                                      config.get_or<DataType>("output_dtype", DataType::kFloat))) {
    const auto keys = config.get<std::vector<int64_t>>("keys");
    const auto values = config.get<std::vector<float>>("values");
    if (keys.size() != values.size())
      throw std::invalid_argument("keys and values must be equally many (got " +
                                  std::to_string(keys.size()) + " and " +
                                  std::to_string(values.size()) + "). Give every key a value.");
    for (int64_t key : keys) num_keys_ = std::max(num_keys_, key + 1);
    const size_t num_entries = static_cast<size_t>(num_keys_) + 1;
    table_.resize(num_entries * static_cast<size_t>(size_of(type_)));
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      To* const table = reinterpret_cast<To*>(table_.data());
      std::fill_n(table, num_entries, convert<To>(config.get<float>("default_value")));
      for (size_t i = 0; i < keys.size(); ++i) table[keys[i]] = convert<To>(values[i]);
    });
  }

  Inferred infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    visit_integer(input.type, [](auto) {});
    return {type_, input.shape, input.layout};
  }

  LookUpTask task(const Inferred&, TaskData& data) const {
    const Tensor input = data.input();
    return {input.data,
            data.output().data,
            data.array(table_),
            input.num_elements(),
            num_keys_,
            input.type,
            type_};
  }

  static int64_t threads_for(const LookUpTask& task) { return num_groups(task.count, kGroup - 1); }

  static void compute(const LookUpTask& task) {
    visit_integer(task.from, [&](auto from) {
      visit_type(task.to, [&](auto to) {
        using To = decltype(to);
        look_up(static_cast<const decltype(from)*>(task.in), static_cast<To*>(task.out), task.count,
                static_cast<const To*>(task.table), task.num_keys);
      });
    });
  }

 private:
  DataType type_;
  int64_t num_keys_ = 0;
  std::vector<unsigned char> table_;  // of `type_`
};

DALI_CORE_REGISTER_OPERATOR("lookup_table", LookupTable)

}  // namespace dali_core
