#include "jobs/together.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace echoform {
namespace {

enum class Failure : unsigned char { none, input, run };

}  // namespace

void together(Communicator& communicator, FunctionRef<void()> work) {
  if (communicator.size() == 1) return work();
  Failure failure = Failure::none;
  std::string line;
  try {
    work();
  } catch (const InputError& error) {
    failure = Failure::input;
    line = error.what();
  } catch (const std::bad_alloc&) {
    failure = Failure::run;
    line = "out of memory";
  } catch (const std::exception& error) {
    failure = Failure::run;
    line = error.what();
  }
  std::vector<double> failed(communicator.size());
  failed[communicator.rank()] = static_cast<double>(failure);
  communicator.sum(failed);
  const auto first = std::ranges::find_if(failed, [](double value) { return value > 0.0; });
  if (first == failed.end()) return;
  // The letters of the error; the other processes add zeros.
  constexpr std::size_t longest = 4096;
  std::vector<double> letters(longest);
  if (communicator.rank() == static_cast<std::size_t>(first - failed.begin())) {
    for (std::size_t k = 0; k < std::min(line.size(), longest); ++k) letters[k] = static_cast<unsigned char>(line[k]);
  }
  communicator.sum(letters);
  std::string said;
  for (const double letter : letters) {
    if (letter == 0.0) break;
    said.push_back(static_cast<char>(static_cast<unsigned char>(letter)));
  }
  if (*first == static_cast<double>(Failure::input)) throw InputError(said);
  throw RuntimeFault(said);
}

}  // namespace echoform
