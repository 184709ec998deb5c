// `echoform reconstruct` without its options and files: makes the problem that solvers solve from a configuration and a
// recording.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "formats/recording.hpp"
#include "jobs/communicator.hpp"
#include "jobs/digest.hpp"
#include "jobs/reconstruction_section.hpp"
#include "jobs/run_solver.hpp"
#include "jobs/solver.hpp"
#include "methods/filter_settings.hpp"
#include "methods/optoacoustic_images.hpp"
#include "methods/unmixing_settings.hpp"
#include "operators/element_parts.hpp"
#include "operators/linear_operator.hpp"
#include "operators/model_geometry.hpp"
#include "operators/operator_site.hpp"
#include "operators/responding_model.hpp"

namespace echoform {

/// What is solved in one run: the volume of one wavelength.
struct Reconstruction {
  std::string wavelength;  ///< its name, "750nm"; empty where it is the only one
  ReconstructionSection settings;
  ModelGeometry geometry;                   ///< geometry of this process's rows
  std::vector<float> data;                  ///< data of these rows: [detector, sample]
  std::size_t rows = 0;                     ///< number of rows of all processes
  Metres largest_half_diagonal;             ///< of the elements of all processes
  ElementParts element_parts;               ///< of rectangular elements, likewise
  std::optional<ImpulseResponse> response;  ///< of the detectors, where it is stated
  FilterOptions filter;                     ///< of data and model; of the kind `none` where none is requested
  double solver_bytes = 0.0;                ///< bytes of memory with frame and volume, without the model
  DigestValue identity{};  ///< of model, solver, penalty, grid, detectors, response and samples: what a checkpoint goes on with
};

struct ReconstructionJob {
  std::vector<Reconstruction> parts;           ///< at least one; each has one wavelength, and all have the same grid
  std::optional<UnmixingPlan> unmixing;        ///< of their volumes
  ShownPart shown = ShownPart::signed_values;  ///< of the volumes, in files and previews
  double volume_bytes = 0.0;                   ///< bytes for the volumes of several wavelengths and what is made of them
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
};

/// Checks what [reconstruction], [unmixing], [grid] and [imaging] state by themselves. Throws InputError, naming
/// configuration and key, if there is no grid, and for keys that the model or the solver does not have.
void check_reconstruction(const Configuration& configuration);

/// Values in [reconstruction] that are legal but cannot be meant, a line each, in the form of doubtful_settings().
[[nodiscard]] std::vector<std::string> doubtful_reconstruction(const Configuration& configuration);

/// Prepares frame `frame` (< frames()) of a recording whose events are all passive, with the changes of [material], [probe]
/// and [acquisition]. Rows of dead elements and muted samples are left out. Rows are filtered where [filter] asks for it,
/// and then the model is too. The rows of each requested wavelength (jobs/wavelength_rows.hpp) are divided among the
/// processes in blocks.
///
/// Throws InputError:
/// - as check_reconstruction(), rows_of_wavelengths(), resolve_unmixing(), resolve_filter(), muted_samples() and
///   read_frame() do,
/// - for events that are not passive, and without a velocity,
/// - for keys of live images that no model supports (methods/reconstructed_volumes.hpp), and [unmixing] of one wavelength,
/// - for detectors within the grid, and for a grid none of whose sound is in the record,
/// - for a file that is no impulse response,
/// - for fewer rows than processes, and for more memory than [imaging] memory_limit.
///
/// `before_reading`, if given, is called with the job before samples are read, which takes long: without data and
/// identities, and with the detectors of all processes. It may throw to refuse. `besides` is the number of bytes of the
/// host's memory that the program takes in addition to samples, model, solver and volumes.
[[nodiscard]] ReconstructionJob prepare_reconstruction(
    const Configuration& configuration, Recording& recording, std::size_t frame, const Communicator& communicator,
    const std::function<void(const ReconstructionJob& job)>& before_reading = {}, double besides = 0.0);

/// H of this process's rows, including the response of their detectors, filtered as the data are. The site's team outlives
/// it.
[[nodiscard]] std::unique_ptr<LinearOperator> make_model(const Reconstruction& job, const OperatorSite& site);
/// Bytes of the host's memory that make_model() will hold. Ask before the model is made.
[[nodiscard]] double model_bytes(const Reconstruction& job, const OperatorSite& site);
/// The highest frequency in the data of a volume: that of the spherical model's band, or of waves whose length is two
/// voxels.
[[nodiscard]] Hertz model_band(const Reconstruction& job);
[[nodiscard]] std::unique_ptr<Solver> make_solver(const Reconstruction& job, const LeastSquares& problem);
[[nodiscard]] StoppingRules stopping_rules(const Reconstruction& job);

}  // namespace echoform
