// The entry of [dicom], for writers of image files.
#pragma once

#include "config/configuration.hpp"
#include "formats/image_writer.hpp"

namespace echoform {

[[nodiscard]] ArchiveEntry archive_entry(const Configuration& configuration);

}  // namespace echoform
