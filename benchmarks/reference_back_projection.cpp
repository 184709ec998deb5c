#include "benchmarks/reference_back_projection.hpp"

#include <cmath>

namespace echoform::reference {

void filtered_back_projection_loop(const Projection& task, const float* data, float* image, int threads) {
  const float limit = static_cast<float>(task.samples - 1);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t row = 0; row < task.planes * task.rows; ++row) {
    const float z = task.first_z + static_cast<float>(row / task.rows) * task.spacing;
    const float y = task.first_y + static_cast<float>(row % task.rows) * task.spacing;
    for (std::size_t column = 0; column < task.columns; ++column) {
      const float x = task.first_x + static_cast<float>(column) * task.spacing;
      float sum = 0.0F;
      for (std::size_t q = 0; q < task.detectors; ++q) {
        const float dx = x - task.x[q];
        const float dy = y - task.y[q];
        const float dz = z - task.z[q];
        const float distance = std::sqrt(dx * dx + dy * dy + dz * dz);
        const float u = (distance / task.velocity - task.start_time) * task.sample_rate;
        if (!(u >= 0.0F && u < limit)) continue;
        const int n = static_cast<int>(u);
        const float f = u - static_cast<float>(n);
        const float* const s = data + q * task.samples + n;
        sum += task.weight[q] * ((1.0F - f) * s[0] + f * s[1]);
      }
      image[row * task.columns + column] = sum;
    }
  }
}

void universal_back_projection_loop(const Projection& task, const float* data, float* image, int threads) {
  const float limit = static_cast<float>(task.samples - 1);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t row = 0; row < task.planes * task.rows; ++row) {
    const float z = task.first_z + static_cast<float>(row / task.rows) * task.spacing;
    const float y = task.first_y + static_cast<float>(row % task.rows) * task.spacing;
    for (std::size_t column = 0; column < task.columns; ++column) {
      const float x = task.first_x + static_cast<float>(column) * task.spacing;
      float sum = 0.0F;
      for (std::size_t q = 0; q < task.detectors; ++q) {
        const float dx = x - task.x[q];
        const float dy = y - task.y[q];
        const float dz = z - task.z[q];
        const float squared = dx * dx + dy * dy + dz * dz;
        const float distance = std::sqrt(squared);
        const float facing = task.normal_x[q] * dx + task.normal_y[q] * dy + task.normal_z[q] * dz;
        const float u = (distance / task.velocity - task.start_time) * task.sample_rate;
        if (!(u >= 0.0F && u < limit) || facing <= 0.0F) continue;
        const int n = static_cast<int>(u);
        const float f = u - static_cast<float>(n);
        const float* const s = data + q * task.samples + n;
        sum += task.weight[q] * facing / (squared * distance) * ((1.0F - f) * s[0] + f * s[1]);
      }
      image[row * task.columns + column] = sum;
    }
  }
}

}  // namespace echoform::reference
