#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/output/output_file.h"
#include "bench/paper/figures.h"
#include "bench/paper/output.h"
#include "results/json/json_layout.h"

namespace kvbench {

namespace {

constexpr const char* kPaperExamples =
    R"(Each row shows ours (mean over seeds), what is published, how far off ours is and the tolerance.
The exit code is 1 when a row with a tolerance lies outside it; a claim that does not hold is none.
The suites run by themselves as well: kvbench run paper/fig2

Examples:
  kvbench paper fig2
  kvbench paper all --out paper.json
  kvbench paper table1 --format latex
)";

struct PaperFlags {
  std::vector<std::string> figures;
  int64_t seeds = 0;  ///< 0: as many as each suite says
  int64_t jobs = 0;   ///< 0: as many as cores
  std::string out;
  std::string format = "text";
};

std::vector<PaperFigure> PickFigures(const std::vector<std::string>& names) {
  std::vector<PaperFigure> picked;
  for (const PaperFigure& figure : PaperFigures()) {
    if (names.empty() || std::find(names.begin(), names.end(), "all") != names.end() ||
        std::find(names.begin(), names.end(), figure.key) != names.end()) {
      picked.push_back(figure);
    }
  }
  for (const std::string& name : names) {
    std::string known = "all";
    bool found = name == "all";
    for (const PaperFigure& figure : PaperFigures()) {
      found = found || name == figure.key;
      known += fmt::format(", {}", figure.key);
    }
    if (!found) {
      throw Error(fmt::format("the paper has no {} here: there are {}", Quoted(name), known));
    }
  }
  return picked;
}

/// A line on stderr for each suite, on a terminal one that counts its runs.
class SuiteProgress {
 public:
  void OnRun(const std::string& suite, int64_t done, int64_t runs) {
    if (suite != suite_) {
      suite_ = suite;
      begin_ = last_;
    }
    last_ = Clock::now();
    const bool ended = done == runs;
    if (terminal_ || ended) {
      fmt::print(stderr, "{}{}: {} of {} runs, {:.1f} s{}", terminal_ ? "\r\033[K" : "", suite,
                 done, runs, std::chrono::duration<double>(last_ - begin_).count(),
                 ended ? "\n" : "");
      std::fflush(stderr);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::string suite_;
  Clock::time_point last_ = Clock::now();
  Clock::time_point begin_ = last_;
};

/// Says what lies outside its tolerance; whether anything does.
bool ReportMisses(const std::vector<PaperSection>& sections) {
  int64_t held = 0;
  bool missed = false;
  for (const PaperSection& section : sections) {
    for (const PaperRow& row : section.rows) {
      held += row.tolerance && !row.failed() ? 1 : 0;
      if (row.failed()) {
        missed = true;
        fmt::print(stderr, "outside its tolerance: {}, {}: ours {:.{}f}\n", section.key, row.name,
                   row.ours, row.decimals + 1);
      }
    }
  }
  fmt::print(stderr, "{} rows are within their tolerance{}\n", held,
             missed ? "" : ", none outside");
  return missed;
}

int Paper(const PaperFlags& flags, const std::string& command_line) {
  const PaperFormat format = ParsePaperFormat(flags.format);
  const std::vector<PaperFigure> figures = PickFigures(flags.figures);
  if (!flags.out.empty()) {
    CheckWritable(flags.out);
  }
  SuiteProgress progress;
  PaperOptions options;
  options.seeds = flags.seeds > 0 ? std::optional(flags.seeds) : std::nullopt;
  options.jobs = flags.jobs > 0
                     ? flags.jobs
                     : static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  options.on_run = [&](const std::string& suite, int64_t done, int64_t runs) {
    progress.OnRun(suite, done, runs);
  };
  PaperRunner runner(options);
  std::vector<PaperSection> sections;
  sections.reserve(figures.size());
  for (const PaperFigure& figure : figures) {
    sections.push_back(MeasureSection(figure, runner));
  }
  if (!flags.out.empty()) {
    WriteFileAtomically(flags.out, [&](std::ostream& out) {
      WriteJson(PaperJson(sections, runner, command_line), 0, out);
      out << "\n";
    });
  }
  WriteStandardOutput([&](std::ostream& out) { out << PaperTables(sections, format); });
  return ReportMisses(sections) ? 1 : 0;
}

}  // namespace

void AddPaperCommand(Command app, Invocation& invocation) {
  const auto flags = std::make_shared<PaperFlags>();
  const Command command =
      app.Subcommand("paper", "Put the vLLM paper's figures and claims beside ours");
  command.Footer(kPaperExamples);
  std::string help = "what to show [all]:";
  for (const PaperFigure& figure : PaperFigures()) {
    help += fmt::format("\n{}: {}", figure.key, figure.summary);
  }
  command.Add("figure", flags->figures, help + "\nor all").Type("FIGURE");
  command
      .Add("--seeds", flags->seeds,
           "seeds 0 to N - 1; tolerances are for those of the suites [20, rates 5]")
      .Type("N")
      .Range(1, 10'000);
  command.Add("--jobs", flags->jobs, "runs at one time [all cores]").Type("N").Range(1, 1'000);
  command.Add("--format", flags->format, "text, markdown, latex or csv [text]").Type("FORMAT");
  command.Add("--out", flags->out, "write every row and the runs' means there as JSON")
      .Type("FILE");
  command.Do(
      [flags, &invocation] { invocation.exit_code = Paper(*flags, invocation.command_line); });
}

}  // namespace kvbench
