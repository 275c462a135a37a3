#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// How a row's deviation from the published value is measured.
enum class Closeness {
  kPoints,    ///< ours - published, in the row's unit
  kPercent,   ///< of the published value
  kDecimals,  ///< as kPoints, of both rounded to so many decimals: they must be equal
};

/// "points", "percent", "decimals".
const char* ClosenessName(Closeness closeness);

/// A number of the paper beside ours: a cell of a table or a bar of a figure.
struct PaperRow {
  std::string name;
  std::string unit;   ///< "%", "requests", "" for a ratio
  int decimals = 1;   ///< that are shown
  double ours = 0;    ///< mean over seeds
  double spread = 0;  ///< standard deviation over seeds (ddof 0)
  int64_t seeds = 1;  ///< 1: nothing random about it
  /// A range; both the same: one value; one end missing: open there; both: nothing is published.
  std::optional<double> published_low;
  std::optional<double> published_high;
  std::optional<double> deviation;  ///< from the nearer end of the range, 0 inside
  Closeness closeness = Closeness::kPoints;
  std::optional<double> tolerance;  ///< of kDecimals: how many; nothing: the row is shown only
  /// Within the tolerance, or, where there is none, inside the published range. Nothing without a
  /// published value, and for one value without a tolerance.
  std::optional<bool> holds;
  std::string note;  ///< a sentence: where a row stands apart, or why it does not hold

  /// Outside a stated tolerance: the command fails. A claim that does not hold is not that.
  bool failed() const { return tolerance && holds && !*holds; }
};

/// A figure or table of the paper.
struct PaperSection {
  std::string key;  ///< its name on the command line: "fig2"
  std::string title;
  std::string reference;  ///< whose numbers stand in the published column: "paper"
  std::string source;
  std::vector<std::string> notes;
  std::vector<PaperRow> rows;
  bool claims = false;  ///< rows are claims: they hold or do not
};

/// What was measured for a row, one value a seed.
using PaperValues = std::map<std::string, std::vector<double>>;

/// results/reference/paper.json as built into the program: what the vLLM paper and others
/// published, the tolerances of ours, and where each comes from.
std::string_view PaperReference();

/// A section's rows as results/reference/paper.json lists them, with ours beside. Throws Error for
/// a key that is not there; std::logic_error for a row that was not measured or is not listed.
PaperSection BuildSection(const std::string& key, const PaperValues& samples);

/// Deviation and verdict of a row from its other members.
void Judge(PaperRow& row);

}  // namespace kvbench
