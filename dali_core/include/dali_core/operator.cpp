#include "dali_core/operator.hpp"

#include <limits>

namespace dali_core {
namespace {

template <typename T>
struct IsNumberList : std::false_type {};
template <typename T>
struct IsNumberList<std::vector<T>> : std::is_arithmetic<T> {};
template <typename T>
constexpr bool is_number_list = IsNumberList<T>::value;

// Integers must fit; a boolean is whether the number is not 0.
template <typename T, typename Stored>
T converted(Stored value, const std::string& argument) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, Stored>) {
    using Limits = std::numeric_limits<T>;
    const auto wide = static_cast<double>(value);
    if (!(wide >= static_cast<double>(Limits::min()) &&
          wide < static_cast<double>(Limits::max() / 2 + 1) * 2))
      throw std::invalid_argument(argument + " must be from " + std::to_string(Limits::min()) +
                                  " to " + std::to_string(Limits::max()) + " (got " +
                                  std::to_string(value) + "). Choose a number in this range.");
  }
  return static_cast<T>(value);
}

// Templates of their own: Clang looks into branches of a generic lambda that are not taken.
template <typename List, typename Stored>
List list_of_one(Stored value, const std::string& name) {
  return List{converted<typename List::value_type>(value, name)};
}

template <typename List, typename Stored>
List converted_list(const Stored& values, const std::string& name) {
  List numbers;
  for (const auto number : values)
    numbers.push_back(converted<typename List::value_type>(number, name));
  return numbers;
}

}  // namespace

int OperatorConfig::tensor_slot(std::string_view argument) const {
  for (size_t i = 0; i < tensor_arguments.size(); ++i)
    if (tensor_arguments[i] == argument) return static_cast<int>(i);
  return -1;
}

bool OperatorConfig::has(std::string_view argument) const {
  return has_constant(argument) || tensor_slot(argument) >= 0;
}

bool OperatorConfig::has_constant(std::string_view argument) const {
  return values.count(std::string(argument)) != 0;
}

template <typename T>
T OperatorConfig::constant(std::string_view argument) const {
  const std::string name(argument);
  const auto found = values.find(name);
  if (found == values.end())
    throw std::invalid_argument(name + " must be given as a constant. Pass a value.");
  return std::visit(
      [&](const auto& value) -> T {
        using Stored = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Stored, T>) {
          return value;
        } else if constexpr (std::is_arithmetic_v<Stored> && std::is_arithmetic_v<T>) {
          return converted<T>(value, name);
        } else if constexpr (is_number_list<T> && std::is_arithmetic_v<Stored>) {
          return list_of_one<T>(value, name);
        } else if constexpr (is_number_list<T> && is_number_list<Stored>) {
          return converted_list<T>(value, name);
        } else {
          throw std::invalid_argument(name + " has a value of another type than expected.");
        }
      },
      found->second);
}

template bool OperatorConfig::constant(std::string_view) const;
template uint8_t OperatorConfig::constant(std::string_view) const;
template int8_t OperatorConfig::constant(std::string_view) const;
template int OperatorConfig::constant(std::string_view) const;
template int64_t OperatorConfig::constant(std::string_view) const;
template float OperatorConfig::constant(std::string_view) const;
template double OperatorConfig::constant(std::string_view) const;
template std::string OperatorConfig::constant(std::string_view) const;
template std::vector<int> OperatorConfig::constant(std::string_view) const;
template std::vector<int64_t> OperatorConfig::constant(std::string_view) const;
template std::vector<float> OperatorConfig::constant(std::string_view) const;
template std::vector<double> OperatorConfig::constant(std::string_view) const;
template std::vector<std::string> OperatorConfig::constant(std::string_view) const;

void* Scratch::bytes(size_t slot, size_t count, size_t element_bytes) {
  if (blocks_.size() <= slot) blocks_.resize(slot + 1);
  Block& block = blocks_[slot];
  const auto bytes = static_cast<size_t>(checked_product(checked_extent(count, "temporary memory"),
                                                         static_cast<int64_t>(element_bytes)));
  if (block.capacity < bytes) {
    require_host_memory(bytes);
    const size_t capacity = (bytes + bytes / 4 + kAlignment) / kAlignment * kAlignment;
    block.memory.reset(std::aligned_alloc(kAlignment, capacity));
    block.capacity = block.memory ? capacity : 0;
    if (!block.memory) throw OutOfMemory(bytes, host_memory_limit());
  }
  return block.memory.get();
}

bool OutputSlot::fits(const Tensor& tensor) const {
  if (capacity > 0) return tensor.num_bytes() <= capacity;
  return data && type == tensor.type && shape == tensor.shape;
}

Tensor& SampleContext::output(int i, DataType type, const Shape& shape, const Layout& layout) {
  check_size(shape, type);
  Tensor& tensor = *outputs_[i];
  tensor.type = type;
  tensor.device = kHost;
  tensor.shape = shape;
  tensor.layout = layout;
  const OutputSlot* slot = slots_.empty() ? nullptr : &slots_[i];
  if (slot && slot->fits(tensor)) {
    tensor.storage = slot->storage ? *slot->storage : nullptr;
    tensor.data = slot->data;
  } else {
    BufferPool& pool = slot && slot->pool ? *slot->pool : pool_;
    tensor.storage = pool.allocate(static_cast<size_t>(tensor.num_bytes()));
    tensor.data = tensor.storage.get();
  }
  return tensor;
}

Tensor* SampleContext::output(const Inferred& inferred) {
  if (inferred.forwarded < 0) return &output(0, inferred.type, inferred.shape, inferred.layout);
  Tensor& view = forward(0, input(inferred.forwarded), inferred.shape, inferred.layout);
  view.data = static_cast<char*>(view.data) + inferred.offset;
  return nullptr;
}

Tensor& SampleContext::forward(int i, const Tensor& tensor) { return *outputs_[i] = tensor; }

Tensor& SampleContext::forward(int i, const Tensor& tensor, const Shape& shape,
                               const Layout& layout) {
  return *outputs_[i] = viewed_as(tensor, shape, layout);
}

void SampleContext::set_source(std::shared_ptr<const std::string> source) {
  source_ = std::move(source);
}

SampleContext SampleContext::on(const Tensor& input, Tensor& output, const OutputSlot& slot) const {
  SampleContext context(*this);
  context.inputs_ = {&input};
  context.outputs_ = {&output};
  context.slots_ = {slot};
  return context;
}

SampleContext::SampleContext(BufferPool& pool, Scratch& scratch, SampleKey key,
                             const int64_t* reader_indices)
    : pool_(pool), scratch_(scratch), key_(key), reader_indices_(reader_indices) {}

SampleContext::SampleContext(const SampleContext& other) = default;

SampleContext::~SampleContext() = default;

Operator::~Operator() = default;

void Operator::run(SampleContext&) const {
  throw std::logic_error("this operator has no code for the host.");
}

void Operator::plan(DeviceBatch&) const {
  throw std::logic_error("this operator has no code for devices.");
}

NamedArgument::NamedArgument(const OperatorConfig& config, std::string_view name)
    : slot_(config.tensor_slot(name)), given_(config.has(name)), name_(name) {}

NamedArgument::NamedArgument(const NamedArgument& other) = default;

NamedArgument::~NamedArgument() = default;

template <typename T>
T number_in(const Tensor& tensor, const std::string& name) {
  if (tensor.num_elements() != 1)
    throw std::invalid_argument(name + " must be one number a sample (got shape " +
                                to_string(tensor.shape) + "). Pass a scalar.");
  return visit_type(tensor.type, [&](auto zero) {
    using Stored = decltype(zero);
    return convert<T>(*tensor.as<Stored>());
  });
}

template <typename T>
void read_numbers(const Tensor& tensor, const std::string& name, std::vector<T>& numbers) {
  if (tensor.shape.ndim > 1)
    throw std::invalid_argument(name + " must be a scalar or one-dimensional (got shape " +
                                to_string(tensor.shape) + "). Reshape it.");
  visit_type(tensor.type, [&](auto zero) {
    using Stored = decltype(zero);
    numbers.resize(static_cast<size_t>(tensor.num_elements()));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = convert<T>(tensor.as<Stored>()[i]);
  });
}

#define DALI_CORE_READS(type)                                       \
  template type number_in<type>(const Tensor&, const std::string&); \
  template void read_numbers<type>(const Tensor&, const std::string&, std::vector<type>&);
DALI_CORE_READS(int)
DALI_CORE_READS(int64_t)
DALI_CORE_READS(float)
DALI_CORE_READS(double)
#undef DALI_CORE_READS

std::map<std::string, OperatorEntry>& operator_registry() {
  static std::map<std::string, OperatorEntry> registry;
  return registry;
}

RegisterOperator::RegisterOperator(const char* name, OperatorEntry entry) {
  operator_registry()[name] = entry;
}

}  // namespace dali_core
