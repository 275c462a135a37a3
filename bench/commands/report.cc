#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/commands/flags.h"
#include "bench/commands/report_verdicts.h"
#include "bench/input/results_input.h"
#include "bench/machine/version.h"
#include "bench/output/output_file.h"
#include "results/record/label.h"
#include "results/report/assets.h"
#include "results/report/html_page.h"
#include "results/report/report_table.h"
#include "results/report/sections.h"
#include "results/report/table_formats.h"

namespace kvbench {
namespace {

constexpr const char* kReportExamples =
    R"(html      one page that opens offline: what ran, tables, charts; the format of --out NAME.html
markdown  the tables for a review or an issue
latex     a tabular for each table
csv       one row a design and its axes, medians over repetitions (kvbench export --format csv has
          every number of every run)

With --base each run has a verdict: slower, faster, same, changed, undecided. That is for reading;
kvbench compare is the gate with an exit code.

Also reads JSON of `kvbench paper --out` and of `kvbench_micro --benchmark_out`.

Examples (the first line makes the file that the others read):
  kvbench run --model opt-13b --design contiguous-max,paged --executor modelled --hardware \
    a100-sxm4-40gb --lengths sharegpt --rate 1,2,4 --requests 200 --detailed --out r.json
  kvbench report r.json --out r.html
  kvbench report r.json --format markdown --only rate=2
  kvbench report r.json --base r.json --out verdicts.html
)";

constexpr int kMostTimelinesRead = 250;

struct ReportFlags : ResultsFlags {
  std::string format;
  std::optional<std::string> base;
  VerdictFlags verdicts;
};

/// What all formats are made from.
struct ReportContent {
  ResultsInput input;
  std::optional<PageSource> base;
  ReportSection verdicts;  ///< empty without a base
};

enum class Format { kHtml, kMarkdown, kLatex, kCsv };

Format ParseFormat(const ReportFlags& flags) {
  if (flags.format == "html" ||
      (flags.format.empty() && (flags.out.ends_with(".html") || flags.out.ends_with(".htm")))) {
    return Format::kHtml;
  }
  if (flags.format == "markdown" || flags.format.empty()) {
    return Format::kMarkdown;
  }
  if (flags.format == "latex") {
    return Format::kLatex;
  }
  if (flags.format == "csv") {
    return Format::kCsv;
  }
  throw Error(fmt::format("--format {} is none: there are html, markdown, latex and csv",
                          Quoted(flags.format)));
}

/// Text that a section is made from, with the file's name in front of what is wrong with it.
template <typename Make>
auto FromFile(const InputFile<std::string>& file, Make make) {
  try {
    return make(file.content);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", ShownPath(file.path), error.what()));
  }
}

/// Sections of what is not from `kvbench run`.
std::vector<ReportSection> OtherSections(const ResultsInput& input) {
  std::vector<ReportSection> sections;
  for (const InputFile<std::string>& file : input.benchmarks) {
    sections.push_back(FromFile(file, [](const std::string& text) { return KernelSection(text); }));
  }
  for (const InputFile<std::string>& file : input.papers) {
    for (ReportSection& section :
         FromFile(file, [](const std::string& text) { return PaperSections(text); })) {
      sections.push_back(std::move(section));
    }
  }
  // Two files of a kind: anchors are unique all the same.
  for (size_t i = 0; i < sections.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (sections[j].id == sections[i].id) {
        sections[i].id += fmt::format("-{}", i);
      }
    }
  }
  return sections;
}

std::vector<ReportTable> AllTables(ReportContent& content) {
  const ResultsInput& input = content.input;
  std::vector<ReportTable> tables = MainTables(input.Runs());
  for (ReportTable& table : content.verdicts.tables) {  // the chart's numbers are in them as well
    tables.push_back(std::move(table));
  }
  for (ReportSection& section : OtherSections(input)) {
    for (ReportTable& table : section.tables) {
      tables.push_back(std::move(table));
    }
    for (ReportChart& chart : section.charts) {
      tables.push_back(std::move(chart.numbers));
    }
  }
  return tables;
}

std::string Title(const ResultsInput& input) {
  std::vector<std::string> names;
  for (const auto& [path, file] : input.results) {
    names.push_back(file.run_info.suite.value_or(ShownPath(path)));
  }
  // Several files of a suite: it is named once.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const auto& [path, text] : input.papers) {
    names.push_back(ShownPath(path));
  }
  for (const auto& [path, text] : input.benchmarks) {
    names.push_back(ShownPath(path));
  }
  return fmt::format("kvbench report: {}", fmt::join(names, ", "));
}

HtmlPage MakePage(ReportContent& content) {
  const ResultsInput& input = content.input;
  HtmlPage page;
  page.title = Title(input);
  page.program = "kvbench " + std::string(Version());
  for (const auto& [path, file] : input.results) {
    page.sources.push_back(DescribeSource(ShownPath(path), file));
  }
  for (const auto& [path, text] : input.papers) {
    page.sources.push_back({ShownPath(path), {{"kind", "the vLLM paper's figures beside ours"}}});
  }
  for (const auto& [path, text] : input.benchmarks) {
    page.sources.push_back({ShownPath(path), {{"kind", "micro benchmarks of the kernels"}}});
  }
  if (content.base) {
    page.sources.push_back(std::move(*content.base));
  }
  const std::vector<const RunRecord*> runs = input.Runs();
  if (!runs.empty()) {
    page.sections.push_back(
        {"results", "Results", "Medians over repetitions.", MainTables(runs), {}});
  }
  page.sections.push_back(std::move(content.verdicts));
  if (!runs.empty()) {
    const std::vector<TableGroup> groups = GroupRuns(runs, Grouping::kTraceName);
    page.sections.push_back(UsageSection(groups));
    page.sections.push_back(TimelineSection(groups));
    page.sections.push_back(RateSection(groups));
    page.sections.push_back(LatencySection(groups));
    page.sections.push_back(BlockSizeSection(groups));
  }
  for (ReportSection& section : OtherSections(input)) {
    page.sections.push_back(std::move(section));
  }
  return page;
}

/// What the base is, and how runs are judged against it.
void AddVerdicts(const std::string& path, const ReportFlags& flags, ReportContent& content) {
  InputOptions read;
  read.read.wants_timeline = NoTimeline;
  read.others = true;
  const ResultsInput base = ReadResultsInput({path}, read);
  if (!base.papers.empty()) {
    throw Error(
        fmt::format("--base {} is a file of kvbench paper, which has no verdicts: give one "
                    "of kvbench run or kvbench_micro",
                    ShownPath(path)));
  }
  content.base = base.results.empty()
                     ? PageSource{ShownPath(path), {}}
                     : DescribeSource(ShownPath(path), base.results.front().content);
  content.base->facts.insert(content.base->facts.begin(), {"kind", "the base of the verdicts"});
  VerdictRequest request{
      .base = path, .results = {}, .benchmarks = {}, .only = flags.only, .flags = flags.verdicts};
  for (const auto& file : content.input.results) {
    request.results.push_back(file.path);
  }
  for (const auto& file : content.input.benchmarks) {
    request.benchmarks.push_back(file.path);
  }
  content.verdicts = JudgeAgainstBase(request);
}

void Report(const ReportFlags& flags) {
  const Format format = ParseFormat(flags);
  if (format == Format::kHtml && !CanWriteHtml()) {
    throw Error(
        fmt::format("this kvbench was built without a charting library, so there is no HTML: "
                    "install the package {} and build it again",
                    kChartLibraryPackage),
        Error::Kind::kMachine);
  }
  CheckOutput(flags.out);
  InputOptions options;
  options.only = flags.only;
  options.read.wants_timeline = NoTimeline;
  if (format == Format::kHtml) {
    // Large files are mostly timelines, and the page shows few: the first in the order of its
    // tables, which these runs are enough for in all but huge files.
    options.read.wants_timeline = [&, left = kMostTimelinesRead](const RunRecord& run) mutable {
      const bool wanted = left > 0 && run.repetition == 0 && HasParts(run.label, flags.only);
      left -= wanted ? 1 : 0;
      return wanted;
    };
  }
  options.others = true;
  ReportContent content;
  content.input = ReadResultsInput(flags.files, options);
  if (flags.base) {
    AddVerdicts(*flags.base, flags, content);
  }
  if (format == Format::kHtml) {
    const HtmlPage page = MakePage(content);
    WriteOutput(flags.out, [&](std::ostream& out) { WriteHtml(page, out); });
    return;
  }
  const std::vector<ReportTable> tables = AllTables(content);
  WriteOutput(flags.out, [&](std::ostream& out) {
    out << (format == Format::kMarkdown ? MarkdownTables(tables)
            : format == Format::kLatex  ? LatexTables(tables)
                                        : CsvTables(tables));
  });
}

}  // namespace

void AddReportCommand(Command app, Invocation&) {
  const auto flags = std::make_shared<ReportFlags>();
  const Command command =
      app.Subcommand("report", "Show results as one page with charts, or as tables");
  command.Footer(kReportExamples);
  command
      .Add("--format", flags->format,
           "html, markdown, latex or csv [html for --out NAME.html, else markdown]")
      .Type("FORMAT");
  AddResultsFlags(command, *flags,
                  "files of `kvbench run --out`, of kvbench paper or kvbench_micro",
                  "the file to write (-: stdout)");
  const CommandOption base =
      command
          .Add("--base", flags->base,
               "judge each run against this file's, as kvbench compare does; the exit code "
               "is 0 whatever comes out")
          .Type("RESULTS");
  for (const CommandOption option : AddVerdictFlags(command, flags->verdicts)) {
    option.Needs(base);
  }
  command.Do([flags] { Report(*flags); });
}

}  // namespace kvbench
