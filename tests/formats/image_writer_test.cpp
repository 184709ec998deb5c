#include <gmock/gmock.h>
#include <hdf5.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "formats/atomic_file.hpp"
#include "formats/colour_map.hpp"
#include "formats/figure.hpp"
#include "formats/image_writer.hpp"
#include "formats/png.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/places.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

Grid small_grid() {
  return {{Metres(-2e-3), Metres(2e-3), 5}, {Metres(1e-3), Metres(4e-3), 4}, {}};
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t k = 0; k < count; ++k) values[k] = 0.25F * static_cast<float>(k + 1);
  return values;
}

int python(const std::string& script) {
  return run_python({"-c", script});
}

TEST(ImageWriter, NpyIsWhatNumpyReads) {
  ECHOFORM_REQUIRE_PYTHON("numpy");
  const Scratch scratch;
  const auto envelope = ramp(20);
  const auto path = scratch / "image.npy";
  make_image_writer(path)->write({.grid = small_grid(), .envelope = envelope});
  const auto bytes = load(path);
  const std::size_t header = 10 + bytes[8] + 256u * bytes[9];
  EXPECT_EQ(header % 64, 0u);
  EXPECT_EQ(std::string(bytes.begin() + 1, bytes.begin() + 6), "NUMPY");
  ASSERT_EQ(bytes.size(), header + 80);
  EXPECT_EQ(std::memcmp(bytes.data() + header, envelope.data(), 80), 0);
  EXPECT_EQ(python("import numpy as n; a = n.load('" + path.string() +
                   "'); assert a.shape == (4, 5) and a.dtype == n.float32 and a[3, 4] == 5 and a[0, 1] == 0.5"),
            0);
}

TEST(ImageWriter, AnalyticNpyAndTheEnvelopeOfAnAnalyticImage) {
  ECHOFORM_REQUIRE_PYTHON("numpy");
  const Scratch scratch;
  const std::vector<std::complex<float>> analytic(20, {3.0F, -4.0F});
  ImageFile image{.grid = small_grid(), .analytic = analytic, .field = ImageField::analytic};
  make_image_writer(scratch / "a.npy")->write(image);
  EXPECT_EQ(python("import numpy as n; a = n.load('" + (scratch / "a.npy").string() +
                   "'); assert a.dtype == n.complex64 and (a == 3 - 4j).all() and a.shape == (4, 5)"),
            0);
  image.field = ImageField::envelope;
  make_image_writer(scratch / "e.npy")->write(image);
  EXPECT_EQ(python("import numpy as n; a = n.load('" + (scratch / "e.npy").string() +
                   "'); assert a.dtype == n.float32 and (a == 5).all()"),
            0);
}

TEST(ImageWriter, Hdf5CarriesAxesAndAttributes) {
  ECHOFORM_REQUIRE_PYTHON("h5py");
  const Scratch scratch;
  const auto envelope = ramp(20);
  const std::vector<std::complex<float>> analytic(20, {3.0F, -4.0F});
  ImageFile image{.grid = small_grid(), .envelope = envelope, .analytic = analytic, .title = "a title", .view = "LL"};
  make_image_writer(scratch / "e.h5")->write(image);
  image.field = ImageField::analytic;
  make_image_writer(scratch / "a.h5")->write(image);
  EXPECT_EQ(scratch.files(), 2u);
  EXPECT_EQ(
      python("import h5py, numpy as n; f = h5py.File('" + (scratch / "e.h5").string() +
             "'); i = f['image']; assert i.shape == (4, 5) and i.dtype == n.float32 and i[3, 4] == 5; "
             "assert n.allclose(f['x'], n.linspace(-2e-3, 2e-3, 5)) and n.allclose(f['z'], n.linspace(1e-3, 4e-3, 4)); "
             "assert f['x'].attrs['units'] == b'm' and i.attrs['view'] == b'LL' and i.attrs['axes'] == b'z x' and "
             "i.attrs['field'] == b'envelope'; "
             "g = h5py.File('" +
             (scratch / "a.h5").string() + "'); assert g['image'].dtype == n.complex64 and (g['image'][:] == 3 - 4j).all()"),
      0);
}

TEST(ImageWriter, Hdf5SaysWhatTheNumbersAre) {
  ECHOFORM_REQUIRE_PYTHON("h5py");
  const Scratch scratch;
  const Grid grid{{Metres(0), Metres(1e-3), 2}, {Metres(-30), Metres(30), 4}, {Metres(0), Metres(1e-3), 3}};
  const auto envelope = ramp(24);
  make_image_writer(scratch / "v.h5")
      ->write(
          {.grid = grid, .envelope = envelope, .pixels = {"absorbed energy", "J"}, .x = {"position", ""}, .z = {"angle", "deg"}});
  EXPECT_EQ(
      python("import h5py; f = h5py.File('" + (scratch / "v.h5").string() +
             "'); i = f['image']; assert i.shape == (4, 3, 2) and i.attrs['axes'] == b'z y x'; "
             "assert i.attrs['quantity'] == b'absorbed energy' and i.attrs['units'] == b'J'; "
             "assert [f[n].attrs['units'] for n in 'xyz'] == [b'', b'm', b'deg']; "
             "assert f['x'].attrs['name'] == b'position' and f['z'].attrs['name'] == b'angle' and 'name' not in f['y'].attrs; "
             "assert f['y'][2] == 1e-3 and f['z'][0] == -30"),
      0);
}

TEST(ImageWriter, VolumesKeepTheirThreeAxes) {
  ECHOFORM_REQUIRE_PYTHON("numpy");
  const Scratch scratch;
  const Grid grid{{Metres(0), Metres(1e-3), 2}, {Metres(0), Metres(1e-3), 4}, {Metres(0), Metres(1e-3), 3}};
  const auto envelope = ramp(24);
  make_image_writer(scratch / "v.npy")->write({.grid = grid, .envelope = envelope});
  EXPECT_EQ(python("import numpy as n; assert n.load('" + (scratch / "v.npy").string() + "').shape == (4, 3, 2)"), 0);
  EXPECT_THAT(input_error([&] { static_cast<void>(draw_figure({.grid = grid, .envelope = envelope})); }),
              HasSubstr("a volume of 3 planes"));
}

TEST(ImageWriter, LeavesNothingHalfWritten) {
  const Scratch scratch;
  const auto envelope = ramp(19);  // one too few
  for (const char* name : {"a.npy", "a.h5", "a.nrrd", "a.vti", "a.png"}) {
    save(scratch / name, {1, 2, 3});
    EXPECT_THAT(input_error([&] { make_image_writer(scratch / name)->write({.grid = small_grid(), .envelope = envelope}); }),
                HasSubstr("found an image of 19 values; expected 20"));
    EXPECT_EQ(load(scratch / name), (std::vector<std::uint8_t>{1, 2, 3})) << "the old file stays";
  }
  EXPECT_EQ(scratch.files(), 5u);
  {
    AtomicFile file(scratch / "b.txt");
    save(file.aside(), {1});
    EXPECT_FALSE(std::filesystem::exists(scratch / "b.txt"));
  }
  EXPECT_EQ(scratch.files(), 5u);
}

TEST(ImageWriter, RefusesPlacesBeforeAnyWork) {
  const Scratch scratch;
  const auto error = [](const std::filesystem::path& path) {
    return input_error([&] { static_cast<void>(make_image_writer(path)); });
  };
  EXPECT_THAT(error(scratch / "none/a.npy"),
              HasSubstr("found no directory " + (scratch / "none").string() + "; expected an existing directory"));
  EXPECT_THAT(error(scratch / "a.jpg"), HasSubstr("extension \".jpg\"; expected one of: .npy, .h5, .nrrd, .vti, .uff, .png"));
  EXPECT_THAT(error(scratch / "a"), HasSubstr("no extension"));
  std::filesystem::create_directory(scratch / "dir.png");
  EXPECT_THAT(error(scratch / "dir.png"), HasSubstr("found a directory; expected a file to write"));
  if (::geteuid() == 0) {
    EXPECT_THAT(error("/proc/a.npy"), ::testing::AnyOf(HasSubstr("may not be written"), ::testing::Eq("")));
  } else {
    std::filesystem::permissions(scratch / "dir.png", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_THAT(error(scratch / "dir.png/a.npy"), HasSubstr("may not be written to"));
  }
}

TEST(ImageWriter, AFileThatCannotBeWrittenIsAFault) {
  // The kernel's file system of processes lets nobody create files.
  const auto envelope = ramp(20);
  const auto attempt = [&](const char* path) { make_image_writer(path)->write({.grid = small_grid(), .envelope = envelope}); };
  for (const char* path :
       {"/proc/echoform.npy", "/proc/echoform.png", "/proc/echoform.h5", "/proc/echoform.nrrd", "/proc/echoform.vti"}) {
    EXPECT_THROW(attempt(path), std::runtime_error) << path;
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(ImageWriter, NamesViews) {
  EXPECT_EQ(with_view_name("out/scan.png", "LL"), "out/scan.LL.png");
  EXPECT_EQ(with_view_name("scan.npy", "TT-T"), "scan.TT-T.npy");
}

TEST(Png, PixelsComeBack) {
  const Scratch scratch;
  const std::vector<std::uint8_t> grey{0, 50, 100, 150, 200, 255};
  write_plain_png(scratch / "grey.png", 3, 2, grey);
  auto back = read_png(scratch / "grey.png");
  EXPECT_EQ(back.width, 3u);
  EXPECT_EQ(back.height, 2u);
  EXPECT_EQ(back.channels, 1u);
  EXPECT_EQ(back.pixels, grey);
  write_plain_png(scratch / "rgb.png", 1, 2, grey);
  back = read_png(scratch / "rgb.png");
  EXPECT_EQ(back.channels, 3u);
  EXPECT_EQ(back.pixels, grey);
  EXPECT_THAT(input_error([&] { write_plain_png(scratch / "bad.png", 4, 2, grey); }), HasSubstr("6 bytes for 4 x 2 pixels"));
  save(scratch / "cut.png", {0x89, 'P', 'N', 'G'});
  EXPECT_THAT(input_error([&] { static_cast<void>(read_png(scratch / "cut.png")); }), HasSubstr("cut.png: found no PNG image"));
  EXPECT_EQ(scratch.files(), 3u);
}

double brightness(Rgb colour) {
  return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2];
}

TEST(Figure, ColoursGetBrighterEvenly) {
  double before = brightness(sequential_colour(0.0));
  for (int k = 1; k <= 256; ++k) {
    const double now = brightness(sequential_colour(k / 256.0));
    EXPECT_GE(now, before - 0.8) << k;  // rounding to whole levels
    EXPECT_LT(now - before, 2.5) << k;  // of 256 levels in 256 steps
    before = now;
  }
  EXPECT_EQ(sequential_colour(-1.0), sequential_colour(0.0));
  EXPECT_EQ(sequential_colour(7.0), sequential_colour(1.0));
  EXPECT_EQ(sequential_colour(std::nan("")), no_value_colour);
}

// Brightest place of the plot area, as a reader of the figure would find it: the centre of all pixels that reach the peak.
std::pair<double, double> brightest(const Figure& figure) {
  const auto& layout = figure.layout;
  double most = -1.0, columns = 0.0, rows = 0.0, count = 0.0;
  for (std::size_t row = layout.top; row < layout.top + layout.plot_height; ++row) {
    for (std::size_t column = layout.left; column < layout.left + layout.plot_width; ++column) {
      const auto* p = &figure.rgb[3 * (row * layout.width + column)];
      const double value = brightness({p[0], p[1], p[2]});
      if (value > most) {
        most = value;
        columns = rows = count = 0.0;
      }
      if (value == most) {
        columns += static_cast<double>(column) + 0.5;
        rows += static_cast<double>(row) + 0.5;
        count += 1.0;
      }
    }
  }
  return {columns / count, rows / count};
}

TEST(Figure, ShowsReflectorsWhereTheyAre) {
  // Coarser and finer than the plot's pixels, and of every proportion.
  for (const auto& [nx, nz] : {std::pair{41u, 61u}, {161u, 177u}, {700u, 300u}, {2000u, 1500u}, {300u, 20u}}) {
    const Grid grid{{Metres(-2e-2), Metres(2e-2), nx}, {Metres(1e-3), Metres(4.5e-2), nz}, {}};
    std::vector<float> envelope(grid.pixels(), 1e-3F);
    const std::size_t ix = nx / 3;
    const std::size_t iz = 2 * nz / 3;
    envelope[iz * nx + ix] = 7.0F;
    const Figure figure = draw_figure({.grid = grid, .envelope = envelope, .title = "one reflector", .view = "LL"});
    const auto [column, row] = brightest(figure);
    // Within one pixel of the grid or of the figure, whichever is larger.
    const double per_x = std::max(1.0, static_cast<double>(figure.layout.plot_width) / nx);
    const double per_z = std::max(1.0, static_cast<double>(figure.layout.plot_height) / nz);
    EXPECT_NEAR(column, figure.layout.column_of(grid.x.at(ix)), 0.6 * per_x) << nx;
    EXPECT_NEAR(row, figure.layout.row_of(grid.z.at(iz)), 0.6 * per_z) << nz;
  }
}

TEST(Figure, LayoutKeepsOneScaleAndWholePixels) {
  const Grid grid{{Metres(-2e-2), Metres(2e-2), 161}, {Metres(1e-3), Metres(4.5e-2), 177}, {}};
  const FigureLayout layout = layout_figure(grid);
  const double x_scale = static_cast<double>(layout.plot_width) / (layout.x_last - layout.x_first).value;
  const double z_scale = static_cast<double>(layout.plot_height) / (layout.z_last - layout.z_first).value;
  EXPECT_NEAR(x_scale / z_scale, 1.0, 2e-3);  // sides are whole pixels
  EXPECT_DOUBLE_EQ(layout.column_of(layout.x_first), static_cast<double>(layout.left));
  EXPECT_DOUBLE_EQ(layout.row_of(layout.z_last), static_cast<double>(layout.top + layout.plot_height));
  // One pixel, one row and one column still make a figure.
  for (const auto& [nx, nz] : {std::pair{1u, 1u}, {1u, 50u}, {50u, 1u}}) {
    const Grid thin{{Metres(0), Metres(nx == 1 ? 0 : 1e-2), nx}, {Metres(1e-2), Metres(nz == 1 ? 1e-2 : 2e-2), nz}, {}};
    const auto envelope = ramp(thin.pixels());
    const Figure figure = draw_figure({.grid = thin, .envelope = envelope});
    EXPECT_EQ(figure.rgb.size(), 3 * figure.layout.width * figure.layout.height);
    EXPECT_GE(figure.layout.plot_width, 100u);
    EXPECT_GE(figure.layout.plot_height, 100u);
  }
}

TEST(Figure, DrawsLevelsOnTheDecibelScale) {
  // Left half at the peak, right half 10 dB below it: with 40 dB shown, the colour of three quarters.
  const Grid grid{{Metres(0), Metres(1e-2), 200}, {Metres(0), Metres(1e-2), 200}, {}};
  std::vector<float> envelope(grid.pixels());
  for (std::size_t k = 0; k < envelope.size(); ++k) envelope[k] = k % 200 < 100 ? 2.0F : 2.0F * std::pow(10.0F, -0.5F);
  ImageFile image{.grid = grid, .envelope = envelope};
  const auto colour_at = [](const Figure& figure, double x) {
    const auto* p = &figure.rgb[3 * (static_cast<std::size_t>(figure.layout.row_of(Metres(5e-3))) * figure.layout.width +
                                     static_cast<std::size_t>(figure.layout.column_of(Metres(x))))];
    return Rgb{p[0], p[1], p[2]};
  };
  EXPECT_EQ(colour_at(draw_figure(image), 2e-3), sequential_colour(1.0));
  EXPECT_EQ(colour_at(draw_figure(image), 8e-3), sequential_colour(0.75));
  image.gain_db = -10.0;
  EXPECT_EQ(colour_at(draw_figure(image), 2e-3), sequential_colour(0.75));
  image.gain_db = 0.0;
  image.reference = 20.0;  // 20 dB above the peak
  EXPECT_EQ(colour_at(draw_figure(image), 2e-3), sequential_colour(0.5));
  image.dynamic_range_db = 0.0;
  EXPECT_THAT(input_error([&] { static_cast<void>(draw_figure(image)); }), HasSubstr("a dynamic range of 0 dB"));
}

TEST(Figure, ZerosAndHolesDoNotHurt) {
  const std::vector<float> zeros(20, 0.0F);
  static_cast<void>(draw_figure({.grid = small_grid(), .envelope = zeros}));
  std::vector<float> holes = ramp(20);
  holes[3] = std::numeric_limits<float>::quiet_NaN();
  holes[4] = std::numeric_limits<float>::infinity();
  static_cast<void>(draw_figure({.grid = small_grid(), .envelope = holes, .title = std::string(500, 'w') + "\u00e9\u00e9"}));
}

TEST(Figure, FileSaysWhereThePlotIs) {
  const Scratch scratch;
  const auto envelope = ramp(20);
  const ImageFile image{.grid = small_grid(), .envelope = envelope, .title = "a title"};
  make_image_writer(scratch / "f.png")->write(image);
  const Figure figure = draw_figure(image);
  const auto back = read_png(scratch / "f.png");
  EXPECT_EQ(back.pixels, figure.rgb);
  const auto bytes = load(scratch / "f.png");
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_THAT(text, HasSubstr("PlotArea" + std::string(1, '\0') + std::to_string(figure.layout.left) + " " +
                              std::to_string(figure.layout.top) + " " + std::to_string(figure.layout.plot_width) + " " +
                              std::to_string(figure.layout.plot_height)));
}

TEST(Figure, AxesInOtherUnitsStay) {
  // Degrees are no metres: the file says so, and gives the same places.
  const Scratch scratch;
  const auto envelope = ramp(20);
  Grid grid = small_grid();
  grid.x = {Metres(-20.0), Metres(20.0), 5};
  make_image_writer(scratch / "f.png")->write({.grid = grid, .envelope = envelope, .x = {"angle", "deg"}});
  const auto bytes = load(scratch / "f.png");
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_THAT(text, HasSubstr("Extent" + std::string(1, '\0') + "-25 25 0.5 4.5"));
}

}  // namespace
}  // namespace echoform::test
