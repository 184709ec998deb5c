#include "jobs/digest.hpp"

#include <openssl/evp.h>

#include "base/errors.hpp"

namespace echoform {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest() : state_(std::make_unique<State>()) {
  if (state_->context == nullptr || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
    throw RuntimeFault("SHA-256: OpenSSL has none");
}

Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

void Digest::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  add(std::as_bytes(std::span(text)));
}

DigestValue Digest::value() {
  DigestValue digest{};
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()), &length);
  return digest;
}

}  // namespace echoform
