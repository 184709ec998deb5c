// Blocks of packed datasets against what HDF5 itself reads of the same whole file, and chunks against the filters' definitions.
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/atomic_file.hpp"
#include "formats/chunk_filters.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/hdf5_maker.hpp"
#include "tests/formats/full_disk.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using formats::ChunkFilter;
using formats::ChunkFilterKind;
using formats::ChunkUnpacker;
using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

/// How a dataset is packed.
struct Packing {
  const char* name;
  bool shuffle;
  bool deflate;
  bool checksum;
  bool cut_unpacked;  ///< chunks that the dataset's end cuts
};

class Blocks : public ::testing::TestWithParam<Packing> {
 protected:
  Scratch scratch_;
};

TEST_P(Blocks, AreWhatHdf5Reads) {
  const Packing& packing = GetParam();
  std::mt19937 random(7);
  const auto pick = [&](unsigned least, unsigned most) { return least + random() % (most - least + 1); };
  const std::array types{H5T_STD_I8LE,   H5T_STD_I16LE,  H5T_STD_U16BE, H5T_STD_I32BE,
                         H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE};
  const std::array memory_types{H5T_NATIVE_SHORT, H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE};
  for (int round = 0; round < 60; ++round) {
    const auto path = scratch_ / ("r" + std::to_string(round) + ".h5");
    const std::size_t rank = pick(1, 4);
    std::vector<hsize_t> shape, chunk, written(rank, 0), most;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      shape.push_back(pick(1, 9));
      chunk.push_back(pick(1, 5));
      most.push_back(std::max(shape[axis], chunk[axis]));
    }
    const hid_t type = types[round % types.size()];
    {
      const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(creation, static_cast<int>(rank), chunk.data());
      if (packing.shuffle) H5Pset_shuffle(creation);
      if (packing.deflate) H5Pset_deflate(creation, 4);
      if (packing.checksum) H5Pset_fletcher32(creation);
      if (packing.cut_unpacked) H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
      const int fill = 17;
      if (round % 3 == 0) H5Pset_fill_value(creation, H5T_NATIVE_INT, &fill);
      const hid_t space = H5Screate_simple(static_cast<int>(rank), shape.data(), most.data());
      const hid_t set = H5Dcreate2(file, "values", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
      // Of every other dataset the first rows alone: chunks that were never written are filled.
      std::vector<hsize_t> count = shape;
      if (round % 2 == 0) count[0] = (shape[0] + 1) / 2;
      std::size_t points = 1;
      for (const hsize_t size : count) points *= size;
      std::vector<double> values(points);
      for (double& value : values) value = static_cast<double>(pick(0, 100));
      const std::vector<hsize_t> start(rank, 0);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
      const hid_t memory = H5Screate_simple(static_cast<int>(rank), count.data(), nullptr);
      ASSERT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), 0);
      for (const hid_t id : {memory, set, space, creation, file}) H5Idec_ref(id);
    }
    // HDF5's own reading first, by its own driver.
    const hid_t plain = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(plain, "values", H5P_DEFAULT);
    const formats::Hdf5Session session;
    const formats::Hdf5Handle file = formats::open_hdf5(path);
    const auto item = formats::Hdf5Item::require(file, "values", "r");
    formats::Hdf5Blocks blocks(item, pick(0, 3) * 200);
    EXPECT_EQ(blocks.packed(), packing.shuffle || packing.deflate || packing.checksum);
    for (int block = 0; block < 12; ++block) {
      const hid_t memory_type = memory_types[static_cast<std::size_t>(block) % memory_types.size()];
      std::vector<hsize_t> start, count;
      std::size_t points = 1;
      for (std::size_t axis = 0; axis < rank; ++axis) {
        start.push_back(block == 0 ? 0 : pick(0, static_cast<unsigned>(shape[axis]) - 1));
        count.push_back(block == 0 ? shape[axis] : pick(1, static_cast<unsigned>(shape[axis] - start[axis])));
        points *= count[axis];
      }
      Bytes expected(points * H5Tget_size(memory_type));
      const hid_t space = H5Dget_space(set);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
      const hid_t memory = H5Screate_simple(static_cast<int>(rank), count.data(), nullptr);
      ASSERT_GE(H5Dread(set, memory_type, memory, space, H5P_DEFAULT, expected.data()), 0);
      H5Sclose(memory);
      H5Sclose(space);
      Bytes found(expected.size(), std::byte{0x5A});
      blocks.read(memory_type, start, count, found);
      ASSERT_EQ(found, expected) << "round " << round << ", block " << block;
    }
    H5Dclose(set);
    H5Fclose(plain);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hdf5, Blocks,
    ::testing::Values(Packing{"chunks", false, false, false, false}, Packing{"deflate", false, true, false, false},
                      Packing{"shuffle", true, false, false, false}, Packing{"shuffle_deflate", true, true, false, false},
                      Packing{"checksum", false, false, true, false}, Packing{"all", true, true, true, false},
                      Packing{"ends_unpacked", true, true, true, true}),
    [](const auto& tested) { return std::string(tested.param.name); });

Bytes counted(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t k = 0; k < size; ++k) bytes[k] = static_cast<std::byte>(k * 7 % 251);
  return bytes;
}

/// A dataset of doubles, 1 column of `rows`, of which the first `written` are 1, 2, 3 and so on.
struct Made {
  const char* name;
  hsize_t chunk_rows;  ///< 0: no chunks
  bool deflate;
  hsize_t written;
};

// The last one's chunks have more than a MiB: HDF5 reads them.
constexpr std::array every_storage{Made{"contiguous", 0, false, 0}, Made{"chunks", 2, false, 2}, Made{"deflate", 2, true, 2},
                                   Made{"large_chunks", hsize_t{1} << 18, false, hsize_t{1} << 18}};

class MissingData : public ::testing::TestWithParam<Made> {
 protected:
  static constexpr double fill = 1234.5678;

  /// `prepare` gets the property list of creation.
  template <class Prepare>
  void make(const Prepare& prepare) {
    const Made& made = GetParam();
    rows_ = made.written + 3;
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (made.chunk_rows > 0) H5Pset_chunk(creation, 1, &made.chunk_rows);
    if (made.deflate) H5Pset_deflate(creation, 4);
    prepare(creation);
    const hid_t space = H5Screate_simple(1, &rows_, nullptr);
    const hid_t set = H5Dcreate2(file, "values", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (made.written > 0) {
      std::vector<double> values(made.written);
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k + 1);
      const hsize_t start = 0;
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &made.written, nullptr);
      const hid_t memory = H5Screate_simple(1, &made.written, nullptr);
      EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), 0);
      H5Idec_ref(memory);
    }
    for (const hid_t id : {set, space, creation, file}) H5Idec_ref(id);
  }
  /// Rows from `first` on, into memory that held something else.
  template <class Number>
  [[nodiscard]] std::vector<Number> read(hid_t type, hsize_t first, hsize_t count) const {
    const formats::Hdf5Session session;
    const formats::Hdf5Handle file = formats::open_hdf5(path_);
    const auto item = formats::Hdf5Item::require(file, "values", "r");
    std::vector<Number> found(count, Number{77});
    formats::Hdf5Blocks(item).read(type, std::array{first}, std::array{count}, std::as_writable_bytes(std::span(found)));
    return found;
  }
  /// What the last rows are expected to be: one that was written, where any was, and three that were not.
  template <class Number>
  [[nodiscard]] std::vector<Number> expected(Number missing) const {
    std::vector<Number> values(3, missing);
    if (GetParam().written > 0) values.insert(values.begin(), static_cast<Number>(GetParam().written));
    return values;
  }
  [[nodiscard]] hsize_t last_written() const { return GetParam().written > 0 ? GetParam().written - 1 : 0; }

  Scratch scratch_;
  std::filesystem::path path_ = scratch_ / "r.h5";
  hsize_t rows_ = 0;
};

TEST_P(MissingData, AreZerosWhereNoFillValueIsDefined) {
  for (int round = 0; round < 3; ++round) {
    make([round](hid_t creation) {
      // The default, none, and one that HDF5 never writes.
      if (round == 1) H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, nullptr);
      if (round == 2) H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    });
    EXPECT_EQ(read<double>(H5T_NATIVE_DOUBLE, last_written(), rows_ - last_written()), expected(0.0)) << round;
    EXPECT_EQ(read<float>(H5T_NATIVE_FLOAT, last_written(), rows_ - last_written()), expected(0.0F)) << round;
  }
}

TEST_P(MissingData, AreTheFillValue) {
  for (const bool never : {false, true}) {
    make([never](hid_t creation) {
      H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
      if (never) H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    });
    EXPECT_EQ(read<double>(H5T_NATIVE_DOUBLE, last_written(), rows_ - last_written()), expected(fill)) << never;
    EXPECT_EQ(read<float>(H5T_NATIVE_FLOAT, last_written(), rows_ - last_written()), expected(static_cast<float>(fill))) << never;
  }
}

// The fill value's message (HDF5 File Format Specification 3.0, IV.A.2.f) has its size, 4 bytes, before it. HDF5 1.10 reads as
// many bytes as a number has, wherever they come from.
TEST_P(MissingData, OfAFillValueOfAnotherSizeAreRefused) {
  make([](hid_t creation) { H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill); });
  std::array<std::uint8_t, 12> message{8, 0, 0, 0};
  std::memcpy(message.data() + 4, &fill, sizeof(fill));
  std::vector<std::uint8_t> bytes = load(path_);
  int messages = 0;
  for (auto at = bytes.begin();; ++messages) {
    at = std::search(at, bytes.end(), message.begin(), message.end());
    if (at == bytes.end()) break;
    *at++ = 1;
  }
  ASSERT_EQ(messages, 2) << "the second is for HDF5 before 1.6";
  save(path_, bytes);
  EXPECT_THAT(input_error([&] { static_cast<void>(read<double>(H5T_NATIVE_DOUBLE, last_written(), rows_ - last_written())); }),
              ::testing::AllOf(HasSubstr("values"), HasSubstr("found no data, and a fill value of 1 bytes; expected data, or a "
                                                              "fill value of 8 bytes")));
  // What was written does not need it.
  if (GetParam().written > 0) {
    EXPECT_EQ(read<double>(H5T_NATIVE_DOUBLE, 0, 2), (std::vector<double>{1.0, 2.0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Hdf5, MissingData, ::testing::ValuesIn(every_storage),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// A dataset of doubles with chunks of 2 GiB that are deflated; of the first one `packed` is in the file.
void make_of_large_chunks(const std::filesystem::path& path, const Bytes& packed) {
  const hsize_t chunk = hsize_t{1} << 28;
  const hsize_t rows = 3 * chunk;
  const hsize_t place = 0;
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &chunk);
  H5Pset_deflate(creation, 4);
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  const hid_t set = H5Dcreate2(file, "values", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  EXPECT_GE(H5Dwrite_chunk(set, H5P_DEFAULT, 0, &place, packed.size(), packed.data()), 0);
  for (const hid_t id : {set, space, creation, file}) H5Idec_ref(id);
}

// The most memory that the program had: it does not grow by a chunk.
TEST(Hdf5Blocks, TakeNoMemoryForAChunkThatCannotBeThere) {
  const Scratch scratch;
  const auto path = scratch / "r.h5";
  const auto peak_kib = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto read = [&](hsize_t first) {
    const formats::Hdf5Session session;
    const formats::Hdf5Handle file = formats::open_hdf5(path);
    const auto item = formats::Hdf5Item::require(file, "values", "r");
    std::vector<double> found(4, 77.0);
    formats::Hdf5Blocks(item).read(H5T_NATIVE_DOUBLE, std::array{first}, std::array<hsize_t, 1>{4},
                                   std::as_writable_bytes(std::span(found)));
    return found;
  };
  const auto before = peak_kib();
  make_of_large_chunks(path, counted(1000));
  EXPECT_THAT(input_error([&] { static_cast<void>(read(0)); }), HasSubstr("chunk at 0: found 1000 packed bytes"));
  // The end of one missing chunk and the beginning of another.
  EXPECT_EQ(read((hsize_t{1} << 29) - 2), std::vector<double>(4, 0.0));
  // The size that stands beside the chunk's place in the index (III.A.1), before the skipped filters and the place, is 2 GiB.
  std::vector<std::uint8_t> entry{0xE8, 3, 0, 0};
  entry.insert(entry.end(), 20, 0);
  std::vector<std::uint8_t> bytes = load(path);
  const auto found = std::search(bytes.begin(), bytes.end(), entry.begin(), entry.end());
  ASSERT_NE(found, bytes.end());
  std::copy_n(std::array<std::uint8_t, 4>{0, 0, 0, 0x80}.begin(), 4, found);
  save(path, bytes);
  EXPECT_THAT(input_error([&] { static_cast<void>(read(0)); }),
              HasSubstr("chunk at 0: found 2147483648 packed bytes in a file of"));
  // A quarter of a chunk, in KiB, leaves room for what the program itself takes.
  EXPECT_LT(peak_kib() - before, 1 << 19);
}

TEST(Hdf5Blocks, RefuseBlocksOfAnotherNumberOfAxes) {
  const Scratch scratch;
  const auto path = scratch / "r.h5";
  make_of_large_chunks(path, counted(1000));
  const formats::Hdf5Session session;
  const formats::Hdf5Handle file = formats::open_hdf5(path);
  const auto item = formats::Hdf5Item::require(file, "values", "r");
  formats::Hdf5Blocks blocks(item);
  const std::array<hsize_t, 2> two{0, 0};
  EXPECT_THROW(blocks.read(H5T_NATIVE_DOUBLE, {}, {}, {}), std::logic_error);
  EXPECT_THROW(blocks.read(H5T_NATIVE_DOUBLE, two, two, {}), std::logic_error);
}

TEST(Hdf5Blocks, RefuseExtentsWhosePlacesWouldOverflow) {
  const Scratch scratch;
  const auto path = scratch / "r.h5";
  for (const auto& [rows, line] :
       {std::pair{hsize_t{1} << 62, ""},
        {(hsize_t{1} << 62) + 1, "found 4611686018427387905 values along an axis; expected at most 2^62"}}) {
    {
      const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const hsize_t chunk = hsize_t{1} << 31;
      H5Pset_chunk(creation, 1, &chunk);
      H5Pset_deflate(creation, 4);
      const hid_t space = H5Screate_simple(1, &rows, nullptr);
      const hid_t set = H5Dcreate2(file, "values", H5T_STD_I8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
      ASSERT_GE(set, 0);
      for (const hid_t id : {set, space, creation, file}) H5Idec_ref(id);
    }
    const formats::Hdf5Session session;
    const formats::Hdf5Handle file = formats::open_hdf5(path);
    const auto item = formats::Hdf5Item::require(file, "values", "r");
    const std::string found = input_error([&, rows = rows] {
      std::array<std::byte, 2> last{std::byte{1}, std::byte{1}};
      formats::Hdf5Blocks(item).read(H5T_NATIVE_INT8, std::array{rows - 2}, std::array<hsize_t, 1>{2}, last);
      EXPECT_EQ(last, (std::array<std::byte, 2>{}));
    });
    EXPECT_THAT(found, HasSubstr(line));
    EXPECT_EQ(found.empty(), *line == '\0');
  }
}

Bytes deflated(const Bytes& bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes packed(size);
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  packed.resize(size);
  return packed;
}

TEST(ChunkUnpacker, TellsWhatIsWrong) {
  const Bytes chunk = counted(100);
  Bytes to(100);
  ChunkUnpacker inflater({{ChunkFilterKind::deflate}}, 100);
  EXPECT_EQ(inflater.unpack(deflated(chunk), 0, to), "");
  EXPECT_EQ(to, chunk);
  EXPECT_EQ(inflater.unpack(deflated(counted(99)), 0, to), "data that inflate to 99 bytes");
  EXPECT_EQ(inflater.unpack(deflated(counted(101)), 0, to), "data that inflate to more than 100 bytes");
  Bytes cut = deflated(chunk);
  cut.resize(cut.size() - 5);
  EXPECT_EQ(inflater.unpack(cut, 0, to), "deflated data without their end");
  EXPECT_EQ(inflater.unpack({}, 0, to), "deflated data without their end");
  EXPECT_EQ(inflater.unpack(counted(40), 0, to), "damaged deflated data");
  EXPECT_EQ(inflater.unpack(chunk, 1, to), "") << "a filter that was skipped";
  EXPECT_EQ(inflater.unpack(counted(99), 1, to), "a chunk of 99 bytes");

  ChunkUnpacker checked({{ChunkFilterKind::fletcher32}}, 100);
  Bytes summed = chunk;
  const std::uint32_t sum = formats::fletcher32(chunk);
  for (unsigned k = 0; k < 4; ++k) summed.push_back(static_cast<std::byte>(sum >> (8 * k)));
  EXPECT_EQ(checked.unpack(summed, 0, to), "");
  EXPECT_EQ(to, chunk);
  summed[3] = std::byte{0};
  EXPECT_EQ(checked.unpack(summed, 0, to), "a chunk whose checksum is wrong");
  EXPECT_EQ(checked.unpack(counted(3), 0, to), "3 bytes where a checksum ends a chunk");
}

// Sums of 16-bit words modulo 65535, by hand: words 0x0102, 0x0304, 0x0500.
TEST(ChunkUnpacker, ComputesTheChecksumOfTheFormat) {
  const Bytes bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  EXPECT_EQ(formats::fletcher32(bytes), (0x0102U * 3 + 0x0304U * 2 + 0x0500U) << 16 | (0x0102U + 0x0304U + 0x0500U));
}

TEST(ChunkUnpacker, KnowsWhatCannotHoldAChunk) {
  const ChunkUnpacker plain({}, 100);
  EXPECT_FALSE(plain.may_hold_chunk(99));
  EXPECT_TRUE(plain.may_hold_chunk(100));
  EXPECT_FALSE(plain.may_hold_chunk(101));
  const ChunkUnpacker inflater({{ChunkFilterKind::shuffle, 2}, {ChunkFilterKind::deflate}}, std::size_t{1} << 30);
  EXPECT_FALSE(inflater.may_hold_chunk(1 << 19)) << "a chunk of a GiB needs more than one byte in 1032";
  EXPECT_TRUE(inflater.may_hold_chunk(1 << 21));
}

// What HDF5 is not told of: writes that fail. It ends its file as if they had not, and nothing of it crashes.
TEST(Hdf5NewFile, TellsOfAFullDiskAndNothingCrashes) {
  const Scratch scratch;
  for (std::uint64_t size = 0; size <= 40 * 1024; size += 512) {
    const auto path = scratch / ("full" + std::to_string(size));
    const AtomicFile made(path);
    std::string line;
    {
      const FullDisk disk(size);
      const formats::Hdf5Session session;
      try {
        formats::Hdf5NewFile file(made.descriptor(), "full.h5");
        const formats::Hdf5Maker make("full.h5");
        for (int k = 0; k < 12; ++k) {
          const formats::Hdf5Handle group = make.group(file.handle(), "group" + std::to_string(k));
          make.text(group, "text", std::string(50, 'x'));
          make.dataset(group, "numbers", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {400}, std::vector<double>(400, 1.0));
        }
        file.close();
      } catch (const RuntimeFault& fault) {
        line = fault.what();
      }
    }
    EXPECT_EQ(line, "full.h5: cannot be written: No space left on device") << size;
  }
}

TEST(Hdf5NewFile, AbandonedWritesNothingMore) {
  const Scratch scratch;
  const AtomicFile made(scratch / "r.h5");
  const formats::Hdf5Session session;
  formats::Hdf5NewFile file(made.descriptor(), "r.h5");
  file.flush();
  const auto before = load(made.aside());
  formats::Hdf5Maker("r.h5").text(file.handle(), "text", "late");
  file.abandon();
  EXPECT_THROW(file.close(), RuntimeFault);
  file = formats::Hdf5NewFile();
  EXPECT_EQ(load(made.aside()), before);
}

}  // namespace
}  // namespace echoform::test
