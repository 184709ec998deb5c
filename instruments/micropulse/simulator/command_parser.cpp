#include "instruments/micropulse/simulator/command_parser.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace echoform::micropulse_simulator {
namespace {

constexpr std::size_t line_limit = 1024;
constexpr std::size_t argument_limit = 512;
constexpr std::size_t digit_limit = 10;

bool is(int (*kind)(int), char c) {
  return kind(static_cast<unsigned char>(c)) != 0;
}

std::optional<std::int64_t> number(std::string_view word) {
  const bool negative = word.front() == '-';
  if (negative) word.remove_prefix(1);
  int base = 10;
  if (!word.empty() && (word.back() == 'h' || word.back() == 'H')) {
    base = 16;
    word.remove_suffix(1);
  }
  if (word.empty() || word.size() > digit_limit || !is(std::isdigit, word.front())) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace

void CommandParser::end_command() {
  if (command_) commands_.push_back(std::move(*command_));
  command_.reset();
}

void CommandParser::end_word() {
  if (word_.empty()) return;
  const std::string word = std::exchange(word_, {});
  if (is(std::isalpha, word.front())) {
    end_command();
    command_.emplace();
    command_->mnemonic = word;
    std::transform(word.begin(), word.end(), command_->mnemonic.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return;
  }
  // A word before any mnemonic belongs to no command.
  if (!command_) command_.emplace().complaint = Complaint::unknown_command;
  if (command_->complaint) return;
  const auto value = number(word);
  if ((!value && word != "-") || command_->arguments.size() == argument_limit) {
    command_->complaint = Complaint::out_of_limits;
  } else {
    command_->arguments.push_back(value);
  }
}

void CommandParser::take(char c) {
  if (c == '\r' || c == '\n') {
    end_word();
    end_command();
    length_ = 0;
    comment_ = false;
    return;
  }
  if (length_ > line_limit) return;
  if (++length_ > line_limit) {
    word_.clear();
    if (!command_) command_.emplace();
    command_->complaint = Complaint::out_of_limits;
    return;
  }
  if (comment_) return;
  if (c == '#') comment_ = true;
  if (c == '#' || c == ' ' || c == '\t') {
    end_word();
  } else {
    word_ += c;
  }
}

void CommandParser::take(std::string_view text) {
  for (const char c : text) take(c);
}

std::optional<Command> CommandParser::next() {
  if (commands_.empty()) return std::nullopt;
  Command command = std::move(commands_.front());
  commands_.pop_front();
  return command;
}

}  // namespace echoform::micropulse_simulator
