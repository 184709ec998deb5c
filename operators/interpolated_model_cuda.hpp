// The interpolated model on a GPU.
#pragma once

#include <memory>

#include "operators/interpolated_model.hpp"

namespace echoform {

/// make_interpolated_model() on CUDA device `device`, of a geometry that passes validate(). Throws as that does; RuntimeFault in
/// builds without CUDA code.
[[nodiscard]] std::unique_ptr<LinearOperator> make_interpolated_model_cuda(const ModelGeometry& geometry, int device);

}  // namespace echoform
