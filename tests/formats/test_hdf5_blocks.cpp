// Blocks of packed datasets against what HDF5 itself reads of the same whole file, and chunks against the filters' definitions.
#include <gmock/gmock.h>
#include <hdf5.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "formats/chunk_filters.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/hdf5_maker.hpp"
#include "tests/formats/full_disk.hpp"
#include "tests/formats/scratch.hpp"

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
    const FileDescriptor made = create_file(path);
    ASSERT_TRUE(made);
    std::string line;
    {
      const FullDisk disk(size);
      const formats::Hdf5Session session;
      try {
        formats::Hdf5NewFile file(made.get(), "full.h5");
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
  const FileDescriptor made = create_file(scratch / "r.h5");
  const formats::Hdf5Session session;
  formats::Hdf5NewFile file(made.get(), "r.h5");
  file.flush();
  const auto before = load(scratch / "r.h5");
  formats::Hdf5Maker("r.h5").text(file.handle(), "text", "late");
  file.abandon();
  EXPECT_THROW(file.close(), RuntimeFault);
  file = formats::Hdf5NewFile();
  EXPECT_EQ(load(scratch / "r.h5"), before);
}

}  // namespace
}  // namespace echoform::test
