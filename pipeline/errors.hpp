// The two ways in which a program of Echoform ends badly. Both carry one line for the user.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace echoform {

/// Something that the user or a peer supplied is wrong: a file, a key, an option, a message. The programs exit with code 2.
class InputError : public std::runtime_error {
 public:
  /// `where` names the place (file and element, key, option, message field); `found` and `expected` complete the line
  /// "WHERE: found FOUND; expected EXPECTED".
  InputError(std::string_view where, std::string_view found, std::string_view expected)
      : std::runtime_error(std::string(where) + ": found " + std::string(found) + "; expected " + std::string(expected)) {}

  /// For the rare message that does not fit the three parts.
  explicit InputError(const std::string& line) : std::runtime_error(line) {}
};

/// The input was right and the run failed all the same: a port in use, a disk full, a device lost. Exit code 1.
class RuntimeFault : public std::runtime_error {
 public:
  explicit RuntimeFault(const std::string& line) : std::runtime_error(line) {}
};

}  // namespace echoform
