# Run at build time: cmake -D INPUT=page.html -D OUTPUT=page.cpp -D SYMBOL=viewer_page -P EmbedFile.cmake
# Writes a source that defines `extern const std::string_view SYMBOL` in namespace echoform, so that the program needs no
# files beside it.
file(READ ${INPUT} content HEX)
string(LENGTH "${content}" digits)
set(literals "")
set(begin 0)
while(begin LESS digits)
  string(SUBSTRING "${content}" ${begin} 64 line)
  string(REGEX REPLACE "(..)" "0x\\1," line "${line}")
  string(APPEND literals "  ${line}\n")
  math(EXPR begin "${begin} + 64")
endwhile()
file(WRITE ${OUTPUT} "\
#include <string_view>\n\
namespace echoform {\n\
namespace {\n\
const unsigned char bytes[] = {\n${literals}};\n\
}  // namespace\n\
extern const std::string_view ${SYMBOL};\n\
const std::string_view ${SYMBOL}(reinterpret_cast<const char*>(bytes), sizeof bytes);\n\
}  // namespace echoform\n")
