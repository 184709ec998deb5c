#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <random>

#include "acquisition/frame_layout.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mat_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<float> first_frame(Recording& recording) {
  std::vector<float> samples(recording.acquisition().a_scans() * recording.acquisition().samples);
  recording.read_frame(0, samples);
  return samples;
}

class BrainMat : public ::testing::Test {
 protected:
  std::string error_of(const Bytes& bytes) {
    save(file_, bytes);
    return input_error([&] {
      const auto recording = open_recording(file_);
      static_cast<void>(first_frame(*recording));
    });
  }
  std::string error_of(const BrainMaker& maker) { return error_of(maker.file()); }

  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "made.mat";
};

TEST_F(BrainMat, ReadsEveryField) {
  for (const bool compressed : {false, true}) {
    BrainMaker maker;
    maker.compressed = compressed;
    save(file_, maker.file());
    const auto recording = open_recording(file_);
    const Acquisition& a = recording->acquisition();
    EXPECT_EQ(a.elements(), 3u);
    EXPECT_EQ(a.samples, 5u);
    EXPECT_EQ(a.matrix, MatrixKind::half);
    EXPECT_EQ(a.encoding, SampleEncoding::float32);
    EXPECT_EQ(a.sample_scale, 1.0);
    EXPECT_EQ(recording->frames(), 1u);
    EXPECT_NEAR(a.sample_rate.value, 25e6, 1.0);  // rounding of the times
    EXPECT_DOUBLE_EQ(a.start_time.value, 1e-6);
    EXPECT_EQ(recording->material().longitudinal_velocity.value, 6300.0);
    EXPECT_EQ(recording->material().shear_velocity.value, 0.0);
    EXPECT_EQ(a.probe.centre_frequency.value, 5e6);
    EXPECT_DOUBLE_EQ(a.probe.elements[2].centre.x.value, 1.2e-3);
    EXPECT_NEAR(a.probe.elements[2].width.value, 5e-4, 1e-12);
    EXPECT_DOUBLE_EQ(a.probe.elements[2].length.value, 1e-2);
    const auto samples = first_frame(*recording);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = i; j < 3; ++j) {
        for (std::size_t n = 0; n < 5; ++n)
          EXPECT_EQ(samples[FrameLayout(a).row_of(i, j).value() * 5 + n], static_cast<float>(brain_sample(i, j, n)));
      }
    }
  }
}

TEST_F(BrainMat, OrdersPairsHoweverTheyAreListed) {
  BrainMaker maker;
  maker.elements = 2;
  maker.pairs = {{1, 1}, {1, 0}, {0, 0}};
  save(file_, maker.file());
  auto recording = open_recording(file_);
  EXPECT_EQ(recording->acquisition().matrix, MatrixKind::half);
  EXPECT_THAT(recording->describe(), HasSubstr("(j, i)"));
  auto samples = first_frame(*recording);
  EXPECT_EQ(samples[5 + 2], static_cast<float>(brain_sample(1, 0, 2)));

  maker.pairs = {{1, 1}, {1, 0}, {0, 1}};
  save(file_, maker.file());
  recording = open_recording(file_);
  EXPECT_EQ(recording->acquisition().matrix, MatrixKind::full);
  EXPECT_THAT(recording->describe(), HasSubstr("1 missing pairs count as zero"));
  samples = first_frame(*recording);
  EXPECT_EQ(samples[0], 0.0F);
  EXPECT_EQ(samples[5 + 2], static_cast<float>(brain_sample(0, 1, 2)));
  EXPECT_EQ(samples[10 + 2], static_cast<float>(brain_sample(1, 0, 2)));
}

TEST_F(BrainMat, TakesTheVelocityFromTheMaterial) {
  BrainMaker maker;
  maker.replaced["ph_velocity"] = {};
  maker.replaced["material"] = mat_structure("", {{"vel_spherical_harmonic_coeffs", mat_doubles("", {1, 1}, {5900.0})}});
  save(file_, maker.file());
  EXPECT_EQ(open_recording(file_)->material().longitudinal_velocity.value, 5900.0);
  maker.replaced["material"] = {};
  save(file_, maker.file());
  EXPECT_EQ(open_recording(file_)->material().longitudinal_velocity.value, 0.0);
}

TEST_F(BrainMat, OtherVariablesDoNotMatter) {
  const auto other = mat_doubles("other", {1, 2}, {1.0, 2.0});
  save(file_, mat_file({other, mat_compressed(BrainMaker{}.structure()), mat_compressed(mat_text("later", "text"))}));
  EXPECT_EQ(open_recording(file_)->acquisition().elements(), 3u);
  EXPECT_THAT(error_of(mat_file({other})), HasSubstr("no variable \"exp_data\""));
}

TEST_F(BrainMat, NamesWhatIsMissingOrOfTheWrongKind) {
  for (const char* field : {"time_data", "tx", "rx", "time", "array"}) {
    BrainMaker maker;
    maker.replaced[field] = {};
    EXPECT_THAT(error_of(maker), AllOf(HasSubstr(file_.string()), HasSubstr("exp_data"), HasSubstr(field))) << field;
    maker.replaced[field] = mat_text("", "hello");
    EXPECT_THAT(error_of(maker), AllOf(HasSubstr("exp_data"), HasSubstr(field), HasSubstr("something else"))) << field;
  }
  BrainMaker maker;
  maker.replaced_in_array["el_xc"] = {};
  EXPECT_THAT(error_of(maker), HasSubstr("exp_data.array: found no field \"el_xc\""));
  EXPECT_THAT(error_of(mat_file({mat_doubles("exp_data", {1, 1}, {1.0})})),
              HasSubstr("exp_data: found something else; expected one structure"));
}

TEST_F(BrainMat, NamesWrongShapesAndValues) {
  const auto with = [](const std::string& field, const Bytes& bytes) {
    BrainMaker maker;
    maker.replaced[field] = bytes;
    return maker;
  };
  EXPECT_THAT(error_of(with("tx", mat_doubles("", {1, 5}, {1, 1, 1, 2, 2}))),
              HasSubstr("exp_data.tx: found 5 values; expected 6"));
  EXPECT_THAT(error_of(with("tx", mat_doubles("", {1, 6}, {1, 1, 1, 2, 2, 4}))),
              HasSubstr("A-scan 6: found element 4; expected a whole number from 1 to 3"));
  EXPECT_THAT(error_of(with("tx", mat_doubles("", {1, 6}, {0, 1, 1, 2, 2, 3}))), HasSubstr("A-scan 1: found element 0"));
  EXPECT_THAT(error_of(with("rx", mat_doubles("", {1, 6}, {1, 2, 3, 2.5, 3, 3}))), HasSubstr("A-scan 4: found element 2.5"));
  EXPECT_THAT(error_of(with("rx", mat_doubles("", {1, 6}, {1, 2, 3, std::nan(""), 3, 3}))), HasSubstr("found element nan"));
  EXPECT_THAT(error_of(with("rx", mat_doubles("", {1, 6}, {1, 2, 2, 2, 3, 3}))),
              HasSubstr("found pair (1, 2) twice, as A-scans 2 and 3"));
  EXPECT_THAT(error_of(with("time", mat_doubles("", {4, 1}, {0, 1, 2, 3}))),
              HasSubstr("exp_data.time: found 4 times; expected 5"));
  EXPECT_THAT(error_of(with("time", mat_doubles("", {5, 1}, {0, 1e-6, 2e-6, 3.1e-6, 4e-6}))),
              HasSubstr("expected times at a constant rate"));
  EXPECT_THAT(error_of(with("time", mat_doubles("", {5, 1}, {4, 3, 2, 1, 0}))), HasSubstr("times that do not increase"));
  EXPECT_THAT(error_of(with("time_data", mat_doubles("", {5, 3, 2}, std::vector<double>(30)))),
              HasSubstr("exp_data.time_data: found 3 dimensions; expected 2"));
  EXPECT_THAT(error_of(with("ph_velocity", mat_doubles("", {1, 1}, {-1.0}))), HasSubstr("found -1 m/s"));
  BrainMaker inside;
  inside.replaced_in_array["el_zc"] = mat_doubles("", {1, 3}, {0.0, 0.0, 1e-3});
  EXPECT_THAT(error_of(inside), HasSubstr("el_zc, element 3: found z = 0.001 m; expected z <= 0"));
}

TEST_F(BrainMat, NamesTheAScanOfASampleThatIsNotFinite) {
  BrainMaker maker;
  std::vector<double> data(30, 0.5);
  data[2 * 5 + 3] = std::numeric_limits<double>::infinity();
  maker.replaced["time_data"] = mat_doubles("", {5, 6}, data);
  EXPECT_THAT(error_of(maker), HasSubstr("A-scan 3 (transmit 1, receive 3), sample 4: found inf; expected finite samples"));
}

TEST_F(BrainMat, EveryTruncationIsAnErrorThatNamesTheFile) {
  for (const bool compressed : {false, true}) {
    BrainMaker maker;
    maker.compressed = compressed;
    const Bytes whole = maker.file();
    ASSERT_EQ(error_of(whole), "");
    // Elements of the plain file begin and end at multiples of 8: each boundary, and one byte to each side of it.
    for (std::size_t length = 0; length < whole.size(); ++length) {
      if (!compressed && length % 8 > 1 && length % 8 < 7) continue;
      const auto error = error_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
      ASSERT_THAT(error, HasSubstr(file_.string())) << "cut at " << length << " of " << whole.size();
    }
  }
  const auto cut = BrainMaker{}.file();
  EXPECT_THAT(error_of(Bytes(cut.begin(), cut.end() - 8)), HasSubstr("(the file is truncated or damaged)"));
}

TEST_F(BrainMat, TruncationInsideTheCompressedDataNamesTheField) {
  // A whole zlib stream of a matrix that was cut: the outer byte counts are right.
  const Bytes matrix = BrainMaker{}.structure();
  for (std::size_t length = 0; length < matrix.size(); length += 7) {
    const auto error =
        error_of(mat_file({mat_compressed(Bytes(matrix.begin(), matrix.begin() + static_cast<std::ptrdiff_t>(length)))}));
    ASSERT_THAT(error, HasSubstr("inside the compressed element at offset 128")) << length;
  }
  EXPECT_THAT(error_of(mat_file({mat_compressed(Bytes(matrix.begin(), matrix.begin() + 450))})), HasSubstr("exp_data.time_data"));
}

TEST_F(BrainMat, SurvivesNoise) {
  std::mt19937 random(20240501);
  const Bytes matrix = BrainMaker{}.structure();
  const Bytes plain = mat_file({matrix});
  const Bytes packed = mat_file({mat_compressed(matrix)});
  std::size_t refused = 0;
  constexpr int rounds = 1500;
  for (int round = 0; round < rounds; ++round) {
    // In turn: a plain file, a compressed one, and one whose compressed content is noisy under a right checksum.
    Bytes bytes = round % 3 == 0 ? plain : round % 3 == 1 ? packed : matrix;
    for (unsigned change = 0; change < 1 + random() % 4; ++change) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random() % 4 == 0 ? 0xff : random());
    }
    if (round % 3 == 2) bytes = mat_file({mat_compressed(bytes)});
    if (!error_of(bytes).empty()) ++refused;  // anything but success or an InputError ends the test
  }
  EXPECT_GT(refused, rounds / 3);
  for (const std::size_t size : {1u, 127u, 128u, 129u, 5000u}) {
    Bytes noise(size);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    EXPECT_NE(error_of(noise), "");
  }
}

TEST_F(BrainMat, NamesInTheFileCannotSteerATerminal) {
  // Escape sequences, also those of eight bits, which begin with 0x9B; what is no UTF-8.
  const std::string name =
                        "a\x1b[2J\x9b"
                        "2J\xff\n",
                    shown = "a?[2J?2J??";
  for (const Bytes& file : {mat_file({mat_structure(name, {{"f", mat_element(14, Bytes(16, 9))}})}),
                            mat_file({mat_structure("exp_data", {{name, mat_element(14, Bytes(16, 9))}})}),
                            mat_file({mat_compressed(mat_structure("exp_data", {{name, mat_element(14, Bytes(16, 9))}}))})}) {
    const std::string error = error_of(file);
    EXPECT_THAT(error, HasSubstr(shown));
    EXPECT_TRUE(std::all_of(error.begin(), error.end(), [](char c) { return c >= 0x20 && c < 0x7F; })) << error;
  }
}

TEST_F(BrainMat, RefusesOtherVersionsPlainly) {
  Bytes version_73 = mat_file({});
  version_73[124] = 0x00;
  version_73[125] = 0x02;
  version_73.resize(512);
  for (const char byte : std::string("\x89HDF\r\n\x1a\n")) version_73.push_back(static_cast<std::uint8_t>(byte));
  EXPECT_THAT(error_of(version_73), HasSubstr("found "));  // HDF5's signature, and nothing behind it
  EXPECT_THAT(error_of(Bytes(4096, 0)), HasSubstr("no MATLAB version 5 header"));
}

TEST(OpenRecording, RefusesWhatIsNoFile) {
  const Scratch scratch;
  const auto error = [](const std::filesystem::path& path) {
    return input_error([&] { static_cast<void>(open_recording(path)); });
  };
  EXPECT_EQ(error(scratch / "none.mat"), (scratch / "none.mat").string() + ": found no such file; expected a recording");
  EXPECT_THAT(error(scratch.path()), HasSubstr("found a directory"));
  ASSERT_EQ(::mkfifo((scratch / "pipe.mat").c_str(), 0600), 0);
  EXPECT_EQ(error(scratch / "pipe.mat"),
            (scratch / "pipe.mat").string() + ": found something that is not a regular file; expected a recording");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string place = scratch / "socket.mat";
  ASSERT_LT(place.size(), sizeof address.sun_path);
  place.copy(address.sun_path, place.size());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(error(place), place + ": found something that is not a regular file; expected a recording");
  ::close(socket);
  save(scratch / "empty.mat", {});
  EXPECT_THAT(error(scratch / "empty.mat"), HasSubstr("found an empty file"));
  save(scratch / "data.csv", {1, 2, 3});
  EXPECT_THAT(error(scratch / "data.csv"), HasSubstr("extension \".csv\"; expected one of: .mat, .mfmc"));
  save(scratch / "data", {1, 2, 3});
  EXPECT_THAT(error(scratch / "data"), HasSubstr("no extension; expected one of: .mat, .mfmc"));
}

TEST(OpenRecording, ChecksRequests) {
  const Scratch scratch;
  save(scratch / "made.MAT", BrainMaker{}.file());
  const auto recording = open_recording(scratch / "made.MAT");
  std::vector<float> right(30);
  std::vector<float> wrong(29);
  EXPECT_THAT(input_error([&] { recording->read_frame(1, right); }), HasSubstr("a request for frame 1; expected 0 to 0"));
  EXPECT_THAT(input_error([&] { recording->read_frame(0, wrong); }), HasSubstr("room for 29 samples; expected 30"));
}

}  // namespace
}  // namespace echoform::test
