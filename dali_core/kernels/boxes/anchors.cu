// Matches boxes with anchors: the best anchor of every box, a block each; then the box of every
// anchor, a thread each.
#include "dali_core/kernels/boxes/anchors.hpp"

#include "dali_core/device_kernel.hpp"

extern "C" __global__ void __launch_bounds__(128)
    find_best_anchors(const dali_core::BestAnchorTask* tasks, int count) {
  using namespace dali_core;
  __shared__ float overlaps[kBestAnchorThreads];
  __shared__ int64_t anchors[kBestAnchorThreads];
  if (sample_of_block() >= count) return;
  const BestAnchorTask& task = tasks[sample_of_block()];
  const Box box = read_box(task.box, true);
  const int thread = static_cast<int>(threadIdx.x);
  int64_t best = -1;
  float most = 0;
  for (int64_t i = thread; i < task.num_anchors; i += kBestAnchorThreads) {
    const float overlap = intersection_over_union(box, task.anchors[i]);
    if (overlap >= most) {
      best = i;
      most = overlap;
    }
  }
  overlaps[thread] = most;
  anchors[thread] = best;
  for (int half = kBestAnchorThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread >= half) continue;
    const float other = overlaps[thread + half];
    const int64_t anchor = anchors[thread + half];
    if (other > overlaps[thread] || (other == overlaps[thread] && anchor > anchors[thread])) {
      overlaps[thread] = other;
      anchors[thread] = anchor;
    }
  }
  if (thread == 0) *task.best = anchors[0] < 0 ? 0 : anchors[0];
}

extern "C" __global__ void encode_anchors(const dali_core::AnchorTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const AnchorTask& task = tasks[sample_of_block()];
  for (int64_t i = first_item(); i < task.num_anchors; i += item_step()) {
    const int64_t match = match_anchor(task, i);
    task.out_labels[i] = match < 0 ? 0 : task.labels[match];
    encode_box(match < 0 ? nullptr : task.boxes + 4 * match, task.anchors[i], task.deltas,
               task.out + 4 * i);
  }
}
