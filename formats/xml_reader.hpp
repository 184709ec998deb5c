// XML element by element, for files of instruments: what they hold and no more. A document type may be named, as programs do that
// validate what they write; nothing outside the text is ever opened, so there are no entities but the five that XML knows and
// numbers of characters.
#pragma once

#include <cstddef>
#include <exception>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct XML_ParserStruct;

namespace echoform::formats {

/// Says through begin() and end() which elements begin and end. Names are without the prefixes of their name spaces.
class XmlReader {
 public:
  /// `file` is for messages.
  explicit XmlReader(std::string file) : file_(std::move(file)) {}
  virtual ~XmlReader() = default;
  XmlReader(const XmlReader&) = delete;
  XmlReader& operator=(const XmlReader&) = delete;

 protected:
  /// Goes through `text` once, a piece at a time. Throws InputError with the line for what is no whole XML, a document type with
  /// declarations of its own (an internal subset), entities that those outside of the file may define, elements nested deeper
  /// than 64 and tags of more than 1 MiB, and lets pass what begin() and end() throw.
  void read(std::istream& text);

  virtual void begin() = 0;
  virtual void end() = 0;

  /// Name of the element that begins or ends.
  [[nodiscard]] std::string_view name() const { return open_.back().name; }
  /// Attribute `name` of the element that begins; none if there is no such attribute, or at the element's end.
  [[nodiscard]] std::optional<std::string> attribute(std::string_view name) const;
  /// The element's own text, not that of elements inside it, without blanks around it; available at the element's end. Long
  /// text is cut to its first 256 bytes.
  [[nodiscard]] std::string_view text() const;
  /// Whether an element of this name is open, including the one that begins or ends.
  [[nodiscard]] bool inside(std::string_view name) const;
  [[nodiscard]] const std::string& file() const { return file_; }
  /// "FILE, line N", of the tag that is read.
  [[nodiscard]] std::string where() const;

 private:
  struct Open {
    std::string name;
    std::string text;
  };
  /// What expat calls.
  struct Calls;

  void opened(std::string_view name);
  [[noreturn]] void refuse_entity(std::string_view name) const;
  /// Throws InputError for unknown entities in the tag that is being read: expat omits from attributes those that a document
  /// type outside the file may define.
  void require_known_entities() const;

  std::string file_;
  XML_ParserStruct* parser_ = nullptr;  // while read() runs
  std::vector<Open> open_;
  bool has_document_type_ = false;
  const char** attributes_ = nullptr;  // names and values by turns up to a null
  std::exception_ptr failure_;         // which must not leave through expat's own functions
};

}  // namespace echoform::formats
