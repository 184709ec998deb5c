#include "benchmarks/reference_scan_tables.hpp"

#include <cmath>

namespace echoform::reference {
namespace {

float cubic_weight(float x, float alpha) {
  x = std::fabs(x);
  if (x < 1.0F) return (alpha + 2.0F) * x * x * x - (alpha + 3.0F) * x * x + 1.0F;
  if (x < 2.0F) return alpha * x * x * x - 5.0F * alpha * x * x + 8.0F * alpha * x - 4.0F * alpha;
  return 0.0F;
}

}  // namespace

std::vector<PolarScanEntry> polar_scan_tables(const PolarScan& scan) {
  std::vector<PolarScanEntry> tables(scan.rows * scan.columns);
  for (std::size_t row = 0; row < scan.rows; ++row) {
    const float down = scan.first_z + static_cast<float>(row) * scan.z_spacing + scan.probe_radius;
    for (std::size_t column = 0; column < scan.columns; ++column) {
      const float x = scan.first_x + static_cast<float>(column) * scan.x_spacing;
      const float radius = std::sqrt(x * x + down * down);
      const float angle = std::atan2(x, down);
      const float s = (radius - scan.probe_radius - scan.start_depth) / scan.sample_spacing;
      const float b = (angle - scan.first_angle) / scan.angle_pitch;
      const bool inside =
          s >= 0.0F && s <= static_cast<float>(scan.samples - 1) && b >= 0.0F && b <= static_cast<float>(scan.beams - 1);
      if (!inside) continue;
      PolarScanEntry& entry = tables[row * scan.columns + column];
      entry.sample = static_cast<std::int32_t>(s);
      entry.beam = static_cast<std::int32_t>(b);
      entry.fraction = s - static_cast<float>(entry.sample);
      const float v = b - static_cast<float>(entry.beam);
      for (int k = -1; k <= 2; ++k) entry.weights[k + 1] = cubic_weight(v - static_cast<float>(k), scan.alpha);
    }
  }
  return tables;
}

void polar_scan_tables_loop(const PolarScan& scan, const PolarScanEntry* tables, const std::uint8_t* data, std::uint8_t* image,
                            int threads) {
  const int beams = static_cast<int>(scan.beams);
  const int samples = static_cast<int>(scan.samples);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
  for (std::size_t row = 0; row < scan.rows; ++row) {
    for (std::size_t column = 0; column < scan.columns; ++column) {
      const PolarScanEntry& entry = tables[row * scan.columns + column];
      float value = 0.0F;
      if (entry.sample >= 0) {
        const int s0 = entry.sample;
        const int s1 = s0 + 1 < samples ? s0 + 1 : samples - 1;
        for (int k = -1; k <= 2; ++k) {
          int beam = entry.beam + k;
          beam = beam < 0 ? 0 : beam;
          beam = beam > beams - 1 ? beams - 1 : beam;
          const std::uint8_t* line = data + static_cast<std::size_t>(beam) * scan.samples;
          value += entry.weights[k + 1] *
                   ((1.0F - entry.fraction) * static_cast<float>(line[s0]) + entry.fraction * static_cast<float>(line[s1]));
        }
      }
      value = value < 0.0F ? 0.0F : value;
      value = value > 255.0F ? 255.0F : value;
      image[row * scan.columns + column] = static_cast<std::uint8_t>(value + 0.5F);
    }
  }
}

}  // namespace echoform::reference
