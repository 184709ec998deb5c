// The font of figures.
#pragma once

#include <cairo.h>

namespace echoform::formats {

/// Makes DejaVu Sans the context's font where its file is found (in the usual places, beside the program, or named by
/// ECHOFORM_FONT), else Cairo's own sans.
void use_figure_font(cairo_t* context);

}  // namespace echoform::formats
