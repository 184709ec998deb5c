// Pictures for archives: DICOM secondary captures, which are those of DICONDE (ASTM E2339) where the patient is a component.
#pragma once

#include <filesystem>
#include <string>

#include "formats/image_writer.hpp"

namespace echoform::formats {

/// Whether this build writes such files.
[[nodiscard]] bool dicom_available();
/// "3.6.7", the version of DCMTK, or why no such files are written.
[[nodiscard]] std::string dicom_status();

/// Writes to `path`; `name` is what messages call it. The figure of the image, in colours, or by its archive entry the image
/// itself in 8 bits: of grey, 255 at 0 dB, or on a scale of numbers levels of it with a palette of the figure's colours; and what
/// these bytes stand for, as a Real World Value Mapping. In either case with the places of its pixels: Pixel Spacing in mm,
/// regions in cm with what their first pixel stands for, and of a plane of the part where it lies (base/anatomical_axes.hpp). All
/// files of one run are one series of one study. Throws InputError for volumes without their figure and as draw_figure(),
/// RuntimeFault if writing fails or this build cannot.
void write_dicom(const std::filesystem::path& path, const std::string& name, const ImageFile& image);

}  // namespace echoform::formats
