// The section [dicom] of the configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace echoform {

enum class DicomPicture : std::uint8_t { figure, image };

/// Found by section<DicomSection>(configuration).
struct DicomSection {
  DicomPicture picture = DicomPicture::figure;
  /// DICOM's keywords and what is stated; empty: nothing.
  std::map<std::string, std::string, std::less<>> attributes{
      {"PatientName", ""},       {"PatientID", ""},       {"PatientBirthDate", ""}, {"PatientSex", ""},
      {"StudyInstanceUID", ""},  {"StudyID", ""},         {"StudyDescription", ""}, {"AccessionNumber", ""},
      {"SeriesDescription", ""}, {"InstitutionName", ""}, {"OperatorsName", ""},    {"ComponentManufacturer", ""},
      {"MaterialGrade", ""}};
};

}  // namespace echoform
