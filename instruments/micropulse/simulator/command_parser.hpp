// Parses commands as a MicroPulse understands them, from bytes as they arrive.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace echoform::micropulse_simulator {

/// What an instrument answers to a command that it cannot follow.
enum class Complaint : std::uint8_t { conflict = 0, unknown_command = 1, out_of_limits = 2 };

/// A mnemonic in capitals and its arguments, of which none is a dash: `SWP 1 256 - 319`.
struct Command {
  std::string mnemonic;
  std::vector<std::optional<std::int64_t>> arguments;
  std::optional<Complaint> complaint;  ///< it cannot even be read

  bool operator==(const Command&) const = default;
};

/// Words stand between spaces; a word that begins with a letter begins a command, which ends with the line or where the next one
/// begins. Numbers are decimal, or hexadecimal with an h behind them and a digit before, and have 10 digits at most. What follows
/// # on a line is nothing. A line ends with a carriage return, or a line feed, and has 1024 characters at most: a longer one is a
/// complaint, and the rest of it is passed over.
class CommandParser {
 public:
  void take(std::string_view text);
  /// The next whole command; none until there is more text.
  [[nodiscard]] std::optional<Command> next();

 private:
  void take(char c);
  void end_word();
  void end_command();

  std::string word_;
  std::optional<Command> command_;
  std::deque<Command> commands_;
  std::size_t length_ = 0;  // of the line
  bool comment_ = false;
};

}  // namespace echoform::micropulse_simulator
