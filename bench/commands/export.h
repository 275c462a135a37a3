#pragma once

namespace CLI {
class App;
}

namespace kvbench {

/// `kvbench export`: results in other tools' formats.
void AddExportCommand(CLI::App& app);

}  // namespace kvbench
