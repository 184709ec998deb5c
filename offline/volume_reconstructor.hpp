// Volumes of a recording's frame by optimisation, for any program: nothing here knows a command line, a terminal or a log
// of its own. recording_imager.hpp lists what concerns the whole process all the same.
//
//   const auto alone = make_single_process();
//   VolumeReconstructor reconstructor("mouse.mat", configuration, *alone);
//   reconstructor.prepare();
//   reconstructor.solve();
//   reconstructor.each_volume([&](std::size_t k, std::span<const float> values, const ImageQuantity& quantity) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/grid.hpp"
#include "config/configuration.hpp"
#include "cpu/thread_team.hpp"
#include "jobs/communicator.hpp"
#include "jobs/reconstruction.hpp"
#include "jobs/run_solver.hpp"
#include "methods/optoacoustic_images.hpp"
#include "offline/imaging_messages.hpp"
#include "operators/operator_site.hpp"

namespace echoform {

class BandOfData;
class DeviceGroup;

struct VolumeReconstructorOptions {
  std::int64_t frame = 0;
  std::string frame_name = "frame";  ///< what messages call it
  /// The file into which the state is written now and then, one for each wavelength; empty: none.
  std::filesystem::path checkpoint{};
  std::size_t save_every = 10;   ///< iterations between two checkpoints; another is written at the end
  bool resume = false;           ///< whether to go on from checkpoints that are there
  bool doubts_are_told = false;  ///< whether the caller has reported what is doubtful in the settings
  /// Called once the settings are accepted, before the file is opened. Returns the bytes of memory to be left for what the
  /// caller does with volumes. May throw.
  std::function<std::size_t()> writing_bytes{};
  /// Called with what will be solved, before samples are read, which takes long. May throw.
  std::function<void(const ReconstructionJob&)> accept{};
  ImagingMessages messages{};
};

/// The progress of a solver that is at work.
struct ReconstructionProgress {
  std::size_t part = 0;  ///< the wavelength, of `parts`
  std::size_t parts = 1;
  std::string_view wavelength;  ///< "750nm"; empty where there is one alone
  std::size_t before = 0;       ///< iterations that an earlier run had done
  std::size_t iterations = 0;   ///< that are done now, of `planned`
  std::size_t planned = 0;
  Iteration last{};
  double residual = 0.0;            ///< |H x - y| / |y|
  std::optional<double> in_band{};  ///< the same within the model's band, where the data have frequencies beyond it
  std::span<const float> image{};   ///< the iterate, [z, y, x]; empty before the first iteration

  /// "0.0131, in band 0.00217", for people.
  [[nodiscard]] std::string residual_text(int digits) const;
};

/// Several processes may reconstruct together, each of them a part of the rows. All call the same functions at once, and an
/// error of one is an error of all (jobs/together.hpp). Used by one thread at a time.
class VolumeReconstructor {
 public:
  /// Reads the frame. Throws InputError as prepare_reconstruction() and open_recording(), for a frame that is not there,
  /// for a backend that is not available, and for checkpoints of other data or settings. The communicator outlives this
  /// object.
  VolumeReconstructor(const std::filesystem::path& path, Configuration configuration, Communicator& communicator,
                      VolumeReconstructorOptions options = {});
  ~VolumeReconstructor();
  VolumeReconstructor(const VolumeReconstructor&) = delete;
  VolumeReconstructor& operator=(const VolumeReconstructor&) = delete;

  [[nodiscard]] const ReconstructionJob& job() const noexcept { return job_; }
  [[nodiscard]] const Grid& grid() const { return job_.parts.front().geometry.grid; }
  /// The quantity that the solver's iterates are.
  [[nodiscard]] ImageQuantity pressure(std::size_t part) const;
  /// The checkpoint file of a part.
  [[nodiscard]] std::filesystem::path checkpoint_of(const Reconstruction& part) const;
  [[nodiscard]] static std::filesystem::path checkpoint_of(const std::filesystem::path& stated, const Reconstruction& part);

  /// Decides where the model works. `viewing_bytes` of memory are left for the viewer of iterates. Throws InputError where
  /// memory does not hold model and solver.
  void prepare(double viewing_bytes = 0.0);
  /// Called before a part's first iteration, and after each.
  using Progress = std::function<void(const ReconstructionProgress&)>;
  /// Solves part after part. Throws RuntimeFault where `stop` ended it, stating what the run can go on from, and where
  /// numbers are no longer finite.
  void solve(const Progress& progress = {}, const std::stop_token& stop = {});

  /// Names of the volumes that files hold: "p0", or wavelengths and what is made of them.
  [[nodiscard]] static std::vector<std::string> volume_names(const ReconstructionJob& job, const Configuration& configuration);
  /// Calls `take` with each volume [z, y, x] and its place among volume_names(). Only process 0 does so, once all parts are
  /// solved. The values are valid during the call.
  void each_volume(const std::function<void(std::size_t, std::span<const float>, const ImageQuantity&)>& take);

 private:
  void read(const std::filesystem::path& path);
  void check_same_data(const std::string& name);
  void check_memory(const OperatorSite& site, double viewing_bytes) const;
  [[nodiscard]] OperatorSite settled_site();
  [[nodiscard]] std::unique_ptr<DeviceGroup> join_devices(const OperatorSite& site);
  void solve_part(std::size_t number, const Progress& progress, const std::stop_token& stop);
  void start(const Reconstruction& part, Solver& solver, SolverProgress& done);
  void tell_band(const Reconstruction& part, const BandOfData& band) const;
  [[noreturn]] void end_interrupted(const Reconstruction& part, const SolverProgress& done) const;
  [[nodiscard]] std::span<const float> shown(std::span<const float> volume, std::vector<float>& memory) const;

  Configuration configuration_;
  Communicator& communicator_;
  const bool root_;
  const VolumeReconstructorOptions options_;
  ReconstructionJob job_;
  double besides_ = 0.0;  // bytes of memory that do not belong to the job
  std::optional<ThreadTeam> team_;
  std::optional<OperatorSite> site_;
  std::unique_ptr<DeviceGroup> devices_;     // null where MPI adds images up, or where there is nothing to add
  std::vector<std::vector<float>> volumes_;  // the volumes of the parts that are done, on process 0
};

}  // namespace echoform
