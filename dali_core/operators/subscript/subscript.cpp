#include "dali_core/operators/subscript/subscript.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// A part of an input that lies in one piece is given without copying, if it is no small part of
// something large, which would stay in memory for its sake.
constexpr int64_t kSmallInput = 4096;  // bytes

// A number in the brackets: absent, constant, or the input that it comes with.
struct Number {
  enum Source { kAbsent, kConstant, kInput };
  int source = kAbsent;
  int64_t value = 0;  // or the number of the input

  bool is_given() const { return source != kAbsent; }

  int64_t at(const SampleContext& sample) const {
    if (source == kConstant) return value;
    const Tensor& tensor = sample.input(static_cast<int>(value));
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

enum class Kind { kIndex, kSlice, kNewAxis, kEllipsis };

// What stands between two commas. An index is `begin`, the letter of a new axis as well.
struct Entry {
  Kind kind;
  Number begin, end, step;
};

constexpr size_t kNumbersOfEntry = 7;

}  // namespace

class Subscript : public Operator {
 public:
  // `entries` has seven numbers for each entry: its kind, then source and value of three numbers.
  explicit Subscript(const OperatorConfig& config) {
    const auto numbers = config.get<std::vector<int64_t>>("entries");
    if (numbers.size() % kNumbersOfEntry != 0)
      throw std::invalid_argument("entries must have seven numbers each.");
    // Documents of graphs come from anywhere.
    const auto number = [&](const int64_t* pair) {
      const bool is_input = pair[0] == Number::kInput;
      if (pair[0] < 0 || pair[0] > Number::kInput ||
          (is_input && (pair[1] < 1 || pair[1] >= config.num_inputs)))
        throw std::invalid_argument("numbers of entries must be constants or inputs (got source " +
                                    std::to_string(pair[0]) + ").");
      return Number{static_cast<int>(pair[0]), pair[1]};
    };
    for (size_t i = 0; i < numbers.size(); i += kNumbersOfEntry) {
      const int64_t* const of = &numbers[i];
      const bool is_known = of[0] >= 0 && of[0] <= static_cast<int64_t>(Kind::kEllipsis);
      if (!is_known || (of[0] == static_cast<int64_t>(Kind::kIndex) && of[1] == Number::kAbsent) ||
          (has_ellipsis_ && of[0] == static_cast<int64_t>(Kind::kEllipsis)))
        throw std::invalid_argument("entries must be indices, slices, new axes or one ellipsis.");
      entries_.push_back(
          {static_cast<Kind>(of[0]), number(of + 1), number(of + 3), number(of + 5)});
      num_dims_ += entries_.back().kind == Kind::kIndex || entries_.back().kind == Kind::kSlice;
      has_ellipsis_ |= entries_.back().kind == Kind::kEllipsis;
    }
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const int left = input.shape.ndim - num_dims_;
    if (left < 0)
      throw std::invalid_argument("there must be at most one index for each dimension (got " +
                                  std::to_string(num_dims_) + " for shape " +
                                  to_string(input.shape) + "). Leave some out.");
    Result result;
    result.has_layout = !input.layout.empty();
    int dim = 0;
    for (const Entry& entry : entries_) {
      if (entry.kind == Kind::kNewAxis) {
        add_axis(entry, result);
      } else if (entry.kind == Kind::kEllipsis) {
        for (int i = 0; i < left; ++i, ++dim) keep(input, dim, result);
      } else {
        select(entry, sample, input, dim, result);
        ++dim;
      }
    }
    if (!has_ellipsis_)
      for (; dim < input.shape.ndim; ++dim) keep(input, dim, result);
    give(sample, input, result);
  }

 private:
  struct Result {
    Shape shape;
    std::string layout;
    bool has_layout = false;
    std::vector<Selection> selections;  // one for each dimension of the input
  };

  static void add_axis(const Entry& entry, Result& result) {
    if (!entry.begin.is_given()) {
      result.has_layout = false;
    } else if (!result.has_layout) {
      throw std::invalid_argument(
          "a new axis must have a name only where the other dimensions have one (got no layout). "
          "Use dali_core.newaxis without a name.");
    } else {
      result.layout += static_cast<char>(entry.begin.value);
    }
    result.shape.push_back(1);
  }

  static void keep(const Tensor& input, int dim, Result& result) {
    result.selections.push_back({0, 1, input.shape[dim]});
    result.shape.push_back(input.shape[dim]);
    if (result.has_layout) result.layout += input.layout[dim];
  }

  static void select(const Entry& entry, const SampleContext& sample, const Tensor& input, int dim,
                     Result& result) {
    const int64_t extent = input.shape[dim];
    if (entry.kind == Kind::kIndex) {
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
    if (result.has_layout) result.layout += input.layout[dim];
  }

  static void give(SampleContext& sample, const Tensor& input, const Result& result) {
    const Layout layout(result.has_layout ? result.layout : "");
    const int64_t size = size_of(input.type);
    const int64_t bytes = result.shape.num_elements() * size;
    // From the last dimension on: how much of the selected part lies in one piece.
    int outer = input.shape.ndim;
    int64_t offset = 0, stride = size, piece = size;
    int64_t strides[kMaxDims] = {};
    bool is_complete = true;
    for (int i = input.shape.ndim - 1; i >= 0; --i) {
      const Selection& selection = result.selections[static_cast<size_t>(i)];
      strides[i] = stride;
      offset += selection.start * stride;
      if (is_complete && selection.step == 1) {
        outer = i;
        piece *= selection.count;
        is_complete = selection.count == input.shape[i];
      } else {
        is_complete = false;
      }
      stride *= input.shape[i];
    }
    while (outer > 0 && result.selections[static_cast<size_t>(outer) - 1].count == 1) --outer;
    if (bytes > 0 && outer == 0 &&
        (input.num_bytes() <= kSmallInput || 2 * bytes >= input.num_bytes())) {
      Tensor& view = sample.forward(0, input);
      view.data = static_cast<char*>(input.data) + offset;
      view.shape = result.shape;
      view.layout = layout;
      return;
    }
    Tensor& output = sample.output(0, input.type, result.shape, layout);
    if (bytes == 0) return;
    char* out = output.as<char>();
    copy(input.as<char>() + offset, result.selections.data(), strides, outer, piece, out);
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

  std::vector<Entry> entries_;
  int num_dims_ = 0;  // of the input, that indices and slices take
  bool has_ellipsis_ = false;
};

DALI_CORE_REGISTER_OPERATOR("subscript", Subscript)

}  // namespace dali_core
