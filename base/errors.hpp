// The two kinds of errors that end a program of Echoform. Both carry one line for the user. Text from a file or a peer
// within it can neither break the line nor control the terminal that shows it.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace echoform {

/// `text` with '?' for every control character of ASCII.
[[nodiscard]] inline std::string one_line(std::string text) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  std::replace_if(text.begin(), text.end(), control, '?');
  return text;
}

/// Something that the user or a peer supplied is wrong: a file, a key, an option, a message. The programs exit with code 2.
class InputError : public std::runtime_error {
 public:
  /// `where` names the place (file and element, key, option, message field); `found` and `expected` complete the line
  /// "WHERE: found FOUND; expected EXPECTED".
  InputError(std::string_view where, std::string_view found, std::string_view expected)
      : InputError(std::string(where) + ": found " + std::string(found) + "; expected " + std::string(expected)) {}

  /// The constructor for the rare message that does not fit the three parts.
  explicit InputError(const std::string& line) : std::runtime_error(one_line(line)) {}
};

/// The input was right and the run failed all the same: a port in use, a disk full, a device lost. Exit code 1.
class RuntimeFault : public std::runtime_error {
 public:
  explicit RuntimeFault(const std::string& line) : std::runtime_error(one_line(line)) {}
};

}  // namespace echoform
