#include "stages/decoding/decoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "acquisition/acquisition.hpp"
#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/decoding/decoding_sizes.hpp"
#include "stages/raw_rows/frame_facts.hpp"

namespace echoform {

DecodingOptions decoding_of(const Acquisition& acquisition, bool reciprocal) {
  DecodingOptions options;
  options.inverse = std::make_shared<const DecodingMatrix>(decoding_matrix(transmit_code(acquisition, "decoding,"), "decoding,"));
  const std::size_t elements = acquisition.elements();
  options.pairs = reciprocal ? summed_pairs(elements) : all_pairs(elements, elements);
  return options;
}

void validate(const DecodingOptions& options) {
  if (!options.inverse || options.inverse->events == 0 || options.inverse->elements == 0) {
    throw InputError("decoding stage, matrix", "none", "one of at least one event and element");
  }
  const DecodingMatrix& matrix = *options.inverse;
  if (matrix.weights.size() != matrix.events * matrix.elements) {
    throw InputError("decoding stage, matrix", fmt::format("{} weights", matrix.weights.size()),
                     fmt::format("{} elements x {} events", matrix.elements, matrix.events));
  }
  const std::size_t receivers = options.pairs.receivers;
  const bool known =
      options.pairs == (options.pairs.summed ? summed_pairs(matrix.elements) : all_pairs(matrix.elements, receivers));
  if (receivers == 0 || !known) {
    throw InputError("decoding stage, pairs", fmt::format("{} rows of {} events", options.pairs.rows, options.pairs.events),
                     fmt::format("every pair or every sum of {} elements", matrix.elements));
  }
  if (options.route == DecodingRoute::hadamard && !matrix.sylvester) {
    throw InputError("decoding stage, route", "hadamard", "product: the code is no Hadamard matrix in Sylvester's order");
  }
}

bool takes_hadamard_route(const DecodingOptions& options, BackendKind backend) {
  if (options.route == DecodingRoute::product || !options.inverse->sylvester) return false;
  if (backend == BackendKind::cpu || options.inverse->events <= most_hadamard_events_cuda) return true;
  if (options.route == DecodingRoute::hadamard) {
    throw InputError("decoding stage, events", fmt::format("{}", options.inverse->events),
                     fmt::format("up to {} by the transform on CUDA", most_hadamard_events_cuda));
  }
  return false;
}

BlockSpec decoding_output(const DecodingOptions& options, const BlockSpec& input, BackendKind backend) {
  require_block(input, "decoding", {ElementType::float32});
  const std::size_t rows = options.inverse->events * options.pairs.receivers;
  if (input.rows != rows) {
    throw InputError("decoding stage, input A-scans", fmt::format("{}", input.rows),
                     fmt::format("{} events x {} receivers", options.inverse->events, options.pairs.receivers));
  }
  BlockSpec output = input;
  output.rows = options.pairs.rows;
  output.row_stride = stride_of(input);
  output.lead = 0;
  output.trailer = 0;
  if (backend == BackendKind::cuda && (options.pairs.summed || takes_hadamard_route(options, backend))) {
    // The peak is read as an aligned word.
    output.trailer = facts_trailer;
  }
  return output;
}

constinit const StageKind decoding_stage{
    .name = "decoding",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_decoding_cpu(options.as<DecodingOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_decoding_cuda(options.as<DecodingOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<DecodingOptions>();
          validate(wanted);
          const BlockSpec& input = inputs.only("decoding");
          StageStatement statement{decoding_output(wanted, input, site.backend), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = decoding_sizes_cuda(wanted, input.columns).bytes();
          } else {
            statement.memory.host = decoding_sizes_cpu(wanted).bytes(team_size(site));
          }
          return statement;
        },
};

}  // namespace echoform
