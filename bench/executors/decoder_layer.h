#pragma once

#include "kernels/cpu/dense.h"

namespace kvbench {

/// Weights of one decoder layer: what steps run, and what roofs are measured with.
struct DecoderLayer {
  DenseLayer qkv;
  DenseLayer output;
  DenseLayer gate_up;
  DenseLayer down;
};

}  // namespace kvbench
