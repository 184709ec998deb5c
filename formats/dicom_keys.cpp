// The keys of [dicom].
#include "formats/dicom_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "config/key_types.hpp"

namespace echoform {
namespace {

constexpr auto picture_words = make_words(std::pair{DicomPicture::figure, std::string_view("figure")},
                                          std::pair{DicomPicture::image, std::string_view("image")});

[[noreturn]] void refuse_value(const std::string& text, std::string_view where, std::string_view expected) {
  throw InputError(where, fmt::format("\"{}\"", text), std::string(expected));
}

bool all_digits(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Counts the characters of UTF-8: all bytes except continuation bytes. A backslash would begin another value.
template <std::size_t most>
void short_line(const std::string& text, std::string_view where, std::string_view expected) {
  const auto length = std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0U) != 0x80U; });
  const bool plain = std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c != '\\' && c != 0x7F; });
  if (length > static_cast<std::ptrdiff_t>(most) || !plain) refuse_value(text, where, expected);
}

void date_or_none(const std::string& text, std::string_view where, std::string_view expected) {
  const bool date = text.size() == 8 && all_digits(text) && text.substr(4, 2) >= "01" && text.substr(4, 2) <= "12" &&
                    text.substr(6) >= "01" && text.substr(6) <= "31";
  if (!text.empty() && !date) refuse_value(text, where, expected);
}

void sex_or_none(const std::string& text, std::string_view where, std::string_view expected) {
  if (!text.empty() && text != "M" && text != "F" && text != "O") refuse_value(text, where, expected);
}

/// PS3.5, 9.1: numbers without leading zeros, separated by dots.
void uid_or_none(const std::string& text, std::string_view where, std::string_view expected) {
  bool good = text.size() <= 64;
  for (std::string_view rest = text; good && !text.empty();) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    good = !part.empty() && all_digits(part) && (part.size() == 1 || part.front() != '0');
    if (part.size() == rest.size()) break;
    rest.remove_prefix(part.size() + 1);
  }
  if (!good) refuse_value(text, where, expected);
}

}  // namespace

KeyGroup dicom_keys() {
  KeyGroup group;
  group.sections = {{"dicom",
                     "What .dcm files of `echoform image` show and what archives file them under (docs/command-line.md): DICOM "
                     "secondary captures, or DICONDE's, whose patient is a component."}};
  std::vector<Key>& k = group.keys;
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(word(
      {"dicom", "picture", "",
       "What is kept: the figure with its axes, in colours, or the image itself, a grey pixel for each of the grid's."},
      picture_words, [](auto& c) -> auto& { return section<DicomSection>(c).picture; }));
  const auto add = [&](const char* name, const char* keyword, const char* range, TextCheck check, const char* help) {
    k.push_back(text(
        {"dicom", name, "", help}, range,
        check, [keyword](auto& c) -> auto& { return section<DicomSection>(c).attributes.at(keyword); }));
  };
  constexpr const char* line = "a line of up to 64 characters, without backslashes";
  constexpr const char* short_text = "a line of up to 16 characters, without backslashes";
  add("name", "PatientName", line, short_line<64>, "Patient's Name, FAMILY^GIVEN; of DICONDE the Component Name.");
  add("id", "PatientID", line, short_line<64>, "Patient ID; of DICONDE the Component ID Number.");
  add("date", "PatientBirthDate", "YYYYMMDD, or empty", date_or_none,
      "Patient's Birth Date; of DICONDE the Component Manufacturing Date.");
  add("sex", "PatientSex", "M, F, O, or empty", sex_or_none, "Patient's Sex, which DICONDE leaves out.");
  add("study_uid", "StudyInstanceUID", "numbers with dots between, up to 64 characters, or empty", uid_or_none,
      "Study Instance UID, of all files that belong together; empty is a new one for each run.");
  add("study_id", "StudyID", short_text, short_line<16>, "Study ID.");
  add("study_description", "StudyDescription", line, short_line<64>, "Study Description.");
  add("accession_number", "AccessionNumber", short_text, short_line<16>, "Accession Number.");
  add("series_description", "SeriesDescription", line, short_line<64>, "Series Description.");
  add("institution", "InstitutionName", line, short_line<64>, "Institution Name.");
  add("operator", "OperatorsName", line, short_line<64>, "Operators' Name, FAMILY^GIVEN.");
  add("component_manufacturer", "ComponentManufacturer", line, short_line<64>, "Component Manufacturer, of DICONDE.");
  add("material_grade", "MaterialGrade", line, short_line<64>, "Material Grade, of DICONDE.");
  return group;
}

}  // namespace echoform
