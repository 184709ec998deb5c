// Random frames, and their images by a plain computation in double precision that decodes, transforms and sums by the
// definitions and includes nothing of the stages.
#pragma once

#include <complex>
#include <cstddef>
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

/// (1 / N^2) * the sum over every ordered pair that was received, by the conventions for the kinds of matrices, contact legs of
/// those velocities and linear interpolation; of the gate alone where the plan has one. [z, x].
[[nodiscard]] std::vector<Complex> plain_image(const ImagingPlan& plan, const Frame& frame, double velocity_transmit,
                                               double velocity_receive);

/// ||a - b|| / ||b||; `a` has the size of `b`.
[[nodiscard]] double relative_error(const std::complex<float>* a, const std::vector<Complex>& b);

}  // namespace echoform::test
