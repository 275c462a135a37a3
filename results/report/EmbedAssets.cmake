# cmake -DNAMES=Style|Script -DFILES=a|b -DOUTPUT=x.cc -P EmbedAssets.cmake: a function that returns the bytes of a file for
# each name; none where the file is "missing".
string(REPLACE "|" ";" names "${NAMES}")
string(REPLACE "|" ";" files "${FILES}")
set(code "// Generated from the page's files.\n#include \"results/report/assets.h\"\n\nnamespace kvbench {\n")
foreach(name file IN ZIP_LISTS names files)
  if(file STREQUAL "missing")
    string(APPEND code "std::string_view ${name}() { return {}; }\n")
    continue()
  endif()
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND code "namespace {\nconst char k${name}[] = {\n${bytes}};\n}  // namespace\n"
    "std::string_view ${name}() { return {k${name}, sizeof(k${name})}; }\n")
endforeach()
file(WRITE "${OUTPUT}" "${code}}  // namespace kvbench\n")
