#include "workloads/traces/trace_builder.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/quoting.h"
#include "base/text_file.h"
#include "workloads/traces/arrivals.h"

namespace kvbench {

TraceBuilder::TraceBuilder(std::string display_name, const TraceReadOptions& options)
    : display_name_(std::move(display_name)), options_(options) {
  if (options_.limit < 0) {
    throw Error(fmt::format("--limit {} is negative; give a number of requests, or 0 for all",
                            options_.limit));
  }
  trace_.name = FileStem(display_name_);
  trace_.source = display_name_;
}

bool TraceBuilder::full() const {
  return options_.limit > 0 && static_cast<int64_t>(trace_.requests.size()) >= options_.limit;
}

void TraceBuilder::SetTime(int64_t line, int64_t time_ns) {
  if (time_line_ != 0 && time_ns < time_ns_) {
    Fail(line,
         fmt::format("the time is {} ns before that of line {}; requests stand in the order of "
                     "their arrival",
                     time_ns_ - time_ns, time_line_));
  }
  time_ns_ = time_ns;
  time_line_ = line;
}

void TraceBuilder::Add(int64_t prompt_tokens, int64_t output_tokens,
                       std::vector<int64_t> prefix_ids) {
  trace_.requests.push_back({time_ns_, prompt_tokens, output_tokens, std::move(prefix_ids)});
  last_request_line_ = time_line_;
}

int64_t TraceBuilder::Length(int64_t line, std::string_view what, std::string_view text,
                             int64_t min) const {
  const Decimal length = ParseDecimal(text, 0);
  std::string_view wrong;
  if (text.empty()) {
    wrong = "is missing";
  } else if (length.status == DecimalStatus::kNotANumber) {
    wrong = "is no number";
  } else if (length.status == DecimalStatus::kTooManyDecimals) {
    wrong = "is no whole number";
  } else if (length.status == DecimalStatus::kTooLarge || length.value > kMaxTokens) {
    wrong = "is too large";
  } else if (length.value < 0) {
    wrong = "is negative";
  } else if (length.value < min) {
    wrong = "is too small";
  } else {
    return length.value;
  }
  Fail(line,
       fmt::format("{}{}{} {}; a request has {} to {} tokens there", what, text.empty() ? "" : " ",
                   text.empty() ? "" : Quoted(text), wrong, min, kMaxTokens));
}

int64_t TraceBuilder::Time(int64_t line, std::string_view what, std::string_view text, int decimals,
                           ExtraDecimals extra) const {
  const Decimal time = ParseDecimal(text, decimals, extra);
  std::string wrong;
  if (text.empty()) {
    wrong = "is missing; a time is a number";
  } else if (time.status == DecimalStatus::kNotANumber) {
    wrong = "is no number; a time is a decimal number";
  } else if (time.status == DecimalStatus::kTooManyDecimals) {
    wrong = fmt::format("has more than {} decimals; times are whole nanoseconds", decimals);
  } else if (time.status == DecimalStatus::kTooLarge) {
    wrong = "is too large; times end at 100 days";
  } else if (time.value < 0) {
    wrong = "is negative; times count from the beginning of the trace";
  } else {
    return time.value;
  }
  Fail(line, fmt::format("{}{}{} {}", what, text.empty() ? "" : " ",
                         text.empty() ? "" : Quoted(text), wrong));
}

void TraceBuilder::Fail(int64_t line, std::string_view sentence) const {
  throw Error(fmt::format("{}, line {}: {}", ShownPath(display_name_), line, sentence));
}

void TraceBuilder::Fail(std::string_view sentence) const {
  throw Error(fmt::format("{}: {}", ShownPath(display_name_), sentence));
}

Trace TraceBuilder::Finish() && {
  if (trace_.requests.empty()) {
    Fail(trace_.skipped_rows > 0
             ? fmt::format(
                   "all {} rows are failed requests with 0 tokens; nothing is left to replay",
                   trace_.skipped_rows)
             : "the file holds no requests; give one a line");
  }
  if (origin_ == TimeOrigin::kFirstRequest) {
    const int64_t first = trace_.requests.front().arrival_ns;
    for (Request& request : trace_.requests) {
      request.arrival_ns -= first;
    }
  }
  ApplySpeed(trace_, options_.speed);
  if (trace_.requests.back().arrival_ns > kMaxArrivalNs) {
    Fail(
        last_request_line_,
        "the request arrives more than 100 days after the trace's beginning, where the clock ends; "
        "let times count from the beginning, or replay fewer requests (--limit) or faster");
  }
  return std::move(trace_);
}

}  // namespace kvbench
