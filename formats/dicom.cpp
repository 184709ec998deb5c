#include "formats/dicom.hpp"

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/image_formats.hpp"

#ifdef ECHOFORM_WITH_DCMTK
#include <dcmtk/config/osconfig.h>
// The header above configures the headers of DCMTK below, so it comes first.
#include <dcmtk/dcmdata/dcdatset.h>
#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <dcmtk/dcmdata/dcitem.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <dcmtk/oflog/oflog.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <random>
#include <span>
#include <stdexcept>
#include <string_view>

#include "formats/dicom_picture.hpp"

namespace echoform::formats {
namespace {

/// A random UID under the root of UUIDs, which needs no registration (ITU-T X.667): 2.25 and the UUID's number.
std::string new_uid() {
  std::random_device device;
  std::array<std::uint32_t, 4> words{};  // the most significant word first
  for (std::uint32_t& word : words) word = device();
  words[1] = (words[1] & 0xFFFF0FFFU) | 0x00004000U;  // version 4
  words[2] = (words[2] & 0x3FFFFFFFU) | 0x80000000U;
  std::string digits;
  while (std::ranges::any_of(words, [](std::uint32_t word) { return word != 0; })) {
    std::uint64_t rest = 0;
    for (std::uint32_t& word : words) {
      rest = (rest << 32U) | word;
      word = static_cast<std::uint32_t>(rest / 10);
      rest %= 10;
    }
    digits.push_back(static_cast<char>('0' + rest));
  }
  std::ranges::reverse(digits);
  return "2.25." + digits;
}

/// The UID of the study of this run.
const std::string& study_uid() {
  static const std::string uid = new_uid();
  return uid;
}
const std::string& series_uid() {
  static const std::string uid = new_uid();
  return uid;
}
/// The UID of the frame of reference, the coordinates of all images of this run.
const std::string& frame_uid() {
  static const std::string uid = new_uid();
  return uid;
}
std::size_t next_instance() {
  static std::atomic<std::size_t> written{0};
  return ++written;
}

struct Attribute {
  std::string_view keyword;
  DcmTagKey key;
  DcmEVR kind;
};

// The attributes that users state (dicom_keys.cpp). Their value representations are stated here, so that no dictionary must be
// found at run time.
const std::array attributes{
    Attribute{"PatientName", DCM_PatientName, EVR_PN},
    Attribute{"PatientID", DCM_PatientID, EVR_LO},
    Attribute{"PatientBirthDate", DCM_PatientBirthDate, EVR_DA},
    Attribute{"PatientSex", DCM_PatientSex, EVR_CS},
    Attribute{"StudyInstanceUID", DCM_StudyInstanceUID, EVR_UI},
    Attribute{"StudyID", DCM_StudyID, EVR_SH},
    Attribute{"StudyDescription", DCM_StudyDescription, EVR_LO},
    Attribute{"AccessionNumber", DCM_AccessionNumber, EVR_SH},
    Attribute{"SeriesDescription", DCM_SeriesDescription, EVR_LO},
    Attribute{"InstitutionName", DCM_InstitutionName, EVR_LO},
    Attribute{"OperatorsName", DCM_OperatorsName, EVR_PN},
    Attribute{"ComponentManufacturer", DCM_ComponentManufacturer, EVR_ST},
    Attribute{"MaterialGrade", DCM_MaterialGrade, EVR_ST},
};

/// Puts attributes into a data set or an item of one. Every function throws RuntimeFault, naming the file, if DCMTK refuses.
class DicomItem {
 public:
  DicomItem(DcmItem& item, const std::string& name) : item_(item), name_(name) {}

  void text(const DcmTagKey& key, DcmEVR kind, const std::string& value) const {
    require(item_.putAndInsertString(DcmTag(key, kind), value.c_str()));
  }
  void whole(const DcmTagKey& key, std::size_t value) const {
    require(item_.putAndInsertUint16(DcmTag(key, EVR_US), static_cast<Uint16>(value)));
  }
  void unsigned_long(const DcmTagKey& key, std::size_t value) const {
    require(item_.putAndInsertUint32(DcmTag(key, EVR_UL), static_cast<Uint32>(value)));
  }
  void signed_long(const DcmTagKey& key, std::int32_t value) const {
    require(item_.putAndInsertSint32(DcmTag(key, EVR_SL), static_cast<Sint32>(value)));
  }
  void real(const DcmTagKey& key, double value) const { require(item_.putAndInsertFloat64(DcmTag(key, EVR_FD), value)); }
  void bytes(const DcmTagKey& key, const std::vector<std::uint8_t>& values) const {
    require(item_.putAndInsertUint8Array(DcmTag(key, EVR_OB), values.data(), static_cast<unsigned long>(values.size())));
  }
  void words(const DcmTagKey& key, DcmEVR kind, const std::vector<Uint16>& values) const {
    require(item_.putAndInsertUint16Array(DcmTag(key, kind), values.data(), static_cast<unsigned long>(values.size())));
  }
  [[nodiscard]] DicomItem added(const DcmTagKey& sequence) const {
    DcmItem* made = nullptr;
    require(item_.findOrCreateSequenceItem(DcmTag(sequence, EVR_SQ), made, -2));
    return {*made, name_};
  }
  void require(const OFCondition& condition) const {
    if (condition.bad()) throw RuntimeFault(fmt::format("{}: cannot be written: {}", name_, condition.text()));
  }

 private:
  DcmItem& item_;
  const std::string& name_;
};

/// PS3.3 C.8.5.5: the code of the unit, and the factor to it.
struct RegionUnit {
  std::size_t code = 0;  ///< 0: no unit
  double factor = 1.0;
};
RegionUnit region_unit(const std::string& unit) {
  if (unit == "m") return {3, 100.0};  // cm
  if (unit == "s") return {4, 1.0};
  return {};
}

void put_region(const DicomItem& item, const PictureRegion& region) {
  constexpr std::size_t two_dimensional = 1;
  constexpr std::size_t tissue = 1;
  item.whole(DCM_RegionSpatialFormat, two_dimensional);
  item.whole(DCM_RegionDataType, tissue);
  item.unsigned_long(DCM_RegionFlags, 0);
  item.unsigned_long(DCM_RegionLocationMinX0, region.left);
  item.unsigned_long(DCM_RegionLocationMinY0, region.top);
  item.unsigned_long(DCM_RegionLocationMaxX1, region.left + region.width - 1);
  item.unsigned_long(DCM_RegionLocationMaxY1, region.top + region.height - 1);
  // The reference pixel is relative to the region's upper left corner.
  item.signed_long(DCM_ReferencePixelX0, 0);
  item.signed_long(DCM_ReferencePixelY0, 0);
  const RegionUnit across = region_unit(region.across.unit);
  const RegionUnit down = region_unit(region.down.unit);
  item.whole(DCM_PhysicalUnitsXDirection, across.code);
  item.whole(DCM_PhysicalUnitsYDirection, down.code);
  item.real(DCM_ReferencePixelPhysicalValueX, across.factor * region.across.first);
  item.real(DCM_ReferencePixelPhysicalValueY, down.factor * region.down.first);
  item.real(DCM_PhysicalDeltaX, across.factor * region.across.step);
  item.real(DCM_PhysicalDeltaY, down.factor * region.down.step);
}

void put_times(const DicomItem& item) {
  const std::tm now = fmt::localtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  const std::string date = fmt::format("{:%Y%m%d}", now);
  const std::string time = fmt::format("{:%H%M%S}", now);
  for (const DcmTagKey& key : {DCM_StudyDate, DCM_SeriesDate, DCM_ContentDate, DCM_DateOfSecondaryCapture})
    item.text(key, EVR_DA, date);
  for (const DcmTagKey& key : {DCM_StudyTime, DCM_SeriesTime, DCM_ContentTime, DCM_TimeOfSecondaryCapture})
    item.text(key, EVR_TM, time);
}

/// Puts the attributes that users state, and those that the standard requires even if nothing is known.
void put_identity(const DicomItem& item, const ImageFile& image) {
  for (const Attribute& attribute : attributes) {
    const bool required = attribute.kind != EVR_ST && attribute.key != DCM_StudyDescription &&
                          attribute.key != DCM_SeriesDescription && attribute.key != DCM_InstitutionName &&
                          attribute.key != DCM_OperatorsName;
    if (required) item.text(attribute.key, attribute.kind, "");
  }
  item.text(DCM_ReferringPhysicianName, EVR_PN, "");
  item.text(DCM_PatientOrientation, EVR_CS, "");
  item.text(DCM_StudyInstanceUID, EVR_UI, study_uid());
  item.text(DCM_SeriesInstanceUID, EVR_UI, series_uid());
  item.text(DCM_SeriesNumber, EVR_IS, "1");
  item.text(DCM_InstanceNumber, EVR_IS, fmt::format("{}", next_instance()));
  if (image.archive == nullptr) return;
  for (const auto& [keyword, value] : image.archive->attributes) {
    const auto* const found = std::ranges::find(attributes, keyword, &Attribute::keyword);
    if (found == attributes.end()) throw std::logic_error("write_dicom_aside: an attribute without its kind");
    item.text(found->key, found->kind, value);
  }
}

/// Decimal strings, each of at most 16 characters.
std::string decimals(std::span<const double> values) {
  std::string text;
  for (const double value : values) text += fmt::format("{}{:.9g}", text.empty() ? "" : "\\", value);
  return text;
}

/// Adds what secondary captures do not require, so that viewers put the picture where the image lies.
void put_place(const DicomItem& item, const PicturePlace& place) {
  item.text(DCM_FrameOfReferenceUID, EVR_UI, frame_uid());
  item.text(DCM_PositionReferenceIndicator, EVR_LO, "");
  item.text(DCM_ImagePositionPatient, EVR_DS, decimals(place.first));
  item.text(DCM_ImageOrientationPatient, EVR_DS, fmt::format("{}\\{}", decimals(place.across), decimals(place.down)));
}

/// Adds a palette of 256 entries of 16 bits.
void put_palette(const DicomItem& item, const std::vector<Rgb>& colours) {
  const std::array descriptors{DCM_RedPaletteColorLookupTableDescriptor, DCM_GreenPaletteColorLookupTableDescriptor,
                               DCM_BluePaletteColorLookupTableDescriptor};
  const std::array tables{DCM_RedPaletteColorLookupTableData, DCM_GreenPaletteColorLookupTableData,
                          DCM_BluePaletteColorLookupTableData};
  for (std::size_t c = 0; c < tables.size(); ++c) {
    std::vector<Uint16> table;
    for (const Rgb& colour : colours) table.push_back(static_cast<Uint16>(257 * colour[c]));
    item.words(descriptors[c], EVR_US, {static_cast<Uint16>(colours.size()), 0, 16});
    item.words(tables[c], EVR_OW, table);
  }
}

/// PS3.3 C.7.6.16.2.11: the meaning of the stored bytes.
void put_values(const DicomItem& item, const PictureValues& values) {
  if (values.first > 0) item.whole(DCM_PixelPaddingValue, 0);
  const DicomItem mapping = item.added(DCM_RealWorldValueMappingSequence);
  mapping.whole(DCM_RealWorldValueFirstValueMapped, values.first);
  mapping.whole(DCM_RealWorldValueLastValueMapped, 255);
  mapping.real(DCM_RealWorldValueIntercept, values.intercept);
  mapping.real(DCM_RealWorldValueSlope, values.slope);
  mapping.text(DCM_LUTExplanation, EVR_LO, values.name.substr(0, 64));
  mapping.text(DCM_LUTLabel, EVR_SH, values.name.substr(0, 16));
  const DicomItem unit = mapping.added(DCM_MeasurementUnitsCodeSequence);
  // The Unified Code for Units of Measure writes powers without a mark, and writes 1 where there is no unit.
  std::string code = values.unit.empty() ? "1" : values.unit;
  std::erase(code, '^');
  unit.text(DCM_CodeValue, EVR_SH, code);
  unit.text(DCM_CodingSchemeDesignator, EVR_SH, "UCUM");
  unit.text(DCM_CodeMeaning, EVR_LO, values.unit.empty() ? "no units" : values.unit);
}

void put_picture(const DicomItem& item, const Picture& picture) {
  const bool palette = picture.values && !picture.values->colours.empty();
  item.whole(DCM_SamplesPerPixel, picture.values ? 1 : 3);
  item.text(DCM_PhotometricInterpretation, EVR_CS, palette ? "PALETTE COLOR" : picture.values ? "MONOCHROME2" : "RGB");
  if (!picture.values) item.whole(DCM_PlanarConfiguration, 0);
  if (palette) put_palette(item, picture.values->colours);
  if (picture.values) put_values(item, *picture.values);
  item.whole(DCM_Rows, picture.height);
  item.whole(DCM_Columns, picture.width);
  item.whole(DCM_BitsAllocated, 8);
  item.whole(DCM_BitsStored, 8);
  item.whole(DCM_HighBit, 7);
  item.whole(DCM_PixelRepresentation, 0);
  if (const auto spacing = picture.spacing()) {
    item.text(DCM_PixelSpacing, EVR_DS, decimals(std::array{1e3 * spacing->first, 1e3 * spacing->second}));
  }
  if (picture.place) put_place(item, *picture.place);
  for (const PictureRegion& region : picture.regions) put_region(item.added(DCM_SequenceOfUltrasoundRegions), region);
  item.bytes(DCM_PixelData, picture.pixels);
}

/// Writes to `path`; messages use `name`. The file holds the figure of the image in colours or, depending on the archive entry,
/// the image itself in 8 bits. These bytes are grey levels, 255 at 0 dB, or on a scale of numbers levels of that scale with a
/// palette of the figure's colours. A Real World Value Mapping states what they stand for. Either file states the places of its
/// pixels: Pixel Spacing in mm, regions in cm with the value of their first pixel, and for a plane of the part where it lies
/// (base/anatomical_axes.hpp). All files of one run are one series of one study. Throws InputError for volumes without their
/// figure and as draw_figure(), RuntimeFault if writing fails or this build cannot.
void write_dicom_aside(const std::filesystem::path& path, const std::string& name, const ImageFile& image) {
  constexpr std::size_t longest_side = 65535;
  // DCMTK would print on standard error what the messages here say.
  OFLog::configure(OFLogger::OFF_LOG_LEVEL);
  const Picture picture = dicom_picture(image, name);
  if (picture.width > longest_side || picture.height > longest_side) {
    throw InputError(name, fmt::format("{} x {} pixels", picture.width, picture.height),
                     fmt::format("sides of up to {}", longest_side));
  }
  DcmFileFormat file;
  const DicomItem item(*file.getDataset(), name);
  item.text(DCM_SpecificCharacterSet, EVR_CS, "ISO_IR 192");  // UTF-8
  item.text(DCM_SOPClassUID, EVR_UI, UID_SecondaryCaptureImageStorage);
  item.text(DCM_SOPInstanceUID, EVR_UI, new_uid());
  item.text(DCM_Modality, EVR_CS, "US");
  item.text(DCM_ConversionType, EVR_CS, "WSD");
  item.text(DCM_SecondaryCaptureDeviceManufacturer, EVR_LO, "Echoform");
  item.text(DCM_BurnedInAnnotation, EVR_CS, picture.names_input ? "YES" : "NO");
  item.text(DCM_ImageComments, EVR_LT, image.view.empty() ? image.title : fmt::format("{}, {}", image.title, image.view));
  put_times(item);
  put_identity(item, image);
  put_picture(item, picture);
  item.require(file.saveFile(path.c_str(), EXS_LittleEndianExplicit, EET_ExplicitLength));
}

}  // namespace

bool dicom_available() {
  return true;
}

std::string dicom_status() {
  return OFFIS_DCMTK_VERSION_STRING;
}

}  // namespace echoform::formats

#else

namespace echoform::formats {

bool dicom_available() {
  return false;
}

std::string dicom_status() {
  return "not in this build (libdcmtk-dev): no .dcm files";
}

namespace {

void write_dicom_aside(const std::filesystem::path& /*path*/, const std::string& name, const ImageFile& /*image*/) {
  throw RuntimeFault(name + ": this build writes no DICOM files");
}

}  // namespace

}  // namespace echoform::formats

#endif

namespace echoform::formats {

constinit const ImageFormat dicom_image_format{
    .extension = ".dcm",
    .meaning = "what .png shows, for archives: DICOM and DICONDE",
    .packages = "libdcmtk-dev",
    .page = "command-line.md#dicom",
    .draws = true,
    .working_bytes = 2 * most_figure_bytes,
    .missing = [] { return dicom_available() ? std::string() : "DCMTK: " + dicom_status(); },
    .write =
        [](const std::filesystem::path& path, const ImageFile& image) {
          AtomicFile file(path);
          write_dicom_aside(file.aside(), path.string(), image);
          file.commit();
        },
};

}  // namespace echoform::formats
