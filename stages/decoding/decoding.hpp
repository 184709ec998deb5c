// Decoding of events that are rows of a code into firings of single elements: decoded A-scans are sums of received ones.
//
// Input   float32 [events * receivers, samples], any row stride: row event * receivers + receiver, as pairing leaves all_pairs().
// Output  float32 [pairs.rows, samples] at the input's row stride: of all_pairs(elements, receivers) row element * receivers +
//         receiver, and of summed_pairs(elements) decoded (i, j) + (j, i), where laws and weights are the same both ways. Rows of
//         elements that are dead or never fire are zeros. What lies between samples and row stride is of no meaning.
// Accuracy: a sum over the events in single precision (no TF32), of weights that were found in double precision; an error of
// some 1e-7 times the code's condition, relative to the A-scans' norm. By the Walsh-Hadamard transform the results are the same
// bits everywhere.
//
// Ways    hadamard  a Walsh-Hadamard transform over the events, for codes of Sylvester's matrix, of 2 to 256 events on CUDA;
//                   the time of reading and writing once
//         product   a matrix product, for any code; on CUDA by cuBLAS, which is loaded when a stage first wants it
// On CUDA the sums of both directions go through `scratch_bytes`, some samples of all A-scans at a time.
// Where their greatest |value| costs no further pass over the rows - by the way `hadamard`, and of sums by both - CUDA's output
// has a trailer (stages/raw_rows/frame_facts.hpp) that begins with it. Elsewhere it has none, and the analytic signal's half path
// looks for the peak itself.
#pragma once

#include <cstddef>
#include <memory>

#include "acquisition/pair_rows.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/decoding/decoding_matrix.hpp"

namespace echoform {

/// How events are decoded. `automatic` is hadamard where that is possible, else product.
enum class DecodingRoute : unsigned char { automatic, product, hadamard };

struct DecodingOptions {
  std::shared_ptr<const DecodingMatrix> inverse;
  PairRows pairs;  ///< of the output: all_pairs(elements, receivers) or summed_pairs(elements)
  DecodingRoute route = DecodingRoute::automatic;
  std::size_t scratch_bytes = std::size_t{32} << 20;  ///< maximum that CUDA takes for sums; stays in the second-level cache

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const DecodingOptions& a, const DecodingOptions& b) {
    return a.pairs == b.pairs && a.route == b.route && a.scratch_bytes == b.scratch_bytes &&
           (a.inverse == b.inverse || (a.inverse && b.inverse && *a.inverse == *b.inverse));
  }
};

/// Decodes frames of `acquisition`, which come in the rows of all_pairs(events, elements). `reciprocal`: laws and weights
/// are the same for (i, j) and (j, i). Throws InputError where the code cannot be inverted.
[[nodiscard]] DecodingOptions decoding_of(const Acquisition& acquisition, bool reciprocal);

/// The kind of the stage "decoding", whose options are DecodingOptions. On CUDA it states all memory except that which
/// cuBLAS takes for itself.
extern const StageKind decoding_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_decoding_cpu(DecodingOptions options, std::size_t members,
                                                       SimdLevel level = simd_level());

/// Only builds with CUDA have this function. The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_decoding_cuda(DecodingOptions options, Backend& backend);

/// The checks of options and input that every implementation makes, the resulting output, and whether the route `hadamard`
/// is taken. All throw InputError.
void validate(const DecodingOptions& options);
[[nodiscard]] BlockSpec decoding_output(const DecodingOptions& options, const BlockSpec& input, BackendKind backend);
[[nodiscard]] bool takes_hadamard_route(const DecodingOptions& options, BackendKind backend);

/// Maximum number of events of CUDA's transform.
inline constexpr std::size_t most_hadamard_events_cuda = 256;

}  // namespace echoform
