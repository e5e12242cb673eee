// A grid of means that is broadcast along the reduced dimensions of a tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

struct ReducedDims {
  bool flags[kMaxDims] = {};

  bool operator[](int i) const { return flags[i]; }
  bool& operator[](int i) { return flags[i]; }
};

class Grid {
 public:
  Grid(const Shape& input, const ReducedDims& reduced) : shape(input) {
    for (int i = 0; i < input.ndim; ++i) {
      if (reduced[i]) shape[i] = 1;
      if (input[i] == 1) continue;
      if (!dims_.empty() && dims_.back().is_reduced == reduced[i])
        dims_.back().extent *= input[i];
      else
        dims_.push_back({input[i], reduced[i]});
    }
    size = shape.num_elements();
    count = size > 0 ? input.num_elements() / size : 0;
    // Runs of elements that lie in a row and go through the same means again and again.
    if (!dims_.empty() && !dims_.back().is_reduced) {
      period = dims_.back().extent;
      dims_.pop_back();
    }
    run = period;
    if (!dims_.empty() && dims_.back().is_reduced) {
      run *= dims_.back().extent;
      dims_.pop_back();
    }
  }

  // Calls `function(element, entry)` for every run, with the place of its first element and of its
  // first mean.
  template <typename Function>
  void for_each_run(const Function& function) const {
    int64_t element = 0;
    walk(0, 0, element, function);
  }

  Shape shape;
  int64_t size = 0;    // entries of the grid
  int64_t count = 0;   // elements for each
  int64_t period = 1;  // entries in a run
  int64_t run = 1;     // elements in a run

  struct Dim {
    int64_t extent;
    bool is_reduced;
  };
  // Those ahead of runs; neighbours are merged.
  const std::vector<Dim>& dims() const { return dims_; }

 private:
  template <typename Function>
  void walk(size_t dim, int64_t entry, int64_t& element, const Function& function) const {
    if (dim == dims_.size()) {
      function(element, entry * period);
      element += run;
      return;
    }
    const int64_t extent = dims_[dim].extent;
    for (int64_t i = 0; i < extent; ++i)
      walk(dim + 1, dims_[dim].is_reduced ? entry : entry * extent + i, element, function);
  }

  std::vector<Dim> dims_;
};

// The arguments `axes` and `axis_names`.
class NormalizedAxes {
 public:
  explicit NormalizedAxes(const OperatorConfig& config);

  bool given() const { return given_; }
  ReducedDims reduced(const Tensor& input) const;

 private:
  std::vector<int64_t> axes_;
  std::string names_;
  bool given_;
};

}  // namespace dali_core
