#include "results/table/table_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "base/text.h"
#include "results/table/binding.h"

namespace kvbench {
namespace {

constexpr std::string_view kRunningWhileWaiting = "while_waiting.mean_running_requests";
using Notes = std::vector<std::string>;

/// Says each distinct text once, with the rows it is true of in front; rows with an empty text say
/// nothing.
void AddPerRows(const TableGroup& group, const std::function<std::string(const TableRow&)>& text,
                Notes& notes) {
  std::vector<std::pair<std::string, Notes>> names_by_text;
  for (const TableRow& row : group.rows) {
    const std::string said = text(row);
    if (said.empty()) {
      continue;
    }
    const auto known = std::find_if(names_by_text.begin(), names_by_text.end(),
                                    [&](const auto& entry) { return entry.first == said; });
    if (known == names_by_text.end()) {
      names_by_text.push_back({said, {row.full_name()}});
    } else {
      known->second.push_back(row.full_name());
    }
  }
  for (const auto& [said, names] : names_by_text) {
    const bool all = names.size() > 1 && names.size() == group.rows.size();
    notes.push_back((all ? "All designs" : JoinWords(names)) + ": " + said);
  }
}

/// A gain below this may be noise of a measured run.
constexpr double kGainWorthSaying = 1.15;

/// Output tokens/s over the steps that left requests waiting; NaN where there were none.
double OutputWhileWaiting(const TableRow& row) {
  const std::optional<WhileWaiting>& waiting = row.run().while_waiting;
  return waiting && waiting->output_throughput ? *waiting->output_throughput
                                               : std::numeric_limits<double>::quiet_NaN();
}

/// What the row with the most output tokens/s gained over `contiguous-max`, where memory made the
/// difference.
void AddGain(const TableGroup& group, Notes& notes) {
  for (const TableRow& base : group.rows) {
    if (base.name != "contiguous-max" ||
        MainBound(base.run().bound_by) != AdmissionBound::kMemory) {
      continue;
    }
    const TableRow* best = nullptr;
    for (const TableRow& row : group.rows) {
      if (row.varying == base.varying && row.output() &&
          (best == nullptr || *row.output() > *best->output())) {
        best = &row;
      }
    }
    if (best == nullptr || base.output().value_or(0) <= 0 ||
        *best->output() < kGainWorthSaying * *base.output()) {
      continue;
    }
    std::string note = fmt::format("Most output: {}, {:.1f} times the output tokens/s of {}",
                                   best->full_name(), *best->output() / *base.output(), base.name);
    const std::optional<double>& running = best->Figure(kRunningWhileWaiting);
    const std::optional<double>& base_running = base.Figure(kRunningWhileWaiting);
    if (running && base_running.value_or(0) > 0) {
      note += fmt::format("; while others waited, {:.1f} times the requests running",
                          *running / *base_running);
      const double waiting_throughput = OutputWhileWaiting(*best) / OutputWhileWaiting(base);
      if (std::isfinite(waiting_throughput)) {
        note += fmt::format(" and {:.1f} times the output tokens/s", waiting_throughput);
      }
    }
    notes.push_back(note + ".");
  }
}

void AddMemory(const TableGroup& group, Notes& notes) {
  const bool nowhere = std::all_of(group.rows.begin(), group.rows.end(), [](const TableRow& row) {
    return !WhyMemoryDidNotBind(row.run()).empty();
  });
  const size_t before = notes.size();
  AddPerRows(
      group,
      [](const TableRow& row) {
        const std::string why = WhyMemoryDidNotBind(row.run());
        return why.empty() ? "" : "memory did not bind; " + why + ".";
      },
      notes);
  if (nowhere && group.rows.size() > 1 && notes.size() > before) {
    notes.back() += " So all designs look alike in speed here.";
  }
}

void AddVerification(const TableGroup& group, Notes& notes) {
  int64_t least_checked = -1;
  double largest_error = 0;
  double tolerance = 0;
  Notes failed;
  Notes unverified;
  for (const TableRow& row : group.rows) {
    for (const RunRecord* run : row.repetitions) {
      if (!run->verification || run->verification->checked == 0) {
        if (run->executor.kind != "modelled") {
          unverified.push_back(row.full_name());
        }
        continue;
      }
      const Verification& check = *run->verification;
      least_checked = least_checked < 0 ? check.checked : std::min(least_checked, check.checked);
      largest_error = std::max(largest_error, check.max_relative_error.value_or(0));
      tolerance = check.tolerance;
      if (!check.passed) {
        failed.push_back(fmt::format(
            "{} (error {}, tolerance {:.0e})", row.full_name(),
            check.max_relative_error ? fmt::format("{:.1e}", *check.max_relative_error) : "unknown",
            check.tolerance));
      }
    }
  }
  if (!failed.empty()) {
    notes.push_back("VERIFICATION FAILED: " + JoinWords(failed) + ". Do not use these figures.");
  } else if (least_checked >= 0) {
    notes.push_back(
        fmt::format("Verified against the reference kernel: {} or more attention outputs a run, "
                    "largest relative "
                    "error {:.1e} (tolerance {:.0e}).",
                    Thousands(least_checked), largest_error, tolerance));
  }
  unverified.erase(std::unique(unverified.begin(), unverified.end()), unverified.end());
  if (!unverified.empty()) {
    notes.push_back("Not verified: " + JoinWords(unverified) + ".");
  }
}

std::string RejectedText(const TableRow& row) {
  const RunRecord& run = row.run();
  if (run.rejected == 0) {
    return "";
  }
  std::vector<std::string> reasons;
  for (const RejectedReason& reason : run.rejected_reasons) {
    std::string text = PrintableAscii(reason.reason);
    while (text.ends_with('.')) {
      text.pop_back();
    }
    reasons.push_back(fmt::format("{} ({})", text, Thousands(reason.count)));
  }
  std::string text = fmt::format("rejected {} of {} requests", Thousands(run.rejected),
                                 Thousands(run.trace.num_requests));
  for (size_t i = 0; i < reasons.size(); ++i) {
    text += (i == 0 ? ": " : "; ") + reasons[i];
  }
  return text + ".";
}

/// Requests came faster than they left, so that the latencies say how long the trace was.
std::string QueueText(const TableRow& row) {
  constexpr double kKeepsUp = 0.95;
  constexpr double kFewSteps = 0.1;  // in which nobody waited
  const RunRecord& run = row.run();
  const double rate = run.trace.request_rate.value_or(0);
  if (!std::isfinite(rate) || rate <= 0 || !run.request_throughput ||
      *run.request_throughput >= kKeepsUp * rate || run.bound_by.nothing.value_or(1) > kFewSteps) {
    return "";
  }
  return fmt::format(
      "served {:.3g} of {:.3g} requests/s; the queue grew as long as they came "
      "({} waiting on average), and latencies with it.",
      *run.request_throughput, rate, Thousands(run.mean_waiting_requests, 0));
}

std::string FailedText(const TableRow& row) {
  const RunRecord& run = row.run();
  return run.failed == 0 ? ""
                         : fmt::format("{} of {} requests FAILED.", Thousands(run.failed),
                                       Thousands(run.trace.num_requests));
}

std::string ExcludedText(const TableRow& row) {
  const Window& window = row.run().window;
  std::vector<std::string> parts;
  if (window.from_s || window.to_s) {
    parts.push_back(fmt::format("what lies outside {} to {}",
                                window.from_s ? fmt::format("{} s", *window.from_s) : "the start",
                                window.to_s ? fmt::format("{} s", *window.to_s) : "the end"));
  }
  for (const std::string& phase : window.excluded.phases) {
    parts.push_back("the phase " + PrintableAscii(phase));
  }
  int64_t requests = 0;
  for (const IndexRange& range : window.excluded.requests) {
    requests += range.last - range.first + 1;
  }
  if (requests > 0) {
    parts.push_back(fmt::format("{} requests by their index", Thousands(requests)));
  }
  return parts.empty() ? "" : "means and percentiles leave out " + JoinWords(parts) + ".";
}

void AddRepetitions(const TableGroup& group, Notes& notes) {
  size_t most = 1;
  double spread = 0;
  for (const TableRow& row : group.rows) {
    most = std::max(most, row.repetitions.size());
    if (row.output().value_or(0) > 0) {
      double low = *row.output();
      double high = low;
      for (const RunRecord* run : row.repetitions) {
        low = std::min(low, run->output_throughput.value_or(low));
        high = std::max(high, run->output_throughput.value_or(high));
      }
      spread = std::max(spread, (high - low) / *row.output());
    }
  }
  if (most > 1) {
    notes.push_back(fmt::format(
        "Each row is the median of {} repetitions; output tokens/s lay up to {:.1f} % apart.", most,
        100 * spread));
  }
}

/// The runs' own notes, each once. Those on memory are said above in the table's own words.
void AddOwnNotes(const TableGroup& group, Notes& notes) {
  std::vector<std::string> known;
  for (const TableRow& row : group.rows) {
    for (const std::string& note : row.run().notes) {
      if (note != MemoryNote(row.run()) &&
          std::find(known.begin(), known.end(), note) == known.end()) {
        known.push_back(note);
      }
    }
  }
  for (const std::string& note : known) {
    AddPerRows(
        group,
        [&](const TableRow& row) {
          const auto& own = row.run().notes;
          return std::find(own.begin(), own.end(), note) == own.end() ? "" : PrintableAscii(note);
        },
        notes);
  }
}

}  // namespace

std::vector<std::string> GroupNotes(const TableGroup& group) {
  Notes notes;
  AddGain(group, notes);
  AddMemory(group, notes);
  AddVerification(group, notes);
  AddPerRows(group, QueueText, notes);
  AddPerRows(group, RejectedText, notes);
  AddPerRows(group, FailedText, notes);
  AddPerRows(group, ExcludedText, notes);
  AddRepetitions(group, notes);
  AddOwnNotes(group, notes);
  return notes;
}

}  // namespace kvbench
