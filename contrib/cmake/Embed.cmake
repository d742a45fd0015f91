# cmake -DTO=FILE.c "-DFILES=FILE;..." -P Embed.cmake: writes the files as the table page_files of
# core/hub/api/page.h. index.html is "/", any other file "/NAME".
set(types .html text/html .css text/css .js text/javascript)
set(arrays "")
set(rows "")
foreach(file ${FILES})
  get_filename_component(name "${file}" NAME)
  get_filename_component(extension "${file}" LAST_EXT)
  list(FIND types "${extension}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${file}: no media type is known for ${extension}")
  endif()
  math(EXPR at "${at} + 1")
  list(GET types ${at} type)
  string(MAKE_C_IDENTIFIER "${name}" symbol)
  file(SHA256 "${file}" etag)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)"
         "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${symbol}[] = {\n${bytes}};\n\n")
  if(name STREQUAL "index.html")
    set(name "")
  endif()
  string(APPEND rows "    {\"/${name}\", \"${type}; charset=utf-8\", \"\\\"${etag}\\\"\", "
         "{(const char *)${symbol}, sizeof ${symbol}}},\n")
endforeach()
file(WRITE "${TO}" "/* made by contrib/cmake/Embed.cmake */\n#include \"core/hub/api/page.h\"\n\n${arrays}"
     "const struct page_file page_files[] = {\n${rows}    {0}};\n")
