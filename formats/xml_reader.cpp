#include "formats/xml_reader.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "base/errors.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t deepest_xml = 64;
constexpr std::size_t longest_text = 256;                  // bytes that are kept
constexpr std::size_t xml_piece = std::size_t{1} << 16;    // bytes read at once
constexpr std::size_t longest_tag = std::size_t{1} << 20;  // bytes: expat keeps a whole tag and rereads it with each piece

std::string_view without_prefix(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

struct Reset {
  XML_Parser& parser;
  ~Reset() { parser = nullptr; }
};

}  // namespace

struct XmlReader::Calls {
  /// Runs `call` unless an earlier call has failed; a failure ends the reading.
  template <class Call>
  static void guarded(void* user, Call&& call) {
    auto& reader = *static_cast<XmlReader*>(user);
    if (reader.failure_) return;
    try {
      call(reader);
    } catch (...) {
      reader.failure_ = std::current_exception();
      XML_StopParser(reader.parser_, XML_FALSE);
    }
  }

  static void begin(void* user, const char* name, const char** attributes) {
    guarded(user, [&](XmlReader& reader) {
      reader.opened(without_prefix(name));
      if (reader.has_document_type_) reader.require_known_entities();
      reader.attributes_ = attributes;
      reader.begin();
      reader.attributes_ = nullptr;
    });
  }
  static void end(void* user, const char* /*name*/) {
    guarded(user, [](XmlReader& reader) {
      reader.end();
      reader.open_.pop_back();
    });
  }
  static void text(void* user, const char* characters, int count) {
    guarded(user, [&](XmlReader& reader) {
      if (reader.open_.empty()) return;
      std::string& kept = reader.open_.back().text;
      std::string_view more(characters, static_cast<std::size_t>(count));
      // Blanks before the text are dropped.
      if (kept.empty()) more.remove_prefix(std::min(more.find_first_not_of(" \t\r\n"), more.size()));
      kept += more.substr(0, longest_text - kept.size());
    });
  }
  /// expat never opens what the identifiers name, since no handler that would do so is set.
  static void document_type(void* user, const char* /*name*/, const char* /*system*/, const char* /*published*/, int internal) {
    guarded(user, [internal](XmlReader& reader) {
      if (internal != 0) throw InputError(reader.where(), "a document type with declarations", "elements alone");
      reader.has_document_type_ = true;
    });
  }
  static void skipped_entity(void* user, const char* name, int /*parameter*/) {
    guarded(user, [name](XmlReader& reader) { reader.refuse_entity(name); });
  }
};

void XmlReader::refuse_entity(std::string_view name) const {
  throw InputError(where(), fmt::format("the entity \"{}\", which the file does not define", printable(name, 40)),
                   "text that stands in the file itself");
}

void XmlReader::require_known_entities() const {
  int at = 0;
  int size = 0;
  const char* const bytes = XML_GetInputContext(parser_, &at, &size);
  const int count = XML_GetCurrentByteCount(parser_);
  if (bytes == nullptr || count <= 0 || count > size - at) return;
  std::string tag(bytes + at, static_cast<std::size_t>(count));
  std::erase(tag, '\0');  // the ASCII characters of UTF-16
  constexpr std::array<std::string_view, 5> known{"amp", "lt", "gt", "apos", "quot"};
  for (std::size_t begin = 0; (begin = tag.find('&', begin)) != std::string::npos;) {
    ++begin;
    const std::string_view name = std::string_view(tag).substr(begin, tag.find(';', begin) - begin);
    if (!name.starts_with('#') && std::ranges::find(known, name) == known.end()) refuse_entity(name);
  }
}

void XmlReader::opened(std::string_view name) {
  if (open_.size() >= deepest_xml)
    throw InputError(where(), fmt::format("more than {} elements inside each other", deepest_xml), "fewer");
  open_.push_back({std::string(name), {}});
}

void XmlReader::read(std::istream& text) {
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr), XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  parser_ = parser.get();
  const Reset reset{parser_};
  open_.clear();
  failure_ = nullptr;
  has_document_type_ = false;
  XML_SetUserData(parser_, this);
  XML_SetElementHandler(parser_, Calls::begin, Calls::end);
  XML_SetCharacterDataHandler(parser_, Calls::text);
  XML_SetStartDoctypeDeclHandler(parser_, Calls::document_type);
  XML_SetSkippedEntityHandler(parser_, Calls::skipped_entity);
  std::string bytes(xml_piece, '\0');
  std::size_t all = 0;
  for (bool last = false; !last;) {
    text.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto count = static_cast<std::size_t>(text.gcount());
    if (text.bad()) throw InputError(file_, "a file that cannot be read", "XML");
    all += count;
    last = count < bytes.size();
    const XML_Status status = XML_Parse(parser_, bytes.data(), static_cast<int>(count), last ? XML_TRUE : XML_FALSE);
    if (failure_) std::rethrow_exception(failure_);
    if (status != XML_STATUS_OK) {
      const XML_Error error = XML_GetErrorCode(parser_);
      if (error == XML_ERROR_NO_MEMORY) throw std::bad_alloc();
      const bool cut = error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN;
      throw InputError(where(), cut ? "an end before that of its elements (truncated)" : XML_ErrorString(error), "whole XML");
    }
    const auto at = static_cast<std::size_t>(std::max<XML_Index>(0, XML_GetCurrentByteIndex(parser_)));
    if (!last && all - std::min(at, all) > longest_tag)
      throw InputError(where(), "a tag that does not end", fmt::format("at most {} bytes of it", longest_tag));
  }
}

std::optional<std::string> XmlReader::attribute(std::string_view name) const {
  for (const char** each = attributes_; each && each[0] && each[1]; each += 2) {
    if (without_prefix(each[0]) == name) return std::string(each[1]);
  }
  return std::nullopt;
}

std::string_view XmlReader::text() const {
  const std::string_view all = open_.back().text;
  return all.substr(0, all.find_last_not_of(" \t\r\n") + 1);
}

bool XmlReader::inside(std::string_view name) const {
  return std::ranges::any_of(open_, [&](const Open& open) { return open.name == name; });
}

std::string XmlReader::where() const {
  return parser_ ? fmt::format("{}, line {}", file_, XML_GetCurrentLineNumber(parser_)) : file_;
}

}  // namespace echoform::formats
