#include "bench/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace kvbench {

CommandOption CommandOption::Type(const std::string& name) const {
  return CommandOption(option_->type_name(name));
}

CommandOption CommandOption::Group(const std::string& name) const {
  return CommandOption(option_->group(name));
}

CommandOption CommandOption::ShowDefault() const {
  return CommandOption(option_->capture_default_str());
}

CommandOption CommandOption::ShowDefault(const std::string& text) const {
  return CommandOption(option_->default_str(text));
}

CommandOption CommandOption::Required() const { return CommandOption(option_->required()); }

CommandOption CommandOption::Range(int64_t least, int64_t most) const {
  return CommandOption(option_->check(CLI::Range(least, most)));
}

CommandOption CommandOption::OneOf(const std::vector<std::string>& words) const {
  return CommandOption(option_->check(CLI::IsMember(words)));
}

CommandOption CommandOption::CommaSeparated() const {
  return CommandOption(option_->delimiter(','));
}

CommandOption CommandOption::Repeatable() const {
  return CommandOption(option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}

CommandOption CommandOption::Needs(CommandOption other) const {
  return CommandOption(option_->needs(other.option_));
}

CommandOption CommandOption::Excludes(CommandOption other) const {
  return CommandOption(option_->excludes(other.option_));
}

Command Command::Subcommand(const std::string& name, const std::string& help) const {
  return Command(app_->add_subcommand(name, help));
}

void Command::RequireSubcommand() const { app_->require_subcommand(1); }

void Command::Footer(const std::string& text) const { app_->footer(text); }

CommandOption Command::Add(const std::string& name, std::string& value,
                           const std::string& help) const {
  return CommandOption(app_->add_option(name, value, help));
}

CommandOption Command::Add(const std::string& name, std::optional<std::string>& value,
                           const std::string& help) const {
  return CommandOption(app_->add_option(name, value, help));
}

CommandOption Command::Add(const std::string& name, std::vector<std::string>& value,
                           const std::string& help) const {
  return CommandOption(app_->add_option(name, value, help));
}

CommandOption Command::Add(const std::string& name, int64_t& value, const std::string& help) const {
  return CommandOption(app_->add_option(name, value, help));
}

CommandOption Command::Add(const std::string& name, double& value, const std::string& help) const {
  return CommandOption(app_->add_option(name, value, help));
}

CommandOption Command::Add(const std::string& name, std::function<void(const std::string&)> take,
                           const std::string& help) const {
  return CommandOption(app_->add_option_function<std::string>(name, std::move(take), help));
}

CommandOption Command::AddFlag(const std::string& name, bool& value,
                               const std::string& help) const {
  return CommandOption(app_->add_flag(name, value, help));
}

void Command::Do(std::function<void()> action) const { app_->callback(std::move(action)); }

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description)) {
  app_->name(name);
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

void CommandLine::Run(int argc, char** argv) const {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app_->exit(error) != 0) {  // prints help, the version, or what is wrong
      throw CommandLineError();
    }
  }
}

}  // namespace kvbench
