// A solver's state in a file, to go on from with the same bits.
//
// Little-endian: "ECHOFORM SOLVER 1\n", 32 bytes of the job's identity, then items, and at the end SHA-256 of all that is before.
// An item is its name (uint64 length, bytes), its kind (1 float, 2 double), its count (uint64) and its values. Vectors of rows
// have those of all processes, so that any number of processes may go on.
#pragma once

#include <filesystem>

#include "jobs/communicator.hpp"
#include "jobs/digest.hpp"
#include "jobs/run_solver.hpp"
#include "jobs/solver.hpp"

namespace echoform {

/// Written aside, forced to the disk and renamed, by rank 0. All processes at once. Throws RuntimeFault, InputError as
/// AtomicFile.
void write_checkpoint(const std::filesystem::path& path, const DigestValue& identity, const SolverProgress& progress,
                      const Solver::State& state, Communicator& communicator);
/// By its head alone, so that it is found out early. Throws InputError, naming the file: it is missing, no checkpoint, or of a
/// job with another identity.
void check_checkpoint(const std::filesystem::path& path, const DigestValue& identity);
/// Into `state` and `progress`. All processes at once; rank 0 reads. Throws InputError, naming the file: it is missing, damaged,
/// no checkpoint, of a job with another identity, or of another solver.
void read_checkpoint(const std::filesystem::path& path, const DigestValue& identity, SolverProgress& progress,
                     const Solver::State& state, Communicator& communicator);

}  // namespace echoform
