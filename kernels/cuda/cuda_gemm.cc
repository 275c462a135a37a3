#include "kernels/cuda/cuda_gemm.h"

#include <cublasLt.h>
#include <dlfcn.h>

#include <map>
#include <string>
#include <tuple>

#include "kernels/cuda/cuda_device.h"

namespace kvbench {

namespace {

/// The functions of cuBLASLt that are used, by their own types.
struct Library {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtGetStatusString) status_string;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
};

template <typename F>
void Find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function == nullptr) {
    throw CudaError(std::string("cuBLASLt has no ") + name);
  }
}

Library Load() {
  const std::string name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    library =
        dlopen((std::string(KVBENCH_CUDA_LIBRARIES) + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    throw CudaError("dense layers need " + name + " of the CUDA toolkit: " + dlerror());
  }
  Library lt;
  Find(library, "cublasLtCreate", lt.create);
  Find(library, "cublasLtDestroy", lt.destroy);
  Find(library, "cublasLtGetStatusString", lt.status_string);
  Find(library, "cublasLtMatmul", lt.matmul);
  Find(library, "cublasLtMatmulAlgoGetHeuristic", lt.heuristic);
  Find(library, "cublasLtMatmulDescCreate", lt.desc_create);
  Find(library, "cublasLtMatmulDescDestroy", lt.desc_destroy);
  Find(library, "cublasLtMatmulDescSetAttribute", lt.desc_set);
  Find(library, "cublasLtMatrixLayoutCreate", lt.layout_create);
  Find(library, "cublasLtMatrixLayoutDestroy", lt.layout_destroy);
  Find(library, "cublasLtMatmulPreferenceCreate", lt.preference_create);
  Find(library, "cublasLtMatmulPreferenceDestroy", lt.preference_destroy);
  Find(library, "cublasLtMatmulPreferenceSetAttribute", lt.preference_set);
  return lt;
}

/// One shape's descriptions and the algorithm that the library proposes.
struct Shape {
  cublasLtMatmulDesc_t multiplication = nullptr;
  cublasLtMatrixLayout_t weights = nullptr;
  cublasLtMatrixLayout_t in = nullptr;
  cublasLtMatrixLayout_t out = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
};

}  // namespace

struct CudaGemm::State {
  Library lt = Load();
  cublasLtHandle_t handle = nullptr;
  std::map<std::tuple<bool, int64_t, int64_t, int64_t>, Shape> shapes;

  void Check(cublasStatus_t status, const char* what) const {
    if (status != CUBLAS_STATUS_SUCCESS) {
      throw CudaError(std::string(what) + ": cuBLASLt says " + lt.status_string(status));
    }
  }
  const Shape& ShapeOf(const DeviceGemm& gemm);
};

CudaGemm::CudaGemm() : state_(std::make_unique<State>()) {
  state_->Check(state_->lt.create(&state_->handle), "starting cuBLASLt");
}

CudaGemm::~CudaGemm() {
  const Library& lt = state_->lt;
  for (auto& [key, shape] : state_->shapes) {
    lt.desc_destroy(shape.multiplication);
    lt.layout_destroy(shape.weights);
    lt.layout_destroy(shape.in);
    lt.layout_destroy(shape.out);
  }
  lt.destroy(state_->handle);
}

const Shape& CudaGemm::State::ShapeOf(const DeviceGemm& gemm) {
  Shape& shape = shapes[{gemm.bf16, gemm.rows, gemm.in_width, gemm.out_width}];
  if (shape.out != nullptr) {
    return shape;
  }
  // The library counts columns first: rows of ours are columns of its matrices. out^T [out, rows] =
  // weights [in, out], transposed, times in^T [in, rows].
  const cudaDataType_t type = gemm.bf16 ? CUDA_R_16BF : CUDA_R_16F;
  const auto out = static_cast<uint64_t>(gemm.out_width);
  const auto in = static_cast<uint64_t>(gemm.in_width);
  const auto rows = static_cast<uint64_t>(gemm.rows);
  Check(lt.desc_create(&shape.multiplication, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a dense layer");
  const cublasOperation_t transposed = CUBLAS_OP_T;
  Check(lt.desc_set(shape.multiplication, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                    sizeof(transposed)),
        "a dense layer");
  Check(lt.layout_create(&shape.weights, type, in, out, gemm.in_width), "a dense layer's weights");
  Check(lt.layout_create(&shape.in, type, in, rows, gemm.in_width), "a dense layer's input");
  Check(lt.layout_create(&shape.out, CUDA_R_32F, out, rows, gemm.out_width),
        "a dense layer's output");
  cublasLtMatmulPreference_t preference = nullptr;
  Check(lt.preference_create(&preference), "a dense layer's algorithm");
  const size_t workspace = kWorkspace;
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  cublasStatus_t status = lt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &workspace, sizeof(workspace));
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = lt.heuristic(handle, shape.multiplication, shape.weights, shape.in, shape.out,
                          shape.out, preference, 1, &found, &count);
  }
  lt.preference_destroy(preference);
  Check(status, "choosing a dense layer's algorithm");
  if (count == 0) {
    throw CudaError("cuBLASLt has no algorithm for a dense layer of " + std::to_string(rows) +
                    " rows, " + std::to_string(in) + " inputs and " + std::to_string(out) +
                    " outputs");
  }
  shape.algorithm = found.algo;
  return shape;
}

void CudaGemm::Multiply(const DeviceGemm& gemm, void* workspace, CUstream_st* stream) {
  const Shape& shape = state_->ShapeOf(gemm);
  const float one = 1;
  const float zero = 0;
  state_->Check(
      state_->lt.matmul(state_->handle, shape.multiplication, &one, gemm.weights, shape.weights,
                        gemm.in, shape.in, &zero, gemm.out, shape.out, gemm.out, shape.out,
                        &shape.algorithm, workspace, kWorkspace, stream),
      "a dense layer");
}

}  // namespace kvbench
