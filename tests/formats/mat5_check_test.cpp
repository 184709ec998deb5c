// MATLAB files of version 5 that are not built as the format has them: one line says where, what was found, and what was
// expected.
#include <gmock/gmock.h>

#include <cstring>

#include "formats/recording.hpp"
#include "tests/formats/mat_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::EndsWith;

constexpr std::uint32_t type_int8 = 1;
constexpr std::uint32_t type_int32 = 5;
constexpr std::uint32_t type_uint32 = 6;
constexpr std::uint32_t type_double = 9;
constexpr std::uint32_t type_matrix = 14;
constexpr std::uint32_t class_structure = 2;
constexpr std::uint32_t class_object = 3;
constexpr std::uint32_t class_sparse = 5;
constexpr std::uint32_t class_double = 6;

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes words(const std::vector<std::uint32_t>& values) {
  Bytes bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Bytes text(const std::string& letters) {
  return {letters.begin(), letters.end()};
}

Bytes flags_of(std::uint32_t array_class) {
  return mat_element(type_uint32, words({array_class, 0}));
}

/// A matrix of one value whose parts behind its name are these.
Bytes matrix_of(std::uint32_t array_class, const std::vector<Bytes>& parts) {
  return mat_element(type_matrix, joined({flags_of(array_class), mat_element(type_int32, words({1, 1})),
                                          mat_element(type_int8, text("exp_data")), joined(parts)}));
}

/// The length of field names, 32, in a tag of its own.
Bytes length_of_names() {
  return words({4U << 16 | type_int32, 32});
}

class Mat5Check : public ::testing::Test {
 protected:
  std::string error_of(const Bytes& bytes) {
    save(file_, bytes);
    return input_error([&] { static_cast<void>(open_recording(file_)); });
  }
  std::string error_of_element(const Bytes& element) { return error_of(mat_file({element})); }

  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "made.mat";
};

TEST_F(Mat5Check, RefusesFilesThatAreNotMadeOfMatrices) {
  EXPECT_EQ(error_of(Bytes(100, 1)), file_.string() + ": found 100 bytes; expected a MATLAB file with its header of 128 bytes");
  EXPECT_EQ(error_of_element(mat_element(type_double, Bytes(8))),
            file_.string() + ": element 1, offset 128: found data type 9; expected a matrix or a compressed matrix");
  EXPECT_EQ(
      error_of_element(mat_compressed(mat_element(type_double, Bytes(8)))),
      file_.string() + ": element 1, byte 8 inside the compressed element at offset 128: found data type 9; expected a matrix");
  EXPECT_EQ(error_of_element(mat_doubles("other", {1, 1}, {1.0})),
            file_.string() + ": found no variable \"exp_data\"; expected a structure \"exp_data\"");
}

TEST_F(Mat5Check, RefusesCompressedDataThatGoOn) {
  const Bytes matrix = BrainMaker{}.structure();
  const Bytes longer = joined({matrix, Bytes(8)});
  EXPECT_THAT(error_of_element(mat_compressed(longer)),
              EndsWith("found more compressed data; expected the end of the compressed data"));
  // Of an element that states more bytes than its data take.
  Bytes element = joined({mat_compressed(matrix), Bytes(16)});
  const auto bytes = static_cast<std::uint32_t>(element.size() - 8);
  std::memcpy(element.data() + 4, &bytes, sizeof bytes);
  EXPECT_THAT(error_of_element(element),
              EndsWith("found 16 bytes behind the compressed data; expected the end of the compressed data"));
}

TEST_F(Mat5Check, RefusesMatricesWithoutTheirHead) {
  EXPECT_EQ(error_of_element(mat_element(type_matrix, mat_element(type_int32, words({1, 1})))),
            file_.string() + ": element 1, offset 144: found no array flags; expected array flags of 8 bytes");
  EXPECT_EQ(error_of_element(mat_element(type_matrix, flags_of(class_object))),
            file_.string() +
                ": element 1, offset 152: found an array of class 3; expected numbers, text, cells and structures (save exp_data "
                "alone, without objects or function handles)");
  EXPECT_EQ(error_of_element(mat_element(type_matrix, joined({flags_of(class_double), Bytes(4)}))),
            file_.string() + ": element 1, offset 152: found 4 bytes left in the element; expected another element's tag");
  EXPECT_THAT(
      error_of_element(mat_element(type_matrix, joined({flags_of(class_double), mat_element(type_int32, words({1})), Bytes(8)}))),
      EndsWith("found no array dimensions; expected at least two 32-bit dimensions"));
  EXPECT_THAT(error_of_element(mat_element(type_matrix, joined({flags_of(class_double), mat_element(type_int32, words({1, 1})),
                                                                mat_element(type_double, Bytes(8))}))),
              EndsWith("found no array name; expected a name"));
}

TEST_F(Mat5Check, RefusesNumbersThatAreNone) {
  EXPECT_THAT(error_of_element(matrix_of(class_double, {mat_element(8, Bytes(8))})),
              EndsWith("found data type 8; expected a numeric type"));
  EXPECT_THAT(error_of_element(matrix_of(class_double, {mat_element(type_double, Bytes(16))})),
              EndsWith("found 16 bytes of data; expected 1 values of 8 bytes"));
  const Bytes value = mat_element(type_double, Bytes(8));
  EXPECT_THAT(error_of_element(matrix_of(class_double, {value, value})),
              EndsWith("found 16 bytes behind the array's last part; expected none"));
  EXPECT_THAT(error_of_element(matrix_of(class_sparse, {value, value, value})),
              EndsWith("found a damaged sparse array; expected indices and values"));
}

TEST_F(Mat5Check, RefusesFieldsWithoutNames) {
  EXPECT_THAT(error_of_element(matrix_of(class_structure, {mat_element(type_double, Bytes(8))})),
              EndsWith("found no length of field names; expected a 32-bit length"));
  EXPECT_THAT(error_of_element(matrix_of(class_structure, {length_of_names(), mat_element(type_int8, Bytes(33, 'a'))})),
              EndsWith("found 33 bytes of field names of length 32; expected whole names of 1 to 256 bytes"));
  for (const char letter : {'a', '\0'}) {
    EXPECT_THAT(error_of_element(matrix_of(
                    class_structure, {length_of_names(), mat_element(type_int8, Bytes(32, static_cast<std::uint8_t>(letter)))})),
                EndsWith("found a field name that is empty or does not end; expected names that end with 0"));
  }
}

}  // namespace
}  // namespace echoform::test
