#include "workloads/models/model_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

ModelShape Small() {
  return {.name = "small",
          .attention = Attention::kGQA,
          .num_hidden_layers = 4,
          .hidden_size = 512,
          .num_attention_heads = 8,
          .num_key_value_heads = 2,
          .head_dim = 64,
          .intermediate_size = 1408,
          .vocab_size = 4096,
          .max_position_embeddings = 2048};
}

TEST(DtypeTest, NamesAndBytes) {
  for (const auto& [text, dtype, bytes] : {std::tuple("float16", Dtype::kFp16, 2),
                                           {"fp16", Dtype::kFp16, 2},
                                           {"half", Dtype::kFp16, 2},
                                           {"bfloat16", Dtype::kBf16, 2},
                                           {"bf16", Dtype::kBf16, 2},
                                           {"float32", Dtype::kFp32, 4},
                                           {"fp32", Dtype::kFp32, 4},
                                           {"float", Dtype::kFp32, 4},
                                           {"fp8", Dtype::kFp8, 1},
                                           {"int8", Dtype::kInt8, 1}}) {
    EXPECT_EQ(ParseDtype(text), dtype);
    EXPECT_EQ(DtypeBytes(dtype), bytes);
    EXPECT_EQ(ParseDtype(DtypeName(dtype)), dtype);
  }
  EXPECT_THAT(SentenceOf([] { ParseDtype("fp64"); }),
              HasSubstr("'fp64' is no element type; choose one of float16"));
}

TEST(KvBytesForContextTest, FullLayersHoldAllTokensAndWindowLayersTheLast) {
  ModelShape model = Small();
  const int64_t layer = 2 * 2 * 64 * 2;  // K and V of two heads
  EXPECT_EQ(KvBytesForContext(model, Dtype::kFp16, 100), 100 * 4 * layer);
  model.sliding_window = 30;
  model.num_sliding_window_layers = 3;
  EXPECT_EQ(KvBytesForContext(model, Dtype::kFp16, 20), 20 * 4 * layer);
  EXPECT_EQ(KvBytesForContext(model, Dtype::kFp16, 30), 30 * 4 * layer);
  EXPECT_EQ(KvBytesForContext(model, Dtype::kFp16, 100), (100 * 1 + 30 * 3) * layer);
  model.num_sliding_window_layers = 4;
  EXPECT_EQ(KvBytesForContext(model, Dtype::kFp16, 100), 30 * 4 * layer);
  EXPECT_EQ(KvBytesForContext(model, Dtype::kFp8, 0), 0);
}

TEST(KvBytesForContextTest, AnAbsurdLengthIsASentence) {
  EXPECT_THAT(SentenceOf([] { KvBytesForContext(Small(), Dtype::kFp16, int64_t{1} << 60); }),
              HasSubstr("past 2^62 bytes"));
}

TEST(KvBytesPerTokenTest, ByHand) {
  EXPECT_EQ(KvBytesPerToken(Small(), Dtype::kFp16), 2 * 4 * 2 * 64 * 2);
  EXPECT_EQ(KvBytesPerToken(Small(), Dtype::kFp32), 2 * 4 * 2 * 64 * 4);
  EXPECT_EQ(KvBytesPerToken(Small(), Dtype::kFp8), 2 * 4 * 2 * 64);
}

TEST(ValidateModelShapeTest, AcceptsASoundOne) {
  ValidateModelShape(Small(), "here");
  EXPECT_EQ(Small().group_size(), 4);
}

TEST(ValidateModelShapeTest, SaysWhatIsWrong) {
  const auto refused = [](auto change) {
    ModelShape model = Small();
    change(model);
    return SentenceOf([&] { ValidateModelShape(model, "here"); });
  };
  EXPECT_THAT(refused([](ModelShape& m) { m.num_key_value_heads = 3; }),
              HasSubstr("here: num_attention_heads 8 is not a multiple of num_key_value_heads 3"));
  EXPECT_THAT(refused([](ModelShape& m) { m.head_dim = 0; }), HasSubstr("head_dim is 0"));
  EXPECT_THAT(refused([](ModelShape& m) { m.num_hidden_layers = -1; }),
              HasSubstr("num_hidden_layers is -1"));
  EXPECT_THAT(refused([](ModelShape& m) { m.sliding_window = 100; }),
              HasSubstr("sliding_window is 100"));
  EXPECT_THAT(refused([](ModelShape& m) { m.num_key_value_heads = 8; }),
              HasSubstr("the attention is GQA but 8 query heads have 8 KV heads"));
  EXPECT_THAT(refused([](ModelShape& m) { m.attention = Attention::kMLA; }),
              HasSubstr("kv_lora_rank is 0"));
}

}  // namespace
}  // namespace kvbench
