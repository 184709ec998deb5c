#include "transport/zeromq/curve_keys.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include "base/errors.hpp"
#include "base/file_descriptor.hpp"
#include "base/temporary_path.hpp"
#include "transport/peers/key_file.hpp"

namespace echoform {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t text_length = 40;
constexpr std::size_t most_clients = 4096;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\"'";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Every `name = "KEY"` of a certificate. An error shows only the line number of a malformed key: its text may be part of a
/// secret.
std::vector<CurveKey> keys_of(std::string_view text, std::string_view name, const std::string& where) {
  std::vector<CurveKey> keys;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos || trimmed(line.substr(0, equals)) != name) continue;
    const auto key = curve_key(trimmed(line.substr(equals + 1)));
    if (!key) {
      throw InputError(fmt::format("{}, line {}", where, number), "a text that is no key",
                       fmt::format("{} = \"40 characters of Z85\"", name));
    }
    keys.push_back(*key);
  }
  return keys;
}

CurveKey one_of(const std::vector<CurveKey>& keys, std::string_view name, const std::string& where) {
  if (keys.size() == 1) return keys.front();
  throw InputError(where, keys.empty() ? fmt::format("no {}", name) : fmt::format("{} of {}", keys.size(), name),
                   fmt::format("a line {} = \"...\", as `echoform keygen` writes it", name));
}

/// A new file for one of the two keys. It is removed unless keep() is called, because half a pair is useless.
class NewKeyFile {
 public:
  NewKeyFile(const fs::path& file, ::mode_t mode)
      : file_(file), temporary_(file, [this, mode] {
          descriptor_ = FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
          return static_cast<bool>(descriptor_);
        }) {
    if (temporary_.created()) return;
    if (errno == EEXIST) throw InputError(file_.string(), "a file that exists", "a new name: keys are not overwritten");
    fail();
  }
  ~NewKeyFile() {
    if (descriptor_ && !kept_) ::unlink(file_.c_str());
  }
  NewKeyFile(const NewKeyFile&) = delete;
  NewKeyFile& operator=(const NewKeyFile&) = delete;

  void write(std::string_view text) const {
    if (!write_all(descriptor_.get(), std::as_bytes(std::span(text)))) fail();
  }
  void keep() noexcept { kept_ = true; }

 private:
  [[noreturn]] void fail() const {
    throw RuntimeFault(fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(errno)));
  }

  const fs::path file_;
  FileDescriptor descriptor_;
  TemporaryPath temporary_;
  bool kept_ = false;
};

}  // namespace

bool curve_available() {
  return ::zmq_has("curve") != 0;
}

CurvePair make_curve_pair() {
  std::array<char, text_length + 1> public_text{}, secret_text{};
  if (::zmq_curve_keypair(public_text.data(), secret_text.data()) != 0) {
    throw RuntimeFault(fmt::format("CURVE keys: {}", ::zmq_strerror(::zmq_errno())));
  }
  return {curve_key(public_text.data()).value(), curve_key(secret_text.data()).value()};
}

CurveKey curve_public_key(const CurveKey& secret_key) {
  std::array<char, text_length + 1> public_text{};
  if (::zmq_curve_public(public_text.data(), curve_text(secret_key).c_str()) != 0) {
    throw RuntimeFault(fmt::format("CURVE keys: {}", ::zmq_strerror(::zmq_errno())));
  }
  return curve_key(public_text.data()).value();
}

std::string curve_text(const CurveKey& key) {
  std::array<char, text_length + 1> text{};
  ::zmq_z85_encode(text.data(), key.data(), key.size());
  return text.data();
}

std::optional<CurveKey> curve_key(std::string_view text) {
  if (text.size() != text_length) return std::nullopt;
  CurveKey key{};
  if (::zmq_z85_decode(key.data(), std::string(text).c_str()) == nullptr) return std::nullopt;
  // Not every libzmq refuses all characters that are not in Z85.
  if (curve_text(key) != text) return std::nullopt;
  return key;
}

bool lists_key(const std::vector<CurveKey>& keys, const CurveKey& key) noexcept {
  unsigned found = 0;
  for (const CurveKey& listed : keys) {
    unsigned difference = 0;
    for (std::size_t i = 0; i < key.size(); ++i) difference |= static_cast<unsigned>(listed[i] ^ key[i]);
    found |= (difference - 1U) >> 31U;  // 1 where there is no difference
  }
  return found != 0;
}

void write_curve_pair(const fs::path& prefix, const CurvePair& pair) {
  fs::path secret = prefix, shared = prefix;
  secret += ".secret";
  shared += ".public";
  const std::string public_line = fmt::format("metadata\ncurve\n    public-key = \"{}\"\n", curve_text(pair.public_key));
  NewKeyFile secret_file(secret, 0600);
  NewKeyFile shared_file(shared, 0644);
  secret_file.write(fmt::format("# CURVE certificate with the secret key: keep it to yourself.\n{}    secret-key = \"{}\"\n",
                                public_line, curve_text(pair.secret_key)));
  shared_file.write("# CURVE certificate, public key: give it to those who are to know you.\n" + public_line);
  secret_file.keep();
  shared_file.keep();
}

CurvePair read_curve_secret(const fs::path& file, std::string_view where) {
  const std::string text = read_key_file(file, where, true);
  const std::string at = place_of(where, file);
  CurvePair pair;
  pair.secret_key = one_of(keys_of(text, "secret-key", at), "secret-key", at);
  pair.public_key = curve_public_key(pair.secret_key);
  const auto stated = keys_of(text, "public-key", at);
  if (std::any_of(stated.begin(), stated.end(), [&](const CurveKey& key) { return key != pair.public_key; })) {
    throw InputError(at, "a public-key that does not belong to its secret-key", "the two as they were made");
  }
  return pair;
}

CurveKey read_curve_public(const fs::path& file, std::string_view where) {
  const std::string at = place_of(where, file);
  return one_of(keys_of(read_key_file(file, where, false), "public-key", at), "public-key", at);
}

std::vector<CurveKey> read_curve_clients(const fs::path& place_of_keys, std::string_view where) {
  std::vector<fs::path> files;
  std::error_code error;
  const bool folder = fs::is_directory(place_of_keys, error);
  if (folder) {
    for (fs::directory_iterator entry(place_of_keys, error), end; !error && entry != end; entry.increment(error)) {
      const auto extension = entry->path().extension();
      if (extension == ".public" || extension == ".key") files.push_back(entry->path());
    }
    if (error) throw InputError(place_of(where, place_of_keys), error.message(), "a folder of key files");
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(place_of_keys);
  }
  std::vector<CurveKey> keys;
  for (const fs::path& file : files) {
    const auto found = keys_of(read_key_file(file, where, false), "public-key", place_of(where, file));
    if (found.empty())
      throw InputError(place_of(where, file), "no public-key", "a client's public key, as `echoform keygen` writes it");
    keys.insert(keys.end(), found.begin(), found.end());
    if (keys.size() > most_clients) {
      throw InputError(place_of(where, place_of_keys), fmt::format("more than {} keys", most_clients), "fewer");
    }
  }
  if (keys.empty()) {
    throw InputError(place_of(where, place_of_keys), "no file that ends in .public or .key",
                     "the public key of a client at least");
  }
  return keys;
}

}  // namespace echoform
