// The interpolated model on a GPU.
#pragma once

#include <memory>

#include "cpu/thread_team.hpp"
#include "operators/interpolated_model.hpp"

namespace echoform {

/// make_interpolated_model() on CUDA device `device`, of a geometry that passes validate(); the team copies, and
/// outlives it. Throws as that does; RuntimeFault in
/// builds without CUDA code.
[[nodiscard]] std::unique_ptr<LinearOperator> make_interpolated_model_cuda(const ModelGeometry& geometry, ThreadTeam& team,
                                                                           int device);

}  // namespace echoform
