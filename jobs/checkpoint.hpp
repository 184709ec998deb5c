// A solver's state in a file, to go on from with the same bits.
//
// The file is little-endian: "ECHOFORM SOLVER 1\n", 32 bytes of the job's identity, then items, and at the end SHA-256 of
// all bytes before. An item is its name (uint64 length, bytes), its kind (1 float, 2 double), its count (uint64) and its
// values. Vectors of rows hold the rows of all processes, so that any number of processes may go on.
#pragma once

#include <filesystem>

#include "jobs/communicator.hpp"
#include "jobs/digest.hpp"
#include "jobs/run_solver.hpp"
#include "jobs/solver.hpp"

namespace echoform {

/// Writes the file aside, forces it to the disk and renames it; rank 0 does this. All processes call it at once. Throws
/// RuntimeFault, and InputError as AtomicFile does.
void write_checkpoint(const std::filesystem::path& path, const DigestValue& identity, const SolverProgress& progress,
                      const Solver::State& state, Communicator& communicator);
/// Checks a checkpoint by its head alone, so that a wrong file is found early. Throws InputError, naming the file, if it is
/// missing, is no checkpoint, or belongs to a job with another identity.
void check_checkpoint(const std::filesystem::path& path, const DigestValue& identity);
/// Reads the file into `state` and `progress`. All processes call it at once; rank 0 reads. Throws InputError, naming the
/// file, if it is missing, damaged or no checkpoint, or belongs to a job with another identity or to another solver.
void read_checkpoint(const std::filesystem::path& path, const DigestValue& identity, SolverProgress& progress,
                     const Solver::State& state, Communicator& communicator);

}  // namespace echoform
