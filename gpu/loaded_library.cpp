#include "gpu/loaded_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/errors.hpp"

namespace echoform::gpu {
namespace {

constexpr const char* library_folders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"};

}  // namespace

LoadedLibrary::LoadedLibrary(std::string_view name, std::string_view file) : name_(name), file_(file) {
  std::string reason;
  for (const char* folder : library_folders) {
    handle_ = dlopen(fmt::format("{}{}", folder, file_).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    // The first reason is kept. It states the result of the loader's own search: nothing found, or a library that cannot be
    // loaded.
    const char* const said = dlerror();
    if (reason.empty() && said != nullptr) reason = said;
  }
  throw RuntimeFault(
      fmt::format("{} ({}) was not found: {}; install it from NVIDIA's CUDA packages, or name its folder in LD_LIBRARY_PATH",
                  name_, file_, reason));
}

void* LoadedLibrary::address_of(const char* function) const {
  void* const address = dlsym(handle_, function);
  if (address == nullptr) throw RuntimeFault(fmt::format("{} ({}) holds no function {}", name_, file_, function));
  return address;
}

}  // namespace echoform::gpu
