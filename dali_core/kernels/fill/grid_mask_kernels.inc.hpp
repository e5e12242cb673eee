// Inner loop of fn.grid_mask, compiled for every instruction set (see simd.hpp), hence without
// guard.

// Positions along the last dimension of the two: those of x, or those of y where images are
// stored column by column.
inline void mask_row(uint8_t* __restrict masked, int64_t count, float fixed, bool along_x,
                     const Grid& grid) {
  const Grid g = grid;
  if (along_x)
    for (int i = 0; i < static_cast<int>(count); ++i)
      masked[i] = is_masked(static_cast<float>(i), fixed, g);
  else
    for (int i = 0; i < static_cast<int>(count); ++i)
      masked[i] = is_masked(fixed, static_cast<float>(i), g);
}
