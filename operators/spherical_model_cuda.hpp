// The spherical model on a GPU.
#pragma once

#include <memory>

#include "cpu/thread_team.hpp"
#include "operators/spherical_model.hpp"

namespace echoform {

/// make_spherical_model() on CUDA device `device`, of a geometry that passes validate(); the team copies, and
/// outlives it. Throws as that does; RuntimeFault in
/// builds without CUDA code.
[[nodiscard]] std::unique_ptr<LinearOperator> make_spherical_model_cuda(const ModelGeometry& geometry,
                                                                        const SphericalModelOptions& options, ThreadTeam& team,
                                                                        int device);

}  // namespace echoform
