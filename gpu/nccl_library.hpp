// NCCL, loaded when it is first wanted: the program starts on machines that do not have it. For *_cuda.cpp files of builds with
// its header (ECHOFORM_WITH_NCCL). Nothing links it.
#pragma once

#include <nccl.h>

namespace echoform::gpu {

/// The functions of NCCL that device groups call, under their own names without "nccl".
struct NcclLibrary {
  decltype(&::ncclGetVersion) get_version;
  decltype(&::ncclGetUniqueId) get_unique_id;
  decltype(&::ncclCommInitRank) init_rank;
  decltype(&::ncclCommAbort) abort;
  decltype(&::ncclCommGetAsyncError) get_async_error;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
  decltype(&::ncclSend) send;
  decltype(&::ncclRecv) receive;
  decltype(&::ncclGetErrorString) error_text;
};

/// Loads the library with the first call, from where the loader finds it (LD_LIBRARY_PATH, ldconfig) or from
/// /usr/local/cuda; it stays loaded. Throws RuntimeFault "NCCL (libnccl.so.2) was not found: ..." if it is not available.
/// Any thread may call it.
[[nodiscard]] const NcclLibrary& nccl_library();

}  // namespace echoform::gpu
