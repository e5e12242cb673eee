// The table of fn.lookup_table, made from its arguments.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/operators/lookup_table/lookup_table.hpp"

namespace dali_core {

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

class LookupTableData {
 public:
  explicit LookupTableData(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype",
                                      config.get_or<DataType>("output_dtype", DataType::kFloat))) {
    const auto keys = config.get_or<std::vector<int64_t>>("keys", {});
    const auto values = config.get_or<std::vector<float>>("values", {});
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
      std::fill_n(table, num_entries, convert<To>(config.get_or<float>("default_value", 0.0f)));
      for (size_t i = 0; i < keys.size(); ++i) table[keys[i]] = convert<To>(values[i]);
    });
  }

  DataType type() const { return type_; }
  int64_t num_keys() const { return num_keys_; }
  const std::vector<unsigned char>& bytes() const { return table_; }

 private:
  DataType type_;
  int64_t num_keys_ = 0;
  std::vector<unsigned char> table_;  // of `type_`
};

}  // namespace dali_core
