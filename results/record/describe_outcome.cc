// What became of a run.
#include "base/error.h"
#include "results/record/codec.h"
#include "results/record/record.h"
#include "results/record/words.h"

namespace kvbench {

const Description& RejectedReason::Describe() {
  using T = RejectedReason;
  static const Description description = DescriptionOf<T>(
      "Why requests were refused.",
      {
          F<&T::reason>("",
                        "a sentence without numbers of a single request, so that equal reasons add "
                        "up",
                        {.range = Range::kNotEmpty}),
          F<&T::count>("requests", "refused for that reason", {.range = Range::kPositive}),
      });
  return description;
}

const Description& WhileWaiting::Describe() {
  using T = WhileWaiting;
  static const Description description = DescriptionOf<T>(
      "The run's figures over those steps alone that left requests waiting.",
      {
          F<&T::steps>("steps", "", {.range = Range::kPositive}),
          F<&T::duration_s>("s", "sum of these steps' times", {.compared = Compared::kMeasured}),
          F<&T::mean_running_requests>(
              "requests", "requests running, mean over the steps that left others waiting",
              {.heading = {"running", "mean", 1, "", "running"}}),
          F<&T::output_throughput>("tokens/s", "tokens generated a second of these steps",
                                   {.compared = Compared::kMeasured}),
      });
  return description;
}

const Description& BoundBy::Describe() {
  using T = BoundBy;
  constexpr FieldOptions kShare = {.range = Range::kShare};
  static const Description description = DescriptionOf<T>(
      "What held admission back, in fractions of all steps that add up to 1; null without steps.",
      {
          F<&T::memory>("", "the cache had no room", kShare),
          F<&T::sequences>("", "max_num_seqs or max_concurrency", kShare),
          F<&T::tokens>("", "max_num_batched_tokens", kShare),
          F<&T::nothing>("", "no request was waiting", kShare),
      });
  return description;
}

const Description& UsageShares::Describe() {
  using T = UsageShares;
  const auto share = [](const char* name) {
    return FieldOptions{.range = Range::kShare, .heading = {name, "%", 1}};
  };
  static const Description description = DescriptionOf<T>(
      "Where the slots of the cache were on average, in shares of the capacity that add up to 1.",
      {
          F<&T::live>("", "they hold a token", share("live")),
          F<&T::reserved>("", "held for tokens to come", share("reserved")),
          F<&T::overestimate>("", "reserved, but never needed", share("overestimate")),
          F<&T::rounding>("", "of chunks and blocks that are larger than asked for",
                          share("rounding")),
          F<&T::free>("", "the rest", share("free")),
      },
      {.all_or_null = true});
  return description;
}

const Description& PaperFig2::Describe() {
  using T = PaperFig2;
  constexpr FieldOptions kPercent = {.range = Range::kPercent};
  static const Description description = DescriptionOf<T>(
      "The vLLM paper's figure 2 by its own definitions, in percent of the KV memory; they add up "
      "to 100.",
      {
          F<&T::token_states>("%", "live", kPercent),
          F<&T::reservation>("%", "reserved", kPercent),
          F<&T::internal_fragmentation>("%", "overestimate", kPercent),
          F<&T::external_and_others>("%", "rounding + free", kPercent),
      },
      {.all_or_null = true});
  return description;
}

const Description& KvStats::Describe() {
  using T = KvStats;
  constexpr FieldOptions kShare = {.range = Range::kShare};
  static const Description description = DescriptionOf<T>(
      "How the cache was used.",
      {
          F<&T::usage_per_step>("", "one weight for each step"),
          F<&T::usage_over_time>("", "weighted by step time", {.compared = Compared::kMeasured}),
          F<&T::token_usage>(
              "", "of all slots, those that hold a token; mean over steps",
              {.range = Range::kShare, .heading = {"KV live", "%", 1, "KV", "live %"}}),
          F<&T::block_usage>("", "(capacity - free) / capacity, mean over steps", kShare),
          F<&T::waste_of_capacity>("", "1 - live / capacity, a ratio of sums over steps", kShare),
          F<&T::waste_of_allocated>(
              "", "of the slots taken, those that hold no token; mean over steps",
              {.range = Range::kShare, .heading = {"KV waste", "%", 1, "KV", "waste %"}}),
          F<&T::peak_live_slots>("slots", "most that held a token"),
          F<&T::peak_allocated_slots>("slots", "most that were not free"),
          F<&T::resident_bytes>(
              "bytes", "of the pools, as the operating system sees them",
              {.compared = Compared::kMeasured, .filled_by = FilledBy::kMeasured}),
          F<&T::paper_fig2>("", "usage_per_step as the paper has it"),
      });
  return description;
}

const Description& Verification::Describe() {
  using T = Verification;
  static const Description description = DescriptionOf<T>(
      "Sampled attention outputs against the reference kernel, taken with the clock stopped.",
      {
          F<&T::checked>("rows", "of the attention output"),
          F<&T::checked_layers>("layers", "different ones that they came from", {.since = 1}),
          F<&T::checked_256_keys>("rows", "of the checked, those with 256 keys or more",
                                  {.since = 1}),
          F<&T::max_relative_error>("", "max |a-b| / max |b| of an output row",
                                    {.compared = Compared::kMeasured}),
          F<&T::tolerance>("", "of the relative error", {.range = Range::kKnown}),
          F<&T::passed>("", "", {.compared = Compared::kAlways}),
      });
  return description;
}

const Description& Operations::Describe() {
  using T = Operations;
  static const Description description = DescriptionOf<T>(
      "What the design had done to bytes: tokens copied to other slots.",
      {
          F<&T::operations>("operations", ""),
          F<&T::pieces>("pieces", "K or V of one layer each"),
          F<&T::bytes>("bytes", "copied: each is read and written once"),
          F<&T::seconds>("s", "of the steps' times; measured, a part of phases.other",
                         {.compared = Compared::kMeasured}),
          F<&T::checked>("tokens", "compared with what they were before",
                         {.compared = Compared::kMeasured, .filled_by = FilledBy::kMeasured}),
      });
  return description;
}

const Description& Phases::Describe() {
  using T = Phases;
  static const Description description =
      DescriptionOf<T>("Where a measured run's time went.",
                       {
                           F<&T::attention>("s", ""),
                           F<&T::cache_write>("s", ""),
                           F<&T::dense>("s", "dense layers"),
                           F<&T::bookkeeping>("s", "scheduler, caches, metrics"),
                           F<&T::other>("s", ""),
                       });
  return description;
}

const Description& RequestSamples::Describe() {
  using T = RequestSamples;
  static const Description description = DescriptionOf<T>(
      "A list for each quantity; entry i belongs to request i of the trace, in arrival order. "
      "Where a request has no such value (rejected, never finished) it is null.",
      {
          F<&T::arrival_s>("s", "scheduled arrival of each request"),
          F<&T::input_lens>("tokens", "of each prompt"),
          F<&T::output_lens>("tokens", "generated for each request"),
          F<&T::ttft_ms>("ms", "of each request"),
          F<&T::e2el_ms>("ms", "of each request"),
          F<&T::queue_ms>("ms", "of each request"),
          F<&T::preemptions>("", "of each request"),
      },
      {.check = [](const JsonValue& json, const void* object) {
        const T& samples = *static_cast<const T*>(object);
        const size_t count = samples.arrival_s.size();
        if (samples.input_lens.size() != count || samples.output_lens.size() != count ||
            samples.ttft_ms.size() != count || samples.e2el_ms.size() != count ||
            samples.queue_ms.size() != count || samples.preemptions.size() != count) {
          throw Error(json.Path() +
                      " has lists of different lengths; each has one entry a request");
        }
      }});
  return description;
}

const Description& Samples::Describe() {
  using T = Samples;
  static const Description description =
      DescriptionOf<T>("Raw values, kept so that statistics can be redone.",
                       {
                           F<&T::output_throughput>("tokens/s", "[1]: this repetition's"),
                           F<&T::duration>("s", "[1]: this repetition's"),
                           F<&T::requests>("", "on --detailed", {.flat = true}),
                       });
  return description;
}

const Description& TimelinePoint::Describe() {
  using T = TimelinePoint;
  const auto slots = [](const char* name) { return FieldOptions{.heading = {name, "%", 1}}; };
  static const Description description = DescriptionOf<T>(
      "The engine after one step. The five parts are slots and add up to capacity_slots exactly.",
      {
          F<&T::time_s>("s", "on the run's own clock", {.heading = {"time", "s"}}),
          F<&T::running>("requests", "", {.heading = {"running"}}),
          F<&T::waiting>("requests", "", {.heading = {"waiting"}}),
          F<&T::live>("slots", "", slots("live")),
          F<&T::reserved>("slots", "", slots("reserved")),
          F<&T::overestimate>("slots", "", slots("overestimate")),
          F<&T::rounding>("slots", "", slots("rounding")),
          F<&T::free>("slots", "", slots("free")),
      });
  return description;
}

const Description& RunRecord::Describe() {
  using T = RunRecord;
  constexpr FieldOptions kAlways = {.compared = Compared::kAlways};
  constexpr FieldOptions kTiming = {.compared = Compared::kTiming};
  static const Description description = DescriptionOf<T>(
      "One repetition of one run.",
      {
          F<&T::label>("", "all axes in a fixed template",
                       {.range = Range::kNotEmpty, .compared = Compared::kNever}),
          F<&T::repetition>("", "counted from 0", {.compared = Compared::kNever}),
          F<&T::model>("", "", kAlways),
          F<&T::design>("", "", kAlways),
          F<&T::limits>("", "", kAlways),
          F<&T::window>("", ""),
          F<&T::executor>("", ""),
          F<&T::trace>("", ""),
          F<&T::origin>("", "null: this invocation", {.compared = Compared::kNever, .since = 2}),

          F<&T::duration>("s", "from first arrival to last completion, on the run's own clock",
                          kTiming),
          F<&T::completed>("requests", "that got all their tokens",
                           {.compared = Compared::kAlways, .heading = {"done", "", 0, "", "done"}}),
          F<&T::failed>("requests", "that were admitted and did not end", kAlways),
          F<&T::rejected>(
              "requests", "requests that can never fit",
              {.compared = Compared::kAlways, .heading = {"rejected", "", 0, "", "reject"}}),
          F<&T::rejected_reasons>("", "why, and how many requests for each reason"),
          F<&T::total_input_tokens>("tokens", "of completed requests"),
          F<&T::total_output_tokens>("tokens", "of completed requests"),
          F<&T::request_throughput>("requests/s", "completed", kTiming),
          F<&T::output_throughput>("tokens/s", "tokens generated a second, prompts not counted",
                                   {.compared = Compared::kTiming,
                                    .heading = {"output", "tokens/s", 1, "output", "tokens/s"}}),
          F<&T::total_token_throughput>("tokens/s", "input and output", kTiming),

          LatencyFields<&T::ttft>("time to first token, from the request's scheduled arrival",
                                  {"TTFT", "", 1, "TTFT", "ms"}),
          // (e2el - ttft) / (O - 1)
          LatencyFields<&T::tpot>("over requests of the time for each further token",
                                  {"TPOT", "", 2, "TPOT", "ms"}),
          LatencyFields<&T::itl>("time between neighbouring tokens of a request", {"ITL"}),
          LatencyFields<&T::e2el>("time from a request's scheduled arrival to its last token",
                                  {"E2EL"}),
          LatencyFields<&T::queue>("time from a request's scheduled arrival to its first admission",
                                   {"queue"}),
          F<&T::percentile_method>("", "exact: type 7; histogram: within percentile_relative_error",
                                   {.words = kPercentileWords}),
          F<&T::percentile_relative_error>("", "bound on a histogram's error; null when exact"),
          F<&T::goodput>("requests/s", "that met every SLO given", kTiming),
          F<&T::normalized_latency_mean_s_per_token>(
              "s/token", "mean over requests of end-to-end latency over output tokens",
              {.compared = Compared::kTiming, .heading = {"latency", "s/token", 3}}),

          F<&T::mean_running_requests>("requests", "mean over steps"),
          F<&T::peak_running_requests>("requests", "most requests running in one step",
                                       {.heading = {"running", "peak", 0, "", "peak"}}),
          F<&T::mean_waiting_requests>("requests", "mean over steps"),
          F<&T::steps>("steps", ""),
          F<&T::preemptions>(
              "", "how often a running request had to give its slots back and start again",
              {.heading = {"preempted", "", 0, "", "preempt"}}),
          F<&T::recomputed_tokens>("tokens", "computed again after preemptions"),
          F<&T::swapped_blocks>("blocks", "moved out by preemptions"),
          F<&T::while_waiting>("", "null: no step left a request waiting"),
          F<&T::bound_by>("", ""),
          F<&T::kv>("", ""),
          F<&T::verification>("", "null where nothing was checked",
                              {.filled_by = FilledBy::kMeasured}),
          F<&T::phases>("", "",
                        {.compared = Compared::kMeasured, .filled_by = FilledBy::kMeasured}),
          F<&T::operations>("", "null for designs that never ask for any", {.since = 4}),
          F<&T::notes>("", "sentences for the reader",
                       {.range = Range::kNotEmpty, .compared = Compared::kNever, .since = 1}),
          F<&T::samples>("", "", {.compared = Compared::kNever}),
          F<&T::timeline>("", "chosen by step index",
                          {.compared = Compared::kNever, .most = 1000, .streamed = true}),
      },
      {.schema = R"({"if": {"properties": {"percentile_method": {"const": "exact"}}},
                     "then": {"properties": {"percentile_relative_error": {"type": "null"}}},
                     "else": {"properties": {"percentile_relative_error": {"type": "number"}}}})"});
  return description;
}

}  // namespace kvbench
