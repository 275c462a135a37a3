#include "bench/output/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

namespace kvbench {

namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  int64_t begin_ns = 0;
  int64_t duration_ns = -1;  // -1: still open
  RangeArgs args{};
  RangeKind kind = RangeKind::kRun;
};

// New memory is asked for so rarely that a step hardly ever waits for it, and nothing is moved.
constexpr int64_t kChunk = 4096;

// Deeper than ranges nest.
constexpr size_t kDeepest = 32;

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// Nanoseconds as microseconds, every digit kept.
std::string Microseconds(int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

void AppendMetadata(std::string& text, const char* what, size_t pid, const char* key,
                    const std::string& value) {
  fmt::format_to(std::back_inserter(text),
                 ",\n{{\"name\":\"{}\",\"ph\":\"M\",\"pid\":{},\"tid\":1,\"args\":{{\"{}\":{}}}}}",
                 what, pid, key, value);
}

void AppendEvent(std::string& text, size_t pid, const Event& event) {
  const RangeInfo& info = InfoOf(event.kind);
  fmt::format_to(std::back_inserter(text),
                 ",\n{{\"name\":\"{}\",\"cat\":\"{}\",\"ph\":\"X\",\"ts\":{},\"dur\":{},\"pid\":{},"
                 "\"tid\":1,\"args\":{{",
                 info.name, info.category, Microseconds(event.begin_ns),
                 Microseconds(event.duration_ns), pid);
  for (size_t i = 0; i < info.args.size() && !info.args[i].empty(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}\"{}\":{}", i == 0 ? "" : ",", info.args[i],
                   event.args[i]);
  }
  text += "}}";
}

}  // namespace

class TraceEvents::Run final : public RangeSink {
 public:
  Run(int64_t most, int64_t& used) : most_(most), used_(used) {}

  void BeginRun(const std::string& label) override {
    label_ = label;
    NewChunk();  // before the clock starts
    start_ = Clock::now();
  }

  void Begin(RangeKind kind, const RangeArgs& args) override {
    // A place is taken here and not at the end: what is around an event comes before it.
    Event* event = nullptr;
    if (used_ < most_) {
      ++used_;
      event = &Add();
      event->kind = kind;
      event->args = args;
    } else {
      ++left_out_;
    }
    assert(depth_ < kDeepest);
    open_[depth_++] = event;
    if (event != nullptr) {
      event->begin_ns = Now();
    }
  }

  void End() override {
    Event* const event = open_[--depth_];
    if (event != nullptr) {
      event->duration_ns = Now() - event->begin_ns;
    }
  }

  void set_axes(const std::string& axes) { axes_ = axes; }
  int64_t events() const { return events_; }
  int64_t left_out() const { return left_out_; }

  void Write(std::ostream& out, size_t pid) const {
    std::string text;
    AppendMetadata(text, "process_name", pid, "name", Quoted(label_));
    AppendMetadata(text, "process_labels", pid, "labels", Quoted(axes_));
    AppendMetadata(text, "process_sort_index", pid, "sort_index", std::to_string(pid));
    AppendMetadata(text, "thread_name", pid, "name", "\"engine\"");
    out << (pid == 1 ? text.substr(1) : text);  // no comma before the first
    int64_t left = events_;
    for (const std::unique_ptr<Chunk>& chunk : chunks_) {
      text.clear();
      for (int64_t i = 0; i < std::min(left, kChunk); ++i) {
        const Event& event = (*chunk)[static_cast<size_t>(i)];
        if (event.duration_ns >= 0) {
          AppendEvent(text, pid, event);
        }
      }
      left -= kChunk;
      out << text;
    }
  }

 private:
  using Chunk = std::array<Event, kChunk>;

  int64_t Now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }

  void NewChunk() { chunks_.push_back(std::make_unique<Chunk>()); }

  Event& Add() {
    if (events_ == kChunk * static_cast<int64_t>(chunks_.size())) {
      NewChunk();
    }
    return (*chunks_.back())[static_cast<size_t>(events_++ % kChunk)];
  }

  int64_t most_;
  int64_t& used_;
  std::string label_;
  std::string axes_;
  Clock::time_point start_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::array<Event*, kDeepest> open_{};
  size_t depth_ = 0;
  int64_t events_ = 0;
  int64_t left_out_ = 0;
};

TraceEvents::TraceEvents(int64_t most) : most_(most) {}
TraceEvents::~TraceEvents() = default;

RangeSink& TraceEvents::AddRun() {
  runs_.push_back(std::make_unique<Run>(most_, used_));
  return *runs_.back();
}

void TraceEvents::DropLastRun() {
  used_ -= runs_.back()->events();
  runs_.pop_back();
}

void TraceEvents::DescribeLastRun(const std::string& axes) { runs_.back()->set_axes(axes); }

int64_t TraceEvents::events() const { return used_; }

int64_t TraceEvents::left_out() const {
  int64_t left_out = 0;
  for (const std::unique_ptr<Run>& run : runs_) {
    left_out += run->left_out();
  }
  return left_out;
}

void TraceEvents::Write(std::ostream& out) const {
  out << "{\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[";
  for (size_t i = 0; i < runs_.size(); ++i) {
    runs_[i]->Write(out, i + 1);
  }
  const std::string note =
      left_out() == 0 ? std::string()
                      : fmt::format(",\"note\":\"{} events are left out: a file holds {} at most\"",
                                    left_out(), most_);
  out << fmt::format(
      "\n],\n\"otherData\":{{\"program\":\"kvbench\",\"left_out\":{},"
      "\"time\":\"each run starts at 0 with its measured region\"{}}}}}\n",
      left_out(), note);
}

}  // namespace kvbench
