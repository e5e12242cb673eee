// Fills an OperatorConfig from Cython, which cannot assign to a std::variant by itself.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

template <typename T>
void set_argument(OperatorConfig& config, const std::string& name, T value) {
  config.values[name] = ArgumentValue(std::move(value));
}

inline std::shared_ptr<const Operator> make_operator(const OperatorConfig& config) {
  auto found = operator_registry().find(config.name);
  if (found == operator_registry().end())
    throw std::runtime_error("no native code is registered under the name \"" + config.name + "\"");
  return std::shared_ptr<const Operator>(found->second.make(config));
}

// The role as a number of ChainRole; none if there is no such operator.
inline int chain_role(const std::string& name) {
  auto found = operator_registry().find(name);
  const bool is_known = found != operator_registry().end();
  return static_cast<int>(is_known ? found->second.chain_role : ChainRole::kNone);
}

inline std::vector<std::string> registered_operators() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : operator_registry())
    if (entry.runs_on_host) names.push_back(name);
  return names;
}

inline std::vector<std::string> registered_device_operators() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : operator_registry())
    if (entry.runs_on_device) names.push_back(name);
  return names;
}

}  // namespace dali_core
