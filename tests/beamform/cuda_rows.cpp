#include "tests/beamform/cuda_rows.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/cuda_backend.hpp"
#include "pipeline/stage.hpp"
#ifdef ECHOFORM_WITH_CUDA
#include "stages/beamform/beamform.hpp"
#endif

namespace echoform {

std::uint16_t half_bits(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double size = std::abs(static_cast<double>(value));
  if (size == 0.0) return sign;
  // Spacing of half numbers at this size; 2^-24 among the subnormal ones.
  const int exponent = std::max(std::ilogb(size), -14);
  const double unit = std::ldexp(1.0, exponent - 10);
  const auto steps = static_cast<unsigned>(std::nearbyint(size / unit));
  // Steps of 1024 and more carry into the exponent by themselves.
  return static_cast<std::uint16_t>(sign + (static_cast<unsigned>(exponent + 14) << 10U) + steps);
}

#ifdef ECHOFORM_WITH_CUDA
namespace {

constexpr std::size_t margin = beamform::row_margin;

BlockSpec spec_of(const BlockSpec& planar, bool half) {
  BlockSpec spec = planar;
  spec.type = half ? ElementType::complex_half_slope : ElementType::complex64;
  spec.row_stride = (planar.columns + margin + 15) / 16 * 16;
  spec.lead = margin;
  spec.trailer = half ? 64 : 0;
  return spec;
}

void put_half(std::byte* place, std::complex<float> sample, std::complex<float> slope) {
  const std::uint16_t bits[4] = {half_bits(sample.real()), half_bits(sample.imag()), half_bits(slope.real()),
                                 half_bits(slope.imag())};
  std::memcpy(place, bits, sizeof bits);
}

std::vector<std::byte> elements_of(const BlockSpec& planar, const std::vector<float>& rows, const BlockSpec& spec, bool half,
                                   bool nearest) {
  std::vector<std::byte> bytes(spec.bytes());
  float peak = 0.0F;
  for (const float value : rows) peak = std::max(peak, std::abs(value));
  const float scale = std::exp2(-2.0F - std::ceil(std::log2(peak)));
  for (std::size_t row = 0; row < planar.rows; ++row) {
    const float* re = rows.data() + 2 * row * planar.row_stride;
    const float* im = re + planar.row_stride;
    for (std::size_t n = 0; n < planar.columns; ++n) {
      std::byte* place = bytes.data() + (margin + row * spec.row_stride + n) * 8;
      const std::complex<float> here(re[n], im[n]);
      if (!half) {
        std::memcpy(place, &here, sizeof here);
      } else if (nearest) {
        put_half(place, scale * here, 0.0F);
      } else if (n + 1 < planar.columns) {
        const std::complex<float> next(re[n + 1], im[n + 1]);
        put_half(place, scale * here, 16384.0F * scale * (next - here));
      }
    }
  }
  if (half) {
    const float factor = 1.0F / scale;
    std::memcpy(bytes.data() + spec.bytes() - spec.trailer, &factor, sizeof factor);
  }
  return bytes;
}

/// Of a stage of `backend`.
std::vector<std::complex<float>> image_of(Backend& backend, Stage& stage, const BlockSpec& spec,
                                          const std::vector<std::byte>& bytes, const Grid& grid) {
  const auto queue = backend.make_queue();
  const Buffer input = backend.allocate(spec.bytes(), MemoryUse::working);
  copy_now(input.data(), bytes.data(), bytes.size());
  const BlockSpec output = stage.prepare(spec);
  EXPECT_EQ(output.type, ElementType::complex64);
  EXPECT_EQ(output.rows * output.columns, grid.pixels());
  std::vector<std::complex<float>> image(grid.pixels(), {NAN, NAN});
  const Buffer on_device = backend.allocate(output.bytes(), MemoryUse::working);
  copy_now(on_device.data(), image.data(), output.bytes());
  // Twice: a frame leaves nothing behind for the next.
  for (int frame = 0; frame < 2; ++frame) stage.process({input.data()}, {on_device.data()}, *queue);
  queue->finish();
  copy_now(image.data(), on_device.data(), output.bytes());
  return image;
}

}  // namespace

std::vector<std::complex<float>> beamform_cuda(const BeamformOptions& options, const BlockSpec& planar,
                                               const std::vector<float>& rows, const Way& way) {
  const auto backend = make_cuda_backend();
  const BlockSpec spec = spec_of(planar, way.half);
  const bool nearest = options.interpolation == Interpolation::nearest;
  const auto stage = make_beamform_cuda(options, *backend, way.kind);
  return image_of(*backend, *stage, spec, elements_of(planar, rows, spec, way.half, nearest), options.grid);
}

std::vector<std::complex<float>> adaptive_beamform_cuda(const AdaptiveBeamformOptions& options, const BlockSpec& planar,
                                                        const std::vector<float>& rows) {
  const auto backend = make_cuda_backend();
  const BlockSpec spec = spec_of(planar, false);
  const auto stage = make_adaptive_beamform_cuda(options, *backend);
  auto image = image_of(*backend, *stage, spec, elements_of(planar, rows, spec, false, false), options.sum.grid);
  const StageStatement statement = adaptive_beamform_stage.state(options, spec, BackendKind::cuda);
  EXPECT_LE(stage->bytes(), statement.memory.device);
  return image;
}
#else
std::vector<std::complex<float>> beamform_cuda(const BeamformOptions& /*options*/, const BlockSpec& /*planar*/,
                                               const std::vector<float>& /*rows*/, const Way& /*way*/) {
  return {};
}
std::vector<std::complex<float>> adaptive_beamform_cuda(const AdaptiveBeamformOptions& /*options*/, const BlockSpec& /*planar*/,
                                                        const std::vector<float>& /*rows*/) {
  return {};
}
#endif

}  // namespace echoform
