// Text of peers and files on a terminal: nothing in it steers the terminal, and what can be read stays.
#include "base/terminal_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace echoform {
namespace {

std::string line(std::string_view text) {
  return terminal_text(text, LineBreaks::replaced);
}

TEST(TerminalText, WhatCanBeReadStays) {
  for (const std::string text : {"", "plain", "6320 m/s, 0.5 µs, −3 dB, Länge, Δt, 超音波, 🙂"})
    EXPECT_EQ(line(text), text);
}

TEST(TerminalText, EscapeSequencesAreTakenApart) {
  EXPECT_EQ(line("\033[2J\033]0;title\007"), "?[2J?]0;title?");
  EXPECT_EQ(line(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(line("a\rb\bc\x7F"), "a?b?c?");
  // U+009B begins a sequence by itself, as UTF-8 and as a byte.
  EXPECT_EQ(line("\u009B31m"), "?31m");
  EXPECT_EQ(line("\x9B"
                 "31m"),
            "?31m");
  EXPECT_EQ(line("\u0085\u2028\u2029"), "???");
  // What is shown in another order than it is written.
  EXPECT_EQ(line("a\u202Eb\u2066c\u200F"), "a?b?c?");
}

TEST(TerminalText, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(line("\xFF\xC0\xAF"), "???");
  EXPECT_EQ(line("\xE2\x82"), "??") << "cut off";
  EXPECT_EQ(line("\xED\xA0\x80"), "???") << "a surrogate";
  EXPECT_EQ(line("\xF4\x90\x80\x80"), "????") << "beyond Unicode";
  EXPECT_EQ(line("\xC2"
                 "a"),
            "?a");
}

TEST(TerminalText, LinesAreKeptWhereTheyAreOurs) {
  EXPECT_EQ(line("a\nb\tc"), "a?b?c");
  EXPECT_EQ(terminal_text("a\nb\tc\r", LineBreaks::kept), "a\nb\tc?");
}

}  // namespace
}  // namespace echoform
