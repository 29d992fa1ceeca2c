// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/simulate_options.h"

#include <algorithm>
#include <array>

#include "common/base/similar_word.h"
#include "common/base/text.h"
#include "pod/system/job_system.h"
#include "pod/system/units.h"

namespace pop::cli {
namespace {

using Reader = Status (*)(SimulateOptions& options, const std::string& value);

constexpr std::int64_t kMostInOption = 1'000'000'000;

template <auto field>
Status readPath(SimulateOptions& options, const std::string& value) {
  if (value.empty()) return invalidArgument("the name of the file is empty");
  options.*field = value;
  return {};
}

Result<std::int64_t> countFrom(const std::string& value) {
  Result<std::int64_t> number = parseInteger(value);
  if (number.ok() && *number >= 1 && *number <= kMostInOption) return number;
  return invalidArgument(inQuotes(value) + " is no whole number from 1 to " + std::to_string(kMostInOption));
}

template <auto field>
Status readNumber(SimulateOptions& options, const std::string& value) {
  POP_ASSIGN_OR_RETURN(options.*field, countFrom(value));
  return {};
}

template <auto field>
Status readNames(SimulateOptions& options, const std::string& value) {
  options.*field = split(value, ',');
  for (const std::string& name : options.*field) {
    if (!pod::isSystemFile(name) && !isAmong(kPodNames, name))
      return invalidArgument("no Pod is called " + inQuotes(name) + ": use some of " +
                             std::string(kPodNames) +
                             ", or system files such as ./my.system, separated by commas");
  }
  return {};
}

template <auto field>
Status readText(SimulateOptions& options, const std::string& value) {
  if (value.empty()) return invalidArgument("the value is empty");
  options.*field = value;
  return {};
}

template <auto field>
Status readFlag(SimulateOptions& options, const std::string&) {
  options.*field = true;
  return {};
}

Status readRemovedLinks(SimulateOptions& options, const std::string& value) {
  for (const std::string& link : split(value, ',')) {
    const std::vector<std::string> ends = split(link, '-');
    if (ends.size() != 2) return invalidArgument(inQuotes(link) + " is no link: use one such as ipu0-ipu2");
    options.what_if.removed_links.emplace_back(ends[0], ends[1]);
  }
  return {};
}

Status readSlowIpus(SimulateOptions& options, const std::string& value) {
  for (const std::string& each : split(value, ',')) {
    const std::vector<std::string> parts = split(each, '=');
    if (parts.size() != 2) return invalidArgument(inQuotes(each) + " is no speed: use one such as ipu3=0.8");
    POP_ASSIGN_OR_RETURN(const double factor, pod::numberOf(parts[1]));
    options.what_if.speeds.emplace_back(parts[0], factor);
  }
  return {};
}

constexpr std::string_view kAllReduce = "all-reduce";
constexpr std::string_view kCollectives[] = {kAllReduce, "reduce-scatter", "all-gather", "all-to-all",
                                             "broadcast"};

Status readAllReduce(SimulateOptions& options, const std::string& value) {
  options.collective = kAllReduce;
  options.collective_size = value;
  return {};
}

Status readCollective(SimulateOptions& options, const std::string& value) {
  const std::vector<std::string> parts = split(value, '=');
  const std::string names = "all-reduce, reduce-scatter, all-gather, all-to-all or broadcast";
  if (std::ranges::find(kCollectives, parts.front()) == std::end(kCollectives))
    return invalidArgument("there is no collective " + inQuotes(parts.front()) + ": " + names);
  if (parts.size() != 2 || parts[1].empty())
    return invalidArgument(inQuotes(value) + " has no size: use one such as all-gather=64MiB");
  options.collective = parts[0];
  options.collective_size = parts[1];
  return {};
}

Status readGroup(SimulateOptions& options, const std::string& value) {
  const std::vector<std::string> parts = split(value, ':');
  if (parts.size() > 2) return invalidArgument(inQuotes(value) + " is no group: use one such as 8 or 8:2");
  POP_ASSIGN_OR_RETURN(const std::int64_t size, countFrom(parts.front()));
  POP_ASSIGN_OR_RETURN(const std::int64_t stride, countFrom(parts.size() == 2 ? parts[1] : "1"));
  options.group_size = static_cast<int>(size);
  options.group_stride = static_cast<int>(stride);
  return {};
}

Status readTopology(SimulateOptions& options, const std::string& value) {
  POP_ASSIGN_OR_RETURN(options.what_if.topology, pod::ildTopologyNamed(value));
  return {};
}

template <SimulateForm form>
Status readForm(SimulateOptions& options, const std::string&) {
  options.form = form;
  return {};
}

constexpr OptionTraits kFlag{.rule = ValueRule::kNone};
constexpr OptionTraits kFile{.hint = Hint::kFile};
constexpr OptionTraits kList{.list = true};
constexpr OptionTraits kPods{.words = kPodNames, .list = true};

constexpr OptionRow row(std::string_view name, std::string_view value_name, std::string_view default_text,
                        std::string_view description, OptionTraits traits) {
  return {Group::kSimulate, name, "", value_name, default_text, description, {}, traits};
}

constexpr std::array kRows{
    row("--help", "", "", "print this text and exit", kFlag),
    row("--model", "FILE", "", "the training, as key = value lines with units", kFile),
    row("--fit", "TABLE", "",
        "measured runs, from which the times that the model leaves out are learned: comma-separated values, "
        "or "
        "the log that POPDIST_SCALING_LOG named",
        kFile),
    row("--hold-out", "PODS", "",
        "runs on these Pods are compared with their prediction, and not learned from", kPods),
    row("--export-model", "FILE", "", "write the model with all that was learned into this new file", kFile),
    row("--system", "PODS", "those of the model's chip, up to 256 IPUs",
        "Pods to predict for, or system files such as ./my.system, separated by commas", kPods),
    row("--all-reduce", "SIZE", "",
        "instead of a training: the ways to sum so much of each replica, such as 64MiB, and their times",
        {.excludes = "--model"}),
    row("--collective", "NAME=SIZE", "",
        "the same for all-reduce, reduce-scatter, all-gather, all-to-all or broadcast of a vector of SIZE",
        {.excludes = "--model"}),
    row("--group", "N[:STRIDE]", "all replicas",
        "of a collective: groups of N replicas, STRIDE apart, which all make it at the same time", {}),
    row("--within-replica", "", "",
        "of a collective: the IPUs of each replica make it, each with a vector of SIZE; groups are of them",
        kFlag),
    row("--replay", "PREFIX", "",
        "instead of a training: the collectives of the Chakra execution traces PREFIX.0.et, PREFIX.1.et and "
        "so on, "
        "one for each replica",
        {.hint = Hint::kFile, .excludes = "--model"}),
    row("--export-chakra", "PREFIX", "",
        "write the all-reduce, or a step of the training, as new Chakra execution traces PREFIX.0.et and so "
        "on",
        kFile),
    row("--remove-link", "LINKS", "", "what if these cables were out? Such as ipu0-ipu2, separated by commas",
        kList),
    row("--slow-ipu", "IPUS", "", "what if these IPUs were slow? Such as ipu3=0.8, separated by commas",
        kList),
    row("--topology", "NAME", "", "what if the IPUs were joined so: mesh, torus or barley-twist",
        {.words = "mesh torus barley-twist"}),
    row("--ipus-per-replica", "N", "1", "of a collective or a replay; of a training the model says it", {}),
    row("--algorithm", "NAME", "gcl; all of a collective",
        "gcl or quickest; of a collective also the beginning of a name in its table", {}),
    row("--show-steps", "", "",
        "print the copies between replicas of a collective's algorithm, round by round", kFlag),
    row("--num-replicas", "N", "as many as fit", "copies of the model", {}),
    row("--micro-batch", "N", "as in the model", "elements of a micro-batch", {}),
    row("--gradient-accumulation", "N", "as in the model", "number of micro-batches of a step", {}),
    row("--global-batch", "N", "",
        "samples of a step, whatever the Pod: decides the gradient accumulation on each of them",
        {.excludes = "--gradient-accumulation"}),
    row("--trace", "FILE", "",
        "write the timeline of a collective's algorithm into this new file, for Perfetto or "
        "chrome://tracing",
        kFile),
    row("--show-system", "", "",
        "print the Pod as a system file, to change and to give to --system; with --svg as a picture", kFlag),
    row("--json", "", "", "print one JSON object, in seconds and samples", kFlag),
    row("--svg", "", "", "print a picture: throughput against replicas, or the Pod of --show-system", kFlag),
};

constexpr std::array<Reader, kRows.size()> kReaders{
    [](SimulateOptions& options, const std::string&) {
      options.help = true;
      return Status();
    },
    readPath<&SimulateOptions::model>,
    readPath<&SimulateOptions::fit>,
    readNames<&SimulateOptions::hold_out>,
    readPath<&SimulateOptions::export_model>,
    readNames<&SimulateOptions::systems>,
    readAllReduce,
    readCollective,
    readGroup,
    readFlag<&SimulateOptions::within_replica>,
    readPath<&SimulateOptions::replay>,
    readPath<&SimulateOptions::export_chakra>,
    readRemovedLinks,
    readSlowIpus,
    readTopology,
    readNumber<&SimulateOptions::ipus_per_replica>,
    readText<&SimulateOptions::algorithm>,
    readFlag<&SimulateOptions::show_steps>,
    readNumber<&SimulateOptions::replicas>,
    readNumber<&SimulateOptions::micro_batch>,
    readNumber<&SimulateOptions::gradient_accumulation>,
    readNumber<&SimulateOptions::global_batch>,
    readPath<&SimulateOptions::trace>,
    readFlag<&SimulateOptions::show_system>,
    readForm<SimulateForm::kJson>,
    readForm<SimulateForm::kSvg>,
};

std::string unknownWord(const std::string& word) {
  if (!word.starts_with('-')) return "simulate starts no program: leave out " + inQuotes(word);
  std::vector<std::string_view> names;
  for (const OptionRow& each : kRows) names.push_back(each.name);
  const std::string_view similar = similarWord(word, names);
  return "simulate has no option " + word +
         (similar.empty() ? ": see poprun simulate --help" : ": did you mean " + std::string(similar) + '?');
}

std::size_t indexOf(std::string_view name) {
  std::size_t index = 0;
  while (index < kRows.size() && kRows[index].name != name) ++index;
  return index;
}

// Reads the option at `at` and its value, and leaves `at` at the last word that it took.
Status readOption(const std::vector<std::string>& words, std::size_t& at, SimulateOptions& options) {
  const std::string& word = words[at];
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::size_t index = indexOf(name);
  if (index == kRows.size()) {
    // The word after an unknown option is its value: one mistake, not two.
    const bool has_value = word.starts_with('-') && equals == std::string::npos && at + 1 < words.size() &&
                           !words[at + 1].starts_with('-');
    if (has_value) ++at;
    return invalidArgument(unknownWord(name));
  }
  std::string value;
  const bool takes_value = kRows[index].traits.rule != ValueRule::kNone;
  if (!takes_value && equals != std::string::npos) return invalidArgument(name + " takes no value");
  if (takes_value && equals == std::string::npos && at + 1 == words.size())
    return invalidArgument(name + " needs a value: " + name + ' ' + std::string(kRows[index].value_name));
  if (takes_value) value = equals == std::string::npos ? words[++at] : word.substr(equals + 1);
  const Status read = kReaders[index](options, value);
  return read.ok() ? read : invalidArgument(name + ": " + read.message());
}

using Mistakes = std::vector<std::string>;

bool isOfOnePod(const SimulateOptions& options) {
  return options.systems.size() == 1 && !options.what_if.any();
}

// `option` takes the place of a training's model.
Mistakes mistakesWithoutTraining(const SimulateOptions& options, const std::string& option) {
  Mistakes mistakes;
  const auto refuse = [&](bool is_there, std::string_view other) {
    if (is_there) mistakes.push_back(option + " simulates no training: leave out " + std::string(other));
  };
  refuse(!options.model.empty(), "--model");
  refuse(!options.fit.empty(), "--fit");
  refuse(!options.hold_out.empty(), "--hold-out");
  refuse(!options.export_model.empty(), "--export-model");
  refuse(options.micro_batch.has_value(), "--micro-batch");
  refuse(options.gradient_accumulation.has_value(), "--gradient-accumulation");
  refuse(options.global_batch.has_value(), "--global-batch");
  refuse(options.form == SimulateForm::kSvg, "--svg");
  if (options.systems.empty()) mistakes.push_back(option + " needs a Pod: add --system POD");
  return mistakes;
}

std::string optionOfCollective(const SimulateOptions& options) {
  return options.collective == kAllReduce ? "--all-reduce" : "--collective";
}

Mistakes mistakesOfCollective(const SimulateOptions& options) {
  Mistakes mistakes = mistakesWithoutTraining(options, optionOfCollective(options));
  const bool is_of_all = options.group_size == 0 && !options.within_replica;
  if (!options.export_chakra.empty() && (options.collective != kAllReduce || !is_of_all))
    mistakes.emplace_back("--export-chakra writes an all-reduce of all replicas, or a step of a training");
  if (!options.trace.empty() && !options.systems.empty() && !isOfOnePod(options))
    mistakes.emplace_back(
        "--trace draws one Pod: name one, without changes, or its changes in a system file");
  if (options.within_replica && options.ipus_per_replica.value_or(1) == 1)
    mistakes.emplace_back("--within-replica: a replica of 1 IPU exchanges nothing: add --ipus-per-replica N");
  if (options.show_steps && options.form == SimulateForm::kJson)
    mistakes.emplace_back("--show-steps prints text: leave out --json");
  return mistakes;
}

Mistakes mistakesOfReplay(const SimulateOptions& options) {
  Mistakes mistakes = mistakesWithoutTraining(options, "--replay");
  if (!options.algorithm.empty() && options.algorithm != "gcl" && options.algorithm != "quickest")
    mistakes.push_back("--algorithm " + options.algorithm + ": a replay takes gcl or quickest");
  if (!options.what_if.speeds.empty())
    mistakes.emplace_back("--slow-ipu: computation takes as long as the traces say: leave it out");
  return mistakes;
}

Mistakes mistakesOfTraining(const SimulateOptions& options) {
  Mistakes mistakes;
  if (!options.algorithm.empty() && options.algorithm != "gcl" && options.algorithm != "quickest")
    mistakes.push_back("--algorithm " + options.algorithm + ": a training takes gcl or quickest");
  if (options.ipus_per_replica) mistakes.emplace_back("--ipus-per-replica: the model says it: leave it out");
  if (options.model.empty())
    mistakes.emplace_back(
        "simulate needs a model of the training: --model FILE (docs/guide/pods.md), or --all-reduce SIZE, or "
        "--replay PREFIX");
  if (options.global_batch && options.gradient_accumulation)
    mistakes.emplace_back(
        "--global-batch decides the gradient accumulation: leave out "
        "--gradient-accumulation");
  if (options.fit.empty() && !options.hold_out.empty())
    mistakes.emplace_back("--hold-out holds back runs of --fit: add --fit TABLE");
  if (options.fit.empty() && !options.export_model.empty())
    mistakes.emplace_back("--export-model writes what --fit learns: add --fit TABLE");
  return mistakes;
}

Mistakes mistakesOfKind(const SimulateOptions& options) {
  if (!options.collective_size.empty()) return mistakesOfCollective(options);
  Mistakes mistakes = options.replay.empty() ? mistakesOfTraining(options) : mistakesOfReplay(options);
  const auto needsAllReduce = [&](bool is_there, std::string_view option) {
    if (is_there) mistakes.push_back(std::string(option) + " is for --all-reduce: add --all-reduce SIZE");
  };
  needsAllReduce(options.show_steps, "--show-steps");
  needsAllReduce(!options.trace.empty(), "--trace");
  needsAllReduce(options.group_size > 0, "--group");
  needsAllReduce(options.within_replica, "--within-replica");
  return mistakes;
}

Mistakes mistakesOf(const SimulateOptions& options) {
  if (options.show_system) {
    if (options.systems.size() == 1) return {};
    return {"--show-system prints one Pod: add --system POD"};
  }
  if (!options.collective_size.empty() && !options.replay.empty())
    return {"--replay has its own collectives: leave out " + optionOfCollective(options)};
  Mistakes mistakes = mistakesOfKind(options);
  if (!options.export_chakra.empty() && !isOfOnePod(options))
    mistakes.emplace_back(
        "--export-chakra writes one Pod's traces: name one, without changes, or its changes in a system "
        "file");
  return mistakes;
}

}  // namespace

ParsedSimulation parseSimulateOptions(const std::vector<std::string>& arguments) {
  ParsedSimulation parsed;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const Status read = readOption(arguments, at, parsed.options);
    if (!read.ok()) parsed.mistakes.push_back(read.message());
  }
  if (parsed.options.help || !parsed.mistakes.empty()) return parsed;
  parsed.mistakes = mistakesOf(parsed.options);
  return parsed;
}

std::span<const OptionRow> simulateTable() {
  return kRows;
}

}  // namespace pop::cli
