# Writes version.cc from its template at every build; an unchanged commit leaves the file alone, so nothing is rebuilt.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse HEAD
  OUTPUT_VARIABLE KVBENCH_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(KVBENCH_COMMIT "")
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND KVBENCH_COMMIT "-dirty")
  endif()
endif()
configure_file(${SOURCE_DIR}/bench/machine/version.cc.in ${OUTPUT} @ONLY)
