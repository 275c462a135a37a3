# CUDA is optional: a machine without the toolkit builds everything else.
include(CheckLanguage)
find_package(CUDAToolkit 12.8 QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION} found (this version has no CUDA sources yet)")
else()
  message(STATUS "No CUDA toolkit found: building without the CUDA backend")
endif()
