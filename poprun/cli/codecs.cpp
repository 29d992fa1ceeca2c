// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/codecs.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "poprun/cli/shell_words.h"
#include "poprun/plan/collective_ways.h"

namespace pop::cli {
namespace {

using Texts = std::vector<std::string>;

template <typename Enum>
struct Word {
  std::string_view text;
  Enum value;
};

// "'x' is not auto, no or yes"
template <typename Words>
Status isNone(const Words& words, std::string_view value, std::string_view more = {}) {
  std::string text = inQuotes(value) + " is not ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size() && more.empty();
    text += std::string(i == 0 ? "" : last ? " or " : ", ") + std::string(words[i].text);
  }
  if (!more.empty()) text += " or " + std::string(more);
  return invalidArgument(text);
}

template <typename Words>
auto* findWord(const Words& words, std::string_view value) {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.text == value; });
  return found == words.end() ? nullptr : &*found;
}

template <typename Words, typename Enum>
std::string wordFor(const Words& words, Enum value) {
  for (const auto& word : words) {
    if (word.value == value) return std::string(word.text);
  }
  POP_CHECK(false);
  return {};
}

using model::BindMode;
constexpr std::array kPlacements{
    Word<BindMode>{"spreadnuma", BindMode::kSpreadNuma},
    Word<BindMode>{"spreadcores", BindMode::kSpreadCores},
    Word<BindMode>{"compact", BindMode::kCompact},
    Word<BindMode>{"disabled", BindMode::kDisabled},
};
constexpr std::array kTags{
    Word<TagOutput>{"auto", TagOutput::kAuto},         Word<TagOutput>{"no", TagOutput::kNo},
    Word<TagOutput>{"instance", TagOutput::kInstance}, Word<TagOutput>{"host", TagOutput::kHost},
    Word<TagOutput>{"mpi", TagOutput::kMpi},
};
constexpr std::array kVersionFormats{
    Word<VersionFormat>{"text", VersionFormat::kText},
    Word<VersionFormat>{"full-text", VersionFormat::kFullText},
    Word<VersionFormat>{"full-json", VersionFormat::kFullJson},
};
constexpr std::array kScalingFormats{
    Word<ScalingFormat>{"markdown", ScalingFormat::kMarkdown},
    Word<ScalingFormat>{"json", ScalingFormat::kJson},
    Word<ScalingFormat>{"svg", ScalingFormat::kSvg},
};
constexpr std::array kDryRuns{
    Word<DryRun>{"no", DryRun::kNo},
    Word<DryRun>{"text", DryRun::kText},
    Word<DryRun>{"json", DryRun::kJson},
};

struct SyncType {
  std::string_view text;
};
constexpr std::array kSyncTypes{SyncType{"ST_GS2_DEFAULT"}, SyncType{"ST_GS2_INDEPENDENT_RAILS"},
                                SyncType{"ST_POD_NATIVE_DEFAULT"},
                                SyncType{"ST_POD_NATIVE_REPLICATED_PIPELINE"}};

void setMode(Options& options, BindMode mode) {
  options.binding.mode = mode;
  options.binding.explicit_cpus.clear();
  options.binding.nodes_required = mode == BindMode::kSpreadNuma;
}

Status readPlacement(Settings settings, const std::string& value) {
  if (const auto* word = findWord(kPlacements, value)) {
    setMode(settings.options, word->value);
    return {};
  }
  std::vector<model::CpuSet> lists;
  for (const std::string& list : split(value, ':')) {
    Result<model::CpuSet> cpus = model::CpuSet::parse(list);
    if (!cpus.ok() || cpus->empty()) return isNone(kPlacements, value, "CPU lists such as 0-3:4-7");
    lists.push_back(std::move(*cpus));
  }
  setMode(settings.options, BindMode::kExplicit);
  settings.options.binding.explicit_cpus = std::move(lists);
  return {};
}

Texts writePlacement(ConstSettings settings) {
  const model::BindPolicy& binding = settings.options.binding;
  if (binding.mode == BindMode::kSpreadNuma && !binding.nodes_required) return {};  // not said
  if (binding.mode != BindMode::kExplicit) return {wordFor(kPlacements, binding.mode)};
  Texts lists;
  for (const model::CpuSet& cpus : binding.explicit_cpus) lists.push_back(cpus.text());
  return {join(lists, ":")};
}

// "eth0,ib0": a name has at most 15 bytes, and begins with a letter so that a broken address is none.
bool areInterfaces(const std::string& value) {
  const auto fits = [](const std::string& name) {
    const auto is_usual = [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    };
    return !name.empty() && name.size() <= 15 &&
           std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
           std::all_of(name.begin(), name.end(), is_usual);
  };
  const std::vector<std::string> names = split(value, ',');
  return std::all_of(names.begin(), names.end(), fits);
}

Status readSubnet(Settings settings, const std::string& value) {
  const std::size_t slash = value.find('/');
  const std::string address = value.substr(0, slash);
  std::array<unsigned char, 16> bytes{};
  const int most = ::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1    ? 32
                   : ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1 ? 128
                                                                               : -1;
  const bool right = most > 0 && slash != std::string::npos &&
                     parseIntegerIn(std::string_view(value).substr(slash + 1), 0, most).ok();
  if (!right && !areInterfaces(value))
    return invalidArgument(inQuotes(value) +
                           " is not a network such as 10.1.0.0/16, or interfaces such as eth0");
  settings.options.host_subnet = value;
  return {};
}

Status readTag(Settings settings, const std::string& value) {
  if (const auto* word = findWord(kTags, value)) {
    settings.options.tag_output = word->value;
  } else if (const Result<bool> yes = parseBool(value); yes.ok()) {
    settings.options.tag_output = yes.value() ? TagOutput::kInstance : TagOutput::kNo;
  } else {
    return isNone(kTags, value, "yes");
  }
  return {};
}

Status readDryRun(Settings settings, const std::string& value) {
  if (const auto* word = findWord(kDryRuns, value)) {
    settings.options.dry_run = word->value;
  } else if (const Result<bool> yes = parseBool(value); yes.ok()) {
    settings.options.dry_run = yes.value() ? DryRun::kText : DryRun::kNo;
  } else {
    return isNone(kDryRuns, value);
  }
  return {};
}

Status readStdin(Settings settings, const std::string& value) {
  using Who = model::StdinPolicy::Who;
  model::StdinPolicy& policy = settings.options.stdin_policy;
  if (value == "none" || value == "all") {
    policy = {value == "none" ? Who::kNone : Who::kAll, 0};
    return {};
  }
  const Result<int> instance = parseIntegerIn(value, 0, std::numeric_limits<int>::max());
  if (!instance.ok())
    return invalidArgument(inQuotes(value) + " is not none, all or the number of an instance");
  policy = {Who::kOne, instance.value()};
  return {};
}

Texts writeStdin(ConstSettings settings) {
  using Who = model::StdinPolicy::Who;
  const model::StdinPolicy& policy = settings.options.stdin_policy;
  return {policy.who == Who::kNone  ? "none"
          : policy.who == Who::kAll ? "all"
                                    : std::to_string(policy.instance)};
}

Status readPerHost(Settings settings, const std::string& value) {
  InstancesPerHost& per_host = settings.options.per_host;
  if (value == "even") {
    per_host = {.even = true};
    return {};
  }
  const Result<int> most = parseIntegerIn(value, 1, std::numeric_limits<int>::max());
  if (!most.ok()) return invalidArgument(inQuotes(value) + " is not even or a number from 1");
  per_host = {.most = most.value()};
  return {};
}

Texts writePerHost(ConstSettings settings) {
  const InstancesPerHost& per_host = settings.options.per_host;
  if (per_host.even) return {"even"};
  return per_host.most > 0 ? Texts{std::to_string(per_host.most)} : Texts{};
}

Status readTasks(Settings settings, const std::string& value) {
  model::TfTasks tasks;
  for (const std::string& task : split(value, ',')) {
    if (task == "chief") {
      tasks.chief = true;
    } else if (task == "evaluator") {
      tasks.evaluator = true;
    } else if (task != "workers") {
      return invalidArgument(inQuotes(task) + " is not chief, evaluator or workers");
    }
  }
  settings.options.tf_tasks = tasks;
  return {};
}

Texts writeTasks(ConstSettings settings) {
  const model::TfTasks& tasks = settings.options.tf_tasks;
  if (tasks.chief && tasks.evaluator) return {"chief,evaluator"};
  return {tasks.chief ? "chief" : tasks.evaluator ? "evaluator" : "workers"};
}

Status readVariable(Settings settings, const std::string& value) {
  if (value.empty() || value.front() == '=') {
    return invalidArgument(inQuotes(value) +
                           " has no name: write NAME=value, or NAME to forward poprun's own");
  }
  settings.program.environment.push_back(value);
  return {};
}

}  // namespace

Codec processPlacement() {
  return {readPlacement, writePlacement};
}

Codec numaAware() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(const bool yes, parseBool(value));
            setMode(settings.options, yes ? BindMode::kSpreadNuma : BindMode::kDisabled);
            return {};
          },
          [](ConstSettings) { return Texts{}; }};  // --process-placement says it
}

Codec rsh() {
  static constexpr auto kField = text<&Options::hosts, &HostsOptions::rsh>();
  return {[](Settings settings, const std::string& value) -> Status {
            POP_RETURN_IF_ERROR(splitShell(value).status());
            return kField.read(settings, value);
          },
          kField.write};
}

Codec instancesPerHost() {
  return {readPerHost, writePerHost};
}

Codec hostSubnet() {
  return {readSubnet, text<&Options::host_subnet>().write};
}

Codec tagOutput() {
  return {readTag, [](ConstSettings settings) { return Texts{wordFor(kTags, settings.options.tag_output)}; }};
}

Codec dryRun() {
  return {readDryRun,
          [](ConstSettings settings) { return Texts{wordFor(kDryRuns, settings.options.dry_run)}; }};
}

Codec versionFormat() {
  return {[](Settings settings, const std::string& value) -> Status {
            const auto* word = findWord(kVersionFormats, value);
            if (word == nullptr) return isNone(kVersionFormats, value);
            settings.options.version_format = word->value;
            return {};
          },
          [](ConstSettings settings) {
            return Texts{wordFor(kVersionFormats, settings.options.version_format)};
          }};
}

Codec scalingFormat() {
  return {[](Settings settings, const std::string& value) -> Status {
            const auto* word = findWord(kScalingFormats, value);
            if (word == nullptr) return isNone(kScalingFormats, value);
            settings.options.scaling_format = word->value;
            return {};
          },
          [](ConstSettings settings) {
            return Texts{wordFor(kScalingFormats, settings.options.scaling_format)};
          }};
}

Codec stdinPolicy() {
  return {readStdin, writeStdin};
}

Codec envFamilies() {
  return {
      [](Settings settings, const std::string& value) -> Status {
        POP_ASSIGN_OR_RETURN(settings.options.env_families, contract::parseEnvFamilies(value));
        return {};
      },
      [](ConstSettings settings) { return Texts{contract::envFamiliesText(settings.options.env_families)}; }};
}

Codec collectiveWays() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(settings.options.collectives, parseCollectiveWays(value));
            return {};
          },
          [](ConstSettings settings) {
            const std::vector<std::string>& ways = settings.options.collectives;
            return ways.empty() ? Texts() : Texts{join(ways, ",")};
          }};
}

Codec tfConfigTasks() {
  return {readTasks, writeTasks};
}

Codec syncType() {
  return {[](Settings settings, const std::string& value) -> Status {
            if (findWord(kSyncTypes, value) == nullptr) return isNone(kSyncTypes, value);
            settings.options.partition.sync_type = value;
            return {};
          },
          text<&Options::partition, &model::PartitionRequest::sync_type>().write};
}

Codec variable() {
  return {readVariable, [](ConstSettings settings) { return settings.program.environment; }};
}

Codec synchronisedPath() {
  return {[](Settings settings, const std::string& value) -> Status {
            if (value.empty()) return invalidArgument("'' is empty: give a path, or leave the option out");
            settings.options.synchronise.push_back(value);
            return {};
          },
          [](ConstSettings settings) { return settings.options.synchronise; }};
}

// -v -v means -vv; more have no further effect.
Codec verbose() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(const bool yes, parseBool(value));
            int& verbosity = settings.options.verbosity;
            if (yes) verbosity = std::min(verbosity + 1, 2);
            return {};
          },
          [](ConstSettings settings) { return settings.options.verbosity == 1 ? Texts{"yes"} : Texts{}; }};
}

Codec veryVerbose() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(const bool yes, parseBool(value));
            if (yes) settings.options.verbosity = 2;
            return {};
          },
          [](ConstSettings settings) { return settings.options.verbosity >= 2 ? Texts{"yes"} : Texts{}; }};
}

Codec deprecatedAllocation() {
  return {text<&Options::partition, &model::PartitionRequest::allocation>().read,
          [](ConstSettings) { return Texts{}; }};  // --vipu-allocation says it
}

Codec mpiArguments() {
  return {[](Settings, const std::string&) { return Status(); }, [](ConstSettings) { return Texts{}; }};
}

}  // namespace pop::cli
