// Some rows of a frame, from every format, are those of the whole frame.
#include <gmock/gmock.h>

#include <zlib.h>

#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "formats/frame_writer.hpp"
#include "formats/mat5_numbers.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mat_maker.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

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
  for (const bool compressed : {false, true}) {
    BrainMaker maker;
    maker.elements = 24;
    maker.samples = 900;  // 2.2 MB: more than one point of a compressed stream
    maker.compressed = compressed;
    save(path, maker.file());
    const auto recording = open_recording(path);
    EXPECT_LT(recording->reading_bytes(), recording->stored().frame_bytes() / 4);
    expect_rows(*recording);
    const std::vector<std::byte> whole = whole_frame(*recording, 0);
    std::size_t row = 0;
    for (std::size_t tx = 0; tx < 24; ++tx) {
      for (std::size_t rx = tx; rx < 24; ++rx, ++row) {
        for (std::size_t n = 0; n < 900; ++n) {
          float found = 0.0F;
          std::memcpy(&found, whole.data() + (row * 900 + n) * sizeof(float), sizeof found);
          ASSERT_EQ(found, static_cast<float>(brain_sample(tx, rx, n)));
        }
      }
    }
    std::filesystem::remove(path);
  }
}

/// A matrix [samples, A-scans] of numbers that MATLAB has as `array_class`, stored as `type`.
template <class Stored>
Bytes stored_numbers(std::uint32_t array_class, std::uint32_t type, std::size_t samples, const std::vector<Stored>& values) {
  const auto bytes_of = [](const auto& list) {
    Bytes bytes(list.size() * sizeof(list[0]));
    std::memcpy(bytes.data(), list.data(), bytes.size());
    return bytes;
  };
  const std::vector<std::uint32_t> shape{static_cast<std::uint32_t>(samples),
                                         static_cast<std::uint32_t>(values.size() / samples)};
  Bytes body;
  for (const Bytes& part : {mat_element(6, bytes_of(std::vector<std::uint32_t>{array_class, 0})), mat_element(5, bytes_of(shape)),
                            mat_element(1, {}), mat_element(type, bytes_of(values))}) {
    body.insert(body.end(), part.begin(), part.end());
  }
  return mat_element(14, body);
}

TEST(RowsOfMat, HaveTheNumbersThatMatlabHasHoweverTheyAreStored) {
  const Scratch scratch;
  const auto path = scratch / "rows.mat";
  const auto check = [&](std::uint32_t array_class, std::uint32_t type, auto stored) {
    using Stored = decltype(stored);
    std::vector<Stored> values(30);  // 5 samples of 3 elements' pairs, each once
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto value = static_cast<double>(4 * k);
      values[k] = static_cast<Stored>(std::is_signed_v<Stored> && k % 2 == 1 ? -value : value);
    }
    // More digits than a float has, of large types.
    if (std::is_integral_v<Stored>) values[7] = static_cast<Stored>(std::numeric_limits<Stored>::max() / 3);
    for (const bool compressed : {false, true}) {
      BrainMaker maker;
      maker.compressed = compressed;
      maker.replaced["time_data"] = stored_numbers(array_class, type, 5, values);
      save(path, maker.file());
      const auto recording = open_recording(path);
      std::vector<float> found(values.size());
      recording->read_frame(0, found);
      for (std::size_t k = 0; k < values.size(); ++k) {
        EXPECT_EQ(found[k], array_class == 6 ? static_cast<float>(static_cast<double>(values[k])) : static_cast<float>(values[k]))
            << "class " << array_class << ", type " << type << ", number " << k;
      }
      std::filesystem::remove(path);
    }
  };
  check(6, 2, std::uint8_t{});  // doubles, as MATLAB stores whole ones
  check(6, 3, std::int16_t{});
  check(6, 12, std::int64_t{});
  check(7, 7, float{});
  check(7, 3, std::int16_t{});
  check(8, 1, std::int8_t{});
  check(10, 3, std::int16_t{});
  check(11, 4, std::uint16_t{});
  check(12, 5, std::int32_t{});
  check(13, 6, std::uint32_t{});
  check(14, 12, std::int64_t{});
  check(15, 13, std::uint64_t{});
}

TEST(PointsOfAStream, AreThinnedAndLeadToEveryByte) {
  // Random letters: blocks of some tens of KiB.
  std::mt19937 random(3);
  Bytes plain(std::size_t{3} << 20);
  for (auto& byte : plain) byte = static_cast<std::uint8_t>(random() % 19);
  uLongf length = compressBound(plain.size());
  Bytes packed(length);
  ASSERT_EQ(compress2(packed.data(), &length, plain.data(), plain.size(), 6), Z_OK);
  packed.resize(length);
  formats::Mat5Points points(1 << 16, 10);
  z_stream stream{};
  ASSERT_EQ(inflateInit(&stream), Z_OK);
  Bytes out(plain.size());
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  for (int status = Z_OK; status == Z_OK;) {
    status = inflate(&stream, Z_BLOCK);
    if (status == Z_OK && (stream.data_type & 128) != 0 && (stream.data_type & 64) == 0) points.note(stream, stream.total_in);
  }
  inflateEnd(&stream);
  EXPECT_GE(points.count(), 5U);
  EXPECT_LE(points.count(), 10U);
  ASSERT_NE(points.before(0), nullptr);
  const Scratch scratch;
  const auto path = scratch / "stream";
  save(path, packed);
  const formats::Mat5Place place{
      formats::Mat5Type::uint8, 9, false, plain.size(), {}, 0, std::make_shared<formats::Mat5Points>(points)};
  formats::Mat5Numbers numbers(path, place);
  std::vector<float> found(5000);
  for (int turn = 0; turn < 60; ++turn) {
    const std::size_t first = turn == 0 ? plain.size() - found.size() : random() % (plain.size() - found.size());
    numbers.read(first, found);
    for (std::size_t k = 0; k < found.size(); ++k) ASSERT_EQ(found[k], plain[first + k]) << "from " << first;
  }
  // A file that was cut since.
  std::filesystem::resize_file(path, packed.size() / 2);
  formats::Mat5Numbers cut(path, place);
  EXPECT_THAT(input_error([&] { cut.read(plain.size() - found.size(), found); }),
              HasSubstr("found other data than when it was opened"));
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
