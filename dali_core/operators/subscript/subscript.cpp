// Elements of a tensor that an expression like x[1:3, ..., 0] selects.
#include <cstring>
#include <string>
#include <vector>

#include "dali_core/kernels/flip/mirror_row.hpp"
#include "dali_core/kernels/gather/device_gather.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// Elements along one dimension: `count` of them, from `start` on, `step` apart.
struct Selection {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// A bound of a slice, as Python reads it: negative ones count from the end, and those beyond the
// ends become the nearest place where the slice is empty or complete.
static int64_t clipped_bound(int64_t bound, int64_t extent, bool is_backwards) {
  const int64_t lowest = is_backwards ? -1 : 0;
  const int64_t highest = is_backwards ? extent - 1 : extent;
  if (bound < 0) bound = bound < -extent ? lowest : bound + extent;
  return bound < lowest ? lowest : bound > highest ? highest : bound;
}

// `step` is not zero. A bound that is not given lies at the end that the step comes from or goes
// to.
static Selection slice_of(const int64_t* begin, const int64_t* end, int64_t step, int64_t extent) {
  const bool is_backwards = step < 0;
  const int64_t first = begin != nullptr ? clipped_bound(*begin, extent, is_backwards)
                        : is_backwards   ? extent - 1
                                         : 0;
  const int64_t last = end != nullptr ? clipped_bound(*end, extent, is_backwards)
                       : is_backwards ? -1
                                      : extent;
  const int64_t distance = is_backwards ? first - last : last - first;
  Selection selection;
  selection.start = first;
  selection.step = step;
  if (distance > 0) {
    // Without a sign there is room for the size of every step.
    const uint64_t size =
        is_backwards ? uint64_t{0} - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
    selection.count = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / size) + 1;
  }
  if (selection.count < 2) selection.step = 1;  // so that nothing overflows on the way to nowhere
  return selection;
}

// A number in the brackets: absent, constant, or the input that it comes with.
struct SubscriptNumber {
  enum Source { kAbsent, kConstant, kInput };
  int source = kAbsent;
  int64_t value = 0;  // or the number of the input

  bool is_given() const { return source != kAbsent; }

  int64_t at(const SampleContext& sample) const {
    if (source == kConstant) return value;
    const Tensor& tensor = sample.input(static_cast<int>(value));
    if (tensor.device != kHost)
      throw std::invalid_argument(
          "indices must be on the host, where shapes are found (got one on the GPU). Pass it by "
          ".cpu().");
    if (tensor.shape.ndim != 0)
      throw std::invalid_argument("indices must be scalars (got shape " + to_string(tensor.shape) +
                                  "). Take one element, such as x[0].");
    return visit_type(tensor.type, [&](auto zero) -> int64_t {
      using T = decltype(zero);
      if constexpr (is_floating<T> || std::is_same_v<T, bool>)
        throw std::invalid_argument(std::string("indices must be integers (got type ") +
                                    name_of(tensor.type) + "). Use fn.cast.");
      else
        return convert<int64_t>(*tensor.as<T>());
    });
  }
};

enum class SubscriptKind { kIndex, kSlice, kNewAxis, kEllipsis };

// What stands between two commas. An index is `begin`, the letter of a new axis as well.
struct SubscriptEntry {
  SubscriptKind kind;
  SubscriptNumber begin, end, step;
};

constexpr size_t kNumbersOfSubscript = 7;

// A part of a tensor: shape and layout of the result, and where its elements are. Selections of the
// first `outer` dimensions lead to pieces of `piece` bytes. Offsets and strides are in bytes.
struct Subscripted : Inferred {
  bool has_layout = false;
  std::vector<Selection> selections;  // one for each dimension of the input
  int outer = 0;
  int64_t piece = 0;
  int64_t strides[kMaxDims] = {};

  // A part that lies in one piece is given without copying, if it is no small part of something
  // large, which would stay in memory for its sake.
  bool is_view(const Tensor& input) const {
    constexpr int64_t kSmallInput = 4096;  // bytes
    const int64_t bytes = shape.num_elements() * size_of(input.type);
    return bytes > 0 && outer == 0 &&
           (input.num_bytes() <= kSmallInput || 2 * bytes >= input.num_bytes());
  }
};

class Subscript : public TaskOperator<Subscript> {
 public:
  using Tasks = Gathers;

  // `entries` has seven numbers for each entry: its kind, then source and value of three numbers.
  explicit Subscript(const OperatorConfig& config) {
    const auto numbers = config.get<std::vector<int64_t>>("entries");
    if (numbers.size() % kNumbersOfSubscript != 0)
      throw std::invalid_argument("entries must have seven numbers each.");
    // Documents of graphs come from anywhere.
    const auto number = [&](const int64_t* pair) {
      const bool is_input = pair[0] == SubscriptNumber::kInput;
      if (pair[0] < 0 || pair[0] > SubscriptNumber::kInput ||
          (is_input && (pair[1] < 1 || pair[1] >= config.num_inputs)))
        throw std::invalid_argument("numbers of entries must be constants or inputs (got source " +
                                    std::to_string(pair[0]) + ").");
      return SubscriptNumber{static_cast<int>(pair[0]), pair[1]};
    };
    for (size_t i = 0; i < numbers.size(); i += kNumbersOfSubscript) {
      const int64_t* const of = &numbers[i];
      const bool is_known = of[0] >= 0 && of[0] <= static_cast<int64_t>(SubscriptKind::kEllipsis);
      if (!is_known ||
          (of[0] == static_cast<int64_t>(SubscriptKind::kIndex) &&
           of[1] == SubscriptNumber::kAbsent) ||
          (has_ellipsis_ && of[0] == static_cast<int64_t>(SubscriptKind::kEllipsis)))
        throw std::invalid_argument("entries must be indices, slices, new axes or one ellipsis.");
      entries_.push_back(
          {static_cast<SubscriptKind>(of[0]), number(of + 1), number(of + 3), number(of + 5)});
      num_dims_ += entries_.back().kind == SubscriptKind::kIndex ||
                   entries_.back().kind == SubscriptKind::kSlice;
      has_ellipsis_ |= entries_.back().kind == SubscriptKind::kEllipsis;
    }
  }

  Subscripted infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const int left = input.shape.ndim - num_dims_;
    if (left < 0)
      throw std::invalid_argument("there must be at most one index for each dimension (got " +
                                  std::to_string(num_dims_) + " for shape " +
                                  to_string(input.shape) + "). Leave some out.");
    Subscripted result;
    std::string letters;
    result.has_layout = !input.layout.empty();
    int dim = 0;
    for (const SubscriptEntry& entry : entries_) {
      if (entry.kind == SubscriptKind::kNewAxis) {
        add_axis(entry, result, letters);
      } else if (entry.kind == SubscriptKind::kEllipsis) {
        for (int i = 0; i < left; ++i, ++dim) keep(input, dim, result, letters);
      } else {
        select(entry, sample, input, dim, result, letters);
        ++dim;
      }
    }
    if (!has_ellipsis_)
      for (; dim < input.shape.ndim; ++dim) keep(input, dim, result, letters);
    result.layout = Layout(result.has_layout ? letters : "");
    locate(input, result);
    result.type = input.type;
    if (result.is_view(input)) result.forwarded = 0;
    return result;
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Subscripted part = infer(sample);
    Tensor* const output = sample.output(part);
    if (output == nullptr || output->num_bytes() == 0) return;
    char* out = output->as<char>();
    copy(input.as<char>() + part.offset, part.selections.data(), part.strides, part.outer,
         part.piece, out);
  }

  void add(const Subscripted& part, TaskData& data, Tasks& tasks) const {
    Gather gather;
    gather.in = data.input().as<char>() + part.offset;
    gather.out = data.output().data;
    gather.element_bytes = size_of(part.type);
    for (size_t dim = 0; dim < part.selections.size(); ++dim) {
      gather.extents.push_back(part.selections[dim].count);
      gather.strides[dim] = part.selections[dim].step * part.strides[dim];
    }
    tasks.add(gather);
  }

 private:
  static void add_axis(const SubscriptEntry& entry, Subscripted& result, std::string& letters) {
    if (!entry.begin.is_given()) {
      result.has_layout = false;
    } else if (!result.has_layout) {
      throw std::invalid_argument(
          "a new axis must have a name only where the other dimensions have one (got no layout). "
          "Use dali_core.newaxis without a name.");
    } else {
      letters += static_cast<char>(entry.begin.value);
    }
    result.shape.push_back(1);
  }

  static void keep(const Tensor& input, int dim, Subscripted& result, std::string& letters) {
    result.selections.push_back({0, 1, input.shape[dim]});
    result.shape.push_back(input.shape[dim]);
    if (result.has_layout) letters += input.layout[dim];
  }

  static void select(const SubscriptEntry& entry, const SampleContext& sample, const Tensor& input,
                     int dim, Subscripted& result, std::string& letters) {
    const int64_t extent = input.shape[dim];
    if (entry.kind == SubscriptKind::kIndex) {
      const int64_t index = entry.begin.at(sample);
      if (index < -extent || index >= extent)
        throw std::invalid_argument("indices must be from -extent to extent - 1 (got " +
                                    std::to_string(index) + " for dimension " +
                                    std::to_string(dim) + " of shape " + to_string(input.shape) +
                                    "). Choose another one.");
      result.selections.push_back({index < 0 ? index + extent : index, 1, 1});
      return;
    }
    int64_t begin = 0, end = 0, step = 1;
    if (entry.begin.is_given()) begin = entry.begin.at(sample);
    if (entry.end.is_given()) end = entry.end.at(sample);
    if (entry.step.is_given()) step = entry.step.at(sample);
    if (step == 0)
      throw std::invalid_argument("steps of slices must not be 0 (got 0). Use 1 for all elements.");
    const Selection selection = slice_of(entry.begin.is_given() ? &begin : nullptr,
                                         entry.end.is_given() ? &end : nullptr, step, extent);
    result.selections.push_back(selection);
    result.shape.push_back(selection.count);
    if (result.has_layout) letters += input.layout[dim];
  }

  static void locate(const Tensor& input, Subscripted& result) {
    const int64_t size = size_of(input.type);
    // From the last dimension on: how much of the selected part lies in one piece.
    int64_t stride = size;
    int& outer = result.outer;
    outer = input.shape.ndim;
    result.piece = size;
    bool is_complete = true;
    for (int i = input.shape.ndim - 1; i >= 0; --i) {
      const Selection& selection = result.selections[static_cast<size_t>(i)];
      result.strides[i] = stride;
      result.offset += selection.start * stride;
      if (is_complete && selection.step == 1) {
        outer = i;
        result.piece *= selection.count;
        is_complete = selection.count == input.shape[i];
      } else {
        is_complete = false;
      }
      stride *= input.shape[i];
    }
    while (outer > 0 && result.selections[static_cast<size_t>(outer) - 1].count == 1) --outer;
  }

  // Copies what the first `num_dims` dimensions select, whose elements are pieces of some bytes.
  static void copy(const char* from, const Selection* selections, const int64_t* strides,
                   int num_dims, int64_t piece, char*& out) {
    if (num_dims == 0) {
      std::memcpy(out, from, static_cast<size_t>(piece));
      out += piece;
      return;
    }
    const int64_t step = selections->step * *strides;
    if (num_dims > 1) {
      for (int64_t i = 0; i < selections->count; ++i)
        copy(from + i * step, selections + 1, strides + 1, num_dims - 1, piece, out);
      return;
    }
    if (step == -piece) {  // contiguous, in reverse order
      mirror_row(from + step * (selections->count - 1), out, selections->count, piece);
      out += selections->count * piece;
      return;
    }
    switch (piece) {
      case 1:
        return copy_pieces<1>(from, step, selections->count, out);
      case 2:
        return copy_pieces<2>(from, step, selections->count, out);
      case 3:
        return copy_pieces<3>(from, step, selections->count, out);
      case 4:
        return copy_pieces<4>(from, step, selections->count, out);
      case 8:
        return copy_pieces<8>(from, step, selections->count, out);
      case 12:
        return copy_pieces<12>(from, step, selections->count, out);
      default:
        for (int64_t i = 0; i < selections->count; ++i, out += piece)
          std::memcpy(out, from + i * step, static_cast<size_t>(piece));
    }
  }

  template <int kPiece>
  static void copy_pieces(const char* from, int64_t step, int64_t count, char*& out) {
    for (int64_t i = 0; i < count; ++i, out += kPiece) std::memcpy(out, from + i * step, kPiece);
  }

  std::vector<SubscriptEntry> entries_;
  int num_dims_ = 0;  // of the input, that indices and slices take
  bool has_ellipsis_ = false;
};

DALI_CORE_REGISTER_OPERATOR("subscript", Subscript)

}  // namespace dali_core
