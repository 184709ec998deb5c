// All doors of a server: those of the tree, and those that another program adds by add_source_door() and add_sink_door().
#pragma once

#include <cstddef>
#include <vector>

#include "config/configuration.hpp"
#include "transport/doors.hpp"

namespace echoform {

/// A door of another program, after those of the tree, and its keys; before the first configuration is read. Throw InputError
/// for a label that is taken or empty.
void add_source_door(SourceDoor door);
void add_sink_door(SinkDoor door);

[[nodiscard]] const std::vector<SourceDoor>& source_doors();
[[nodiscard]] const std::vector<SinkDoor>& sink_doors();

/// File descriptors that the server takes if every door has as many connections as the configuration lets in. A connection over
/// ZeroMQ takes two.
[[nodiscard]] std::size_t descriptors_wanted(const Configuration& configuration);
/// Throws RuntimeFault where too few are left for any server; logs a line where the limit does not hold those that are wanted.
void check_descriptors(const Configuration& configuration);

}  // namespace echoform
