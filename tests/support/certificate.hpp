// A certificate for 127.0.0.1 and localhost, signed by itself, made for one test.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace echoform::test {

struct Certificate {
  std::string certificate;  ///< PEM
  std::string key;          ///< PEM
};

/// `first` and `days` from now between which it is valid, in days; negative: before now. `made` is its key, which goes to it.
inline Certificate make_certificate(long days = 1, long first = -30, EVP_PKEY* made = EVP_EC_gen("P-256")) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(made, &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> x509(X509_new(), &X509_free);
  if (!key || !x509) throw std::runtime_error("no key could be made");
  X509_set_version(x509.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509.get()), first * 24 * 3600);
  X509_gmtime_adj(X509_getm_notAfter(x509.get()), days * 24 * 3600);
  X509_set_pubkey(x509.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(x509.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("echoform test"), -1, -1, 0);
  X509_set_issuer_name(x509.get(), name);
  X509_EXTENSION* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  X509_add_ext(x509.get(), names, -1);
  X509_EXTENSION_free(names);
  if (X509_sign(x509.get(), key.get(), EVP_sha256()) == 0) throw std::runtime_error("no certificate could be made");
  const auto text = [](const auto& write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
    write(memory.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
  };
  return {text([&](BIO* out) { PEM_write_bio_X509(out, x509.get()); }),
          text([&](BIO* out) { PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); })};
}

inline std::string write_file(const std::filesystem::path& file, const std::string& text, ::mode_t mode = 0600) {
  std::ofstream(file, std::ios::binary) << text;
  ::chmod(file.c_str(), mode);
  return file.string();
}

}  // namespace echoform::test
