// Connected elements of equal labels, and the boxes that hold them.
//
// Hoshen, Kopelman: "Percolation and cluster distribution", Physical Review B 14, 1976: a pass in
// memory order joins each element with its neighbours before it, and a second one measures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/convert.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

struct LabelledObject {
  int64_t label = 0;
  Shape start, end;  // of its box: the first element, and the one after the last

  int64_t box_volume() const {
    int64_t volume = 1;
    for (int dim = 0; dim < end.ndim; ++dim) volume *= end[dim] - start[dim];
    return volume;
  }
};

// The objects whose label is chosen, in the order of their first elements.
template <typename IsChosen>
std::vector<LabelledObject> find_objects(const Tensor& mask, IsChosen is_chosen) {
  const Shape& shape = mask.shape;
  const int64_t count = mask.num_elements();
  if (shape.ndim == 0 || count > INT32_MAX)
    throw std::invalid_argument(
        "the mask must have dimensions and less than 2**31 elements (got "
        "shape " +
        to_string(shape) + "). Pass a part of it.");
  std::vector<LabelledObject> objects;
  visit_type(mask.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_floating<T>) {
      throw std::invalid_argument("the mask must have an integer type (got " +
                                  std::string(name_of(mask.type)) + "). Cast it.");
    } else {
      const T* const labels = mask.as<T>();
      const Strides strides = dense_strides(shape);
      std::vector<int32_t> parents(static_cast<size_t>(count));
      std::iota(parents.begin(), parents.end(), 0);
      const auto root_of = [&](int32_t i) {
        while (parents[i] != i) i = parents[i] = parents[parents[i]];
        return i;
      };
      std::vector<int32_t> numbers(static_cast<size_t>(count), -1);  // of objects, at their roots
      Shape position = shape;
      const auto visit = [&](auto&& each) {
        std::fill_n(position.dims, position.ndim, 0);
        for (int64_t i = 0; i < count; ++i) {
          each(static_cast<int32_t>(i));
          for (int dim = shape.ndim - 1; dim >= 0 && ++position[dim] == shape[dim]; --dim)
            position[dim] = 0;
        }
      };
      visit([&](int32_t i) {
        for (int dim = 0; dim < shape.ndim; ++dim) {
          if (position[dim] == 0) continue;
          const auto before = static_cast<int32_t>(i - strides[dim]);
          if (labels[before] != labels[i]) continue;
          const int32_t a = root_of(before), b = root_of(i);
          parents[std::max(a, b)] = std::min(a, b);
        }
      });
      visit([&](int32_t i) {
        const int32_t root = root_of(i);
        if (root == i) {
          const auto label = static_cast<int64_t>(labels[i]);
          if (!is_chosen(label)) return;
          numbers[i] = static_cast<int32_t>(objects.size());
          objects.push_back({label, position, position});
        }
        if (numbers[root] < 0) return;
        LabelledObject& object = objects[static_cast<size_t>(numbers[root])];
        for (int dim = 0; dim < shape.ndim; ++dim) {
          object.start[dim] = std::min(object.start[dim], position[dim]);
          object.end[dim] = std::max(object.end[dim], position[dim] + 1);
        }
      });
    }
  });
  return objects;
}

}  // namespace dali_core
