// A library of NVIDIA's that is loaded when it is first wanted: the program starts on machines that do not have it.
#pragma once

#include <string>
#include <string_view>

namespace echoform::gpu {

class LoadedLibrary {
 public:
  /// `name` for the user ("cuFFT"), `file` as the loader knows it ("libcufft.so.12"): from where the loader finds it
  /// (LD_LIBRARY_PATH, ldconfig) or from /usr/local/cuda. It stays loaded. Throws RuntimeFault "cuFFT (libcufft.so.12) was
  /// not found: ..." if it is not available.
  LoadedLibrary(std::string_view name, std::string_view file);

  /// Throws RuntimeFault if the library holds no such function.
  template <class Function>
  void find(const char* function, Function*& place) const {
    place = reinterpret_cast<Function*>(address_of(function));
  }

 private:
  [[nodiscard]] void* address_of(const char* function) const;

  std::string name_;
  std::string file_;
  void* handle_ = nullptr;
};

}  // namespace echoform::gpu
