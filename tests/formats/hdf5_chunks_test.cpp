// Files whose HDF5 structures promise more than they hold: what is not in a file is never handed on.
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "formats/frame_writer.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/mfmc_check.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mat73_maker.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test::hdf5_chunks {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Closes what it opened, whatever its kind.
struct Id {
  hid_t id;
  Id(hid_t opened) : id(opened) {  // NOLINT(google-explicit-constructor)
    if (id < 0) throw std::runtime_error("HDF5 refuses a test's file");
  }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id() { H5Idec_ref(id); }
  operator hid_t() const { return id; }  // NOLINT(google-explicit-constructor)
};

using Bytes = std::vector<std::uint8_t>;

Bytes deflated(const Bytes& bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes packed(size);
  EXPECT_EQ(compress2(packed.data(), &size, bytes.data(), bytes.size(), 6), Z_OK);
  packed.resize(size);
  return packed;
}

std::vector<hsize_t> shape_of(hid_t dataset) {
  const Id space = H5Dget_space(dataset);
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

/// The dataset once more, one chunk of it all, packed by deflate: of that chunk `keep` bytes alone are in the file.
void pack(const std::filesystem::path& path, const std::string& name, const std::function<std::size_t(std::size_t)>& keep) {
  const Id file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  Bytes values;
  {
    const Id before = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    const Id type = H5Dget_type(before);
    const std::vector<hsize_t> shape = shape_of(before);
    values.resize(std::accumulate(shape.begin(), shape.end(), H5Tget_size(type), std::multiplies<>()));
    ASSERT_GE(H5Dread(before, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    ASSERT_GE(H5Ldelete(file, name.c_str(), H5P_DEFAULT), 0);
    const Id creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, static_cast<int>(shape.size()), shape.data());
    H5Pset_deflate(creation, 6);
    const Id space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const Id after = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (H5Aexists(before, "MATLAB_class") > 0) Mat73Maker::mark(after, "MATLAB_class", "double");
    values.resize(keep(values.size()));
    const Bytes packed = deflated(values);
    const std::vector<hsize_t> place(shape.size(), 0);
    ASSERT_GE(H5Dwrite_chunk(after, H5P_DEFAULT, 0, place.data(), packed.size(), packed.data()), 0);
  }
}

Acquisition two_elements(bool passive) {
  Acquisition acquisition;
  for (int k = 0; k < 2; ++k) {
    Element element;
    element.centre = {Metres(1e-3 * k), Metres(0.0), Metres(0.0)};
    acquisition.probe.elements.push_back(element);
  }
  acquisition.samples = 64;
  acquisition.sample_rate = Hertz(4e7);
  acquisition.probe.centre_frequency = Hertz(5e6);
  acquisition.encoding = SampleEncoding::float32;
  if (passive) acquisition.events = {{PassiveEvent{}, {}}};
  return acquisition;
}

void write_recording(const std::filesystem::path& path, bool passive) {
  const Acquisition acquisition = two_elements(passive);
  const auto writer = make_frame_writer(path, acquisition, {.material = {MetresPerSecond(6000.0), MetresPerSecond(3000.0)}});
  std::vector<float> samples(acquisition.a_scans() * acquisition.samples);
  std::iota(samples.begin(), samples.end(), 1.0F);
  writer->append(std::as_bytes(std::span(samples)));
  writer->close();
}

void write_nde(const std::filesystem::path& path) {
  std::string beams;
  for (int k = 0; k < 2; ++k) {
    const auto receiver = [](int element) {
      return R"({"elementId":)" + std::to_string(element) + R"(,"ascanStart":0,"ascanLength":1.6e-06})";
    };
    beams += (k > 0 ? "," : "") + (R"({"id":)" + std::to_string(k)) + R"(,"pulsers":[{"elementId":)" + std::to_string(k) +
             R"(}],"receivers":[)" + receiver(0) + "," + receiver(1) + "]}";
  }
  const std::string setup =
      R"({"version":"4.1.0","groups":[{"id":0,"datasets":[{"id":0,"dataClass":"AScanAmplitude","dataTransformations":[{"processId":0}],)"
      R"("dataValue":{"min":-32767,"max":32767,"unitMin":-100,"unitMax":100,"unit":"Percent"},"dimensions":[{"axis":"UCoordinate",)"
      R"("quantity":1,"resolution":0.001},{"axis":"StackedAScan","quantity":256,"resolution":2.5e-08}]}],"processes":[{"id":0,)"
      R"("ultrasonicMatrixCapture":{"acquisitionPattern":"FMC","digitizingFrequency":40000000.0,"beams":[)" +
      beams +
      R"(]}}]}],"probes":[{"id":0,"phasedArrayLinear":{"centralFrequency":5000000.0,"elements":[{"id":0,"primaryIndex":0,)"
      R"("enabled":true},{"id":1,"primaryIndex":1,"enabled":true}],"primaryAxis":{"elementGap":0.0001,"elementQuantity":2,)"
      R"("elementLength":0.0005},"secondaryAxis":{"elementGap":0,"elementQuantity":1,"elementLength":0.01}},"wedgeAssociation":)"
      R"({"wedgeId":0,"mountingLocationId":0}}],"wedges":[{"id":0,"angleBeamWedge":{"longitudinalVelocity":2330,)"
      R"("mountingLocations":[{"id":0,"wedgeAngle":0,"primaryOffset":-0.05,"secondaryOffset":0,"tertiaryOffset":0.01}]},)"
      R"("positioning":{"specimenId":0}}],"specimens":[{"id":0,"plateGeometry":{"material":{"longitudinalWave":{"nominalVelocity":)"
      R"(5900},"transversalVerticalWave":{"nominalVelocity":3200}},"thickness":0.02}}]})";
  const Id file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const Id links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const Id text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, setup.size());
  const Id one = H5Screate(H5S_SCALAR);
  const Id description = H5Dcreate2(file, "/Public/Setup", text, one, links, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(description, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, setup.data());
  const std::array<hsize_t, 2> shape{1, 256};
  const Id space = H5Screate_simple(2, shape.data(), nullptr);
  const Id data =
      H5Dcreate2(file, "/Public/Groups/0/Datasets/0-AScanAmplitude", H5T_STD_I16LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<short> numbers(256);
  std::iota(numbers.begin(), numbers.end(), short{1});
  H5Dwrite(data, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
}

void write_kwave(const std::filesystem::path& path) {
  const Id file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const auto put = [&](const char* name, hid_t type, std::array<hsize_t, 3> shape, const std::vector<double>& values) {
    const Id space = H5Screate_simple(3, shape.data(), nullptr);
    const Id set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  };
  for (const auto& [name, value] : {std::pair{"Nx", 6.0}, {"Ny", 5.0}, {"Nz", 1.0}, {"Nt", 64.0}, {"sensor_mask_type", 0.0}})
    put(name, H5T_STD_U64LE, {1, 1, 1}, {value});
  for (const auto& [name, value] : {std::pair{"dt", 5e-8}, {"dx", 1e-4}, {"dy", 1e-4}, {"dz", 1e-4}, {"c_ref", 1500.0}})
    put(name, H5T_IEEE_F32LE, {1, 1, 1}, {value});
  put("sensor_mask_index", H5T_STD_U64LE, {1, 1, 4}, {1, 6, 25, 30});
  std::vector<double> pressure(256);
  std::iota(pressure.begin(), pressure.end(), 1.0);
  put("p", H5T_IEEE_F32LE, {1, 64, 4}, pressure);
}

struct Format {
  const char* name;
  const char* file;
  const char* samples;  ///< their dataset
  void (*write)(const std::filesystem::path&);
};

// A line each format that is read from HDF5.
const Format every_format[]{
    {"mfmc", "r.mfmc", "/SEQUENCES/S1/MFMC_DATA", [](const std::filesystem::path& path) { write_recording(path, false); }},
    {"onde", "r.onde", "/ASCANS/ONDE_DATASET:DATA", [](const std::filesystem::path& path) { write_recording(path, false); }},
    {"uff", "r.uff", "/channel_data/data", [](const std::filesystem::path& path) { write_recording(path, false); }},
    {"ipasc", "r.hdf5", "/binary_time_series_data", [](const std::filesystem::path& path) { write_recording(path, true); }},
    {"nde", "r.nde", "/Public/Groups/0/Datasets/0-AScanAmplitude", write_nde},
    {"kwave", "r.h5", "/p", write_kwave},
    {"matlab", "r.mat", "/exp_data/time_data", [](const std::filesystem::path& path) { Mat73Maker().save(path); }},
};

class EveryFormat : public ::testing::TestWithParam<Format> {
 protected:
  /// All samples of frame 0.
  [[nodiscard]] std::vector<float> samples() const {
    const auto recording = open_recording(path_);
    std::vector<float> samples(recording->acquisition().a_scans() * recording->acquisition().samples);
    recording->read_frame(0, samples);
    return samples;
  }

  Scratch scratch_;
  std::filesystem::path path_ = scratch_ / GetParam().file;
};

TEST_P(EveryFormat, IsReadAlikeFromPackedChunks) {
  GetParam().write(path_);
  const std::vector<float> before = samples();
  pack(path_, GetParam().samples, [](std::size_t size) { return size; });
  EXPECT_EQ(samples(), before);
}

TEST_P(EveryFormat, RefusesAChunkThatInflatesToLess) {
  GetParam().write(path_);
  pack(path_, GetParam().samples, [](std::size_t size) { return size / 2; });
  EXPECT_THAT(input_error([&] { static_cast<void>(samples()); }), AllOf(HasSubstr("r."), HasSubstr("inflate to")));
}

TEST_P(EveryFormat, RefusesAChunkThatInflatesToMore) {
  GetParam().write(path_);
  pack(path_, GetParam().samples, [](std::size_t size) { return size + 8; });
  EXPECT_THAT(input_error([&] { static_cast<void>(samples()); }), AllOf(HasSubstr("r."), HasSubstr("inflate to more than")));
}

INSTANTIATE_TEST_SUITE_P(Hdf5, EveryFormat, ::testing::ValuesIn(every_format),
                         [](const auto& tested) { return std::string(tested.param.name); });

class Hdf5Promises : public ::testing::Test {
 protected:
  [[nodiscard]] std::string error_of_reading(std::size_t frame = 0) const {
    return input_error([&] {
      const auto recording = open_recording(path_);
      std::vector<float> samples(recording->acquisition().a_scans() * recording->acquisition().samples);
      recording->read_frame(frame, samples);
    });
  }
  /// Puts `after` in the place of the one run of bytes that is `before`; more than one is a mistake of the test.
  void replace(const Bytes& before, const Bytes& after) const {
    Bytes bytes = load(path_);
    const auto found = std::search(bytes.begin(), bytes.end(), before.begin(), before.end());
    ASSERT_NE(found, bytes.end());
    ASSERT_EQ(std::search(found + 1, bytes.end(), before.begin(), before.end()), bytes.end());
    std::copy(after.begin(), after.end(), found);
    save(path_, bytes);
  }

  Scratch scratch_;
  std::filesystem::path path_ = scratch_ / "r.mfmc";
};

// A frame that the trial in a process of its own leaves out, as it does with most of a long recording: the other half of a chunk
// that holds two.
TEST_F(Hdf5Promises, EveryFrameIsChecked) {
  MfmcMaker maker;
  maker.frames = 2;
  maker.write(path_);
  pack(path_, "/SEQUENCE<1>/MFMC_DATA", [](std::size_t size) { return size / 2; });
  EXPECT_THAT(error_of_reading(1), HasSubstr("MFMC_DATA, chunk at 0, 0, 0: found data that inflate to"));
}

// Chunks without filters: the size that stands beside a chunk's place in the index (HDF5 File Format Specification 3.0, III.A.1:
// the first field of a key of a B-tree of type 1) is smaller than a chunk.
TEST_F(Hdf5Promises, AChunkWithoutFiltersThatIsShorterIsRefused) {
  {
    MfmcMaker().write(path_);
    const Id file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const char* const name = "/SEQUENCE<1>/MFMC_DATA";
    const Id before = H5Dopen2(file, name, H5P_DEFAULT);
    const std::vector<hsize_t> shape = shape_of(before);
    std::vector<float> values(shape[0] * shape[1] * shape[2]);
    H5Dread(before, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Ldelete(file, name, H5P_DEFAULT);
    const Id creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, shape.data());
    const Id space = H5Screate_simple(3, shape.data(), nullptr);
    const Id after = H5Dcreate2(file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(after, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  EXPECT_EQ(error_of_reading(), "");
  // 1 frame of 16 A-scans of 6 samples of 4 bytes: 384. Of its B-tree: signature, type 1, level 0, one entry, no siblings.
  Bytes tree{'T', 'R', 'E', 'E', 1, 0, 1, 0};
  tree.insert(tree.end(), 16, 0xFF);
  Bytes shorter = tree;
  for (Bytes* const bytes : {&tree, &shorter}) bytes->insert(bytes->end(), {0x80, 0x01, 0, 0});
  shorter[24] = 0x20;
  shorter[25] = 0x00;
  replace(tree, shorter);
  EXPECT_THAT(error_of_reading(), HasSubstr("MFMC_DATA, chunk at 0, 0, 0: found 32 bytes; expected chunks of 384 bytes"));
  // More than a chunk would be written behind the memory for one.
  shorter[24] = 0x00;
  shorter[26] = 0x10;
  save(path_, [&] {
    Bytes bytes = load(path_);
    Bytes found = tree;
    found[24] = 0x20;
    found[25] = 0x00;
    const auto at = std::search(bytes.begin(), bytes.end(), found.begin(), found.end());
    std::copy(shorter.begin(), shorter.end(), at);
    return bytes;
  }());
  EXPECT_THAT(error_of_reading(), HasSubstr("MFMC_DATA, chunk at 0, 0, 0: found "));
}

// Data in an object's header: the size in the layout message (IV.A.2.i, version 3, class 0) is smaller than the dataset.
TEST_F(Hdf5Promises, CompactDataThatAreShorterAreRefused) {
  {
    MfmcMaker().write(path_);
    const Id file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const char* const name = "/PROBE<1>/ELEMENT_MINOR";
    const Id before = H5Dopen2(file, name, H5P_DEFAULT);
    std::vector<double> values(12);
    H5Dread(before, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Ldelete(file, name, H5P_DEFAULT);
    const Id creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(creation, H5D_COMPACT);
    const Id space = H5Dget_space(before);
    const Id after = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(after, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  EXPECT_EQ(error_of_reading(), "");
  replace({3, 0, 96, 0}, {3, 0, 8, 0});
  EXPECT_THAT(error_of_reading(), HasSubstr("ELEMENT_MINOR: found 8 bytes stored; expected 4 x 3 values of 8 bytes"));
}

// The bits of a number (IV.A.2.d: size, bit offset, bit precision) lie outside of it.
TEST_F(Hdf5Promises, NumbersWhosePartsLieOutsideOfThemAreRefused) {
  MfmcMaker maker;
  maker.data_type = H5T_STD_I16LE;
  maker.write(path_);
  EXPECT_EQ(error_of_reading(), "");
  replace({0x10, 0x08, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0}, {0x10, 0x08, 0, 0, 2, 0, 0, 0, 0x00, 0x40, 16, 0});
  EXPECT_THAT(error_of_reading(), HasSubstr("MFMC_DATA: found numbers whose bit fields exceed their size"));
}

TEST_F(Hdf5Promises, SmallNumbersOfShortChunksAreRefused) {
  for (const char* const name : {"/PROBE<1>/ELEMENT_POSITION", "/SEQUENCE<1>/PROBE_POSITION",
                                 "/SEQUENCE<1>/PROBE_PLACEMENT_INDEX", "/SEQUENCE<1>/TRANSMIT_LAW"}) {
    MfmcMaker().write(path_);
    pack(path_, name, [](std::size_t size) { return size; });
    EXPECT_EQ(error_of_reading(), "") << name;
    MfmcMaker().write(path_);
    pack(path_, name, [](std::size_t size) { return size / 2; });
    EXPECT_THAT(error_of_reading(), AllOf(HasSubstr(name), HasSubstr("inflate to"))) << name;
  }
}

// Of texts of any length a chunk holds where they are.
TEST_F(Hdf5Promises, TextsOfShortChunksAreRefused) {
  for (const bool any_length : {false, true}) {
    for (const bool whole : {true, false}) {
      {
        const Id file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const Id type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, any_length ? H5T_VARIABLE : 64);
        const hsize_t one = 1;
        const Id creation = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(creation, 1, &one);
        H5Pset_deflate(creation, 6);
        const Id space = H5Screate_simple(1, &one, nullptr);
        const Id set = H5Dcreate2(file, "text", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        std::array<char, 64> text{"what was written"};
        const char* const at = text.data();
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, any_length ? static_cast<const void*>(&at) : text.data());
        H5Fflush(file, H5F_SCOPE_GLOBAL);
        if (!whole) {
          const Bytes packed = deflated(Bytes(7, 'w'));
          const hsize_t place = 0;
          ASSERT_GE(H5Dwrite_chunk(set, H5P_DEFAULT, 0, &place, packed.size(), packed.data()), 0);
        }
      }
      const formats::Hdf5Session session;
      const formats::Hdf5Handle file = formats::open_hdf5(path_);
      const auto item = formats::Hdf5Item::require(file, "text", "r");
      if (whole) {
        EXPECT_EQ(item.text(), "what was written");
      } else {
        EXPECT_THAT(input_error([&] { static_cast<void>(item.text()); }), HasSubstr("inflate to")) << any_length;
      }
    }
  }
}

TEST_F(Hdf5Promises, OtherFiltersAreNamed) {
  const auto set_filter = [](hid_t creation, H5Z_filter_t filter) {
    const unsigned parameters[]{2, 0, 0, 0};
    switch (filter) {
      case H5Z_FILTER_NBIT:
        return H5Pset_nbit(creation);
      case H5Z_FILTER_SCALEOFFSET:
        return H5Pset_scaleoffset(creation, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
      default:
        return H5Pset_filter(creation, filter, H5Z_FLAG_OPTIONAL, 4, parameters);
    }
  };
  for (const auto& [filter, name] : {std::pair{H5Z_FILTER_SZIP, "filter 4 (szip)"},
                                     {H5Z_FILTER_NBIT, "filter 5 (nbit)"},
                                     {H5Z_FILTER_SCALEOFFSET, "filter 6 (scaleoffset)"},
                                     {32001, "filter 32001 (Blosc)"},
                                     {511, "filter 511, whose name is not stated"}}) {
    MfmcMaker maker;
    maker.data_type = H5T_STD_I32LE;
    maker.write(path_);
    {
      const Id file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
      const Id before = H5Dopen2(file, "/SEQUENCE<1>/MFMC_DATA", H5P_DEFAULT);
      const std::vector<hsize_t> shape = shape_of(before);
      H5Ldelete(file, "/SEQUENCE<1>/MFMC_DATA", H5P_DEFAULT);
      const Id creation = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(creation, 3, shape.data());
      ASSERT_GE(set_filter(creation, filter), 0) << name;
      const Id space = H5Screate_simple(3, shape.data(), nullptr);
      const Id after = H5Dcreate2(file, "/SEQUENCE<1>/MFMC_DATA", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
      const Bytes packed(40, 1);
      const std::vector<hsize_t> place(3, 0);
      ASSERT_GE(H5Dwrite_chunk(after, H5P_DEFAULT, 0, place.data(), packed.size(), packed.data()), 0);
    }
    const auto says_it = AllOf(HasSubstr("MFMC_DATA: found"), HasSubstr(name), HasSubstr("h5repack"), HasSubstr("plug-in"));
    EXPECT_THAT(error_of_reading(), says_it) << name;
    // `inspect` ends with code 2 for it.
    EXPECT_THAT(check_mfmc(path_).violations, ElementsAre(says_it)) << name;
  }
}

/// How often a file is opened, whatever the name.
class Openings {
 public:
  explicit Openings(const std::filesystem::path& path) : queue_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    // The system tells events that are alike and follow each other once: what is done between two openings keeps them apart.
    EXPECT_GE(::inotify_add_watch(queue_, path.c_str(), IN_OPEN | IN_ACCESS | IN_CLOSE), 0);
  }
  ~Openings() { ::close(queue_); }
  Openings(const Openings&) = delete;
  Openings& operator=(const Openings&) = delete;
  [[nodiscard]] std::size_t count() const {
    std::size_t count = 0;
    alignas(inotify_event) std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(queue_, buffer.data(), buffer.size())) > 0;) {
      for (ssize_t at = 0; at < got;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        count += (event->mask & IN_OPEN) != 0 ? 1 : 0;
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    return count;
  }

 private:
  int queue_;
};

// What the trial has found good is what is read, whatever is put in the file's place meanwhile.
TEST_P(EveryFormat, IsOpenedOnce) {
  GetParam().write(path_);
  const Openings openings(path_);
  const auto recording = open_recording(path_);
  std::vector<float> samples(recording->acquisition().a_scans() * recording->acquisition().samples);
  recording->read_frame(0, samples);
  EXPECT_EQ(openings.count(), 1U);
}

}  // namespace
}  // namespace echoform::test::hdf5_chunks
