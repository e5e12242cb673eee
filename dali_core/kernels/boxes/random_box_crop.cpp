#include "dali_core/kernels/boxes/random_box_crop.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace dali_core {
namespace {

// Without a limit of the user's, the search ends with an error after this many windows.
constexpr int64_t kMostAttempts = 100000;

float volume(const Region& region, int ndim) {
  float product = 1;
  for (int dim = 0; dim < ndim; ++dim) product *= region.extent(dim);
  return product;
}

float shared_volume(const Region& a, const Region& b, int ndim) {
  float product = 1;
  for (int dim = 0; dim < ndim; ++dim)
    product *=
        std::max(std::min(a.end[dim], b.end[dim]) - std::max(a.start[dim], b.start[dim]), 0.0f);
  return product;
}

bool has_center(const Region& window, const Region& box, int ndim) {
  for (int dim = 0; dim < ndim; ++dim) {
    const float center = 0.5f * (box.start[dim] + box.end[dim]);
    if (center < window.start[dim] || center > window.end[dim]) return false;
  }
  return true;
}

// The share of a box that lies in a window: nothing of a box without a volume.
float overlap(const Region& window, const Region& box, int ndim) {
  const float whole = volume(box, ndim);
  return whole > 0 ? shared_volume(window, box, ndim) / whole : 0;
}

float union_overlap(const Region& window, const Region& box, int ndim) {
  const float shared = shared_volume(window, box, ndim);
  return shared <= 0 ? 0 : shared / (volume(window, ndim) + volume(box, ndim) - shared);
}

bool keeps(const Region& window, const Region& box, const BoxCropRules& rules) {
  if (rules.prune_threshold < 0) return has_center(window, box, rules.ndim);
  const float share = overlap(window, box, rules.ndim);
  return share > 0 && share >= rules.prune_threshold;
}

class Search {
 public:
  Search(const std::vector<Region>& boxes, const BoxCropRules& rules, const BoxCropExtents& extents,
         RandomStream& random)
      : boxes_(boxes), rules_(rules), extents_(extents), random_(random) {}

  BoxCrop run() {
    const bool is_limited = rules_.total_num_attempts > 0;
    const int64_t limit =
        is_limited ? std::min(rules_.total_num_attempts, kMostAttempts) : kMostAttempts;
    const size_t num_thresholds = rules_.thresholds.size();
    const auto num_choices = static_cast<uint32_t>(num_thresholds + (rules_.allows_whole ? 1 : 0));
    Region best;
    float best_score = -1;
    for (int64_t attempt = 0; attempt < limit;) {
      const uint32_t choice = random_.next_below(num_choices);
      if (choice == num_thresholds) return whole();
      for (int64_t i = 0; i < rules_.num_attempts && attempt < limit; ++i, ++attempt) {
        Region window;
        if (!draw(window)) continue;
        const float score = score_of(window);
        if (score >= rules_.thresholds[choice]) {
          BoxCrop crop = kept_in(window);
          if (!crop.kept.empty() || boxes_.empty()) return crop;
        }
        if (score > best_score) {
          best = window;
          best_score = score;
        }
      }
    }
    // So few attempts may have been that no window had an aspect ratio in range.
    for (int64_t i = 0; is_limited && best_score < 0 && i < kMostAttempts; ++i)
      if (draw(best)) best_score = 0;
    if (is_limited && best_score >= 0) return kept_in(best);
    throw std::invalid_argument(
        "a window must leave enough of the boxes, and have an aspect ratio in range (found none "
        "in " +
        std::to_string(limit) + " attempts for " + std::to_string(boxes_.size()) +
        " boxes). Lower thresholds, widen scaling and aspect_ratio, set allow_no_crop, or take the "
        "best window after total_num_attempts.");
  }

 private:
  BoxCrop whole() const {
    BoxCrop crop;
    crop.is_whole = true;
    std::fill_n(crop.window.end, kMaxBoxDims, 1.0f);
    for (size_t i = 0; i < boxes_.size(); ++i) crop.kept.push_back(static_cast<int64_t>(i));
    return crop;
  }

  BoxCrop kept_in(const Region& window) const {
    BoxCrop crop;
    crop.window = window;
    for (size_t i = 0; i < boxes_.size(); ++i)
      if (keeps(window, boxes_[i], rules_)) crop.kept.push_back(static_cast<int64_t>(i));
    return crop;
  }

  // What the threshold is compared with: the least of all boxes, or the largest.
  float score_of(const Region& window) const {
    if (boxes_.empty()) return 1;
    float score = rules_.needs_all ? INFINITY : 0;
    for (const Region& box : boxes_) {
      const float one = rules_.is_overlap ? overlap(window, box, rules_.ndim)
                                          : union_overlap(window, box, rules_.ndim);
      score = rules_.needs_all ? std::min(score, one) : std::max(score, one);
    }
    return score;
  }

  bool draw(Region& window) {
    float extents[kMaxBoxDims];
    const bool is_fixed = extents_.window[0] > 0;
    for (int dim = 0; dim < rules_.ndim; ++dim)
      extents[dim] = is_fixed ? static_cast<float>(extents_.window[dim])
                              : random_.uniform(rules_.scaling.low, rules_.scaling.high) *
                                    static_cast<float>(extents_.image[dim]);
    if (!is_fixed && !has_aspect_ratio(extents)) return false;
    for (int dim = 0; dim < rules_.ndim; ++dim) {
      const auto image = static_cast<float>(extents_.image[dim]);
      float start;
      if (is_fixed) {
        // Whole pixels; a window that is larger than the image holds all of it.
        const int64_t free = extents_.image[dim] - extents_.window[dim];
        const double places = static_cast<double>(std::abs(free)) + 1;
        const auto place = static_cast<int64_t>(random_.next_double() * places);
        start = static_cast<float>((free < 0 ? free : 0) + place) / image;
      } else {
        const float free = 1 - extents[dim] / image;
        start = random_.uniform(std::min(free, 0.0f), std::max(free, 0.0f));
      }
      window.start[dim] = start;
      window.end[dim] = start + extents[dim] / image;
      if (!(window.end[dim] > start)) return false;
    }
    return true;
  }

  // Gives extents an aspect ratio if there is only one, without making the largest larger; says
  // whether they have one in range.
  bool has_aspect_ratio(float* extents) const {
    const auto& ratios = rules_.aspect_ratios;
    const auto ratio = [&](size_t pair) { return ratios[ratios.size() == 1 ? 0 : pair]; };
    const int num_pairs = rules_.ndim == 2 ? 1 : 3;
    constexpr int kFirst[] = {0, 0, 1}, kSecond[] = {1, 2, 2};
    if (num_pairs == 3 && ratio(0).is_number() && ratio(1).is_number()) {
      const float largest = std::max({extents[0], extents[1], extents[2]});
      const float shares[] = {1, 1 / ratio(0).low, 1 / ratio(1).low};
      const float most = std::max({shares[0], shares[1], shares[2]});
      for (int dim = 0; dim < 3; ++dim) extents[dim] = largest * (shares[dim] / most);
    } else {
      for (int pair = 0; pair < num_pairs; ++pair) {
        if (!ratio(pair).is_number()) continue;
        float& first = extents[kFirst[pair]];
        float& second = extents[kSecond[pair]];
        const float largest = std::max(first, second), wanted = ratio(pair).low;
        first = wanted < 1 ? largest * wanted : largest;
        second = wanted < 1 ? largest : largest / wanted;
      }
    }
    constexpr float kTolerance = 1e-4f;  // of rounding
    for (int pair = 0; pair < num_pairs; ++pair) {
      const float found = extents[kFirst[pair]] / extents[kSecond[pair]];
      const float slack = ratio(pair).is_number() ? kTolerance : 0;
      if (!(found >= ratio(pair).low * (1 - slack) && found <= ratio(pair).high * (1 + slack)))
        return false;
    }
    return true;
  }

  const std::vector<Region>& boxes_;
  const BoxCropRules& rules_;
  const BoxCropExtents& extents_;
  RandomStream& random_;
};

}  // namespace

BoxCrop random_box_crop(const std::vector<Region>& boxes, const BoxCropRules& rules,
                        const BoxCropExtents& extents, RandomStream& random) {
  return Search(boxes, rules, extents, random).run();
}

Region inside(const Region& window, const Region& box, int ndim) {
  Region result;
  for (int dim = 0; dim < ndim; ++dim) {
    const float extent = window.extent(dim);
    const auto moved = [&](float position) {
      return std::min(std::max((position - window.start[dim]) / extent, 0.0f), 1.0f);
    };
    result.start[dim] = moved(box.start[dim]);
    result.end[dim] = moved(box.end[dim]);
  }
  return result;
}

}  // namespace dali_core
