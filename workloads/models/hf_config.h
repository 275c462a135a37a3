#pragma once

#include <string>
#include <string_view>

#include "workloads/models/model_shape.h"

namespace kvbench {

/// The shape that a Hugging Face `config.json` describes. Knows the spellings of the decoder-only
/// families (Llama, Mistral, Qwen, Gemma, OPT, Falcon, GPT-2, GPT-J, GPT-NeoX, GPT-BigCode, MPT,
/// BLOOM, DeepSeek, ...), what their model classes assume where a key is absent, and which keys
/// they ignore. num_parameters is 0 (unknown). `where` stands in front of error sentences, `name`
/// becomes the model's. Throws Error for text that is no JSON object, models without a KV cache in
/// every layer (state space, encoder-decoder, encoders), and keys that are missing (naming the
/// spellings tried) or have an impossible value.
ModelShape ParseHfConfig(std::string_view text, const std::string& name, const std::string& where);

/// The same from a file; the model is named after the file, or after its folder if it is called
/// config.json.
ModelShape ReadHfConfig(const std::string& path);

}  // namespace kvbench
