// All sources and sinks (called doors) of a server: the project's own, and those that another program adds by
// add_source_door() and add_sink_door().
#pragma once

#include <cstddef>
#include <vector>

#include "config/configuration.hpp"
#include "transport/doors.hpp"

namespace echoform {

/// Add a source or sink of another program, with its keys, after the project's own. Call them before the first configuration
/// is read. They throw InputError for a label that is taken or empty.
void add_source_door(SourceDoor door);
void add_sink_door(SinkDoor door);

[[nodiscard]] const std::vector<SourceDoor>& source_doors();
[[nodiscard]] const std::vector<SinkDoor>& sink_doors();

/// Number of file descriptors that the server uses if every source and sink has as many connections as the configuration
/// allows. A connection over ZeroMQ uses two.
[[nodiscard]] std::size_t descriptors_wanted(const Configuration& configuration);
/// Throws RuntimeFault where too few descriptors are left for any server. Logs a line where the limit is below
/// descriptors_wanted().
void check_descriptors(const Configuration& configuration);

}  // namespace echoform
