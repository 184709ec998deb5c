#include "tests/engine/plain_image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <numbers>
#include <random>

namespace echoform::test {

Frame random_frame(const Acquisition& acquisition, unsigned seed) {
  Frame frame;
  frame.bytes.resize(acquisition.frame_bytes());
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> twelve_bits(-2000, 2000);
  for (std::size_t row = 0; row < acquisition.a_scans(); ++row) {
    auto* place = reinterpret_cast<unsigned char*>(frame.bytes.data()) + row * acquisition.bytes_per_a_scan();
    for (std::size_t k = 0; k < acquisition.samples; ++k) {
      const int value = twelve_bits(random);
      switch (acquisition.encoding) {
        case SampleEncoding::int16: {
          const auto stored = static_cast<std::int16_t>(value);
          std::memcpy(place + 2 * k, &stored, 2);
          break;
        }
        case SampleEncoding::packed12: {
          const unsigned bits = static_cast<unsigned>(value) & 0xFFFU;
          unsigned char* pair = place + k / 2 * 3;
          if (k % 2 == 0) {
            pair[0] = static_cast<unsigned char>(bits & 0xFFU);
            pair[1] = static_cast<unsigned char>((pair[1] & 0xF0U) | (bits >> 8U));
          } else {
            pair[1] = static_cast<unsigned char>((pair[1] & 0x0FU) | ((bits & 0xFU) << 4U));
            pair[2] = static_cast<unsigned char>(bits >> 4U);
          }
          break;
        }
        case SampleEncoding::float32: {
          const auto stored = static_cast<float>(value);
          std::memcpy(place + 4 * k, &stored, 4);
          break;
        }
      }
      frame.amplitudes.push_back(value * (acquisition.encoding == SampleEncoding::float32 ? 1.0 : acquisition.sample_scale));
    }
  }
  return frame;
}

namespace {

/// s + i H{s} by the definition of the discrete Fourier transform.
std::vector<Complex> analytic(const double* s, std::size_t m) {
  std::vector<Complex> turn(m);
  for (std::size_t k = 0; k < m; ++k)
    turn[k] = std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(m));
  std::vector<Complex> spectrum(m);
  for (std::size_t f = 0; f < m; ++f) {
    for (std::size_t n = 0; n < m; ++n) spectrum[f] += s[n] * std::conj(turn[f * n % m]);
    const bool alone = f == 0 || 2 * f == m;
    spectrum[f] *= alone ? 1.0 : 2 * f < m ? 2.0 : 0.0;
  }
  std::vector<Complex> result(m);
  for (std::size_t n = 0; n < m; ++n) {
    for (std::size_t f = 0; 2 * f <= m; ++f) result[n] += spectrum[f] * turn[f * n % m];
    result[n] /= static_cast<double>(m);
  }
  return result;
}

}  // namespace

std::vector<Complex> plain_image_of(const ImagingPlan& plan, const Frame& frame, const PlainWeight& transmit,
                                    const PlainWeight& receive, const PlainWeight& weight) {
  const Acquisition& a = plan.acquisition;
  const Grid& grid = plan.grid;
  const SampleGate gate = plan.gate.value_or(SampleGate{0, a.samples});
  const std::size_t n = a.elements();
  std::vector<std::vector<Complex>> rows;
  for (std::size_t row = 0; row < a.a_scans(); ++row)
    rows.push_back(analytic(frame.amplitudes.data() + row * a.samples + gate.first, gate.count));
  // Where each pair lies if the events are listed: their receivers one after the other. A frame of which some event has receivers
  // of its own is divided by the pairs that it holds.
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> listed;
  bool by_all = true;
  for (const TransmitEvent& event : a.events) {
    const std::size_t tx = std::get<ElementEvent>(event.form).element;
    by_all = by_all && event.receivers.empty();
    for (std::size_t k = 0; k < (event.receivers.empty() ? n : event.receivers.size()); ++k) {
      listed.emplace(std::pair{tx, event.receivers.empty() ? k : std::size_t{event.receivers[k]}}, listed.size());
    }
  }
  std::vector<Complex> image;
  const auto place = [](const Axis& axis, std::size_t index) {
    if (axis.count == 1) return axis.first.value;
    return axis.first.value + (axis.last - axis.first).value * static_cast<double>(index) / static_cast<double>(axis.count - 1);
  };
  for (std::size_t iz = 0; iz < grid.z.count; ++iz) {
    for (std::size_t across = 0; across < grid.y.count * grid.x.count; ++across) {
      const double x = place(grid.x, across % grid.x.count);
      const double y = place(grid.y, across / grid.x.count);
      const double z = place(grid.z, iz);
      std::vector<double> out;
      std::vector<double> back;
      std::vector<double> weights;
      for (std::size_t element = 0; element < n; ++element) {
        out.push_back(transmit(element, x, y, z));
        back.push_back(receive(element, x, y, z));
        weights.push_back(weight ? weight(element, x, y, z) : 1.0);
      }
      Complex sum = 0.0;
      for (std::size_t tx = 0; tx < n; ++tx) {
        for (std::size_t rx = 0; rx < n; ++rx) {
          if (a.probe.elements[tx].dead || a.probe.elements[rx].dead) continue;
          const std::size_t i = a.matrix == MatrixKind::full ? tx : std::min(tx, rx);
          const std::size_t j = a.matrix == MatrixKind::full ? rx : std::max(tx, rx);
          std::size_t row = tx * n + rx;
          if (a.matrix != MatrixKind::full) {
            row = 0;
            for (std::size_t k = 0; k < i; ++k) row += n - k;
            row += j - i;
          }
          if (!a.events.empty()) {
            const auto found = listed.find({tx, rx});
            if (found == listed.end()) continue;
            row = found->second;
          }
          const double share = a.matrix == MatrixKind::half_summed && i != j ? 0.5 : 1.0;
          const double tau = out[tx] + back[rx];
          const double u =
              (tau - a.start_time.value + a.time_offset.value) * a.sample_rate.value - static_cast<double>(gate.first);
          if (!(u >= 0.0 && u < static_cast<double>(gate.count - 1))) continue;
          const auto k = static_cast<std::size_t>(u);
          const double f = u - static_cast<double>(k);
          sum += share * weights[tx] * weights[rx] * ((1.0 - f) * rows[row][k] + f * rows[row][k + 1]);
        }
      }
      image.push_back(sum / static_cast<double>(by_all ? n * n : listed.size()));
    }
  }
  return image;
}

std::vector<Complex> plain_image(const ImagingPlan& plan, const Frame& frame, double velocity_transmit, double velocity_receive,
                                 const PlainWeight& weight) {
  const auto straight = [&](double velocity) -> PlainWeight {
    return [&plan, velocity](std::size_t element, double x, double y, double z) {
      const Point& at = plan.acquisition.probe.elements[element].centre;
      return std::hypot(x - at.x.value, y - at.y.value, z - at.z.value) / velocity;
    };
  };
  return plain_image_of(plan, frame, straight(velocity_transmit), straight(velocity_receive), weight);
}

std::vector<Complex> plain_event_image(const ImagingPlan& plan, const Frame& frame, const PlainTime& transmit,
                                       const PlainTime& receive, const std::function<double(std::size_t event)>& weight) {
  const Acquisition& a = plan.acquisition;
  const SampleGate gate = plan.gate.value_or(SampleGate{0, a.samples});
  std::vector<Complex> image(plan.grid.pixels());
  std::size_t row = 0;
  for (std::size_t event = 0; event < a.events.size(); ++event) {
    std::vector<std::uint32_t> receivers = a.events[event].receivers;
    for (std::uint32_t k = 0; a.events[event].receivers.empty() && k < a.elements(); ++k) receivers.push_back(k);
    for (const std::uint32_t receiver : receivers) {
      const auto samples = analytic(frame.amplitudes.data() + row++ * a.samples + gate.first, gate.count);
      if (a.probe.elements[receiver].dead) continue;
      for (std::size_t pixel = 0; pixel < image.size(); ++pixel) {
        const Point p = plan.grid.at(pixel);
        const double tau = transmit(event, p.x.value, p.z.value) + receive(receiver, p.x.value, p.z.value);
        const double u = (tau - a.start_time.value + a.time_offset.value) * a.sample_rate.value - static_cast<double>(gate.first);
        if (!(u >= 0.0 && u < static_cast<double>(gate.count - 1))) continue;
        const auto k = static_cast<std::size_t>(u);
        const double f = u - static_cast<double>(k);
        image[pixel] += (weight ? weight(event) : 1.0) * ((1.0 - f) * samples[k] + f * samples[k + 1]);
      }
    }
  }
  for (Complex& value : image) value /= static_cast<double>(row);
  return image;
}

double relative_error(const std::complex<float>* a, const std::vector<Complex>& b) {
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    difference += std::norm(Complex(a[k]) - b[k]);
    norm += std::norm(b[k]);
  }
  return std::sqrt(difference / norm);
}

}  // namespace echoform::test
