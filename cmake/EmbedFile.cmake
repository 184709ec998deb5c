# Run at build time: cmake -D "INPUT=page.html" -D OUTPUT=page.cpp -D SYMBOL=viewer_page -P EmbedFile.cmake
# Writes a source that defines `extern const std::string_view SYMBOL` in namespace echoform, so that the program needs no
# files beside it. INPUT may be a list of files, which are put behind each other, or empty: then so is SYMBOL.
set(content "")
foreach(file IN LISTS INPUT)
  file(READ ${file} part HEX)
  string(APPEND content "${part}")
endforeach()
string(REGEX REPLACE "(..)" "0x\\1," literals "${content}0A")
file(WRITE ${OUTPUT} "\
#include <string_view>\n\
namespace echoform {\n\
namespace {\n\
const unsigned char ${SYMBOL}_bytes[] = {${literals}};\n\
}  // namespace\n\
extern const std::string_view ${SYMBOL};\n\
const std::string_view ${SYMBOL}(reinterpret_cast<const char*>(${SYMBOL}_bytes), sizeof ${SYMBOL}_bytes - 1);\n\
}  // namespace echoform\n")
