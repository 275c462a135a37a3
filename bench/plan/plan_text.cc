#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "bench/designs/design_registry.h"
#include "bench/output/text_table.h"
#include "bench/plan/plan_report.h"

namespace kvbench {
namespace {

using enum TextTable::Align;

constexpr size_t kColumns = 96;

std::string Size(int64_t bytes) { return Bytes(bytes, 2); }

std::string Sentence(std::string_view text) { return "  " + Wrap(text, kColumns - 2, 2) + "\n"; }

std::string Plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", Thousands(count), noun, count == 1 ? "" : "s");
}

// ---- the memory plan ----

std::string Heading(const PlanReport& report) {
  const MemoryPlanInput& input = report.request.input;
  const std::string devices =
      input.tensor_parallel == 1 ? "" : fmt::format("{} x ", input.tensor_parallel);
  const std::string title = fmt::format(
      "{} on {}{}: memory plan{}", PrintableAscii(input.model.name), devices,
      PrintableAscii(input.hardware.name), input.tensor_parallel == 1 ? "" : " of each device");
  return Wrap(title, kColumns, 2) + "\n";
}

/// All in one unit, so that the eye can add them up.
std::string Sum(const PlanReport& report) {
  const MemoryPlan& plan = report.plan;
  constexpr int64_t kGiB = int64_t{1} << 30;
  const bool small = report.request.input.device_memory_bytes() < kGiB;
  const auto size = [&](int64_t bytes) {
    return small ? Size(bytes)
                 : Thousands(static_cast<double>(bytes) / static_cast<double>(kGiB), 2) + " GiB";
  };
  TextTable table({kLeft, kLeft, kRight});
  for (const MemoryLine& line : plan.lines) {
    table.Add({line.label, line.bytes < 0 ? "-" : " ", size(std::abs(line.bytes))});
  }
  table.Add({"left for the KV cache", "=", size(plan.kv_bytes)});
  return table.Text();
}

std::string WhatItHolds(const PlanReport& report) {
  const MemoryPlanInput& input = report.request.input;
  const MemoryPlan& plan = report.plan;
  std::string text;
  if (plan.kv_bytes <= 0) {
    text += Sentence(fmt::format(
        "The model does not fit: {} more {} needed before the first token can be kept.",
        Size(plan.short_by_bytes()), input.tensor_parallel == 1 ? "are" : "on each device are"));
  }
  TextTable table({kLeft, kRight, kLeft});
  const std::string whole = input.tensor_parallel == 1 ? "" : "of the whole model ";
  table.Add(
      {"weights", Size(report.weight_bytes), whole + "in " + std::string(DtypeName(input.dtype))});
  table.Add({"KV of a token", Size(report.kv_bytes_per_token),
             "over all layers in " + std::string(DtypeName(input.kv_cache_dtype))});
  if (input.tensor_parallel > 1) {
    table.Add({"", Size(plan.kv_bytes_per_token), "of it on each device"});
  }
  table.Add(
      {"blocks", Thousands(plan.blocks),
       fmt::format("of {} = {}", Plural(input.block_size, "slot"), Plural(plan.slots, "slot"))});
  table.Add({"at once", Thousands(plan.concurrency, 2),
             fmt::format("sequences of {} tokens (max_model_len), {} in whole blocks",
                         Thousands(input.model_len()), Thousands(plan.sequences))});
  text += table.Text();
  for (const std::string& note : plan.notes) {
    text += Sentence(note);
  }
  return text;
}

// ---- the batches ----

std::string Verdict(const PlannedBatch& batch, size_t designs, const PlanReport& report) {
  const BatchFit& fit = batch.fit;
  if (fit.designs.size() == designs) {
    return "yes";
  }
  if (fit.fits()) {
    return fmt::format("yes, under {} of {} designs", fit.designs.size(), designs);
  }
  if (fit.short_by_bytes > 0) {
    return fmt::format("no, {} too much{}", Size(fit.short_by_bytes),
                       report.request.input.tensor_parallel > 1 ? " on each device" : "");
  }
  return "no: just enough bytes, but every design rounds or keeps some back";
}

std::string RequestsOf(const PlannedContext& context, const PlannedBatch& batch) {
  return fmt::format("{} of {} tokens", Plural(batch.fit.batch, "request"),
                     Thousands(context.kind.context));
}

/// Which designs hold a batch, where not all do.
std::string OtherDesigns(const PlannedContext& context, const PlannedBatch& batch) {
  std::vector<std::string> not_under;
  for (const DesignCapacity& capacity : context.designs) {
    if (capacity.requests < batch.fit.batch) {
      not_under.push_back(
          fmt::format("{} (at most {})", capacity.design, Thousands(capacity.requests)));
    }
  }
  return Sentence(fmt::format("{} fit under {}, not under {}.", RequestsOf(context, batch),
                              JoinWords(batch.fit.designs), JoinWords(not_under)));
}

std::string Remedies(const PlannedContext& context, const PlannedBatch& batch) {
  if (batch.fit.fits()) {
    return batch.fit.designs.size() == context.designs.size() ? "" : OtherDesigns(context, batch);
  }
  const WhatFits& what = batch.fit.what_fits;
  std::vector<std::string> ways;
  if (what.batch) {
    ways.push_back(fmt::format("a batch of at most {}", Thousands(*what.batch)));
  }
  if (what.context) {
    ways.push_back(fmt::format("a context of at most {} tokens", Thousands(*what.context)));
  }
  if (what.kv_cache_dtype) {
    ways.push_back(
        fmt::format("an 8-bit KV cache (--kv-cache-dtype {})", DtypeName(*what.kv_cache_dtype)));
  }
  if (what.tensor_parallel) {
    ways.push_back(fmt::format("{0} devices (--tensor-parallel-size {0})", *what.tensor_parallel));
  }
  const std::string subject = RequestsOf(context, batch);
  if (ways.empty()) {
    return Sentence(subject +
                    " fit with none of: a shorter context, a smaller batch, an 8-bit KV "
                    "cache, up to 64 more devices. Take hardware with more memory.");
  }
  std::string list = ways.front();
  for (size_t i = 1; i < ways.size(); ++i) {
    list += (i + 1 == ways.size() ? ", or " : ", ") + ways[i];
  }
  return Sentence(subject + " would fit with " + list + ".");
}

std::string Batches(const PlanReport& report) {
  TextTable table({kRight, kRight, kRight, kLeft});
  table.Add({"context", "batch", "KV of the batch", "does it fit"});
  std::string remedies;
  for (const PlannedContext& context : report.contexts) {
    for (const PlannedBatch& batch : context.batches) {
      table.Add({Thousands(context.kind.context), Thousands(batch.fit.batch),
                 Size(batch.fit.kv_bytes), Verdict(batch, context.designs.size(), report)});
      remedies += Remedies(context, batch);
    }
  }
  return "\nKV of a batch, every request with its whole context\n" + table.Text() + remedies;
}

// ---- the designs ----

std::string Requests(const DesignCapacity& capacity) {
  return Thousands(capacity.requests) + (capacity.more ? " or more" : "");
}

std::string DesignsTable(const PlanReport& report) {
  TextTable table({kRight, kRight, kLeft, kRight, kRight});
  table.Add({"context", "prompt + output", "design", "requests", "slots of each"});
  for (const PlannedContext& context : report.contexts) {
    const RequestKind& kind = context.kind;
    for (const DesignCapacity& capacity : context.designs) {
      const bool first = &capacity == &context.designs.front();
      table.Add({first ? Thousands(kind.context) : "",
                 first ? fmt::format("{} + {}", Thousands(kind.context - kind.output_tokens),
                                     Thousands(kind.output_tokens))
                       : "",
                 capacity.design, Requests(capacity),
                 capacity.held_slots == 0 ? "never fits" : Thousands(capacity.held_slots)});
    }
  }
  std::string text =
      "\nMost requests at once, counted by admitting them until a design says no\n" + table.Text();
  for (const Design& design : Designs()) {
    if (design.watermark > 0) {
      text += Sentence(fmt::format(
          "{} admits only while {:.4g} % of its blocks stay free for requests that grow.",
          design.name, 100 * design.watermark));
    }
  }
  return text;
}

// ---- other heads ----

std::string Variants(const PlanReport& report) {
  if (report.variants.empty()) {
    return "";
  }
  const int64_t context =
      *std::max_element(report.request.contexts.begin(), report.request.contexts.end());
  const bool one = report.request.input.tensor_parallel == 1;
  TextTable table({kLeft, kRight, kRight, kRight, kRight, kRight});
  table.Add({"", "KV heads", one ? "weights" : "weights a device", "KV of a token",
             fmt::format("KV of {}", Thousands(context)), "requests, paged"});
  for (const HeadVariant& variant : report.variants) {
    const auto paged =
        std::find_if(variant.designs.begin(), variant.designs.end(),
                     [](const DesignCapacity& capacity) { return capacity.design == "paged"; });
    const bool latent = variant.attention == Attention::kMLA;
    table.Add(
        {fmt::format("{}{}", AttentionName(variant.attention), variant.own ? ", as it is" : ""),
         latent ? "latent" : Thousands(variant.num_key_value_heads), Size(variant.weight_bytes),
         Size(variant.kv_bytes_per_token), Size(variant.kv_bytes),
         paged == variant.designs.end() ? "-" : Requests(*paged)});
  }
  return fmt::format("\nThe same model with other KV heads, {} tokens of context\n",
                     Thousands(context)) +
         table.Text();
}

// ---- cost ----

std::string Cost(const PlanReport& report) {
  if (!report.request.gpu_hour_price) {
    return "";
  }
  TextTable table({kRight, kRight, kRight, kRight, kRight, kRight, kRight});
  table.Add(
      {"context", "batch", "weights read", "KV read", "ms a step", "tokens/s", "USD a million"});
  bool any = false;
  for (const PlannedContext& context : report.contexts) {
    for (const PlannedBatch& batch : context.batches) {
      if (!batch.decode) {
        continue;
      }
      any = true;
      const DecodeEstimate& decode = *batch.decode;
      table.Add({Thousands(context.kind.context), Thousands(batch.fit.batch),
                 Size(decode.weight_bytes), Size(decode.kv_bytes),
                 Thousands(decode.step_s * 1e3, 2), Thousands(decode.output_tokens_per_s, 0),
                 Thousands(batch.usd_per_million_output_tokens, 2)});
    }
  }
  const int64_t devices = report.request.input.tensor_parallel;
  return fmt::format("\nCost of a million output tokens, modelled, at {} USD a device-hour\n",
                     *report.request.gpu_hour_price) +
         (any ? table.Text() : "  none: no batch fits\n") +
         Sentence(fmt::format(
             "Modelled, not measured: a decode step reads the weights and the KV of the batch{} "
             "once, at {:.0f} % of the peak {} GB/s. Prefill, computation and links are left out.",
             devices == 1 ? "" : " that a device holds", 100 * kReachedBandwidth,
             Thousands(report.request.input.hardware.memory_bandwidth_bytes_per_s / 1e9, 0)));
}

}  // namespace

std::string PlanText(const PlanReport& report) {
  return Heading(report) + Sum(report) + "\n" + WhatItHolds(report) + Batches(report) +
         DesignsTable(report) + Variants(report) + Cost(report);
}

}  // namespace kvbench
