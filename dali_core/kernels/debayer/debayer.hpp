// Colours of images whose pixels were measured through a Bayer filter: each through one colour, red
// and blue at every other pixel of every other row, green at the rest.
#pragma once

#include <cstdint>
#include <vector>

namespace dali_core {

enum class DebayerAlgorithm { kBilinear, kEdgeAware, kGradients, kGray };

// Which pixels are blue: those of rows and columns with these remainders modulo 2. Red ones are in
// the other rows and columns.
struct BluePixels {
  int row, column;
};

// Writes three values for each pixel, red, green and blue; with kGray, one. Images of less than
// three rows or columns have no neighbours to interpolate between, and become black. kGradients is
// for uint8, and needs 8 rows and columns: smaller images are interpolated bilinearly.
template <typename T>
void debayer(const T* sensor, int64_t height, int64_t width, BluePixels blue,
             DebayerAlgorithm algorithm, T* out);

// The algorithm kGradients, of at least 8 rows and columns. `padded` is working memory.
//
// Variable number of gradients: Chang, Cheung and Pang, "Color filter array recovery using a
// threshold-based variable number of gradients", 1999.
void debayer_by_gradients(const uint8_t* sensor, int64_t height, int64_t width, BluePixels blue,
                          std::vector<int16_t>& padded, uint8_t* out);

}  // namespace dali_core
