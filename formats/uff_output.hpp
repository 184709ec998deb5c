// Makes objects of USTB's files (uff_fields.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "formats/hdf5_maker.hpp"
#include "formats/uff_waves.hpp"

namespace echoform::formats {

/// Names are those of USTB's classes and members.
class UffOutput : public Hdf5Maker {
 public:
  using Hdf5Maker::Hdf5Maker;

  /// Writes the version of the layout into a new file.
  void version(const Hdf5NewFile& file) const;
  [[nodiscard]] Hdf5Handle object(const Hdf5Handle& parent, const std::string& name, const std::string& uff_class) const;
  /// An array of more than one object, each of which is to be made in it with element_name().
  [[nodiscard]] Hdf5Handle array(const Hdf5Handle& parent, const std::string& name, const std::string& uff_class,
                                 std::size_t count) const;
  void number(const Hdf5Handle& parent, const char* name, double value) const;
  /// `shape` in C order.
  void numbers(const Hdf5Handle& parent, const char* name, const std::vector<hsize_t>& shape,
               std::span<const double> values) const;
  /// A column, as USTB has all axes.
  void column(const Hdf5Handle& parent, const char* name, std::span<const double> values) const;
  /// `shape` in C order; complex numbers where there are imaginary parts.
  void samples(const Hdf5Handle& parent, const std::string& name, const std::vector<hsize_t>& shape, std::span<const float> real,
               std::span<const float> imaginary = {}) const;
  void word(const Hdf5Handle& parent, const char* name, const std::string& uff_class, int value) const;
  void point(const Hdf5Handle& parent, const char* name, const UffPoint& point) const;
  /// Says of numbers what USTB's reader asks for.
  void describe(const Hdf5Handle& numbers, const std::string& name, const std::string& matlab_class,
                bool imaginary = false) const;

 private:
  void text(const Hdf5Handle& object, const char* name, const std::string& value) const;
  void values(const Hdf5Handle& object, const char* name, std::span<const double> values) const;
  [[nodiscard]] Hdf5Handle dataset(const Hdf5Handle& parent, const std::string& name, const std::vector<hsize_t>& shape,
                                   hid_t in_file, hid_t in_memory, const void* values) const;
};

/// "sequence_0012" of 11.
[[nodiscard]] std::string element_name(const std::string& array, std::size_t place);

}  // namespace echoform::formats
