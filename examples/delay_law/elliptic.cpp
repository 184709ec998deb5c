// A delay law that Echoform does not have: straight rays in a material whose wave is faster along x than along z, as in the
// columnar grains of an austenitic weld. With group velocity on an ellipse,
//   tau(i, p) = sqrt((dx / c_x)^2 + (dz / c_z)^2).
// The program registers the law under a name, images echoes of one scatterer that travelled by it, and checks that they
// focus where the scatterer is: and that they do not under the law for an isotropic material.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>

#include "cpu/cpu_backend.hpp"
#include "delay_laws/delay_law.hpp"
#include "stages/beamform/beamform.hpp"

using namespace echoform;

namespace {

constexpr double velocity_along_x = 6300.0;
constexpr double velocity_along_z = 5200.0;

double elliptic_time(Point a, Point b) {
  return std::hypot((b.x - a.x).value / velocity_along_x, (b.z - a.z).value / velocity_along_z);
}

class EllipticLeg final : public Leg {
 public:
  explicit EllipticLeg(const Probe& probe) : probe_(probe) {}

  [[nodiscard]] std::size_t sources() const noexcept override { return probe_.elements.size(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) seconds[k] = elliptic_time(probe_.elements[source].centre, pixels[k]);
  }

 private:
  Probe probe_;
};

DelayLaw make_elliptic_law(const DelayLawRequest& request) {
  const auto leg = std::make_shared<EllipticLeg>(request.acquisition.probe);
  return {request.view, leg, leg};
}

/// Analytic A-scans of every pair i <= j, doubled off the diagonal, as the beamformer takes them.
std::vector<float> echoes(const Acquisition& acquisition, const BlockSpec& spec, Point scatterer) {
  std::vector<float> data(spec.rows * 2 * spec.row_stride);
  std::size_t row = 0;
  for (std::size_t i = 0; i < acquisition.elements(); ++i) {
    for (std::size_t j = i; j < acquisition.elements(); ++j, ++row) {
      const double arrival = elliptic_time(acquisition.probe.elements[i].centre, scatterer) +
                             elliptic_time(acquisition.probe.elements[j].centre, scatterer);
      for (std::size_t k = 0; k < acquisition.samples; ++k) {
        const double t = static_cast<double>(k) / acquisition.sample_rate.value - arrival;
        const double envelope = (i == j ? 1.0 : 2.0) * std::exp(-0.5 * std::pow(t / 0.15e-6, 2));
        const auto value = std::polar(envelope, 2.0 * std::numbers::pi * 5e6 * t);
        data[2 * row * spec.row_stride + k] = static_cast<float>(value.real());
        data[(2 * row + 1) * spec.row_stride + k] = static_cast<float>(value.imag());
      }
    }
  }
  return data;
}

struct Peak {
  float amplitude = 0.0F;
  Point place;
};

Peak brightest(const BeamformOptions& options, const BlockSpec& spec, const std::vector<float>& data) {
  const auto backend = make_cpu_backend();
  const auto queue = backend->make_queue();
  const auto beamform = make_beamform_cpu(options, *backend);
  const BlockSpec output = beamform->prepare(spec);
  std::vector<std::complex<float>> image(output.rows * output.columns);
  beamform->process({data.data()}, {image.data()}, *queue);
  queue->finish();
  Peak peak;
  for (std::size_t k = 0; k < image.size(); ++k) {
    if (std::abs(image[k]) > peak.amplitude) peak = {std::abs(image[k]), options.grid.at(k)};
  }
  return peak;
}

}  // namespace

int main() {
  add_delay_law("elliptic", make_elliptic_law);

  Acquisition acquisition;
  acquisition.probe = make_linear_probe(32, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 1024;
  acquisition.sample_rate = Hertz(40e6);
  Material material;
  material.longitudinal_velocity = MetresPerSecond(velocity_along_z);

  BeamformOptions options;
  options.grid.x = {Metres(-10e-3), Metres(10e-3), 101};
  options.grid.z = {Metres(5e-3), Metres(35e-3), 151};
  options.pairs = summed_pairs(acquisition.elements());
  options.sample_rate = acquisition.sample_rate;
  options.gate = {0, acquisition.samples};
  options.scale = 1.0F / (32.0F * 32.0F);

  BlockSpec spec;
  spec.type = ElementType::planar_complex64;
  spec.rows = options.pairs.rows;
  spec.columns = acquisition.samples;
  spec.row_stride = acquisition.samples + 64;
  const Point scatterer{Metres(3e-3), Metres(0.0), Metres(20e-3)};
  const std::vector<float> data = echoes(acquisition, spec, scatterer);

  options.law = make_delay_law("elliptic", {acquisition, material, "LL"});
  const Peak elliptic = brightest(options, spec, data);
  options.law = make_delay_law("contact", {acquisition, material, "LL"});
  const Peak isotropic = brightest(options, spec, data);

  std::printf("elliptic law: amplitude %.3f at x = %.1f mm, z = %.1f mm\n", elliptic.amplitude, 1e3 * elliptic.place.x.value,
              1e3 * elliptic.place.z.value);
  std::printf("contact law:  amplitude %.3f at x = %.1f mm, z = %.1f mm\n", isotropic.amplitude, 1e3 * isotropic.place.x.value,
              1e3 * isotropic.place.z.value);
  // In phase at the scatterer, all N^2 pairs add up to 1, less what linear interpolation loses of a 5 MHz wave sampled at
  // 40 MHz: sinc^2(5 / 40) = 0.950 on the average over delays.
  const bool focused = std::abs(elliptic.amplitude - 0.950F) < 0.01F && std::abs((elliptic.place.x - scatterer.x).value) < 1e-4 &&
                       std::abs((elliptic.place.z - scatterer.z).value) < 1e-4;
  const bool different = isotropic.amplitude < 0.8F;
  std::puts(focused && different ? "ok" : "FAILED");
  return focused && different ? 0 : 1;
}
