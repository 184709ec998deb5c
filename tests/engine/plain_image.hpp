// Random frames, and their images by a plain computation in double precision that decodes, transforms and sums by the
// definitions and includes nothing of the stages.
#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <vector>

#include "methods/tfm/plan.hpp"

namespace echoform::test {

using Complex = std::complex<double>;

/// Raw bytes of a frame, and the amplitudes that they stand for.
struct Frame {
  std::vector<std::byte> bytes;
  std::vector<double> amplitudes;  // [a_scan, sample]
};

[[nodiscard]] Frame random_frame(const Acquisition& acquisition, unsigned seed);

/// Weight of an element at a place, m; or the seconds from there to it, NaN where it does not reach.
using PlainWeight = std::function<double(std::size_t element, double x, double y, double z)>;

/// (1 / N^2) * the sum over every ordered pair that was received, by the conventions for the kinds of matrices, contact legs of
/// those velocities and linear interpolation; of the gate alone where the plan has one. [z, x], volumes [z, y, x]. `weight` is
/// that of either side, 1 where there is none.
[[nodiscard]] std::vector<Complex> plain_image(const ImagingPlan& plan, const Frame& frame, double velocity_transmit,
                                               double velocity_receive, const PlainWeight& weight = {});

/// The same with those times on either side.
[[nodiscard]] std::vector<Complex> plain_image_of(const ImagingPlan& plan, const Frame& frame, const PlainWeight& transmit,
                                                  const PlainWeight& receive, const PlainWeight& weight = {});

/// Seconds from an event, or to a receiver, of a point (x, z); NaN where it does not reach.
using PlainTime = std::function<double(std::size_t source, double x, double z)>;

/// The image [z, x] of an acquisition that lists its events: (1 / A-scans of a frame) times the sum over all received
/// A-scans, without dead elements, of the event's `weight` times the sample at transmit + receive.
[[nodiscard]] std::vector<Complex> plain_event_image(const ImagingPlan& plan, const Frame& frame, const PlainTime& transmit,
                                                     const PlainTime& receive,
                                                     const std::function<double(std::size_t event)>& weight = {});

/// ||a - b|| / ||b||; `a` has the size of `b`.
[[nodiscard]] double relative_error(const std::complex<float>* a, const std::vector<Complex>& b);

}  // namespace echoform::test
