// Damaged MFMC files, as open_recording() takes them: with the trial in a process of its own, because HDF5 1.10 itself crashes on
// some of them and that is no finding of ours. What our reader makes of whole files is for mfmc_contents, which is faster.
#include "formats/recording_formats.hpp"
#include "tests/fuzz/recording_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".mfmc");
  file.write({data, size});
  fuzz::check_recording([&] { return formats::open_as(formats::mfmc_format, file.path(), fuzz::small_recordings); });
  return 0;
}
