#include "formats/hdf5_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/errors.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_driver.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

// Descriptive items are small; bulk data is read by the frame. The limit keeps a damaged shape from requesting all memory.
constexpr std::size_t most_points = std::size_t{1} << 26;
constexpr std::size_t piece_points = std::size_t{1} << 20;
constexpr unsigned most_soft_links = 16;  // in one path: as many as HDF5 itself follows

// The mutex is recursive, since handles close themselves inside and outside of sessions.
std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// Superblock version 3 (HDF5 File Format Specification 3.0, II.A): byte 8 is the version, byte 11 holds the consistency flags.
/// Bit 2 of the flags is set while a writer is in SWMR mode.
bool has_swmr_mark(const InputFile& input) {
  std::array<std::byte, 12> start{};
  return input.read(0, start) == start.size() && start[8] == std::byte{3} && (start[11] & std::byte{4}) != std::byte{0};
}

/// Whether the bits of the number's parts lie within the number. HDF5 takes them from wherever the file states that they are.
bool is_sound_number(const Hdf5Handle& type) {
  constexpr std::size_t longest_number = 16;  // bytes
  constexpr std::size_t longest_exponent = 32;
  const std::size_t bits = 8 * H5Tget_size(type.id());
  const H5T_order_t order = H5Tget_order(type.id());
  const int offset = H5Tget_offset(type.id());
  const std::size_t precision = H5Tget_precision(type.id());
  if (bits == 0 || bits > 8 * longest_number || (order != H5T_ORDER_LE && order != H5T_ORDER_BE)) return false;
  const auto within = [bits](std::size_t from, std::size_t count) { return count > 0 && from < bits && count <= bits - from; };
  if (offset < 0 || !within(static_cast<std::size_t>(offset), precision)) return false;
  if (H5Tget_class(type.id()) == H5T_INTEGER) return true;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_fields(type.id(), &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && within(sign, 1) &&
         exponent_bits <= longest_exponent && within(exponent, exponent_bits) && within(mantissa, mantissa_bits);
}

/// Describes, for messages, a link that is neither hard nor soft.
std::string describe_link(const Hdf5Handle& group, const std::string& name, const H5L_info_t& link) {
  std::vector<char> value(std::min(link.u.val_size, Hdf5Item::longest_text));
  unsigned flags = 0;
  const char* file = nullptr;
  const char* object = nullptr;
  if (link.type == H5L_TYPE_EXTERNAL && H5Lget_val(group.id(), name.c_str(), value.data(), value.size(), H5P_DEFAULT) >= 0 &&
      H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &object) >= 0) {
    return fmt::format("an external link to {} in the file \"{}\"", printable(object), printable(file));
  }
  return fmt::format("a link of HDF5's class {}", static_cast<int>(link.type));
}

constexpr std::string_view own_data = "data in the file itself";

/// The object that `path` leads to from `group` on, by hard and soft links. Each step is checked before it is taken. On its own,
/// HDF5 opens whatever file an external link names, even if a soft link passes through that external link.
Hdf5Handle open_inside(const Hdf5Handle& group, std::string_view path, const std::string& where, unsigned& soft_links) {
  Hdf5Handle at(H5Gopen2(group.id(), path.starts_with('/') ? "/" : ".", H5P_DEFAULT));
  while (at && !path.empty()) {
    const std::string name(path.substr(0, path.find('/')));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (name.empty() || name == ".") continue;
    H5L_info_t link{};
    if (H5Lget_info(at.id(), name.c_str(), &link, H5P_DEFAULT) < 0) throw InputError(where, "a link to nothing", own_data);
    if (link.type == H5L_TYPE_HARD) {
      at = Hdf5Handle(H5Oopen(at.id(), name.c_str(), H5P_DEFAULT));
    } else if (link.type == H5L_TYPE_SOFT) {
      if (soft_links-- == 0) throw InputError(where, fmt::format("more than {} soft links", most_soft_links), own_data);
      std::vector<char> target(std::min(link.u.val_size, Hdf5Item::longest_text) + 1, '\0');
      if (H5Lget_val(at.id(), name.c_str(), target.data(), target.size() - 1, H5P_DEFAULT) < 0)
        throw InputError(where, "a damaged soft link", own_data);
      at = open_inside(at, target.data(), where, soft_links);
    } else {
      throw InputError(where, describe_link(at, name, link), own_data);
    }
  }
  return at;
}

/// Throws InputError if reading the dataset would read other files.
void require_own_data(const Hdf5Handle& dataset, const std::string& where) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset.id()));
  const H5D_layout_t layout = creation ? H5Pget_layout(creation.id()) : H5D_LAYOUT_ERROR;
  const int files = creation ? H5Pget_external_count(creation.id()) : -1;
  if (layout == H5D_LAYOUT_ERROR || files < 0) throw InputError(where, "a damaged dataset", own_data);
  std::array<char, 256> name{};
  if (files > 0) {
    H5Pget_external(creation.id(), 0, name.size() - 1, name.data(), nullptr, nullptr);
    throw InputError(where, fmt::format("external storage in the file \"{}\"", printable(name.data())), own_data);
  }
  if (layout == H5D_VIRTUAL) {
    H5Pget_virtual_filename(creation.id(), 0, name.data(), name.size());
    throw InputError(where, fmt::format("a virtual dataset of the file \"{}\"", printable(name.data())), own_data);
  }
}

}  // namespace

Hdf5Session::Hdf5Session() : lock_(hdf5_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
Hdf5Session::~Hdf5Session() {
  // Errors that a thread has not cleared when it ends keep HDF5's error classes alive. HDF5 then cannot close at the program's
  // end.
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
  std::swap(id_, other.id_);
  return *this;
}
Hdf5Handle::~Hdf5Handle() {
  if (id_ < 0) return;
  const Hdf5Session session;
  H5Idec_ref(id_);
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

std::optional<Hdf5Item> Hdf5Item::find(const Hdf5Handle& group, const std::string& name, const std::string& where) {
  Hdf5Item item;
  item.where_ = fmt::format("{}/{}", where, name);
  if (H5Aexists(group.id(), name.c_str()) > 0) {
    item.handle_ = Hdf5Handle(H5Aopen(group.id(), name.c_str(), H5P_DEFAULT));
    item.attribute_ = true;
  } else if (H5Lexists(group.id(), name.c_str(), H5P_DEFAULT) > 0) {
    unsigned soft_links = most_soft_links;
    item.handle_ = open_inside(group, name, item.where_, soft_links);
    if (item.handle_ && H5Iget_type(item.handle_.id()) != H5I_DATASET) item.handle_ = Hdf5Handle();
    if (item.handle_) require_own_data(item.handle_, item.where_);
  } else {
    return std::nullopt;
  }
  if (!item.handle_) throw InputError(item.where_, "something that HDF5 cannot open", "an attribute or a dataset");
  item.describe();
  return item;
}

Hdf5Item Hdf5Item::referred(const Hdf5Item& from, hobj_ref_t reference) {
  H5O_type_t type = H5O_TYPE_UNKNOWN;
  if (reference == 0 || H5Rget_obj_type2(from.handle().id(), H5R_OBJECT, &reference, &type) < 0 || type != H5O_TYPE_DATASET)
    throw InputError(from.where(), "a reference to no dataset", "one to a dataset");
  Hdf5Item item;
  item.handle_ = Hdf5Handle(H5Rdereference2(from.handle().id(), H5P_DEFAULT, H5R_OBJECT, &reference));
  if (!item.handle_) throw InputError(from.where(), "a reference that HDF5 cannot follow", "one to a dataset");
  item.where_ = fmt::format("{}, {}", from.where(), hdf5_name(item.handle_));
  require_own_data(item.handle_, item.where_);
  item.describe();
  return item;
}

void Hdf5Item::describe() {
  const Hdf5Handle space(attribute_ ? H5Aget_space(handle_.id()) : H5Dget_space(handle_.id()));
  const Hdf5Handle type(attribute_ ? H5Aget_type(handle_.id()) : H5Dget_type(handle_.id()));
  const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
  if (!type || rank < 0 || rank > H5S_MAX_RANK || H5Sget_simple_extent_type(space.id()) == H5S_NULL) {
    throw InputError(where_, "damaged or no data", "an array");
  }
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  shape_.assign(sizes.begin(), sizes.begin() + rank);
  switch (H5Tget_class(type.id())) {
    case H5T_FLOAT:
      floating_ = true;
      [[fallthrough]];
    case H5T_INTEGER:
      if (!is_sound_number(type))
        throw InputError(where_, "numbers whose bit fields exceed their size", "numbers that HDF5 can read");
      class_ = Hdf5Class::number;
      break;
    case H5T_STRING:
      class_ = Hdf5Class::text;
      break;
    case H5T_REFERENCE:
      class_ = H5Tequal(type.id(), H5T_STD_REF_OBJ) > 0 ? Hdf5Class::reference : Hdf5Class::other;
      break;
    default:
      break;
  }
}

bool Hdf5Item::exists(const Hdf5Handle& group, const std::string& name) {
  return H5Aexists(group.id(), name.c_str()) > 0 || H5Lexists(group.id(), name.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Item Hdf5Item::require(const Hdf5Handle& group, const std::string& name, const std::string& where) {
  auto item = find(group, name, where);
  if (!item) throw InputError(where, fmt::format("no {}", name), fmt::format("the mandatory {}", name));
  return std::move(*item);
}

std::size_t Hdf5Item::points() const {
  std::size_t points = 1;
  for (const std::size_t size : shape_) {
    if (size != 0 && points > std::numeric_limits<std::size_t>::max() / size) return std::numeric_limits<std::size_t>::max();
    points *= size;
  }
  return points;
}

void Hdf5Item::read(hid_t type, std::span<std::byte> to) const {
  if (!attribute_) return Hdf5Blocks(*this, 0).read_all(type, to);
  if (H5Aread(handle_.id(), type, to.data()) < 0) throw InputError(where_, "damaged data", "values that HDF5 can read");
}

std::vector<double> Hdf5Item::read_numbers() const {
  if (class_ != Hdf5Class::number) throw InputError(where_, "something else than numbers", "integers or floating-point numbers");
  if (points() > most_points)
    throw InputError(where_, fmt::format("{} values", shape_text(shape_)), fmt::format("at most {}", most_points));
  std::vector<double> values(points());
  if (values.empty()) return values;
  read(H5T_NATIVE_DOUBLE, std::as_writable_bytes(std::span(values)));
  return values;
}

std::vector<double> Hdf5Item::numbers() const {
  std::vector<double> values = read_numbers();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k])) throw InputError(where_, fmt::format("{} as value {}", values[k], k + 1), "finite numbers");
  }
  return values;
}

std::vector<double> Hdf5Item::numbers_or_nan() const {
  std::vector<double> values = read_numbers();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isinf(values[k]))
      throw InputError(where_, fmt::format("{} as value {}", values[k], k + 1), "finite numbers, or NaN");
  }
  return values;
}

double Hdf5Item::number_or_infinity() const {
  if (points() != 1) throw InputError(where_, fmt::format("shape {}", shape_text(shape_)), "one value");
  const double value = read_numbers().front();
  if (std::isnan(value)) throw InputError(where_, "nan", "a number");
  return value;
}

std::vector<hobj_ref_t> Hdf5Item::references() const {
  if (class_ != Hdf5Class::reference) throw InputError(where_, "something else than references", "object references");
  if (points() > most_points)
    throw InputError(where_, fmt::format("{} references", shape_text(shape_)), fmt::format("at most {}", most_points));
  std::vector<hobj_ref_t> values(points());
  if (values.empty()) return values;
  read(H5T_STD_REF_OBJ, std::as_writable_bytes(std::span(values)));
  return values;
}

std::vector<std::string> Hdf5Item::texts() const {
  constexpr std::size_t most_texts = 64;
  if (class_ != Hdf5Class::text || points() == 0 || points() > most_texts)
    throw InputError(where_, "something else than strings", fmt::format("1 to {} strings", most_texts));
  return read_texts(longest_text / most_texts);
}

std::vector<std::string> Hdf5Item::read_texts(std::size_t longest) const {
  const Hdf5Handle type(attribute_ ? H5Aget_type(handle_.id()) : H5Dget_type(handle_.id()));
  std::vector<std::string> values(points());
  const Hdf5Handle memory(H5Tcopy(H5T_C_S1));
  H5Tset_cset(memory.id(), H5Tget_cset(type.id()));
  if (H5Tis_variable_str(type.id()) > 0) {
    H5Tset_size(memory.id(), H5T_VARIABLE);
    std::vector<char*> found(points(), nullptr);
    auto* const to = static_cast<void*>(found.data());
    // Only HDF5 knows where these texts lie, and it unpacks the chunks that refer to them itself.
    if (!attribute_) Hdf5Blocks(*this, 0).check_all();
    const herr_t status = attribute_ ? H5Aread(handle_.id(), memory.id(), to)
                                     : H5Dread(handle_.id(), memory.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
    if (status < 0) throw InputError(where_, "a damaged string", "a string");
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (found[k] != nullptr) values[k].assign(found[k], ::strnlen(found[k], longest + 1));
      H5free_memory(found[k]);
    }
    if (std::ranges::any_of(values, [longest](const std::string& value) { return value.size() > longest; }))
      throw InputError(where_, fmt::format("a string of more than {} bytes", longest), fmt::format("at most {}", longest));
  } else {
    const std::size_t size = H5Tget_size(type.id());
    if (size == 0 || size > longest)
      throw InputError(where_, fmt::format("a string of {} bytes", size), fmt::format("1 to {}", longest));
    H5Tset_size(memory.id(), size);
    H5Tset_strpad(memory.id(), H5T_STR_NULLPAD);
    std::string all(size * values.size(), '\0');
    read(memory.id(), std::as_writable_bytes(std::span(all)));
    for (std::size_t k = 0; k < values.size(); ++k) values[k].assign(all, k * size, ::strnlen(all.data() + k * size, size));
  }
  // Writers also pad with blanks.
  for (std::string& value : values) value.erase(value.find_last_not_of(' ') + 1);
  return values;
}

std::string Hdf5Item::text(std::size_t longest) const {
  if (class_ != Hdf5Class::text || points() != 1) throw InputError(where_, "something else than one string", "one string");
  return std::move(read_texts(longest).front());
}

void Hdf5Item::require_shape(const std::vector<std::size_t>& expected) const {
  const bool scalar = shape_.empty() && expected == std::vector<std::size_t>{1};
  if (!scalar && shape_ != expected) throw InputError(where_, fmt::format("shape {}", shape_text(shape_)), shape_text(expected));
}

std::vector<std::size_t> Hdf5Item::as_indices(std::span<const double> values, std::size_t at, std::size_t first,
                                              std::size_t last) const {
  std::vector<std::size_t> result;
  result.reserve(values.size());
  for (const double value : values) {
    if (!(value >= static_cast<double>(first) && value <= static_cast<double>(last)) || value != std::floor(value)) {
      throw InputError(where_, fmt::format("{} as value {}", value, at + result.size() + 1),
                       fmt::format("whole numbers from {} to {}", first, last));
    }
    result.push_back(static_cast<std::size_t>(value) - first);
  }
  return result;
}

std::vector<std::size_t> Hdf5Item::indices(std::size_t first, std::size_t last) const {
  return as_indices(numbers(), 0, first, last);
}

void Hdf5Item::for_indices(std::size_t first, std::size_t last, std::size_t rows, const IndexPiece& use) const {
  // Small items are read at once; attributes cannot be read in pieces.
  if (attribute_ || shape_.empty() || points() <= piece_points) {
    const auto all = indices(first, last);
    const std::size_t in_row = shape_.empty() || shape_[0] == 0 ? all.size() : all.size() / shape_[0];
    use(0, std::span(all).first(std::min(all.size(), rows * in_row)));
    return;
  }
  if (class_ != Hdf5Class::number) throw InputError(where_, "something else than numbers", "integers or floating-point numbers");
  const std::size_t in_row = points() / shape_[0];
  if (in_row > most_points) {
    throw InputError(where_, fmt::format("{} values", shape_text(shape_)), fmt::format("at most {} a row", most_points));
  }
  const std::size_t at_once = std::max<std::size_t>(1, piece_points / in_row);
  std::vector<hsize_t> start(shape_.size(), 0), count(shape_.begin(), shape_.end());
  std::vector<double> values;
  Hdf5Blocks blocks(*this);
  for (std::size_t row = 0; row < rows; row += at_once) {
    start[0] = row;
    count[0] = std::min(at_once, rows - row);
    values.resize(count[0] * in_row);
    blocks.read(H5T_NATIVE_DOUBLE, start, count, std::as_writable_bytes(std::span(values)));
    use(row, as_indices(values, row * in_row, first, last));
  }
}

Hdf5Handle open_hdf5(const InputFile& input) {
  // The mark is checked before opening: with the SWMR flag, HDF5 tolerates too many defects of other files.
  const bool unfinished = has_swmr_mark(input);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS));
  static_cast<void>(use_descriptor(access, input.descriptor()));
  // With this setting HDF5 keeps no chunks and reads only the requested places.
  H5Pset_cache(access.id(), 0, 0, 0, 0.0);
  // A block that is being written is read again after pauses that double from 1 ns, 33 ms in all. HDF5's own 100 attempts would
  // never end on a damaged block.
  if (unfinished) H5Pset_metadata_read_attempts(access.id(), 25);
  Hdf5Handle file(H5Fopen(input.name().c_str(), H5F_ACC_RDONLY | (unfinished ? H5F_ACC_SWMR_READ : 0U), access.id()));
  if (!file) throw InputError(input.name(), "a file that HDF5 cannot open (truncated or damaged)", "an HDF5 file");
  return file;
}

bool is_unfinished(const Hdf5Handle& file) {
  unsigned intent = 0;
  return H5Fget_intent(file.id(), &intent) >= 0 && (intent & H5F_ACC_SWMR_READ) != 0;
}

Hdf5Handle open_reference(const Hdf5Item& from, hobj_ref_t reference) {
  H5O_type_t type = H5O_TYPE_UNKNOWN;
  if (reference == 0 || H5Rget_obj_type2(from.handle().id(), H5R_OBJECT, &reference, &type) < 0) {
    throw InputError(from.where(), "a reference to nothing", "references to groups");
  }
  if (type != H5O_TYPE_GROUP)
    throw InputError(from.where(), "a reference to something that is not a group", "references to groups");
  Hdf5Handle object(H5Rdereference2(from.handle().id(), H5P_DEFAULT, H5R_OBJECT, &reference));
  if (!object) throw InputError(from.where(), "a reference that HDF5 cannot follow", "references to groups");
  return object;
}

Hdf5Handle open_own_group(const Hdf5Handle& parent, const std::string& name) {
  H5L_info_t link{};
  if (H5Lget_info(parent.id(), name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) return {};
  Hdf5Handle object(H5Oopen(parent.id(), name.c_str(), H5P_DEFAULT));
  if (!object || H5Iget_type(object.id()) != H5I_GROUP) return {};
  return object;
}

std::string hdf5_name(const Hdf5Handle& object) {
  std::array<char, 512> name{};
  const auto length = H5Iget_name(object.id(), name.data(), name.size());
  return length > 0 ? printable(name.data(), name.size()) : "(unnamed)";
}

}  // namespace echoform::formats
