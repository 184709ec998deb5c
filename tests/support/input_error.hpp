// The line of an error.
#pragma once

#include <string>

#include "base/errors.hpp"

namespace echoform::test {

/// The line of the InputError that `call` throws; empty if it throws nothing. Any other exception fails the test.
template <class Call>
[[nodiscard]] std::string input_error(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace echoform::test
