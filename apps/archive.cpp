#include "apps/archive.hpp"

#include "formats/dicom_section.hpp"

namespace echoform {

ArchiveEntry archive_entry(const Configuration& configuration) {
  const auto& stated = section<DicomSection>(configuration);
  ArchiveEntry entry{stated.picture == DicomPicture::figure, {}};
  for (const auto& [keyword, value] : stated.attributes) {
    if (!value.empty()) entry.attributes.emplace_back(keyword, value);
  }
  return entry;
}

}  // namespace echoform
