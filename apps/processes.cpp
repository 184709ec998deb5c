#include "apps/processes.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <exception>
#include <memory>

#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "base/terminal_text.hpp"

namespace echoform {
namespace {

/// All processes have failed with the same error. Rank 0 reports it before any process ends, since mpirun then ends the others.
int end_together(Communicator& communicator, const std::exception& error, int code) {
  if (communicator.rank() == 0)
    standard_error().write(fmt::format("echoform: {}\n", terminal_text(error.what(), LineBreaks::replaced)));
  static_cast<void>(communicator.any(false));
  return code;
}

}  // namespace

int run_processes(FunctionRef<void(Communicator&)> work) {
  const std::unique_ptr<Communicator> communicator = make_communicator();
  const bool alone = communicator->size() == 1;
  if (communicator->rank() != 0) spdlog::set_level(spdlog::level::off);
  try {
    work(*communicator);
  } catch (const InputError& error) {
    if (alone) throw;
    return end_together(*communicator, error, 2);
  } catch (const RuntimeFault& error) {
    if (alone) throw;
    return end_together(*communicator, error, 1);
  } catch (const std::exception& error) {
    if (alone) throw;
    // The fault is on this process alone: out of memory or threads, or a failed sum of GPUs.
    standard_error().write(
        fmt::format("echoform: process {}: {}\n", communicator->rank(), terminal_text(error.what(), LineBreaks::replaced)));
    communicator->abort(1);
    return 1;
  }
  return 0;
}

}  // namespace echoform
