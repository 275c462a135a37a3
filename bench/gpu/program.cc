#include "bench/gpu/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "bench/gpu/targets.h"
#include "bench/gpu/time_budget.h"
#include "bench/machine/environment.h"
#include "bench/output/interrupt.h"
#include "bench/output/output_file.h"
#include "results/json/json_layout.h"

namespace kvbench::gpu {

namespace {

struct Flags {
  std::string json;
  double budget = 0;
  bool small = false;
  bool full = false;
  std::string tier = "all";
  int repetitions = 0;
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One subcommand at work: a device, a budget, a file that grows.
class Run {
 public:
  Run(const std::string& what, const std::string& command, const Flags& flags,
      const Machine& machine, std::ostream& out, std::ostream& err)
      : flags_(flags), machine_(machine), out_(out), err_(err), budget_(flags.budget, Now, [this] {
          return interrupt_.interrupted();
        }) {
    head_.what = what;
    head_.command = command;
    head_.started_at = TimestampNow();
    if (flags.budget > 0) {
      head_.budget_s = flags.budget;
    }
    if (!flags.json.empty()) {
      CheckWritable(flags.json);
    }
    device_ = machine.open();
    head_.clocks_before = Clocks();
  }

  int Conformance() {
    std::vector<KernelCheck> checks = MemoryChecks();
    const auto add = [&](const std::vector<KernelCheck>& more) {
      checks.insert(checks.end(), more.begin(), more.end());
    };
    add(ElementwiseChecks());
    add(AttentionChecks({.combinations = !flags_.small,
                         .coverage = flags_.full ? Coverage::kWholeProduct : Coverage::kPairwise,
                         .samples = flags_.full ? 8 : 48}));
    double shown = 0;
    double written = 0;
    const auto progress = [&](const ConformanceResult& so_far) {
      if (budget_.elapsed() - shown > 1) {
        shown = budget_.elapsed();
        err_ << fmt::format("[{}/{}] {} failures\n", so_far.checks, so_far.planned,
                            so_far.failures.size());
      }
      if (budget_.elapsed() - written > 5) {
        written = budget_.elapsed();
        Write(ConformanceReport(Head(false), device_->properties(), so_far));
      }
    };
    const ConformanceResult result =
        RunConformance(*device_, machine_.kernels(), checks, budget_, progress);
    Write(ConformanceReport(Head(result.checks == result.planned), device_->properties(), result));
    out_ << ConformanceTable(result);
    return Code(result.right());
  }

  int Decode(const std::vector<DecodeCell>& cells, bool fig18a) {
    DecodeBenchOptions options;
    if (flags_.small) {
      options = {.warmups = 1,
                 .repetitions = 2,
                 .repetitions_a_roof = 1,
                 .roof_bytes = 16 << 10,
                 .flush_bytes = 1 << 10,
                 .tile_bytes = 257 * 16};
    }
    if (flags_.repetitions > 0) {
      options.repetitions = flags_.repetitions;
    }
    DecodeBench bench(*device_, options, cells, Now);
    options = bench.options();
    std::vector<DecodeResult> results;
    bool right = true;
    double written = 0;
    for (const DecodeCell& cell : cells) {
      if (!budget_.Next()) {
        break;
      }
      results.push_back(bench.Run(cell));
      right = right && results.back().right;
      err_ << fmt::format("[{}/{}] {}\n", results.size(), cells.size(),
                          DecodeLine(results.back(), options.roof_bytes));
      // Often enough that little is lost, seldom enough to cost nothing.
      if (budget_.elapsed() - written > 2 || results.size() == 1) {
        written = budget_.elapsed();
        Write(DecodeReport(Head(false), device_->properties(), options, results));
      }
    }
    Write(DecodeReport(Head(results.size() == cells.size()), device_->properties(), options,
                       results));
    out_ << (fig18a ? Fig18aTable(results) : DecodeTable(results, options.roof_bytes));
    return Code(right);
  }

 private:
  std::optional<GpuClocks> Clocks() const {
    return machine_.clocks ? machine_.clocks() : std::nullopt;
  }
  ReportHead Head(bool complete) {
    head_.complete = complete;
    head_.duration_s = budget_.elapsed();
    head_.clocks_after = complete ? Clocks() : std::nullopt;
    return head_;
  }
  void Write(const nlohmann::ordered_json& report) {
    if (!flags_.json.empty()) {
      WriteFileAtomically(flags_.json, [&](std::ostream& file) {
        WriteJson(report, 0, file);
        file << "\n";
      });
    }
  }
  int Code(bool right) {
    if (budget_.cut()) {
      err_ << (interrupt_.interrupted() ? "Interrupted" : "The time budget is used up")
           << ": what is missing was not run\n";
    }
    return !right ? 1 : interrupt_.interrupted() ? 130 : 0;
  }

  const Flags& flags_;
  const Machine& machine_;
  std::ostream& out_;
  std::ostream& err_;
  InterruptGuard interrupt_;
  TimeBudget budget_;
  ReportHead head_;
  std::unique_ptr<Device> device_;
};

GridPart Part(const Flags& flags) {
  return flags.small         ? GridPart::kSmall
         : flags.tier == "1" ? GridPart::kFirst
         : flags.tier == "2" ? GridPart::kRest
                             : GridPart::kAll;
}

std::string CommandLine(int argc, const char* const* argv) {
  std::string line = "kvbench_gpu";
  for (int i = 1; i < argc; ++i) {
    line += std::string(" ") + argv[i];
  }
  return line;
}

}  // namespace

int RunProgram(int argc, const char* const* argv, const Machine& machine, std::ostream& out,
               std::ostream& err) {
  CLI::App app("Checks and measures kvbench's CUDA kernels on the GPU of this machine.");
  app.name("kvbench_gpu");
  app.require_subcommand(1);
  Flags flags;
  const auto add = [&](const char* name, const char* help) {
    CLI::App* const command = app.add_subcommand(name, help);
    command->add_option("--json", flags.json, "write results here, while they come in");
    command->add_option("--budget", flags.budget, "seconds after which to stop [no end]")
        ->check(CLI::PositiveNumber);
    command->add_flag("--small", flags.small, "a few tiny cases, to see that everything works");
    return command;
  };
  const auto add_repetitions = [&](CLI::App* command) {
    command->add_option("--repetitions", flags.repetitions, "timed runs of a cell [21]")
        ->check(CLI::Range(1, 1000));
  };
  CLI::App* const conformance =
      add("conformance", "every kernel against a reference in double precision");
  conformance->add_flag("--full", flags.full, "all combinations of the axes, not all pairs");
  CLI::App* const decode = add("decode", "decode attention over heads, layouts, contexts, batches");
  decode->add_option("--tier", flags.tier, "1: 40 cells that say most; 2: the other 120 [all]")
      ->check(CLI::IsMember({"1", "2", "all"}));
  add_repetitions(decode);
  CLI::App* const vllm_v1 = add("vllm-v1", "the vLLM paper's Fig 18a: its kernel beside ours");
  add_repetitions(vllm_v1);
  try {
    app.parse(argc, argv);
    const std::string what = app.get_subcommands().front()->get_name();
    Run run(what, CommandLine(argc, argv), flags, machine, out, err);
    return conformance->parsed() ? run.Conformance()
           : decode->parsed()    ? run.Decode(DecodeGrid(Part(flags)), false)
                                 : run.Decode(Fig18aGrid(flags.small), true);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : 2;
  } catch (const Error& error) {
    err << "kvbench_gpu: " << error.what() << "\n";
    return error.exit_code();
  } catch (const DeviceMemoryError& error) {
    err << fmt::format(
        "kvbench_gpu: the device has {} free, {} were asked for: end what else uses it\n",
        Bytes(static_cast<int64_t>(error.free())), Bytes(static_cast<int64_t>(error.asked())));
    return static_cast<int>(Error::Kind::kMachine);
  } catch (const std::exception& error) {
    err << "kvbench_gpu: " << error.what() << "\n";
    return static_cast<int>(Error::Kind::kMachine);
  }
}

}  // namespace kvbench::gpu
