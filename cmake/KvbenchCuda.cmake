# CUDA is optional: a machine without the toolkit builds everything else.
include(CheckLanguage)
find_package(CUDAToolkit 12.8 QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION} found (this version has no CUDA sources yet)")
else()
  message(STATUS "No CUDA toolkit found: building without the CUDA backend")
endif()

# NVTX 3 is headers alone and comes with the toolkit. Without it a run has no ranges for profilers, and nothing else
# changes.
if(CUDAToolkit_FOUND)
  find_path(KVBENCH_NVTX_INCLUDE nvtx3/nvToolsExt.h PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
  mark_as_advanced(KVBENCH_NVTX_INCLUDE)
endif()
if(KVBENCH_NVTX_INCLUDE AND TARGET CUDA::nvtx3)
  set(KVBENCH_NVTX ON)
else()
  set(KVBENCH_NVTX OFF)
  message(STATUS "No NVTX headers found: building without ranges for NVIDIA's profilers")
endif()
