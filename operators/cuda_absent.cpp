// The CUDA models of a build without CUDA code.
#ifndef ECHOFORM_WITH_CUDA
#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "operators/interpolated_model_cuda.hpp"
#include "operators/spherical_model_cuda.hpp"

namespace echoform {

std::unique_ptr<LinearOperator> make_spherical_model_cuda(const ModelGeometry& /*geometry*/,
                                                          const SphericalModelOptions& /*options*/, ThreadTeam& /*team*/,
                                                          int /*device*/) {
  throw RuntimeFault("backend cuda: " + why_no_cuda());
}

std::unique_ptr<LinearOperator> make_interpolated_model_cuda(const ModelGeometry& /*geometry*/, ThreadTeam& /*team*/,
                                                             int /*device*/) {
  throw RuntimeFault("backend cuda: " + why_no_cuda());
}

}  // namespace echoform
#endif
