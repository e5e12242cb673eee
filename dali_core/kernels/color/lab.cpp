#include "dali_core/kernels/color/lab.hpp"

#include <cmath>

namespace dali_core {
namespace {

// IEC 61966-2-1 (sRGB): linear light of a signal, both from 0 to 1, and the other way round.
double linear_light(double signal) {
  return signal <= 0.04045 ? signal / 12.92 : std::pow((signal + 0.055) / 1.055, 2.4);
}

double signal_of(double light) {
  return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

// CIE 15, with the rounded constants that are in common use.
double lab_root(double light) {
  return light < 0.008856 ? 7.787 * light + 16.0 / 116.0 : std::cbrt(light);
}

// Linear sRGB to CIE XYZ, its inverse, and the white that both refer to (D65).
constexpr double kToXyz[3][3] = {
    {0.412453, 0.357580, 0.180423}, {0.212671, 0.715160, 0.072169}, {0.019334, 0.119193, 0.950227}};
constexpr double kFromXyz[3][3] = {{3.240479, -1.537150, -0.498535},
                                   {-0.969256, 1.875991, 0.041556},
                                   {0.055648, -0.204043, 1.057311}};
constexpr double kWhite[3] = {0.950456, 1.0, 1.088754};

LabTables make_tables() {
  LabTables tables;
  for (int i = 0; i < 256; ++i) {
    tables.linear[i] = static_cast<uint16_t>(std::lround(linear_light(i / 255.0) * kLinearLevels));
    const double lightness = i * 100 / 255.0;
    const bool is_dark = lightness <= 8;
    const double root = (lightness + 16) / 116;
    const double light = is_dark ? lightness / 903.3 : root * root * root;
    tables.a_root[i] = static_cast<float>((i - 128) / 500.0);
    tables.b_root[i] = static_cast<float>((i - 128) / 200.0);
    tables.lightness[i] = static_cast<float>(light);
    tables.lightness_root[i] = static_cast<float>(is_dark ? 7.787 * light + 16.0 / 116.0 : root);
  }
  // Two roots lie so close to a half that the reference's single precision rounds them to it.
  for (int i = 0; i <= kLinearLevels; ++i)
    tables.roots[i] = static_cast<uint16_t>(std::lrint(
        static_cast<float>(lab_root(static_cast<double>(i) / kLinearLevels) * (1 << kRootBits))));
  for (int i = 0; i <= kGammaLevels; ++i)
    tables.gamma[i] =
        static_cast<uint8_t>(std::lround(signal_of(static_cast<double>(i) / kGammaLevels) * 255));
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      tables.to_xyz[i][k] = static_cast<int32_t>(std::lround(kToXyz[i][k] / kWhite[i] * 4096));
      tables.from_xyz[i][k] = static_cast<float>(kFromXyz[i][k] * kWhite[k]);
    }
  }
  return tables;
}

}  // namespace

const LabTables& lab_tables() {
  static const LabTables tables = make_tables();
  return tables;
}

}  // namespace dali_core
