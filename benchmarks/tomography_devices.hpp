// Tomography on several GPUs of a machine, one thread a GPU. In builds with CUDA code.
#pragma once

#include <cstddef>

#include "benchmarks/statistics.hpp"
#include "benchmarks/tomography.hpp"
#include "methods/tomography/section.hpp"

namespace echoform::benchmarks {

/// Seconds by the clock from all beginning to all having done: each projects terms in its memory back onto a share of the planes
/// of the case, which stay there.
[[nodiscard]] Spread projections_on_devices(const ProjectionCase& test, TomographyAlgorithm algorithm, std::size_t devices);

enum class ModelOnDevices : unsigned char { interpolated, spherical };

/// The same of an apply and its adjoint (operators/), each of a share of the case's detectors: images come from the host's memory
/// and go there, sums of the devices' images (gpu/device_group.hpp) counted in. Throws RuntimeFault where there are no groups.
[[nodiscard]] Spread models_on_devices(const ProjectionCase& test, ModelOnDevices model, std::size_t devices);

}  // namespace echoform::benchmarks
