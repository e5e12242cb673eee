// Multiplies points by a matrix, a component of the output a thread.
#include "dali_core/kernels/warp/coord_transform.hpp"

#include "dali_core/device_groups.hpp"

namespace dali_core {

template <typename T>
struct ConvertedPoint {
  const T* numbers;

  inline __device__ float operator[](int i) const { return convert<float>(numbers[i]); }
};

template <typename From, typename Store>
inline __device__ void transform_components(const PointsTask& task, const Store& store) {
  const QuickDivisor rows = task.rows;
  const int columns = task.columns;
  for (int64_t item = first_item(); item < task.count; item += item_step()) {
    const int64_t point = quotient(item, rows);
    const int64_t row = item - point * rows.divisor;
    const ConvertedPoint<From> from{static_cast<const From*>(task.in) + point * columns};
    store(item,
          transformed_component(task.matrix + row * columns, from, columns, task.offset[row]));
  }
}

}  // namespace dali_core

extern "C" __global__ void transform_points(const dali_core::PointsTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const PointsTask& task = tasks[sample_of_block()];
  if (task.from == DataType::kFloat && task.to == DataType::kFloat) {
    transform_components<float>(task, [&](int64_t item, float component) {
      static_cast<float*>(task.out)[item] = component;
    });
    return;
  }
  with_type(task.from, [&](auto zero) {
    transform_components<decltype(zero)>(task, [&](int64_t item, float component) {
      store_element(task.out, item, task.to, component);
    });
  });
}
