#include "dali_core/operators/lookup_table/lookup_table.hpp"

#include <algorithm>

#include "dali_core/operator.hpp"

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

class LookupTable : public Operator {
 public:
  explicit LookupTable(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype",
                                      config.get_or<DataType>("output_dtype", DataType::kFloat))) {
    const auto keys = config.get_or<std::vector<int64_t>>("keys", {});
    const auto values = config.get_or<std::vector<float>>("values", {});
    if (config.has("dtype") && config.has("output_dtype"))
      throw std::invalid_argument(
          "dtype and output_dtype must not be given together (got both). Keep dtype.");
    if (keys.size() != values.size())
      throw std::invalid_argument("keys and values must be equally many (got " +
                                  std::to_string(keys.size()) + " and " +
                                  std::to_string(values.size()) + "). Give every key a value.");
    for (int64_t key : keys) {
      if (key < 0 || key > kLargestKey)
        throw std::invalid_argument("keys must be from 0 to 65535 (got " + std::to_string(key) +
                                    "). Shift the input first.");
      num_keys_ = std::max(num_keys_, key + 1);
    }
    const size_t num_entries = static_cast<size_t>(num_keys_) + 1;
    table_.resize(num_entries * static_cast<size_t>(size_of(type_)));
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      To* const table = reinterpret_cast<To*>(table_.data());
      std::fill_n(table, num_entries, convert<To>(config.get_or<float>("default_value", 0.0f)));
      for (size_t i = 0; i < keys.size(); ++i) table[keys[i]] = convert<To>(values[i]);
    });
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    visit_integer(input.type, [&](auto from) {
      Tensor& output = sample.output(0, type_, input.shape, input.layout);
      visit_type(type_, [&](auto to) {
        using To = decltype(to);
        look_up(input.as<decltype(from)>(), output.as<To>(), input.num_elements(),
                reinterpret_cast<const To*>(table_.data()), num_keys_);
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
