#include "formats/figure_font.hpp"

#include <cairo-ft.h>
#include <ft2build.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include FT_FREETYPE_H

namespace echoform::formats {
namespace {

std::vector<std::filesystem::path> candidates() {
  std::vector<std::filesystem::path> files;
  if (const char* named = std::getenv("ECHOFORM_FONT"); named != nullptr) files.emplace_back(named);
  std::error_code error;
  if (const auto program = std::filesystem::read_symlink("/proc/self/exe", error); !error) {
    files.push_back(program.parent_path() / "DejaVuSans.ttf");
    files.push_back(program.parent_path().parent_path() / "share/echoform/fonts/DejaVuSans.ttf");
  }
  for (const char* folder : {"/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/dejavu",
                             "/usr/share/fonts/TTF", "/usr/local/share/fonts"}) {
    files.push_back(std::filesystem::path(folder) / "DejaVuSans.ttf");
  }
  return files;
}

// The face lives as long as the program, since Cairo keeps faces in its caches.
cairo_font_face_t* load_face() {
  FT_Library library = nullptr;
  if (FT_Init_FreeType(&library) != 0) return nullptr;
  for (const auto& file : candidates()) {
    FT_Face face = nullptr;
    if (FT_New_Face(library, file.c_str(), 0, &face) == 0) return cairo_ft_font_face_create_for_ft_face(face, 0);
  }
  return nullptr;
}

}  // namespace

void use_figure_font(cairo_t* context) {
  static cairo_font_face_t* const face = load_face();
  if (face != nullptr && cairo_font_face_status(face) == CAIRO_STATUS_SUCCESS) {
    cairo_set_font_face(context, face);
  } else {
    cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  }
}

}  // namespace echoform::formats
