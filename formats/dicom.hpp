// Pictures for archives: DICOM secondary captures, which are those of DICONDE (ASTM E2339) where the patient is a component.
#pragma once

#include <string>

namespace echoform::formats {

/// Whether this build writes such files.
[[nodiscard]] bool dicom_available();
/// "3.6.7", the version of DCMTK, or why no such files are written.
[[nodiscard]] std::string dicom_status();

}  // namespace echoform::formats
