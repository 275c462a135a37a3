# Sources of all kernels: the CUDA backend compiles them with nvcc, the simulator with the C++
# compiler.
set(KVBENCH_KERNEL_SOURCES
  all_kernels.cu
  attention_merge.cu
  attention_mma.cu
  block_copy.cu
  decode_cores.cu
  dummy_weights.cu
  elementwise.cu
  kv_write.cu
  read_roof.cu
  rms_norm.cu
  rope.cu
  vllm_v1.cu)
list(TRANSFORM KVBENCH_KERNEL_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
