// SPDX-License-Identifier: Apache-2.0
#include "popctl/popctl_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/similar_word.h"
#include "common/base/text.h"
#include "popctl/access/access_options.h"
#include "popctl/access/quota_options.h"
#include "popctl/jobs/several.h"
#include "popctl/jobs/states.h"
#include "popctl/jobs/submit_options.h"
#include "popctl/pods/pod_options.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/whole_number.h"

namespace pop::popctl {
namespace {

// Options of a command besides the common ones.
enum Takes : unsigned {
  kNothing = 0,
  kFilters = 1U << 0,
  kWatch = 1U << 1,
  kReason = 1U << 2,
  kReasonMust = 1U << 3,
  kSignal = 1U << 4,
  kFollow = 1U << 5,
  kControl = 1U << 6,
  kOutput = 1U << 7,    // poprun's options about output
  kPods = 1U << 8,      // those of its action: pod_options.h
  kAccess = 1U << 9,    // likewise: access_options.h
  kQuotaOf = 1U << 10,  // the user or group of a quota: quota_options.h
  kQuota = 1U << 11,    // its amounts
  kMany = 1U << 12,     // several jobs
};

struct Verb {
  Action action;
  const char* verb;
  const char* noun;    // "": none
  const char* plural;  // or singular: the other one
  const char* object;  // "": none
  unsigned takes;
  const char* description;
};

// clang-format off
constexpr std::array kRows{
    Verb{Action::kListJobs, "list", "jobs", "job", "", kFilters | kWatch, "list jobs, the newest first"},
    Verb{Action::kListHosts, "list", "hosts", "host", "", kWatch, "list the hosts that have joined"},
    Verb{Action::kGetJob, "get", "job", "jobs", "JOB", kNothing, "print what is known of a job"},
    Verb{Action::kGetHost, "get", "host", "hosts", "HOST", kNothing, "print what is known of a host"},
    Verb{Action::kCancelJob, "cancel", "job", "jobs", "JOB", kReason | kMany,
        "end a job with grace; the second time, kill it"},
    Verb{Action::kSignalJob, "signal", "job", "jobs", "JOB", kSignal, "send a signal to all instances of a job"},
    Verb{Action::kHoldJob, "hold", "job", "jobs", "JOB", kMany, "keep a job that waits from starting"},
    Verb{Action::kReleaseJob, "release", "job", "jobs", "JOB", kMany, "let a held job start"},
    Verb{Action::kWaitJob, "wait", "job", "jobs", "JOB", kNothing, "wait until a job has ended, and exit as it did"},
    Verb{Action::kForgetJob, "forget", "job", "jobs", "JOB", kMany, "remove a job that has ended, with its records"},
    Verb{Action::kLogsJob, "logs", "job", "jobs", "JOB", kFollow | kOutput, "print what a job has written so far"},
    Verb{Action::kAttachJob, "attach", "job", "jobs", "JOB", kControl | kOutput,
        "print a job's output, go on with it, and exit as the job does; Ctrl-C ends only this popctl"},
    Verb{Action::kDrainHost, "drain", "host", "hosts", "HOST", kReasonMust, "give a host no more jobs"},
    Verb{Action::kResumeHost, "resume", "host", "hosts", "HOST", kNothing, "give a drained host jobs again"},
    Verb{Action::kRemoveHost, "remove", "host", "hosts", "HOST", kNothing, "remove a host that has not joined"},
    Verb{Action::kSetQuota, "set", "quota", "quotas", "", kQuotaOf | kQuota,
        "say how much a user, or an allocation, may have at once"},
    Verb{Action::kListQuotas, "list", "quotas", "quota", "", kNothing, "list quotas, and what is in use of them"},
    Verb{Action::kRemoveQuota, "remove", "quota", "quotas", "", kQuotaOf, "remove a quota"},
    Verb{Action::kCheckStore, "check", "store", "", "", kNothing, "look for damage in the daemon's store"},
    Verb{Action::kBackup, "backup", "", "", "FILE", kNothing, "write a copy of the daemon's store to a file"},
    Verb{Action::kAbout, "about", "", "", "", kNothing, "print the daemon's version, and who you are there"},
    Verb{Action::kTop, "top", "", "", "", kNothing, "show hosts and jobs, and go on showing them"},
    Verb{Action::kCreatePartition, "create", "partition", "partitions", "PARTITION", kPods,
        "make a partition of IPUs, and files that describe it"},
    Verb{Action::kListPartitions, "list", "partitions", "partition", "", kPods, "list partitions"},
    Verb{Action::kGetPartition, "get", "partition", "partitions", "PARTITION", kPods,
        "print what is known of a partition, or what programs need to use it"},
    Verb{Action::kResetPartition, "reset", "partition", "partitions", "PARTITION", kPods, "configure the IPUs anew"},
    Verb{Action::kRemovePartition, "remove", "partition", "partitions", "PARTITION", kPods, "remove a partition"},
    Verb{Action::kRemovePartition, "delete", "partition", "partitions", "PARTITION", kPods, "the same"},
    Verb{Action::kReleasePartition, "release", "partition", "partitions", "PARTITION", kPods | kReason,
        "free the IPUs of a partition whose end cannot be proved"},
    Verb{Action::kListIpuAttributes, "list", "ipu-attrs", "ipu-attr", "", kPods, "list what is known of IPUs"},
    Verb{Action::kCreateCluster, "create", "cluster", "clusters", "CLUSTER", kPods, "make a cluster of ILDs"},
    Verb{Action::kListClusters, "list", "clusters", "cluster", "", kNothing, "list clusters"},
    Verb{Action::kRemoveCluster, "remove", "cluster", "clusters", "CLUSTER", kNothing, "remove a cluster"},
    Verb{Action::kCreateAgent, "create", "agent", "agents", "AGENT", kPods, "add an IPU-Machine to a cluster"},
    Verb{Action::kListAgents, "list", "agents", "agent", "", kPods, "list IPU-Machines"},
    Verb{Action::kRemoveAgent, "remove", "agent", "agents", "AGENT", kNothing, "remove an IPU-Machine"},
    Verb{Action::kDrainAgent, "drain", "agent", "agents", "AGENT", kReasonMust, "make no new partitions there"},
    Verb{Action::kResumeAgent, "resume", "agent", "agents", "AGENT", kNothing, "make partitions there again"},
    Verb{Action::kCreateAllocation, "create", "allocation", "allocations", "ALLOCATION", kPods,
        "say who may use which IPU-Machines"},
    Verb{Action::kListAllocations, "list", "allocations", "allocation", "", kNothing, "list allocations"},
    Verb{Action::kRemoveAllocation, "remove", "allocation", "allocations", "ALLOCATION", kNothing,
        "remove an allocation"},
    Verb{Action::kCreateUser, "create", "user", "users", "USER", kAccess, "set what a user may do"},
    Verb{Action::kListUsers, "list", "users", "user", "", kNothing, "list users whose role is not the usual one"},
    Verb{Action::kRemoveUser, "remove", "user", "users", "USER", kNothing, "give a user the usual role again"},
    Verb{Action::kCreateToken, "create", "token", "tokens", "", kAccess, "create and print an access token"},
    Verb{Action::kListTokens, "list", "tokens", "token", "", kNothing, "list your tokens; as an admin, all"},
    Verb{Action::kRemoveToken, "remove", "token", "tokens", "TOKEN", kNothing, "make a token useless, by its id"},
    Verb{Action::kListAudit, "list", "audit", "", "", kAccess, "show the audit log, newest first"},
    Verb{Action::kCheckAudit, "check", "audit", "", "", kNothing, "look for changes in the audit log"},
    Verb{Action::kCompletion, "completion", "", "", "SHELL", kNothing, "print completions for bash, zsh or fish"},
};
// clang-format on

constexpr const char* kSubmitUsage =
    "popctl submit job [--name NAME] [--held] [--priority N] [--hosts N]\n"
    "      [--allocation A] [--no-wait] [--wait|--attach] [options of poprun] program …";

void addCommon(CLI::App& app, CommonOptions& common) {
  app.add_option("--server", common.server, "popdistd's address; POPDIST_SERVER, else a configuration file's")
      ->type_name("HOST:PORT[,...]")
      ->check(notEmpty());
  app.add_option("--tls", common.tls, "ca.pem, and user-NAME.pem with its key: your certificate; POPDIST_TLS")
      ->type_name("DIR")
      ->check(notEmpty());
  app.add_option("--token-file", common.token_file, "a token of popctl create token; POPCTL_TOKEN_FILE")
      ->type_name("FILE")
      ->check(notEmpty());
  app.add_flag("--json", common.json, "print the server's answer as JSON");
  app.add_flag("--quiet", common.quiet, "print no line about success");
  app.add_option("--timeout", common.timeout_s,
                 "time limit for an answer, 30 s if not given; of `wait job` for the job's end")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("--reconnect", common.reconnect_s, "time for which a lost connection is tried again")
      ->type_name("SECONDS")
      ->check(wholeNumber(0))
      ->capture_default_str();
}

void addFilters(CLI::App& app, Command& command) {
  app.add_option("--user", command.filter.user, "only of this user")->type_name("NAME")->check(notEmpty());
  app.add_option_function<std::string>(
         "--state",
         [&command](const std::string& text) {
           Result<std::vector<v1::JobState>> states = parseStates(text);
           if (!states.ok()) throw CLI::ValidationError("--state", states.status().message());
           command.filter.states = std::move(*states);
         },
         "only in these states, separated by commas: queued, held, starting, running, ending, ended")
      ->type_name("STATES");
  app.add_option("--name", command.filter.name, "only of this name")->type_name("NAME")->check(notEmpty());
  app.add_option("--host", command.filter.host, "only on this host")->type_name("HOST")->check(notEmpty());
  app.add_option("--limit", command.limit, "at most so many; 0: all")
      ->type_name("N")
      ->check(wholeNumber(0))
      ->capture_default_str();
}

void addOwn(CLI::App& app, const Verb& row, Command& command) {
  if ((row.takes & kMany) != 0) addSeveral(app, command);
  if ((row.takes & kMany) == 0 && *row.object != '\0')
    app.add_option(row.object, command.object, "")->required()->check(notEmpty())->option_text(" ");
  if ((row.takes & kSignal) != 0)
    app.add_option("SIGNAL", command.signal, "name or number")->required()->option_text(" ");
  if ((row.takes & kFilters) != 0) addFilters(app, command);
  if ((row.takes & kWatch) != 0)
    app.add_flag("--watch", command.watch, "print the list anew when it changes");
  if ((row.takes & (kReason | kReasonMust)) != 0) {
    app.add_option("--reason", command.reason, "why, for people")
        ->type_name("TEXT")
        ->check(notEmpty())
        ->required((row.takes & kReasonMust) != 0);
  }
  if ((row.takes & kFollow) != 0) {
    app.add_flag("-f,--follow", command.follow, "go on until the job ends");
    app.add_option("--since-sequence", command.since_sequence, "begin with this record")->type_name("N");
  }
  if ((row.takes & kControl) != 0)
    app.add_flag("--control", command.control, "Ctrl-C and Ctrl-Z are for the job");
  if ((row.takes & kQuotaOf) != 0) addQuotaSubject(app, command.quota);
  if ((row.takes & kQuota) != 0) addQuotaLimits(app, command.quota);
  if ((row.takes & kPods) != 0) addPodOptions(app, row.action, command.pods);
  if ((row.takes & kAccess) != 0) addAccessOptions(app, row.action, command.access);
  if ((row.takes & kOutput) != 0)
    app.footer("poprun's options about output follow the job: --tag-output and so on.");
}

// The whole grammar, over the command that it fills.
struct Grammar {
  explicit Grammar(Command& command) : app("", "popctl") {
    app.require_subcommand(1);
    app.allow_extras();
    addCommon(app, command.common);
    for (const Verb& row : kRows) {
      CLI::App* own = verb(row);
      if (*row.noun != '\0') {
        own->require_subcommand(1);
        own = own->add_subcommand(row.noun, row.description);
        if (*row.plural != '\0') own->alias(row.plural);
        own->fallthrough();
      }
      addOwn(*own, row, command);
      rows.emplace(own, &row);
    }
    submit = app.add_subcommand("submit", "start a job")->prefix_command();
  }

  CLI::App* verb(const Verb& row) {
    CLI::App*& there = verbs[row.verb];
    if (there == nullptr) {
      there = app.add_subcommand(row.verb, *row.noun == '\0' ? row.description : "")->fallthrough();
    }
    return there;
  }

  // The given verb; null: submit.
  std::pair<const CLI::App*, const Verb*> given() const {
    const CLI::App* at = app.get_subcommands().front();
    if (at == submit) return {at, nullptr};
    if (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return {at, rows.at(at)};
  }

  CLI::App app;
  CLI::App* submit = nullptr;
  std::map<std::string, CLI::App*> verbs;
  std::map<const CLI::App*, const Verb*> rows;
};

std::string usage(const CLI::App& app) {
  std::string text = "usage: popctl [options] VERB NOUN [NAME] [options]\n\n  " + std::string(kSubmitUsage) +
                     "\n      start a job\n";
  for (const Verb& row : kRows) {
    std::string words = "popctl " + std::string(row.verb);
    if (*row.noun != '\0') words += ' ' + std::string(row.noun);
    if (*row.object != '\0') words += ' ' + std::string(row.object);
    if ((row.takes & kSignal) != 0) words += " SIGNAL";
    if ((row.takes & kReasonMust) != 0) words += " --reason TEXT";
    if ((row.takes & ~(kReasonMust | kSignal)) != 0) words += " [options]";
    text += "  " + words + "\n      " + row.description + '\n';
  }
  const std::string help = app.help();
  const std::size_t options = help.find("Options:");
  const std::size_t end = help.find("Subcommands:");
  text += "\n" + (options == std::string::npos ? "" : help.substr(options, end - options));
  while (text.ends_with("\n\n")) text.pop_back();
  return text + "\nJOB is a job's number or name. popctl VERB NOUN --help says more.\n";
}

int printedText(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 ? kExitRefused : 0;
}

int mistake(const std::string& words) {
  std::fprintf(stderr, "popctl: %s (see popctl --help)\n", words.c_str());
  return kExitUsage;
}

std::vector<std::string> reversed(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // the order in which CLI11 wants a vector
  return words;
}

// The mistake in a verb or a noun; none: the mistake is elsewhere.
std::optional<std::string> unknownWord(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  const CLI::App& at = given.empty() ? app : *given.front();
  if (!at.get_subcommands().empty() || at.get_require_subcommand_min() == 0) return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* const each : at.get_subcommands(nullptr)) names.push_back(each->get_name());
  const std::string known = ": one of " + join(names, ", ");
  const std::vector<std::string> left = app.remaining(true);
  const auto word = std::find_if(left.begin(), left.end(), [](const auto& each) { return each[0] != '-'; });
  const std::string before = given.empty() ? "" : at.get_name() + ' ';
  if (word == left.end()) return before + (given.empty() ? "no command is given" : "what") + known;
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view similar = similarWord(*word, views);
  return "there is no command " + inQuotes(before + *word) +
         (similar.empty() ? known : "; did you mean " + inQuotes(before + std::string(similar)) + '?');
}

// The words that CLI11 did not understand; nothing: all went well. Prints what there is to say.
std::optional<int> parse(CLI::App& app, const std::vector<std::string>& words,
                         const std::function<std::string()>& help) {
  try {
    app.parse(reversed(words));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return printedText(help());
  } catch (const CLI::RequiredError& error) {
    return mistake(unknownWord(app).value_or(error.what()));
  } catch (const CLI::Error& error) {
    return mistake(error.what());
  }
}

ParsedCommand parseSubmit(Command command, const std::vector<std::string>& words) {
  CLI::App app("Starts a job.", "popctl submit job");
  addSubmitOptions(app, command.submit);
  addCommon(app, command.common);
  app.remove_option(app.get_option("--timeout"));
  SubmitWords taken;
  std::span<const std::string> left = takeOptions(app, words, taken);
  if (left.empty() || (left.front() != "job" && left.front() != "jobs"))
    return mistake("submit: what? Write `popctl submit job`");
  left = takeOptions(app, left.subspan(1), taken);
  if (const auto done = parse(app, taken.popctls, [&app] { return app.help(); })) return *done;
  command.action = Action::kSubmitJob;
  command.words = "submit job";
  command.rest = std::move(taken.popruns);
  command.rest.insert(command.rest.end(), left.begin(), left.end());
  if (command.rest.empty()) return mistake("submit job: no program is given");
  if (command.submit.wait && command.submit.attach) return mistake("submit job: give --wait or --attach");
  return command;
}

std::optional<std::string> findMistake(const Command& command, const Verb& row,
                                       const std::vector<std::string>& extras) {
  if (!extras.empty() && (row.takes & kOutput) == 0) return "unexpected arguments: " + join(extras, " ");
  if (command.common.json && (row.action == Action::kAttachJob || row.action == Action::kTop))
    return "--json does not go with " + command.words;
  if ((row.takes & kQuotaOf) != 0) {
    if (const std::string wrong = quotaMistake(command.quota, (row.takes & kQuota) != 0); !wrong.empty())
      return command.words + ": " + wrong;
  }
  if (const std::string wrong = podMistake(command); !wrong.empty()) return command.words + ": " + wrong;
  return std::nullopt;
}

}  // namespace

ParsedCommand parseCommand(const std::vector<std::string>& arguments) {
  Command command;
  Grammar grammar(command);
  const auto help = [&grammar] {
    return grammar.app.get_subcommands().empty() ? usage(grammar.app) : grammar.app.help();
  };
  if (arguments.empty()) return mistake("no command is given");
  if (const auto done = parse(grammar.app, arguments, help)) return *done;
  const auto [app, row] = grammar.given();
  if (row == nullptr) return parseSubmit(std::move(command), app->remaining());
  command.action = row->action;
  command.words = std::string(row->verb) + (*row->noun == '\0' ? "" : ' ' + std::string(row->noun));
  command.rest = grammar.app.remaining(true);
  if (const auto wrong = findMistake(command, *row, command.rest)) return mistake(*wrong);
  return command;
}

std::vector<CommandWords> commandWords() {
  Command command;
  const Grammar grammar(command);
  std::vector<CommandWords> all{
      {.verb = "submit", .nouns = {"job"}, .options = {}, .description = "start a job"}};
  SubmitOptions submit;
  CLI::App submit_app;
  addSubmitOptions(submit_app, submit);
  const auto optionsOf = [](const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional()) continue;
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
  };
  all.front().options = optionsOf(submit_app);
  for (const Verb& row : kRows) {
    const auto at = std::find_if(grammar.rows.begin(), grammar.rows.end(),
                                 [&row](const auto& each) { return each.second == &row; });
    CommandWords words{row.verb, {}, optionsOf(*at->first), row.description};
    if (*row.noun != '\0') words.nouns.emplace_back(row.noun);
    if (*row.plural != '\0') words.nouns.emplace_back(row.plural);
    all.push_back(std::move(words));
  }
  return all;
}

std::vector<std::string> commonOptionNames() {
  return {"--server", "--tls", "--token-file", "--json", "--quiet", "--timeout", "--reconnect", "--help"};
}

}  // namespace pop::popctl
