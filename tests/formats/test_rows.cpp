// Some rows of a frame, from every format, are those of the whole frame.
#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <random>

#include "formats/frame_writer.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mat_maker.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

/// Frame `frame` as stored() has it, by the calls for whole frames.
std::vector<std::byte> whole_frame(Recording& recording, std::size_t frame) {
  const Acquisition stored = recording.stored();
  std::vector<std::byte> bytes(stored.frame_bytes());
  if (facts_of(stored.encoding).counts()) {
    recording.read_stored(frame, bytes);
  } else {
    recording.read_frame(frame, {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)});
  }
  return bytes;
}

/// Any ascending choice of the rows, ranges beside each other too.
std::vector<RowRange> some_rows(std::size_t rows, std::mt19937& random) {
  std::vector<RowRange> chosen;
  for (std::size_t first = random() % 3; first < rows;) {
    const std::size_t count = std::min<std::size_t>(1 + random() % 5, rows - first);
    chosen.push_back({first, count});
    first += count + random() % 4;
  }
  return chosen;
}

void expect_rows(Recording& recording, std::size_t tries = 12) {
  std::mt19937 random(5);
  const Acquisition stored = recording.stored();
  for (std::size_t k = 0; k < tries; ++k) {
    const std::size_t frame = k % recording.frames();
    const std::vector<std::byte> whole = whole_frame(recording, frame);
    const std::vector<RowRange> rows = some_rows(stored.a_scans(), random);
    std::vector<std::byte> expected;
    for (const RowRange& range : rows) {
      const auto* first = whole.data() + range.first * stored.bytes_per_a_scan();
      expected.insert(expected.end(), first, first + range.count * stored.bytes_per_a_scan());
    }
    std::vector<std::byte> found(expected.size(), std::byte{0x5a});
    recording.read_rows(frame, rows, found);
    ASSERT_EQ(found, expected) << "frame " << frame << ", try " << k;
  }
}

TEST(RowsOfMfmc, AreThoseOfTheWholeFrameInEveryOrderAndType) {
  const Scratch scratch;
  const auto path = scratch / "rows.mfmc";
  std::vector<std::pair<std::size_t, std::size_t>> by_receiver;
  for (std::size_t j = 0; j < 6; ++j) {
    for (std::size_t i = 0; i < 6; ++i) by_receiver.emplace_back(i, j);
  }
  auto with_gaps = by_receiver;
  with_gaps.erase(with_gaps.begin() + 9, with_gaps.begin() + 13);
  for (const auto& pairs : {std::vector<std::pair<std::size_t, std::size_t>>{}, by_receiver, with_gaps}) {
    for (const hid_t type : {H5T_IEEE_F32LE, H5T_STD_I16LE, H5T_STD_I8LE, H5T_STD_I32LE}) {
      for (const bool packed : {false, true}) {
        MfmcMaker maker;
        maker.elements = 6;
        maker.frames = 2;
        maker.pairs = pairs;
        maker.data_type = type;
        maker.deflate = packed;
        maker.write(path);
        const auto recording = open_recording(path);
        expect_rows(*recording);
        EXPECT_EQ(recording->reading_bytes() > 0, packed) << "packed A-scans are unpacked together";
        std::filesystem::remove(path);
      }
    }
  }
}

TEST(RowsOfMfmc, NameTheAScanOfASampleThatIsNotFinite) {
  const Scratch scratch;
  const auto path = scratch / "rows.mfmc";
  MfmcMaker maker;
  maker.sample = [](std::size_t, std::size_t tx, std::size_t rx, std::size_t n) {
    return tx == 2 && rx == 1 && n == 3 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  };
  maker.write(path);
  const auto recording = open_recording(path);
  std::vector<std::byte> bytes(2 * recording->stored().bytes_per_a_scan());
  const RowRange good{4, 2};
  EXPECT_NO_THROW(recording->read_rows(0, {&good, 1}, bytes));
  const RowRange bad{8, 2};
  EXPECT_THAT(input_error([&] {
                recording->read_rows(0, {&bad, 1}, bytes);
              }),
              HasSubstr("frame 0, A-scan 10, sample 4: found nan"));
}

TEST(RowsOfCaptures, AreThoseOfTheWholeFrameInEveryEncoding) {
  const Scratch scratch;
  for (const MatrixKind matrix : {MatrixKind::full, MatrixKind::half}) {
    for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
      const auto path = scratch / "rows.efcap";
      Acquisition a;
      a.probe = make_linear_probe(7, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
      a.probe.elements[3].dead = true;
      a.matrix = matrix;
      a.encoding = encoding;
      a.samples = 11;
      a.sample_rate = Hertz(40e6);
      a.sample_scale = encoding == SampleEncoding::float32 ? 1.0 : 0.5;
      {
        const auto writer = make_frame_writer(path, a, {});
        for (unsigned frame = 0; frame < 2; ++frame) {
          std::vector<std::byte> bytes(a.frame_bytes());
          // Below 0x40 in every byte: finite as floats.
          for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>((41 * k + k / 7 + frame) % 64);
          writer->append(bytes, {.sequence = frame, .acquisition_time = WallTime(0)});
        }
        writer->close();
      }
      const auto recording = open_recording(path);
      EXPECT_EQ(recording->reading_bytes(), 0U);
      expect_rows(*recording);
      std::filesystem::remove(path);
    }
  }
}

TEST(RowsOfMat, AreThoseOfTheWholeFrame) {
  const Scratch scratch;
  const auto path = scratch / "rows.mat";
  BrainMaker maker;
  maker.elements = 5;
  save(path, maker.file());
  expect_rows(*open_recording(path));
}

TEST(Rows, ThatAFrameDoesNotHaveAreRefused) {
  const Scratch scratch;
  const auto path = scratch / "rows.mfmc";
  MfmcMaker{}.write(path);
  const auto recording = open_recording(path);
  std::vector<std::byte> bytes(recording->stored().frame_bytes());
  const auto error = [&](std::size_t frame, std::vector<RowRange> rows, std::size_t rows_of_room) {
    return input_error([&] {
      recording->read_rows(frame, rows, std::span(bytes).first(rows_of_room * recording->stored().bytes_per_a_scan()));
    });
  };
  EXPECT_EQ(error(0, {{0, 16}}, 16), "");
  EXPECT_THAT(error(1, {{0, 1}}, 1), HasSubstr("found a request for frame 1; expected 0 to 0"));
  EXPECT_THAT(error(0, {{15, 2}}, 2), HasSubstr("found a request for 2 A-scans from 15 on; expected ascending ones of the 16"));
  EXPECT_THAT(error(0, {{3, SIZE_MAX}}, 2), HasSubstr("expected ascending ones of the 16"));
  EXPECT_THAT(error(0, {{3, 2}, {4, 1}}, 3), HasSubstr("found a request for 1 A-scans from 4 on"));
  EXPECT_THAT(error(0, {{3, 2}}, 3), HasSubstr("expected 48 for these A-scans"));
}

}  // namespace
}  // namespace echoform::test
