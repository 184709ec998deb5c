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
/// A method of another program; before the first configuration is read. Throws InputError for a name that is taken or empty.
void add_method(std::unique_ptr<const Method> method);

/// The one of [imaging] method. Throws InputError, naming the configuration, if there is none.
[[nodiscard]] const Method& method_of(const ImagingSettings& settings);

/// Why the method's images cannot be formed on a GPU: a stage that it brings along; empty where they can.
[[nodiscard]] std::string why_not_on_gpu(const Method& method);
/// The same of the images that a configuration asks for, of which the settings too may be for the CPU alone.
[[nodiscard]] std::string why_not_on_gpu(const ImagingSettings& settings);
/// Throws InputError, naming the configuration, if [imaging] backend is "cuda" and that is why not.
void require_backend(const ImagingSettings& settings);

/// What its method makes of a request. Notes and warnings are in the setup, those of doubtful values too (methods/doubtful.hpp),
/// and nobody has been told yet. Where the request is refused, what is doubtful is in the log before. Throws InputError where the
/// method does or the backend that is asked for lacks a stage, std::logic_error for a setup without an envelope for each of the
/// method's images().
[[nodiscard]] std::shared_ptr<const ImagingSetup> resolve_imaging(const ImagingRequest& request);
/// Method::retuned() by the method of the settings, of scans too.
[[nodiscard]] std::shared_ptr<const ImagingSetup> retune_imaging(const ImagingSetup& before, const ImagingSettings& wanted,
                                                                 std::uint64_t settings_revision);
/// Puts what is doubtful in a configuration into the log, where no setup is resolved by it yet.
void log_doubts(const Configuration& configuration);
/// What is doubtful in data, a line each, for commands that resolve no setup of them (methods/doubtful.hpp): of values that the
/// configuration does not replace. `acquisition` is as the data state it.
[[nodiscard]] std::vector<std::string> doubts_about_data(const ImagingSettings& settings, Acquisition acquisition,
                                                         const StatedByData& stated);
/// Puts these into the log.
void log_doubts_about_data(const ImagingSettings& settings, const Acquisition& acquisition, const StatedByData& stated);
/// The source of `simulate` and `demo` by its method. Where the settings are refused, what is doubtful in them is in the log
/// before: it may say what was meant. Throws InputError.
[[nodiscard]] SimulatorConfiguration simulated_source(const Configuration& configuration);
/// Puts notes and warnings of a setup into the log, a line each.
void log_findings(const ImagingSetup& setup);

/// The row of [imaging] method.
[[nodiscard]] Key method_key();

}  // namespace echoform
