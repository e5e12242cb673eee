// fn.normalize on a device: what kernels do for one sample.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// What elements are computed with that belong to one entry of the grid.
struct alignas(8) NormalizeFactors {
  float mean;
  float multiplier;
};

// Finds the factors of all entries. Arrays of given numbers have one for all entries or one for
// each.
struct FactorsTask {
  const float* given_means;  // or null
  bool one_mean;
  const float* given_multipliers;  // or null
  bool one_multiplier;
  const double* means;       // null if they are given
  const double* squares;     // sums of squared deviations; null if multipliers are given
  const double* statistics;  // of the batch, instead of both; or null
  double count;              // of elements for each entry
  double ddof;
  double epsilon;
  double scale;
  int64_t size;
  NormalizeFactors* factors;
};

// How many dimensions of the grid may be ahead of runs.
constexpr int kMostGridDims = 8;

struct NormalizeTask {
  const void* in;
  void* out;
  DataType from, to;
  int64_t count;
  float shift;
  const NormalizeFactors* factors;
  QuickDivisor run, period;  // elements of a run, and entries that repeat in it
  int num_dims;              // around runs, outermost first
  QuickDivisor extents[kMostGridDims];
  bool is_reduced[kMostGridDims];
};

// Puts statistics of samples together: rows of numbers of elements, means and squared deviations.
struct JoinStatisticsTask {
  const double* const* parts;
  int64_t num_parts;
  int64_t size;
  double* out;
};

}  // namespace dali_core
