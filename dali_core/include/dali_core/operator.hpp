// The interface between operators and the engine: an operator is built once from checked arguments,
// then run for one sample at a time by many threads. It owns no sample data, takes no locks and
// never touches Python.
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
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
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

  int tensor_slot(std::string_view argument) const;

  // Whether the argument has a value, constant or per sample.
  bool has(std::string_view argument) const;
  bool has_constant(std::string_view argument) const;

  // The constant value of an argument; numbers convert to T, a number serves as a list of one.
  template <typename T>
  T get(std::string_view argument) const {
    if constexpr (std::is_enum_v<T>)
      return static_cast<T>(constant<std::underlying_type_t<T>>(argument));
    else
      return constant<T>(argument);
  }

  template <typename T>
  T get_or(std::string_view argument, T otherwise) const {
    return has_constant(argument) ? get<T>(argument) : otherwise;
  }

 private:
  // For the types of operator.cpp.
  template <typename T>
  T constant(std::string_view argument) const;
};

// Temporary memory of one worker thread. It grows to what the largest sample needs and is reused.
class Scratch {
 public:
  // Uninitialised memory for `count` elements, valid until the operator returns. Slots are
  // separate blocks: an operator that needs two at once uses slots 0 and 1.
  template <typename T>
  T* get(size_t slot, size_t count) {
    return static_cast<T*>(bytes(slot, count, sizeof(T)));
  }

 private:
  void* bytes(size_t slot, size_t count, size_t element_bytes);

  struct Free {
    void operator()(void* block) const { std::free(block); }
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
  const std::shared_ptr<void>* storage = nullptr;  // owns the memory; null: it is external
  void* data = nullptr;
  DataType type = DataType::kNone;
  Shape shape;
  int64_t capacity = 0;
  BufferPool* pool = nullptr;

  bool fits(const Tensor& tensor) const;
};

// What output 0 of a sample is, found before anything is computed. Operators derive from it what
// else they find out on the way.
struct Inferred {
  DataType type = DataType::kNone;
  Shape shape;
  Layout layout;
  int forwarded = -1;  // the input that it is, with this shape and layout; nothing is computed
  int64_t offset = 0;  // where it begins in that input, in bytes
};

// One operator's view of one sample: inputs, per-sample arguments, outputs, random numbers.
class SampleContext {
 public:
  SampleContext(BufferPool& pool, Scratch& scratch, SampleKey key, const int64_t* reader_indices);
  SampleContext(const SampleContext& other);
  ~SampleContext();

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& input(int i) const { return *inputs_[i]; }
  const Tensor& argument(int slot) const { return *arguments_[slot]; }

  // Declares output `i` and returns it with uninitialised memory to fill.
  Tensor& output(int i, DataType type, const Shape& shape, const Layout& layout = {});

  // Declares output 0 as it was inferred, with memory to fill; null if an input is forwarded.
  Tensor* output(const Inferred& inferred);

  // Makes output `i` the same memory as `tensor` (an input): nothing is copied.
  Tensor& forward(int i, const Tensor& tensor);

  // The same, as a tensor of another shape with no more bytes.
  Tensor& forward(int i, const Tensor& tensor, const Shape& shape, const Layout& layout);

  // Remembers the file that the sample was read from; later operators inherit it.
  void set_source(std::shared_ptr<const std::string> source);

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
  SampleContext on(const Tensor& input, Tensor& output, const OutputSlot& slot) const;

 private:
  friend class SampleProgram;
  friend class DeviceProgram;
  friend class SampleFrames;

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
  std::vector<OutputSlot> slots_;
  std::shared_ptr<const std::string> source_;
};

class DeviceBatch;

class Operator {
 public:
  virtual ~Operator();

  // Computes one sample on the host. Only operators that move data to or from a device have none.
  virtual void run(SampleContext& sample) const;

  // Plans a whole batch on a device, for operators with "gpu" among their devices: see
  // kernels/tasks/task_operator.hpp for most of them, and device_batch.hpp for what a batch offers.
  virtual void plan(DeviceBatch& batch) const;

  // For operators without inputs that wait for a disk or a network: how many batches' samples I/O
  // threads may run it for before their turn. 0: only compute threads run it.
  virtual int batches_ahead() const { return 0; }

  // Whether it reads its inputs of other samples, which are complete then; `reads_batch` of its
  // description says the same to the planner.
  virtual bool reads_batch() const { return false; }
};

// Operators that only give their input another name or shape, and never look at its elements: on a
// device they do what they do on the host, where their other inputs are.
class ForwardingOperator : public Operator {
 public:
  void plan(DeviceBatch& batch) const final;
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

// The number, or the numbers, of a tensor that is an argument of this name; for the types of
// operator.cpp.
template <typename T>
T number_in(const Tensor& tensor, const std::string& name);
template <typename T>
void read_numbers(const Tensor& tensor, const std::string& name, std::vector<T>& numbers);

class NamedArgument {
 public:
  bool given() const { return given_; }
  bool is_constant() const { return slot_ < 0; }

 protected:
  NamedArgument(const OperatorConfig& config, std::string_view name);
  NamedArgument(const NamedArgument& other);
  ~NamedArgument();

  int slot_;
  bool given_;
  std::string name_;
};

// A number that is either constant or comes with each sample (as a scalar tensor of any type).
template <typename T>
class Argument : public NamedArgument {
 public:
  Argument(const OperatorConfig& config, std::string_view name) : NamedArgument(config, name) {
    if (slot_ < 0 && given_) constant_ = config.get<T>(name);
  }

  T at(const SampleContext& sample) const {
    if (slot_ < 0) return constant_;
    if constexpr (std::is_enum_v<T>)
      return static_cast<T>(number_in<int64_t>(sample.argument(slot_), name_));
    else
      return number_in<T>(sample.argument(slot_), name_);
  }

  T at_or(const SampleContext& sample, T otherwise) const {
    return given_ ? at(sample) : otherwise;
  }

 private:
  T constant_{};
};

// A list of numbers that is either constant or comes with each sample (as a 0-D or 1-D tensor).
template <typename T>
class ListArgument : public NamedArgument {
 public:
  ListArgument(const OperatorConfig& config, std::string_view name) : NamedArgument(config, name) {
    if (slot_ < 0 && given_) constant_ = config.get<std::vector<T>>(name);
  }

  // `storage` holds the values when they come with the sample; the result refers to it or to the
  // constant.
  const std::vector<T>& at(const SampleContext& sample, std::vector<T>& storage) const {
    if (slot_ < 0) return constant_;
    read_numbers(sample.argument(slot_), name_, storage);
    return storage;
  }

 private:
  std::vector<T> constant_;
};

// Operators by name. Filled by static objects while the extension module loads, read afterwards.
struct OperatorEntry {
  std::unique_ptr<Operator> (*make)(const OperatorConfig&) = nullptr;
  ChainRole chain_role = ChainRole::kNone;
  bool runs_on_host = true;
  bool runs_on_device = false;
};
std::map<std::string, OperatorEntry>& operator_registry();

struct RegisterOperator {
  RegisterOperator(const char* name, OperatorEntry entry);
};

// The functions that the class overrides determine where it runs.
template <typename Type>
OperatorEntry entry_of() {
  using Run = void (Operator::*)(SampleContext&) const;
  using Plan = void (Operator::*)(DeviceBatch&) const;
  return {[](const OperatorConfig& config) { return std::unique_ptr<Operator>(new Type(config)); },
          chain_role_of<Type>(), !std::is_same_v<decltype(&Type::run), Run>,
          !std::is_same_v<decltype(&Type::plan), Plan>};
}

#define DALI_CORE_REGISTER_OPERATOR(name, type)                      \
  static const ::dali_core::RegisterOperator registration_of_##type( \
      name, ::dali_core::entry_of<type>());

}  // namespace dali_core
