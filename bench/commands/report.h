#pragma once

namespace CLI {
class App;
}

namespace kvbench {

/// `kvbench report`: results as tables, or as one page with charts.
void AddReportCommand(CLI::App& app);

}  // namespace kvbench
