# cmake -DROOT=... -DNAMES=a|b -DOUTPUT=x.cc -P EmbedFiles.cmake: writes the files ROOT/a, ROOT/b as byte arrays (string
# literals have length limits) together with the table that embedded_data.cc looks them up in.
string(REPLACE "|" ";" names "${NAMES}")
set(arrays "")
set(table "")
set(index 0)
foreach(name IN LISTS names)
  file(READ "${ROOT}/${name}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char kFile${index}[] = {\n${bytes}};\n")
  string(APPEND table "    {\"${name}\", kFile${index}, sizeof(kFile${index})},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from the data files of workloads/.
#include \"workloads/embedded_data.h\"

namespace kvbench {
namespace {
${arrays}
const EmbeddedFile kFiles[] = {
${table}};
}  // namespace

std::span<const EmbeddedFile> EmbeddedFiles() { return kFiles; }
}  // namespace kvbench
")
