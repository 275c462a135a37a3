#include "bench/plan/model_info.h"

namespace kvbench {

ModelInfo DescribeModel(const ModelShape& model, Dtype kv_cache_dtype, Dtype dtype,
                        int64_t weight_bytes) {
  ModelInfo info;
  info.name = model.name;
  info.attention = AttentionName(model.attention);
  info.num_hidden_layers = model.num_hidden_layers;
  info.hidden_size = model.hidden_size;
  info.num_attention_heads = model.num_attention_heads;
  info.num_key_value_heads = model.num_key_value_heads;
  info.head_dim = model.head_dim;
  info.kv_cache_dtype = DtypeName(kv_cache_dtype);
  info.dtype = DtypeName(dtype);
  info.kv_bytes_per_token = KvBytesPerToken(model, kv_cache_dtype);
  info.weight_bytes = weight_bytes;
  return info;
}

}  // namespace kvbench
