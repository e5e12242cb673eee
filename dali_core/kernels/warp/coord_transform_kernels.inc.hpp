// Inner loops of fn.coord_transform, compiled for every instruction set (see simd.hpp), hence
// without guard. Points are converted to float32 and back in blocks that stay in the cache.

template <int kRows, int kColumns>
void transform_points(const PointTransform& transform, const float* __restrict in, int64_t count,
                      float* __restrict out) {
  float matrix[kRows][kColumns];
  float offset[kRows];
  for (int row = 0; row < kRows; ++row) {
    offset[row] = transform.offset[row];
    for (int column = 0; column < kColumns; ++column)
      matrix[row][column] = transform.matrix[row * kColumns + column];
  }
  for (int64_t i = 0; i < count; ++i)
    for (int row = 0; row < kRows; ++row)
      out[i * kRows + row] =
          transformed_component(matrix[row], in + i * kColumns, kColumns, offset[row]);
}

inline void transform_any_points(const PointTransform& transform, const float* in, int64_t count,
                                 float* out) {
  const int rows = transform.rows, columns = transform.columns;
  for (int64_t i = 0; i < count; ++i, in += columns, out += rows)
    for (int row = 0; row < rows; ++row)
      out[row] = transformed_component(transform.matrix + int64_t{row} * columns, in, columns,
                                       transform.offset[row]);
}

inline void transform_block(const PointTransform& transform, const float* in, int64_t count,
                            float* out) {
  switch (transform.rows * 8 + transform.columns) {
    case 2 * 8 + 2:
      return transform_points<2, 2>(transform, in, count, out);
    case 3 * 8 + 3:
      return transform_points<3, 3>(transform, in, count, out);
    case 4 * 8 + 4:
      return transform_points<4, 4>(transform, in, count, out);
    case 1 * 8 + 3:
      return transform_points<1, 3>(transform, in, count, out);
    case 2 * 8 + 3:
      return transform_points<2, 3>(transform, in, count, out);
    default:
      return transform_any_points(transform, in, count, out);
  }
}

// `scratch` has room for `block` points of the input and of the output.
inline void transform_run(const PointTransform& transform, const void* in, DataType input_type,
                          void* out, DataType output_type, int64_t count, int64_t block,
                          float* scratch) {
  float* const scratch_out = scratch + block * transform.columns;
  for (int64_t first = 0; first < count; first += block) {
    const int64_t points = std::min(block, count - first);
    const int64_t from = first * transform.columns, to = first * transform.rows;
    const float* source = static_cast<const float*>(in) + from;
    if (input_type != DataType::kFloat) {
      convert_to_floats(element_at(in, input_type, from), input_type, scratch,
                        points * transform.columns);
      source = scratch;
    }
    if (output_type == DataType::kFloat) {
      transform_block(transform, source, points, static_cast<float*>(out) + to);
      continue;
    }
    transform_block(transform, source, points, scratch_out);
    convert_from_floats(scratch_out, element_at(out, output_type, to), output_type,
                        points * transform.rows);
  }
}
