#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <ostream>
#include <string>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/output/output_file.h"
#include "workloads/traces/arrivals.h"
#include "workloads/traces/lengths.h"
#include "workloads/traces/trace_generator.h"
#include "workloads/traces/trace_reader.h"
#include "workloads/traces/trace_stats.h"
#include "workloads/traces/trace_writer.h"

namespace kvbench {
namespace {

/// What the three subcommands are given.
struct TraceOptions {
  std::string file;
  TraceReadOptions read;
  GeneratorSpec generate;
  std::string arrivals;  ///< of convert: "" keeps those of the file
  std::string out = "-";
};

void Write(const Trace& trace, const std::string& out) {
  WriteOutput(out, [&](std::ostream& stream) { WriteTrace(trace, stream); });
  fmt::print(stderr, "{} requests, sha256 {}{}\n", trace.requests.size(), TraceDigest(trace),
             out == "-" ? "" : fmt::format(", written to {}", ShownPath(out)));
}

std::string LengthRow(std::string_view name, const LengthStats& stats) {
  return fmt::format("{:<14}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10}\n", name, stats.mean,
                     stats.p50, stats.p90, stats.p99, stats.max);
}

std::string StatsTable(const Trace& trace) {
  const TraceStats stats = ComputeTraceStats(trace);
  const auto row = [](std::string_view name, const std::string& value) {
    return fmt::format("{:<14}{}\n", name, value);
  };
  const std::string no_arrivals = trace.has_arrivals ? "- (all at once)" : "- (no arrivals)";
  std::string table = row("trace", ShownPath(trace.source));
  table += row("requests", fmt::format("{}", stats.requests));
  if (trace.skipped_rows > 0) {
    table += row("failed rows", fmt::format("{} (left out)", trace.skipped_rows));
  }
  table += row("span", stats.span_s ? fmt::format("{:.3f} s", *stats.span_s) : no_arrivals);
  table += row("rate", stats.rate ? fmt::format("{:.4g} requests/s", *stats.rate) : no_arrivals);
  table += row("CV of gaps", stats.gap_cv ? fmt::format("{:.3f}", *stats.gap_cv) : no_arrivals);
  table += row("prefix reuse", stats.prefix_reuse ? fmt::format("{:.1f} % of the prefix blocks",
                                                                100.0 * *stats.prefix_reuse)
                                                  : "- (no prefix ids)");
  table += row("sha256", TraceDigest(trace));
  table += fmt::format("\n{:<14}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "tokens", "mean", "p50", "p90",
                       "p99", "max");
  table += LengthRow("prompt", stats.prompt);
  table += LengthRow("output", stats.output);
  return table;
}

void AddReadOptions(Command command, TraceOptions& options) {
  command.Add("file", options.file, "the trace: " + ReadableTraces()).Required();
  command.Add("--columns", options.read.columns,
              "of other CSV: arrival=NAME:UNIT,prompt=NAME,output=NAME; units s, ms, us, "
              "ns, timestamp");
  command.Add("--limit", options.read.limit, "only the first so many requests (0: all)")
      .ShowDefault();
}

void AddOut(Command command, TraceOptions& options) {
  command.Add("--out", options.out, "the file to write (-: standard output)").ShowDefault();
}

void AddMake(Command trace, const std::shared_ptr<TraceOptions>& options) {
  const Command make =
      trace.Subcommand("make", "Generate a trace; the same seed gives the same bytes");
  GeneratorSpec& spec = options->generate;
  make.Add("--lengths", spec.lengths,
           fmt::format("prompt and output tokens: fixed:prompt=128:output=64, "
                       "uniform:prompt=16-512:output=1-256, "
                       "lognormal:prompt_mean=161:prompt_sd=300:output_mean=338:output_sd=284, "
                       "or one of {}; all with :scale=0.25, :cap=2048, :over=clip|redraw",
                       fmt::join(LengthTableNames(), ", ")))
      .Required();
  make.Add("--arrivals", spec.arrivals, "poisson, gamma:cv=2, constant, all-at-once").ShowDefault();
  make.Add("--rate", spec.rate, "requests per second; inf: all at once");
  make.Add("--requests", spec.requests, "how many").Required();
  make.Add("--seed", spec.seed, "whole number from 0").ShowDefault();
  AddOut(make, *options);
  make.Footer(
      "Example:\n  kvbench trace make --lengths sharegpt:scale=0.25 --rate 4 --requests 100 --seed "
      "1 "
      "--out sharegpt.jsonl");
  make.Do([options] {
    CheckOutput(options->out);
    Write(MakeTrace(options->generate), options->out);
  });
}

void AddConvert(Command trace, const std::shared_ptr<TraceOptions>& options) {
  const Command convert = trace.Subcommand(
      "convert", "Turn any trace into JSON lines with the same digest, or give it other arrivals");
  AddReadOptions(convert, *options);
  convert.Add(
      "--arrivals", options->arrivals,
      "poisson, gamma:cv=2, constant, all-at-once, or file:speed=2 (default: as in the file)");
  convert.Add("--rate", options->generate.rate, "requests per second; inf: all at once");
  convert.Add("--seed", options->generate.seed, "of the arrivals, a whole number from 0")
      .ShowDefault();
  AddOut(convert, *options);
  convert.Footer(
      "Example (the first line makes the file that the second reads):\n"
      "  kvbench trace make --lengths alpaca --arrivals all-at-once --requests 100 --out "
      "alpaca.jsonl\n"
      "  kvbench trace convert alpaca.jsonl --arrivals gamma:cv=2 --rate 4 --out bursty.jsonl");
  convert.Do([options] {
    CheckOutput(options->out);
    Trace read = ReadTrace(options->file, options->read);
    if (!options->arrivals.empty()) {
      PutArrivals(read, options->arrivals, options->generate.rate, options->generate.seed);
    }
    Write(read, options->out);
  });
}

void AddStats(Command trace, const std::shared_ptr<TraceOptions>& options) {
  const Command stats = trace.Subcommand("stats", "Describe a trace: arrivals, lengths, digest");
  AddReadOptions(stats, *options);
  stats.Footer(
      "Example (the first line makes the file that the second reads):\n"
      "  kvbench trace make --lengths sharegpt --rate 4 --requests 1000 --out sharegpt.jsonl\n"
      "  kvbench trace stats sharegpt.jsonl");
  stats.Do([options] {
    const std::string table = StatsTable(ReadTrace(options->file, options->read));
    WriteStandardOutput([&](std::ostream& out) { out << table; });
  });
}

}  // namespace

void AddTraceCommand(Command app, Invocation&) {
  const Command trace = app.Subcommand("trace", "Make, convert and describe request traces");
  trace.RequireSubcommand();
  trace.Footer(
      "Example:\n  kvbench trace make --lengths sharegpt --rate 4 --requests 1000 --out "
      "sharegpt.jsonl");
  const auto options = std::make_shared<TraceOptions>();
  AddMake(trace, options);
  AddConvert(trace, options);
  AddStats(trace, options);
}

}  // namespace kvbench
