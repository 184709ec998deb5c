// Volumes of a recording's frame by optimisation, for any program: nothing here knows a command line, a terminal or a log of its
// own. What is the process's all the same stands in recording_imager.hpp.
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
  /// Where the state is written now and then, one file for each wavelength; empty: nowhere.
  std::filesystem::path checkpoint{};
  std::size_t save_every = 10;   ///< iterations between two checkpoints, and one at the end
  bool resume = false;           ///< whether to go on from checkpoints that are there
  bool doubts_are_told = false;  ///< whether the caller has said what is doubtful in the settings
  /// Asked once the settings are accepted, before the file is opened: bytes of memory to be left for what the caller does with
  /// volumes. May throw.
  std::function<std::size_t()> writing_bytes{};
  /// Handed what will be solved before samples are read, which takes long; may throw.
  std::function<void(const ReconstructionJob&)> accept{};
  ImagingMessages messages{};
};

/// Of a solver that is at work.
struct ReconstructionProgress {
  std::size_t part = 0;  ///< the wavelength, of `parts`
  std::size_t parts = 1;
  std::string_view wavelength;  ///< "750nm"; empty where there is one alone
  std::size_t before = 0;       ///< iterations that an earlier run had done
  std::size_t iterations = 0;   ///< that are done now, of `planned`
  std::size_t planned = 0;
  Iteration last{};
  double residual = 0.0;            ///< |H x - y| / |y|
  std::optional<double> in_band{};  ///< the same of what the model's band holds, where the data have more
  std::span<const float> image{};   ///< the iterate, [z, y, x]; empty before the first iteration

  /// "0.0131, in band 0.00217", for people.
  [[nodiscard]] std::string residual_text(int digits) const;
};

/// Several processes reconstruct together, each of them a part of the rows: all call the same functions at once, and errors are
/// those of all (jobs/together.hpp). One thread at a time.
class VolumeReconstructor {
 public:
  /// Reads the frame. Throws InputError as prepare_reconstruction() and open_recording(), for a frame that is not there, for a
  /// backend that is not there, and for checkpoints of other data or settings. The communicator outlives this.
  VolumeReconstructor(const std::filesystem::path& path, Configuration configuration, Communicator& communicator,
                      VolumeReconstructorOptions options = {});
  ~VolumeReconstructor();
  VolumeReconstructor(const VolumeReconstructor&) = delete;
  VolumeReconstructor& operator=(const VolumeReconstructor&) = delete;

  [[nodiscard]] const ReconstructionJob& job() const noexcept { return job_; }
  [[nodiscard]] const Grid& grid() const { return job_.parts.front().geometry.grid; }
  /// What the solver's iterates are.
  [[nodiscard]] ImageQuantity pressure(std::size_t part) const;
  /// Of the files of its checkpoints, that of a part.
  [[nodiscard]] std::filesystem::path checkpoint_of(const Reconstruction& part) const;
  [[nodiscard]] static std::filesystem::path checkpoint_of(const std::filesystem::path& stated, const Reconstruction& part);

  /// Finds where the model works. `viewing_bytes` of memory are left for whoever is shown iterates. Throws InputError where
  /// memory does not hold model and solver.
  void prepare(double viewing_bytes = 0.0);
  /// Told before a part's first iteration, and after each.
  using Progress = std::function<void(const ReconstructionProgress&)>;
  /// Solves part after part. Throws RuntimeFault where `stop` ended it, with what there is to go on from, and where numbers are
  /// not finite any more.
  void solve(const Progress& progress = {}, const std::stop_token& stop = {});

  /// Names of the volumes that files hold: "p0", or wavelengths and what is made of them.
  [[nodiscard]] static std::vector<std::string> volume_names(const ReconstructionJob& job, const Configuration& configuration);
  /// Hands each volume over, by its place among these names, [z, y, x]: of process 0, once all are solved. Its values are valid
  /// during the call.
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
  double besides_ = 0.0;  // bytes of memory that are none of the job's
  std::optional<ThreadTeam> team_;
  std::optional<OperatorSite> site_;
  std::unique_ptr<DeviceGroup> devices_;     // null where MPI adds images up, or nobody has to
  std::vector<std::vector<float>> volumes_;  // of process 0: of the parts that are done
};

}  // namespace echoform
