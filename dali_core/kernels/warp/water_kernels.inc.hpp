// The loop of fn.water, compiled for every instruction set (see simd.hpp), hence without guard.

inline void find_water(const void* rule, const int32_t* position, int count,
                       float (*coordinates)[kWarpBlock]) {
  const Shifts shifts = *static_cast<const Shifts*>(rule);
  const int32_t x = position[0];
  const float shift = shifts.of_rows[position[1]];
  const float y = static_cast<float>(position[1]);
  for (int i = 0; i < count; ++i) {
    coordinates[0][i] = static_cast<float>(x + i) + shift;
    coordinates[1][i] = y + shifts.of_columns[x + i];
  }
}

inline WarpCoordinates<2> find_in_water() { return find_water; }
