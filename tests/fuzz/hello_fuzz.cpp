// The Hello: a message that is taken describes an acquisition within the limits, and says the same when it is said again.
#include <google/protobuf/stubs/logging.h>

#include <cmath>
#include <span>

#include "base/errors.hpp"
#include "proto/acquisition.pb.h"
#include "tests/fuzz/input.hpp"
#include "transport/acquisition/admission.hpp"
#include "transport/acquisition/hello.hpp"
#include "transport/wire_numbers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  constexpr AcquisitionLimits limits{.elements = 64, .samples = 4096, .frame_bytes = std::size_t{1} << 20};
  const google::protobuf::LogSilencer silencer;
  wire::Hello hello;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto wide = find_wide_number(bytes, *wire::Hello::descriptor())) {
    fuzz::require_one_line(*wide);
    fuzz::require(!parse_message(bytes, hello), "a number that does not fit is not taken");
    return 0;
  }
  if (!parse_message(bytes, hello)) return 0;
  // What refuses early goes by what is read later.
  const HelloSummary summary = summarise_hello(bytes);
  fuzz::require(
      summary.whole && summary.session == hello.session() && summary.token == hello.token() && summary.sender == hello.sender(),
      "a summary that says the same");
  HelloContents contents;
  try {
    contents = read_hello(hello, limits);
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
    return 0;
  }
  const Acquisition& acquisition = contents.acquisition;
  fuzz::require(acquisition.elements() >= 1 && acquisition.elements() <= limits.elements, "elements within the limit");
  fuzz::require(acquisition.samples >= 2 && acquisition.samples <= limits.samples, "samples within the limit");
  fuzz::require(acquisition.frame_bytes() <= limits.frame_bytes, "a frame within the limit");
  fuzz::require(std::isfinite(acquisition.sample_rate.value) && acquisition.sample_rate.value > 0.0, "a sample rate");
  fuzz::require(contents.identity.connection_index < contents.identity.connection_count, "a connection of those stated");
  if (hello.sender().size() > 128) return 0;  // cut, and marked as such

  const std::string said = encode_hello(contents.identity, acquisition);
  wire::Hello again;
  fuzz::require(again.ParseFromString(said), "a Hello of ours is one");
  const HelloContents heard = read_hello(again, limits);
  fuzz::require(encode_hello(heard.identity, heard.acquisition) == said, "said again, the Hello is the same");
  return 0;
}
