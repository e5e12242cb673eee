// Points and boxes, and how they are mirrored: host loops and device kernels share this.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// Points of up to three coordinates, each of which becomes offset + factor * coordinate.
struct CoordinateTask {
  const float* in;
  float* out;
  int64_t count;  // of coordinates
  int64_t ndim;
  float factor[3];
  float offset[3];
};

DC_HOST_DEV void flip_coordinate(const CoordinateTask& task, int64_t number) {
  const int64_t axis = number % task.ndim;
  task.out[number] = task.offset[axis] + task.factor[axis] * task.in[number];
}

struct Box {
  float left, top, right, bottom;

  DC_HOST_DEV float width() const { return right - left; }
  DC_HOST_DEV float height() const { return bottom - top; }
  DC_HOST_DEV float area() const { return width() * height(); }
};

// How the four numbers of a row describe a box: by its corners, or by one and the extents.
DC_HOST_DEV Box read_box(const float* numbers, bool is_corners) {
  Box box{numbers[0], numbers[1], numbers[2], numbers[3]};
  if (!is_corners) {
    box.right += box.left;
    box.bottom += box.top;
  }
  return box;
}

DC_HOST_DEV void write_box(const Box& box, bool is_corners, float* numbers) {
  numbers[0] = box.left;
  numbers[1] = box.top;
  numbers[2] = is_corners ? box.right : box.width();
  numbers[3] = is_corners ? box.bottom : box.height();
}

struct BoxFlipTask {
  const float* in;
  float* out;
  int64_t count;  // of boxes
  bool is_corners;
  bool horizontal;
  bool vertical;
};

DC_HOST_DEV void flip_box(const BoxFlipTask& task, int64_t number) {
  Box box = read_box(task.in + 4 * number, task.is_corners);
  if (task.horizontal) box = {1 - box.right, box.top, 1 - box.left, box.bottom};
  if (task.vertical) box = {box.left, 1 - box.bottom, box.right, 1 - box.top};
  write_box(box, task.is_corners, task.out + 4 * number);
}

}  // namespace dali_core
