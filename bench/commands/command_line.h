#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kvbench {

// The command line as the subcommands see it. CLI11 parses it and writes the help; its headers take
// seconds to compile, so command_line.cc alone includes them.

/// An option or a flag of a command: how the help shows it, and what it may be given.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}

  CommandOption Type(const std::string& name) const;   ///< "FILE", as the help shows it
  CommandOption Group(const std::string& name) const;  ///< the heading it stands under in the help
  CommandOption ShowDefault() const;                   ///< the variable's value, in the help
  CommandOption ShowDefault(const std::string& text) const;
  CommandOption Required() const;
  CommandOption Range(int64_t least, int64_t most) const;
  CommandOption OneOf(const std::vector<std::string>& words) const;
  CommandOption CommaSeparated() const;  ///< of a list
  CommandOption Repeatable() const;      ///< of a list: one value each time that it is given
  CommandOption Needs(CommandOption other) const;
  CommandOption Excludes(CommandOption other) const;

 private:
  CLI::Option* option_;
};

/// A command or subcommand. The variables that its options fill must live as long as it.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command Subcommand(const std::string& name, const std::string& help) const;
  void RequireSubcommand() const;
  void Footer(const std::string& text) const;  ///< below its help: examples

  /// "--name" is an option, "name" a positional argument.
  CommandOption Add(const std::string& name, std::string& value, const std::string& help) const;
  CommandOption Add(const std::string& name, std::optional<std::string>& value,
                    const std::string& help) const;
  CommandOption Add(const std::string& name, std::vector<std::string>& value,
                    const std::string& help) const;
  CommandOption Add(const std::string& name, int64_t& value, const std::string& help) const;
  CommandOption Add(const std::string& name, double& value, const std::string& help) const;
  CommandOption Add(const std::string& name, std::function<void(const std::string&)> take,
                    const std::string& help) const;
  CommandOption AddFlag(const std::string& name, bool& value, const std::string& help) const;

  /// What it does once the whole command line has been read.
  void Do(std::function<void()> action) const;

 private:
  CLI::App* app_;
};

/// The whole program's.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  ~CommandLine();

  Command root() const { return Command(app_.get()); }

  /// Reads the arguments and does what the subcommand does, or prints the help or the version.
  /// Throws what the subcommand throws, and CommandLineError after it has printed what is wrong
  /// with the arguments.
  void Run(int argc, char** argv) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

/// The arguments are wrong, and stderr says so already.
class CommandLineError {};

}  // namespace kvbench
