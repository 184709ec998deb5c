// A model whose detectors answer a pressure with their electrical impulse response.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/thread_team.hpp"
#include "operators/linear_operator.hpp"

namespace echoform {

/// The response h of each detector, by which its row of samples is convolved: at sample n SUM over k of h[k] p[n + zero - k]. The
/// sum of h is the gain of what changes slowly.
struct ImpulseResponse {
  std::vector<double> samples;  ///< h at the rate of the rows; finite
  std::size_t zero = 0;         ///< which of them is at the time of the pressure
};

/// data = C H image, where H is `model`, whose rows are convolved on the host, wherever the model works. Sound that arrives
/// before the record and rings on into it is missing. The adjoint is H^T C^T, the exact transpose but for rounding. Results
/// have the same bits for any number of threads. The team outlives the model. Throws InputError for a response without
/// samples or with some that are not finite, a zero that is none of them, rows that do not share out the data; RuntimeFault
/// if there is no memory.
[[nodiscard]] std::unique_ptr<LinearOperator> make_responding_model(std::unique_ptr<LinearOperator> model,
                                                                    std::size_t row_samples, const ImpulseResponse& response,
                                                                    ThreadTeam& team);

/// Bytes that it holds beside its model.
[[nodiscard]] std::size_t responding_model_bytes(std::size_t data_size, std::size_t row_samples, const ImpulseResponse& response,
                                                 std::size_t threads);

}  // namespace echoform
