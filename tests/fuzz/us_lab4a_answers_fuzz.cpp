// What a server of us_lab4a's protocol answers: whatever arrives, and however it is cut, the answers are the same, and none is
// longer than was agreed.
//
// Input: two bytes that say where to cut, then the bytes of a connection.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "instruments/us_lab4a/array_protocol.hpp"
#include "tests/fuzz/input.hpp"

namespace echoform::us_lab4a {
namespace {

constexpr std::size_t longest = 512;

/// What reading the only value of an answer comes to, as text.
template <class Read>
std::string value_of(const Read& read) {
  try {
    return fmt::format("{}", read());
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
    return "refused";
  }
}

std::string listen(std::span<const std::uint8_t> bytes, std::size_t piece, std::size_t then) {
  AnswerParser parser(longest);
  std::string heard;
  while (!bytes.empty() && parser.broken().empty()) {
    const auto room = parser.room();
    fuzz::require(!room.empty(), "there is room while the framing holds");
    const std::size_t count = std::min({piece, bytes.size(), room.size()});
    if (count > 0) std::memcpy(room.data(), bytes.data(), count);
    parser.commit(count);
    bytes = bytes.subspan(count);
    piece = then;
    while (const auto answer = parser.next()) {
      fuzz::require(answer->values.size() <= longest, "values fit the message");
      heard += name_of(answer->type) + ' ' + value_of([&] { return number_in(*answer); }) + ' ' +
               value_of([&] { return sample_in(*answer); }) + ' ' + value_of([&] { return text_in(*answer); }) + ' ' +
               value_of([&] { return samples_in(*answer, 3).size(); }) + '\n';
      heard.append(reinterpret_cast<const char*>(answer->values.data()), answer->values.size());
      std::vector<std::byte> swapped(answer->values.size());
      swap_samples(answer->values, swapped);
    }
  }
  if (!parser.broken().empty()) fuzz::require_one_line(parser.broken());
  return heard + parser.broken();
}

}  // namespace
}  // namespace echoform::us_lab4a

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  fuzz::require_cuts_to_tell_nothing(fuzz::Input(data, size), us_lab4a::listen);
  return 0;
}
