// A model whose data are filtered as the recorded ones are.
#pragma once

#include <cstddef>
#include <memory>

#include "cpu/thread_team.hpp"
#include "methods/row_filter.hpp"
#include "operators/linear_operator.hpp"

namespace echoform {

/// data = F H image, where H is `model`. Its rows of `row_samples` are filtered on the host, wherever the model works, as
/// in methods/row_filter.hpp. The adjoint is H^T F^T, the exact transpose except for rounding. The bits are the same for
/// any number of threads. The team outlives the operator. Throws InputError for rows that do not divide the data and as
/// RowFilter does; RuntimeFault if there is no memory.
[[nodiscard]] std::unique_ptr<LinearOperator> make_filtered_model(std::unique_ptr<LinearOperator> model, std::size_t row_samples,
                                                                  const FilterOptions& filter, ThreadTeam& team);

/// Bytes that it holds in addition to its model.
[[nodiscard]] std::size_t filtered_model_bytes(std::size_t data_size, std::size_t row_samples, const FilterOptions& filter,
                                               std::size_t threads);

}  // namespace echoform
