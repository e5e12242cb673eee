// The loop of fn.sphere, compiled for every instruction set (see simd.hpp), hence without guard.

inline void find_sphere(const void* rule, const int32_t* position, int count,
                        float (*coordinates)[kWarpBlock]) {
  const Sphere sphere = *static_cast<const Sphere*>(rule);
  for (int i = 0; i < count; ++i)
    sphere_coordinates(sphere, position[0] + i, position[1], coordinates[0][i], coordinates[1][i]);
}

inline WarpCoordinates<2> find_in_sphere() { return find_sphere; }
