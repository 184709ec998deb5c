# Run at build time: cmake -D INPUT=page.html -D OUTPUT=joined.html -P JoinPage.cmake
# Puts the files of INPUT's folder into the places that name them, "//{script.js}" and "/*{style.css}*/" on lines of their own: the
# page is written in parts and served as one file, which asks for nothing else.
cmake_minimum_required(VERSION 3.25)
get_filename_component(folder ${INPUT} DIRECTORY)
file(READ ${INPUT} page)
string(REGEX MATCHALL "{[a-z_]+\\.(js|css)}" places "${page}")
foreach(place IN LISTS places)
  string(REGEX REPLACE "[{}]" "" name "${place}")
  file(READ ${folder}/${name} part)
  string(REPLACE "//${place}\n" "${part}" page "${page}")
  string(REPLACE "/*${place}*/\n" "${part}" page "${page}")
endforeach()
file(WRITE ${OUTPUT} "${page}")
