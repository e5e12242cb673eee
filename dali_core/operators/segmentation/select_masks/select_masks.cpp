#include <cstring>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

struct Polygon {
  int32_t mask, begin, end;
};

void check_numbers(const Tensor& tensor, const char* what, int ndim, int64_t columns) {
  const bool has_shape =
      tensor.shape.ndim == ndim && (columns == 0 || tensor.shape[ndim - 1] == columns);
  if (tensor.type != DataType::kInt32 || !has_shape)
    throw std::invalid_argument(std::string(what) + " (got " + name_of(tensor.type) + " of shape " +
                                to_string(tensor.shape) + "). Cast or reshape them.");
}

}  // namespace

class SelectMasks : public Operator {
 public:
  explicit SelectMasks(const OperatorConfig& config)
      : is_renumbered_(config.get<bool>("reindex_masks")) {}

  void run(SampleContext& sample) const override {
    const Tensor& ids = sample.input(0);
    const Tensor& polygons = sample.input(1);
    const Tensor& vertices = sample.input(2);
    check_numbers(ids, "mask numbers must be int32 of shape (M,)", 1, 0);
    check_numbers(polygons, "polygons must be int32 of shape (P, 3)", 2, 3);
    if (vertices.shape.ndim != 2)
      throw std::invalid_argument("vertices must have the shape (V, D) (got " +
                                  to_string(vertices.shape) + "). Reshape them.");
    const std::vector<Polygon> chosen = choose(ids, polygons, vertices.shape[0]);
    int64_t num_vertices = 0;
    for (const Polygon& polygon : chosen) num_vertices += polygon.end - polygon.begin;
    Tensor& out_polygons =
        sample.output(0, DataType::kInt32, {static_cast<int64_t>(chosen.size()), 3});
    Tensor& out_vertices =
        sample.output(1, vertices.type, {num_vertices, vertices.shape[1]}, vertices.layout);
    const int64_t bytes = vertices.shape[1] * size_of(vertices.type);
    int32_t* numbers = out_polygons.as<int32_t>();
    int64_t written = 0;
    for (const Polygon& polygon : chosen) {
      const int64_t count = polygon.end - polygon.begin;
      *numbers++ = polygon.mask;
      *numbers++ = static_cast<int32_t>(checked_between(written, 0, INT32_MAX, "a vertex"));
      *numbers++ = static_cast<int32_t>(checked_between(written + count, 0, INT32_MAX, "a vertex"));
      if (count * bytes > 0)
        std::memcpy(out_vertices.as<char>() + written * bytes,
                    vertices.as<char>() + polygon.begin * bytes,
                    static_cast<size_t>(count * bytes));
      written += count;
    }
  }

 private:
  std::vector<Polygon> choose(const Tensor& ids, const Tensor& polygons,
                              int64_t num_vertices) const {
    std::vector<Polygon> chosen;
    const int32_t* const wanted = ids.as<int32_t>();
    for (int64_t i = 0; i < ids.shape[0]; ++i) {
      for (int64_t j = 0; j < i; ++j)
        if (wanted[j] == wanted[i])
          throw std::invalid_argument("mask numbers must be different (got " +
                                      std::to_string(wanted[i]) + " twice). Ask for it once.");
      const size_t before = chosen.size();
      for (int64_t p = 0; p < polygons.shape[0]; ++p) {
        const int32_t* const row = polygons.as<int32_t>() + 3 * p;
        if (row[0] != wanted[i]) continue;
        if (row[1] < 0 || row[1] > row[2] || row[2] > num_vertices)
          throw std::invalid_argument(
              "polygon " + std::to_string(p) + " must have vertices from 0 to " +
              std::to_string(num_vertices) + " (got " + std::to_string(row[1]) + " to " +
              std::to_string(row[2]) + "). Pass the vertices that belong to the polygons.");
        chosen.push_back({is_renumbered_ ? static_cast<int32_t>(i) : row[0], row[1], row[2]});
      }
      if (chosen.size() == before)
        throw std::invalid_argument("masks must have polygons (got number " +
                                    std::to_string(wanted[i]) + " without any). Ask for others.");
    }
    return chosen;
  }

  bool is_renumbered_;
};

DALI_CORE_REGISTER_OPERATOR("segmentation.select_masks", SelectMasks)

}  // namespace dali_core
