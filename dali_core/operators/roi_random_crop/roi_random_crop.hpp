// fn.roi_random_crop: where a window may start along one dimension.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

struct StartRange {
  int64_t first;
  int64_t last;
};

DC_HOST_DEV StartRange window_starts(int64_t region_start, int64_t region_end, int64_t window) {
  const int64_t flush_right = region_end - window;
  return region_start < flush_right ? StartRange{region_start, flush_right}
                                    : StartRange{flush_right, region_start};
}

// Restricts starts so that the window lies inside data that holds both window and region.
DC_HOST_DEV StartRange inside_data(StartRange starts, int64_t window, int64_t extent) {
  const int64_t largest = extent - window;
  return {starts.first > 0 ? starts.first : 0, starts.last < largest ? starts.last : largest};
}

}  // namespace dali_core
