// Names of the members of HDF5 groups.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/hdf5_file.hpp"

namespace echoform::formats {

/// All names in a group by the number that they end in, as "0000000012" and "sequence_0012" do; those without come last. `what`
/// they name is for messages. Throws InputError, naming `where`, unless there are 1 to `most`.
[[nodiscard]] std::vector<std::string> names_by_number(const Hdf5Handle& group, std::size_t most, std::string_view what,
                                                       const std::string& where);

/// Paths of all groups below the root, that one too, in the order of their names; none where HDF5 cannot go through them.
[[nodiscard]] std::vector<std::string> names_of_groups(const Hdf5Handle& file);

}  // namespace echoform::formats
