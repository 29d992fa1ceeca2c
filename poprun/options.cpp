// SPDX-License-Identifier: Apache-2.0
#include "poprun/options.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <memory>

#include "common/base/text.h"

namespace pop {
namespace {

using Mistakes = std::vector<std::string>;

// CLI11 knows the options, their arity and the help; values are read by us, so that all mistakes come out at
// once.
class Binder {
 public:
  Binder(CLI::App& app, Mistakes& mistakes) : app_(app), mistakes_(mistakes) {}

  void text(const char* names, const char* value_name, const char* description, std::string& target) {
    add(names, value_name, description, [&target](const std::string& value) {
      target = value;
      return Status();
    });
  }

  void integer(const char* names, const char* value_name, const char* description,
               std::function<void(int)> set) {
    add(names, value_name, description, [set = std::move(set)](const std::string& value) -> Status {
      POP_ASSIGN_OR_RETURN(const std::int64_t number, parseInteger(value));
      if (number > std::numeric_limits<int>::max() || number < std::numeric_limits<int>::min()) {
        return invalidArgument(inQuotes(value) + " is too large");
      }
      set(static_cast<int>(number));
      return {};
    });
  }

  void boolean(const char* names, const char* description, bool& target) {
    add(names, "BOOL", description, [&target](const std::string& value) -> Status {
      POP_ASSIGN_OR_RETURN(target, parseBool(value));
      return {};
    });
  }

  void add(const char* names, const char* value_name, const char* description,
           std::function<Status(const std::string&)> read) {
    auto raw = std::make_shared<std::string>();
    values_.push_back(raw);
    CLI::Option* option = app_.add_option(names, *raw, description);
    option->type_name(value_name)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    finish_.push_back([this, option, raw, read = std::move(read)] {
      if (option->count() == 0) return;
      if (const Status status = read(*raw); !status.ok()) {
        mistakes_.push_back(option->get_name() + ": " + status.message());
      }
    });
  }

  /// May be given several times; `read` sees each value, in order.
  void repeated(const char* names, const char* value_name, const char* description,
                std::function<Status(const std::string&)> read) {
    auto raw = std::make_shared<std::vector<std::string>>();
    CLI::Option* option = app_.add_option(names, *raw, description);
    option->type_name(value_name)->expected(1)->take_all();
    finish_.push_back([this, option, raw, read = std::move(read)] {
      for (const std::string& value : *raw) {
        if (const Status status = read(value); !status.ok())
          mistakes_.push_back(option->get_name() + ": " + status.message());
      }
    });
  }

  /// Reads the values that CLI11 has collected.
  void readValues() {
    for (const auto& finish : finish_) finish();
  }

 private:
  CLI::App& app_;
  Mistakes& mistakes_;
  std::vector<std::shared_ptr<std::string>> values_;
  std::vector<std::function<void()>> finish_;
};

Status readTagOutput(const std::string& value, TagOutput& target) {
  if (value == "auto") {
    target = TagOutput::kAuto;
  } else if (value == "instance") {
    target = TagOutput::kInstance;
  } else if (const Result<bool> yes = parseBool(value); yes.ok()) {
    target = yes.value() ? TagOutput::kInstance : TagOutput::kNo;
  } else {
    return invalidArgument(inQuotes(value) + " is not auto, instance, yes or no");
  }
  return {};
}

// "0-3:4-7", or a mode's name, with a number of cores after ":" where it takes one.
Status readPlacement(const std::string& value, model::BindPolicy& target) {
  const std::vector<std::string> parts = split(value, ':');
  if (value == "spreadnuma" || value == "disabled") {
    target.mode = value == "disabled" ? model::BindMode::kDisabled : model::BindMode::kSpreadNuma;
    return {};
  }
  if (parts.front() == "spreadcores" || parts.front() == "compact") {
    target.mode = parts.front() == "compact" ? model::BindMode::kCompact : model::BindMode::kSpreadCores;
    if (parts.size() == 1) return {};
    POP_ASSIGN_OR_RETURN(const std::int64_t cores, parseInteger(parts[1]));
    if (parts.size() > 2 || cores < 1 || cores > 65536) return invalidArgument("takes one number of cores");
    target.cores_per_instance = static_cast<int>(cores);
    return {};
  }
  target.mode = model::BindMode::kExplicit;
  for (const std::string& part : parts) {
    POP_ASSIGN_OR_RETURN(model::CpuSet cpus, model::CpuSet::parse(part));
    target.explicit_cpus.push_back(std::move(cpus));
  }
  return {};
}

void bindOptions(CLI::App& app, Binder& binder, Options& options) {
  app.set_help_flag();  // --help is ours: it must not stop the search for mistakes
  app.add_flag("--help", options.help, "Print this text and exit");
  app.add_flag("--version", options.version, "Print the version and exit");
  app.add_flag("-v,--verbose", options.verbosity,
               "Say what poprun does; -vv or --vv: every event, and the topology");

  binder.text("-H,--host", "HOSTS", "Hosts, separated by commas; so far only this one (default: localhost)",
              options.host);
  binder.integer("--num-instances", "N",
                 "Processes of the program, divided evenly over the hosts (default: 1)",
                 [&options](int value) { options.programs.front().num_instances = value; });
  binder.integer("--num-replicas", "N",
                 "Copies of the model, divided evenly over the instances (default: as many as instances)",
                 [&options](int value) { options.num_replicas = value; });
  binder.integer("--ipus-per-replica", "N", "IPUs of one replica, a power of two (default: 1)",
                 [&options](int value) { options.ipus_per_replica = value; });
  binder.text("--system", "POD", "Pod to emulate, such as pod16 (default: the smallest that fits)",
              options.system);
  binder.add("--process-placement", "HOW",
             "CPUs of each instance: spreadnuma, spreadcores, compact, disabled, or lists such as 0-3:4-7 "
             "(default: spreadnuma)",
             [&options](const std::string& value) { return readPlacement(value, options.binding); });
  binder.boolean("--report-bindings", "Print the CPUs and memory of each instance (default: no)",
                 options.report_bindings);
  binder.boolean("--offline-mode", "Run without attaching to any IPU (default: no)", options.offline_mode);

  binder.add(
      "--tag-output", "HOW",
      "Begin each line with [instance]: yes, no, or auto: when several instances write (default: auto)",
      [&options](const std::string& value) { return readTagOutput(value, options.tag_output); });
  binder.integer("--only-output-from-instance", "N",
                 "Drop the output of all other instances, their errors included",
                 [&options](int value) { options.only_output_from_instance = value; });
  binder.boolean("--print-topology",
                 "Print the table of hosts, IPU-Link domains, instances and replicas (default: no)",
                 options.print_topology);
  binder.add("--dry-run", "FORM",
             "Print who would run where, with which environment, and exit; as text or json",
             [&options](const std::string& value) -> Status {
               if (value != "text" && value != "json")
                 return invalidArgument(inQuotes(value) + " is not text or json");
               options.dry_run = value == "json" ? DryRun::kJson : DryRun::kText;
               return {};
             });

  binder.add("--env-for", "LIST", "Frameworks whose variables are set, all or none (default: all)",
             [&options](const std::string& value) -> Status {
               POP_ASSIGN_OR_RETURN(options.env_families, contract::parseEnvFamilies(value));
               return {};
             });
  binder.add("--tf-config-tasks", "LIST", "Tasks of TF_CONFIG besides workers: chief, evaluator",
             [&options](const std::string& value) -> Status {
               for (const std::string& task : split(value, ',')) {
                 if (task != "chief" && task != "evaluator")
                   return invalidArgument(inQuotes(task) + " is not chief or evaluator");
                 (task == "chief" ? options.tf_tasks.chief : options.tf_tasks.evaluator) = true;
               }
               return {};
             });
  binder.repeated("-x", "NAME[=VALUE]", "Set a variable of all instances, or forward poprun's own",
                  [&options](const std::string& value) {
                    options.programs.front().environment.push_back(value);
                    return Status();
                  });
}

std::string optionPart(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

// Cuts the command line where the program begins, and drops what CLI11 must not see: it takes `--opt value`
// of a known option only, and stops at the first mistake.
struct Cut {
  std::vector<std::string> launcher;
  std::vector<std::string> command;
};

Cut cutAtProgram(const std::vector<std::string>& arguments, const CLI::App& app, Mistakes& mistakes) {
  Cut cut;
  auto next = arguments.begin();
  for (; next != arguments.end() && next->size() > 1 && next->front() == '-'; ++next) {
    if (*next == "--") {
      ++next;
      break;
    }
    if (*next == "-vv" || *next == "--vv") {
      cut.launcher.insert(cut.launcher.end(), {"-v", "-v"});
      continue;
    }
    if (*next == "--dry-run") {
      cut.launcher.emplace_back("--dry-run=text");
      continue;
    }
    const std::string name = optionPart(*next);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) {
      mistakes.push_back(
          name + ": no such option (`poprun --help` lists them; a program's own options follow its name)");
      continue;
    }
    const bool takes_value = option->get_items_expected_max() > 0;
    const bool has_value = name.size() < next->size();
    if (has_value && !takes_value) {
      mistakes.push_back(name + ": takes no value");
    } else if (takes_value && !has_value) {
      if (next + 1 == arguments.end()) {
        mistakes.push_back(name + ": needs a value");
        continue;
      }
      const std::string& value = *++next;
      cut.launcher.push_back(name + '=' + value);
    } else {
      cut.launcher.push_back(*next);
    }
  }
  cut.command.assign(next, arguments.end());
  return cut;
}

// CLI11 takes `-H=x` for the value "=x", and for the value of `--host=` whatever follows.
std::vector<std::string> forCli11(std::vector<std::string> launcher) {
  std::vector<std::string> result;
  for (std::string& argument : launcher) {
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos) {
      result.push_back(argument.substr(0, equals));
      result.push_back(argument.substr(equals + 1));
    } else {
      result.push_back(std::move(argument));
    }
  }
  std::reverse(result.begin(), result.end());  // the order in which CLI11 wants a vector
  return result;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(36); }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: poprun [options] [--] program [arguments]\n";
  }
};

}  // namespace

ParsedOptions parseOptions(const std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  CLI::App app;
  Binder binder(app, parsed.mistakes);
  bindOptions(app, binder, parsed.options);
  Cut cut = cutAtProgram(arguments, app, parsed.mistakes);
  parsed.options.programs.front().command = std::move(cut.command);
  try {
    app.parse(forCli11(std::move(cut.launcher)));
    binder.readValues();
  } catch (const CLI::Error& error) {
    parsed.mistakes.emplace_back(error.what());
  }
  return parsed;
}

std::string helpText() {
  Options options;
  Mistakes mistakes;
  CLI::App app(
      "Runs a data-parallel program: as several instances, each with its share of the model's replicas.");
  Binder binder(app, mistakes);
  bindOptions(app, binder, options);
  app.formatter(std::make_shared<HelpFormatter>());
  return app.help();
}

}  // namespace pop
