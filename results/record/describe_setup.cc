// What a run was told to do: model, design, limits, window, executor and trace.
#include <limits>

#include "results/record/codec.h"
#include "results/record/record.h"
#include "results/record/words.h"

namespace kvbench {
namespace {

/// Infinity is "inf": all at once.
const Codec& RateCodec() {
  using Rate = std::optional<double>;
  static const Codec rate = [] {
    Codec codec = CodecOf<Rate>();
    codec.type = FieldType::kRate;
    codec.write = [](const void* value, nlohmann::ordered_json& json) {
      const Rate& number = *static_cast<const Rate*>(value);
      if (number && std::isinf(*number)) {
        json = "inf";
      } else {
        CodecOf<Rate>().write(value, json);
      }
    };
    codec.read = [](const JsonValue& json, void* value) {
      if (!json.json().is_string()) {
        CodecOf<Rate>().read(json, value);
      } else if (json.String() == "inf") {
        *static_cast<Rate*>(value) = std::numeric_limits<double>::infinity();
      } else {
        json.Fail("a number, \"inf\" or null");
      }
    };
    return codec;
  }();
  return rate;
}

/// Requests/s, in which infinity is "inf".
template <auto Member>
Field RateField(std::string meaning) {
  Field field = F<Member>("requests/s", std::move(meaning), {.heading = {"rate", "requests/s"}});
  field.codec = &RateCodec();
  return field;
}

}  // namespace

const Description& ModelInfo::Describe() {
  using T = ModelInfo;
  constexpr FieldOptions kPositive = {.range = Range::kPositive};
  constexpr FieldOptions kNotEmpty = {.range = Range::kNotEmpty};
  static const Description description = DescriptionOf<T>(
      "A model shape with the dtypes of this run.",
      {
          F<&T::name>("", "", kNotEmpty),
          F<&T::attention>("", "how query heads share KV heads", {.words = kAttentionWords}),
          F<&T::num_hidden_layers>("", "", kPositive),
          F<&T::hidden_size>("", "", kPositive),
          F<&T::num_attention_heads>("", "query heads", kPositive),
          F<&T::num_key_value_heads>("", "KV heads", kPositive),
          F<&T::head_dim>("", "elements of a head", kPositive),
          F<&T::kv_cache_dtype>("", "float16, bfloat16, float32, fp8, int8", kNotEmpty),
          F<&T::dtype>("", "of the weights", kNotEmpty),
          F<&T::kv_bytes_per_token>("bytes", "of a token's K and V over all layers", kPositive),
          F<&T::weight_bytes>("bytes", "of the weights"),
      });
  return description;
}

const Description& DesignInfo::Describe() {
  using T = DesignInfo;
  static const Description description = DescriptionOf<T>(
      "A design and how many slots it got. The KV budget is capacity_bytes + lost_bytes.",
      {
          F<&T::name>("", "paged, contiguous-max, ...", {.range = Range::kNotEmpty}),
          F<&T::block_size>("tokens", "null for contiguous designs",
                            {.range = Range::kPositive, .heading = {"block", "tokens"}}),
          F<&T::growth>("", "null for designs that do not move sequences",
                        {.since = 4, .words = kGrowthWords}),
          F<&T::capacity_slots>("slots", "whole blocks"),
          F<&T::capacity_bytes>("bytes", "of these slots"),
          F<&T::lost_bytes>("bytes", "of the budget, too few for one more block or chunk"),
      });
  return description;
}

const Description& Limits::Describe() {
  using T = Limits;
  static const Description description = DescriptionOf<T>(
      "What the scheduler keeps to: the same for every design of a comparison.",
      {
          F<&T::scheduler>("", "picks what runs in a step", {.words = kSchedulerWords}),
          F<&T::chunked_prefill>("", "whether a prompt may be spread over steps"),
          F<&T::max_num_seqs>("sequences", "in a step", {.range = Range::kPositive}),
          F<&T::max_num_batched_tokens>("tokens", "in a step", {.range = Range::kPositive}),
          F<&T::max_model_len>("tokens", "of a sequence", {.range = Range::kPositive}),
          F<&T::max_concurrency>("requests", "in flight of a closed loop",
                                 {.range = Range::kPositive}),
          F<&T::watermark>("", "share of the blocks that admission leaves free",
                           {.range = Range::kShare}),
          F<&T::preemption>("", "what becomes of the KV of a preempted request",
                            {.words = kPreemptionWords}),
      });
  return description;
}

const Description& IndexRange::Describe() {
  using T = IndexRange;
  static const Description description =
      DescriptionOf<T>("Requests first to last of the trace, both included, counted from 0.",
                       {F<&T::first>("", ""), F<&T::last>("", "")});
  return description;
}

const Description& Excluded::Describe() {
  using T = Excluded;
  static const Description description = DescriptionOf<T>(
      "What means and percentiles leave out, by position in the trace or by phase, never by a "
      "clock.",
      {F<&T::requests>("", "of the trace"),
       F<&T::phases>("", "warmup, ...", {.range = Range::kNotEmpty})});
  return description;
}

const Description& Window::Describe() {
  using T = Window;
  static const Description description =
      DescriptionOf<T>("Every mean and percentile of the run is taken inside it.",
                       {
                           F<&T::from_s>("s", "on the run's own clock"),
                           F<&T::to_s>("s", "on the run's own clock"),
                           F<&T::excluded>("", "what is left out besides"),
                       });
  return description;
}

const Description& MeasuredRoofs::Describe() {
  using T = MeasuredRoofs;
  static const Description description = DescriptionOf<T>(
      "What a run that is modelled on this machine's CPU rests on: measured around the run that it "
      "predicts.",
      {
          F<&T::read_bytes_per_s>("bytes/s", "read from memory"),
          F<&T::read_spread>("", "(90th - 10th percentile) / median"),
          F<&T::dense_flops_per_s>("FLOP/s", "of dense layers at 32 rows"),
      });
  return description;
}

const Description& ExecutorInfo::Describe() {
  using T = ExecutorInfo;
  constexpr FieldOptions kModelled = {.filled_by = FilledBy::kModelled};
  static const Description description = DescriptionOf<T>(
      "How the time of a step came about.",
      {
          F<&T::kind>("", "cpu and cuda measure, modelled computes", {.words = kExecutorWords}),
          F<&T::hardware>("", "the description that a modelled figure rests on, or the device",
                          {.compared = Compared::kMeasured}),
          F<&T::threads>("", "of the CPU kernels",
                         {.range = Range::kPositive,
                          .compared = Compared::kNever,
                          .filled_by = FilledBy::kMeasured}),
          F<&T::repetitions>("", "that were asked for",
                             {.range = Range::kPositive, .compared = Compared::kNever}),
          F<&T::dense>("", "false: attention and cache work alone, no dense layers", {.since = 1}),
          F<&T::attention_kernel>(
              "", "of the CPU; auto:NAME was chosen by shape and instruction set",
              {.compared = Compared::kNever, .filled_by = FilledBy::kMeasured, .since = 4}),
          F<&T::calibration>("", "what is reached of the peaks", kModelled),
          F<&T::tensor_parallel_size>(
              "devices", "", {.range = Range::kPositive, .filled_by = FilledBy::kModelled}),
          F<&T::roofs>("", "where it is modelled on this machine's CPU",
                       {.compared = Compared::kMeasured, .filled_by = FilledBy::kModelled}),
      },
      {.schema = R"({"if": {"properties": {"kind": {"const": "modelled"}}},
                     "then": {"properties": {"hardware": {"type": "string", "minLength": 1}}}})"});
  return description;
}

const Description& TraceInfo::Describe() {
  using T = TraceInfo;
  static const Description description = DescriptionOf<T>(
      "The requests.",
      {
          F<&T::name>("", "", {.range = Range::kNotEmpty}),
          F<&T::sha256>("", "of the requests, 64 hexadecimal digits",
                        {.compared = Compared::kAlways, .pattern = "^[0-9a-f]{64}$"}),
          F<&T::num_requests>("requests", "that arrived"),
          RateField<&T::request_rate>("\"inf\": all at once; null: as in the file"),
          F<&T::seed>("", "of the generator"),
          F<&T::source>("", "a path, or the generator's parameters in words",
                        {.compared = Compared::kNever}),
          F<&T::prefix_reuse>("", "ignored: every prompt token is computed",
                              {.range = Range::kNotEmpty, .since = 1}),
      });
  return description;
}

}  // namespace kvbench
