// The methods that there are, and the one that a configuration asks for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "methods/method.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {

[[nodiscard]] const std::vector<std::unique_ptr<const Method>>& methods();
/// Null where there is none of this name.
[[nodiscard]] const Method* find_method(std::string_view name);
/// Adds a method of another program. Call it before the first configuration is read. Throws InputError for a name that is taken
/// or empty.
void add_method(std::unique_ptr<const Method> method);

/// The method of [imaging] method. Throws InputError, naming the configuration, if there is none.
[[nodiscard]] const Method& method_of(const ImagingSettings& settings);

/// The reason why the method's images cannot be formed on a GPU: a stage that the method adds. Empty where they can.
[[nodiscard]] std::string why_not_on_gpu(const Method& method);
/// The same for the images that a configuration requests; its settings too may be supported by the CPU alone.
[[nodiscard]] std::string why_not_on_gpu(const ImagingSettings& settings);
/// Throws InputError, naming the configuration, if [imaging] backend is "cuda" and there is such a reason.
void require_backend(const ImagingSettings& settings);

/// The setup that its method makes of a request. Notes and warnings are in the setup, including those of doubtful values
/// (methods/doubtful.hpp); they are not logged yet. If the request is refused, doubtful values are logged before. Throws
/// InputError where the method does or where the backend that is requested lacks a stage, and std::logic_error for a setup
/// without an envelope for each of the method's images().
[[nodiscard]] std::shared_ptr<const ImagingSetup> resolve_imaging(const ImagingRequest& request);
/// Method::retuned() by the method of the settings, for scans too.
[[nodiscard]] std::shared_ptr<const ImagingSetup> retune_imaging(const ImagingSetup& before, const ImagingSettings& wanted,
                                                                 std::uint64_t settings_revision);
/// Logs what is doubtful in a configuration by which no setup is resolved yet.
void log_doubts(const Configuration& configuration);
/// What is doubtful in data, a line each, for commands that resolve no setup (methods/doubtful.hpp). It concerns values
/// that the configuration does not replace. `acquisition` is as the data state it.
[[nodiscard]] std::vector<std::string> doubts_about_data(const ImagingSettings& settings, Acquisition acquisition,
                                                         const StatedByData& stated);
/// Logs the lines of doubts_about_data().
void log_doubts_about_data(const ImagingSettings& settings, const Acquisition& acquisition, const StatedByData& stated);
/// The source of `simulate` and `demo` by its method. If the settings are refused, what is doubtful in them is logged
/// before, since it may show the mistake. Throws InputError.
[[nodiscard]] SimulatorConfiguration simulated_source(const Configuration& configuration);
/// Puts notes and warnings of a setup into the log, a line each.
void log_findings(const ImagingSetup& setup);

/// The row of [imaging] method.
[[nodiscard]] Key method_key();

}  // namespace echoform
