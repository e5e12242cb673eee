// What an operator is to the engine: built once from checked arguments, then run for one sample at
// a time by many threads. It owns no sample data, takes no locks and never touches Python.
//
//   class Flip : public Operator {
//    public:
//     explicit Flip(const OperatorConfig& config) : horizontal_(config, "horizontal") {}
//     void run(SampleContext& sample) const override {
//       const Tensor& image = sample.input(0);
//       Tensor& result = sample.output(0, image.type, image.shape, image.layout);
//       ...
//     }
//    private:
//     Argument<int> horizontal_;  // constant, or one value a sample
//   };
//   DALI_CORE_REGISTER_OPERATOR("flip", Flip)
//
// Errors are ordinary exceptions with a message "what must hold (got value). What to do."; the
// engine adds operator, line of the user's program, epoch, sample and file.
#pragma once

#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dali_core/convert.hpp"
#include "dali_core/memory.hpp"
#include "dali_core/philox.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

using ArgumentValue = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                                   std::vector<double>, std::vector<std::string>>;

// Everything an operator is built from. The SPEC has checked names, types and defaults already:
// an argument is absent only when it has no default and the user did not give it.
struct OperatorConfig {
  std::string name;                             // path of the function, "readers.file"
  std::map<std::string, ArgumentValue> values;  // enumerations and booleans are integers
  std::vector<std::string> tensor_arguments;    // arguments that come per sample, in slot order
  uint64_t seed = 0;                            // of this operator: differs between operators
  int reader = -1;                              // which reader this is, for operators that read
  int num_inputs = 0;
  int num_outputs = 1;

  int tensor_slot(const std::string& argument) const {
    for (size_t i = 0; i < tensor_arguments.size(); ++i)
      if (tensor_arguments[i] == argument) return static_cast<int>(i);
    return -1;
  }

  // Whether the argument has a value, constant or per sample.
  bool has(const std::string& argument) const {
    return values.count(argument) != 0 || tensor_slot(argument) >= 0;
  }

  // The constant value of an argument; numbers convert to T, a number serves as a list of one.
  template <typename T>
  T get(const std::string& argument) const {
    auto found = values.find(argument);
    if (found == values.end())
      throw std::invalid_argument(argument + " must be given as a constant. Pass a value.");
    return std::visit(
        [&](const auto& value) -> T {
          using Stored = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Stored, T>) {
            return value;
          } else if constexpr (std::is_arithmetic_v<Stored> && std::is_arithmetic_v<T>) {
            return converted<T>(value, argument);
          } else if constexpr (std::is_arithmetic_v<Stored> && std::is_enum_v<T>) {
            return static_cast<T>(converted<std::underlying_type_t<T>>(value, argument));
          } else if constexpr (is_number_list<T> && std::is_arithmetic_v<Stored>) {
            return T{converted<typename T::value_type>(value, argument)};
          } else if constexpr (is_number_list<T> && is_number_list<Stored>) {
            T numbers;
            for (const auto number : value)
              numbers.push_back(converted<typename T::value_type>(number, argument));
            return numbers;
          } else {
            throw std::invalid_argument(argument + " has a value of another type than expected.");
          }
        },
        found->second);
  }

  template <typename T>
  T get_or(const std::string& argument, T otherwise) const {
    return values.count(argument) ? get<T>(argument) : otherwise;
  }

 private:
  template <typename T>
  struct IsNumberList : std::false_type {};
  template <typename T>
  struct IsNumberList<std::vector<T>> : std::is_arithmetic<T> {};
  template <typename T>
  static constexpr bool is_number_list = IsNumberList<T>::value;

  // Integers must fit; a boolean is whether the number is not 0.
  template <typename T, typename Stored>
  static T converted(Stored value, const std::string& argument) {
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
};

// Temporary memory of one worker thread. It grows to what the largest sample needs and is reused.
class Scratch {
 public:
  // Uninitialised memory for `count` elements, valid until the operator returns. Slots are
  // separate blocks: an operator that needs two at once uses slots 0 and 1.
  template <typename T>
  T* get(size_t slot, size_t count) {
    if (blocks_.size() <= slot) blocks_.resize(slot + 1);
    Block& block = blocks_[slot];
    const auto bytes = static_cast<size_t>(
        checked_product(checked_extent(count, "temporary memory"), int64_t{sizeof(T)}));
    if (block.capacity < bytes) {
      require_host_memory(bytes);
      const size_t capacity = (bytes + bytes / 4 + kAlignment) / kAlignment * kAlignment;
      block.memory.reset(std::aligned_alloc(kAlignment, capacity));
      block.capacity = block.memory ? capacity : 0;
      if (!block.memory) throw OutOfMemory(bytes, host_memory_limit());
    }
    return static_cast<T*>(block.memory.get());
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  struct Block {
    std::unique_ptr<void, Free> memory;
    size_t capacity = 0;
  };
  std::vector<Block> blocks_;
};

// Where an output may be written in place: a sample's part of the dense batch buffer, if it has the
// type and shape expected; or with a capacity, working memory for anything that fits. With a pool,
// whatever is not written in place comes from there.
struct OutputSlot {
  std::shared_ptr<void> storage;
  void* data = nullptr;
  DataType type = DataType::kNone;
  Shape shape;
  int64_t capacity = 0;
  BufferPool* pool = nullptr;

  bool fits(const Tensor& tensor) const {
    if (capacity > 0) return tensor.num_bytes() <= capacity;
    return data && type == tensor.type && shape == tensor.shape;
  }
};

// One operator's view of one sample: inputs, per-sample arguments, outputs, random numbers.
class SampleContext {
 public:
  SampleContext(BufferPool& pool, Scratch& scratch, SampleKey key, const int64_t* reader_indices)
      : pool_(pool), scratch_(scratch), key_(key), reader_indices_(reader_indices) {}

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& input(int i) const { return *inputs_[i]; }
  const Tensor& argument(int slot) const { return *arguments_[slot]; }

  // Declares output `i` and returns it with uninitialised memory to fill.
  Tensor& output(int i, DataType type, const Shape& shape, const Layout& layout = {}) {
    check_size(shape, type);
    Tensor& tensor = *outputs_[i];
    tensor.type = type;
    tensor.device = kHost;
    tensor.shape = shape;
    tensor.layout = layout;
    const OutputSlot* slot = slots_.empty() ? nullptr : slots_[i];
    if (slot && slot->fits(tensor)) {
      tensor.storage = slot->storage;
      tensor.data = slot->data;
    } else {
      BufferPool& pool = slot && slot->pool ? *slot->pool : pool_;
      tensor.storage = pool.allocate(static_cast<size_t>(tensor.num_bytes()));
      tensor.data = tensor.storage.get();
    }
    return tensor;
  }

  // Makes output `i` the same memory as `tensor` (an input): nothing is copied.
  Tensor& forward(int i, const Tensor& tensor) { return *outputs_[i] = tensor; }

  // The same, as a tensor of another shape with no more bytes.
  Tensor& forward(int i, const Tensor& tensor, const Shape& shape, const Layout& layout) {
    return *outputs_[i] = viewed_as(tensor, shape, layout);
  }

  // Remembers the file that the sample was read from; later operators inherit it.
  void set_source(std::shared_ptr<const std::string> source) { source_ = std::move(source); }

  // The batch that the sample is part of: its place in it, the number of samples, and what random
  // numbers that are the same for all of them depend on.
  int index_in_batch() const { return index_in_batch_; }
  int batch_size() const { return batch_size_; }
  SampleKey batch_key() const { return batch_key_; }

  // Input `i` of any sample of the batch; for operators that say they read the batch. Of a sample
  // that failed before, it has no type.
  const Tensor& input_of_sample(int i, int sample) const { return (*batch_inputs_[i])[sample]; }

  SampleKey key() const { return key_; }
  RandomStream random(uint64_t operator_seed) const { return RandomStream(operator_seed, key_); }
  int64_t reader_index(int reader) const { return reader_indices_[reader]; }

  template <typename T>
  T* scratch(size_t slot, size_t count) {
    return scratch_.get<T>(first_scratch_slot_ + slot, count);
  }

  // The same sample, with one other input and a place for output 0.
  SampleContext on(const Tensor& input, Tensor& output, const OutputSlot& slot) const {
    SampleContext context(*this);
    context.inputs_ = {&input};
    context.outputs_ = {&output};
    context.slots_ = {&slot};
    return context;
  }

 private:
  friend class SampleProgram;
  friend class DeviceProgram;

  BufferPool& pool_;
  Scratch& scratch_;
  SampleKey key_;
  const int64_t* reader_indices_;
  size_t first_scratch_slot_ = 0;
  int index_in_batch_ = 0;
  int batch_size_ = 1;
  SampleKey batch_key_;
  std::vector<const std::vector<Tensor>*> batch_inputs_;
  std::vector<const Tensor*> inputs_;
  std::vector<const Tensor*> arguments_;
  std::vector<Tensor*> outputs_;
  std::vector<const OutputSlot*> slots_;
  std::shared_ptr<const std::string> source_;
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual void run(SampleContext& sample) const = 0;

  // For operators without inputs that wait for a disk or a network: how many batches' samples I/O
  // threads may run it for before their turn. 0: only compute threads run it.
  virtual int batches_ahead() const { return 0; }

  // Whether it reads its inputs of other samples, which are complete then; `reads_batch` of its
  // description says the same to the planner.
  virtual bool reads_batch() const { return false; }
};

// What an operator can be in a chain that runs as one: see image_chain.hpp and elementwise.hpp,
// which define the classes that it then derives from.
enum class ChainRole { kNone, kSource, kWindow, kResample, kPixels, kFinish, kElementwise };
class ImageSource;
class WindowStep;
class ResampleStep;
class PixelStep;
class FinishStep;
class ElementwiseStep;

template <typename Type>
constexpr ChainRole chain_role_of() {
  if (std::is_base_of_v<ImageSource, Type>) return ChainRole::kSource;
  if (std::is_base_of_v<WindowStep, Type>) return ChainRole::kWindow;
  if (std::is_base_of_v<ResampleStep, Type>) return ChainRole::kResample;
  if (std::is_base_of_v<PixelStep, Type>) return ChainRole::kPixels;
  if (std::is_base_of_v<FinishStep, Type>) return ChainRole::kFinish;
  if (std::is_base_of_v<ElementwiseStep, Type>) return ChainRole::kElementwise;
  return ChainRole::kNone;
}

// A number that is either constant or comes with each sample (as a scalar tensor of any type).
template <typename T>
class Argument {
 public:
  Argument(const OperatorConfig& config, const std::string& name)
      : slot_(config.tensor_slot(name)), given_(config.has(name)), name_(name) {
    if (slot_ < 0 && given_) constant_ = config.get<T>(name);
  }

  bool given() const { return given_; }
  bool is_constant() const { return slot_ < 0; }

  T at(const SampleContext& sample) const {
    if (slot_ < 0) return constant_;
    const Tensor& tensor = sample.argument(slot_);
    if (tensor.num_elements() != 1)
      throw std::invalid_argument(name_ + " must be one number a sample (got shape " +
                                  to_string(tensor.shape) + "). Pass a scalar.");
    return visit_type(tensor.type, [&](auto zero) {
      using Stored = decltype(zero);
      if constexpr (std::is_enum_v<T>)
        return static_cast<T>(convert<int64_t>(*tensor.as<Stored>()));
      else
        return convert<T>(*tensor.as<Stored>());
    });
  }

  T at_or(const SampleContext& sample, T otherwise) const {
    return given_ ? at(sample) : otherwise;
  }

 private:
  int slot_;
  bool given_;
  T constant_{};
  std::string name_;
};

// A list of numbers that is either constant or comes with each sample (as a 0-D or 1-D tensor).
template <typename T>
class ListArgument {
 public:
  ListArgument(const OperatorConfig& config, const std::string& name)
      : slot_(config.tensor_slot(name)), given_(config.has(name)), name_(name) {
    if (slot_ < 0 && given_) constant_ = config.get<std::vector<T>>(name);
  }

  bool given() const { return given_; }
  bool is_constant() const { return slot_ < 0; }

  // `storage` holds the values when they come with the sample; the result refers to it or to the
  // constant.
  const std::vector<T>& at(const SampleContext& sample, std::vector<T>& storage) const {
    if (slot_ < 0) return constant_;
    const Tensor& tensor = sample.argument(slot_);
    if (tensor.shape.ndim > 1)
      throw std::invalid_argument(name_ + " must be a scalar or one-dimensional (got shape " +
                                  to_string(tensor.shape) + "). Reshape it.");
    visit_type(tensor.type, [&](auto zero) {
      using Stored = decltype(zero);
      storage.resize(static_cast<size_t>(tensor.num_elements()));
      for (size_t i = 0; i < storage.size(); ++i) storage[i] = convert<T>(tensor.as<Stored>()[i]);
    });
    return storage;
  }

 private:
  int slot_;
  bool given_;
  std::vector<T> constant_;
  std::string name_;
};

// Operators by name. Filled by static objects while the extension module loads, read afterwards.
struct OperatorEntry {
  std::function<std::unique_ptr<Operator>(const OperatorConfig&)> make;
  ChainRole chain_role = ChainRole::kNone;
};
std::map<std::string, OperatorEntry>& operator_registry();

struct RegisterOperator {
  RegisterOperator(const char* name, OperatorEntry entry) {
    operator_registry()[name] = std::move(entry);
  }
};

#define DALI_CORE_REGISTER_OPERATOR(name, type)                                 \
  static const ::dali_core::RegisterOperator registration_of_##type(            \
      name, {[](const ::dali_core::OperatorConfig& config) {                    \
               return std::unique_ptr<::dali_core::Operator>(new type(config)); \
             },                                                                 \
             ::dali_core::chain_role_of<type>()});

}  // namespace dali_core
