// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/data/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace popdist::data {
namespace {

constexpr const char* kEpilogue =
    "    popdist-data benchmark --idx image=train-images.gz --idx label=train-labels.gz --batch 32 --infeed\n"
    "    popdist-data records --idx image=train-images.gz --idx label=train-labels.gz train.records\n"
    "    popdist-data compare --replicas 1,2,4 -- poprun --num-instances 1 ./train --epochs 1\n"
    "compare runs the command with POPDIST_DATA set to real, generated and synthetic, takes the last number "
    "before\n"
    "\"samples/s\" in what it says, and tells whether it waits for its input. With --replicas the command "
    "begins with\n"
    "poprun, which gets --num-replicas.\n";

constexpr int kMostOfAnything = 1'000'000'000;

CLI::Validator quiet(CLI::Validator validator) {
  return validator.description("");
}

/// NAME=FILE, as they are on the command line.
struct Pairs {
  std::vector<std::string> idx;
  std::vector<std::string> npy;
};

void addSource(CLI::App& verb, Pairs& pairs, Options& options) {
  verb.add_option("--idx", pairs.idx,
                  "NAME=FILE: an IDX file, plain or gzip, as the tensor NAME; one for each tensor")
      ->type_name("PAIR");
  verb.add_option("--npy", pairs.npy, "NAME=FILE: likewise, a file of NumPy")->type_name("PAIR");
  verb.add_option("--shuffle", options.shuffle_seed, "shuffle the elements by this seed")
      ->check(quiet(CLI::NonNegativeNumber))
      ->type_name("SEED");
}

void addBenchmark(CLI::App& app, Pairs& pairs, Options& options) {
  CLI::App* verb = app.add_subcommand("benchmark", "Reads elements and says how quickly they come, as JSON.");
  addSource(*verb, pairs, options);
  verb->add_option("--records", options.records, "a file of records")->type_name("FILE");
  verb->add_option("--batch", options.batch, "rows of a batch (default: single elements)")
      ->check(quiet(CLI::Range(1, kMostOfAnything)))
      ->type_name("ROWS");
  verb->add_option("--epochs", options.benchmark.number_of_epochs, "parts that are measured by themselves")
      ->check(quiet(CLI::Range(1, kMostOfAnything)))
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--elements", options.benchmark.elements_per_epoch, "batches, or elements, of each part")
      ->check(quiet(CLI::Range(1, kMostOfAnything)))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--infeed", options.by_infeed, "through an infeed, which reads ahead");
  verb->add_option("--threads", options.threads, "threads of the infeed, 1 to 64")
      ->check(quiet(CLI::Range(1, 64)))
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--prefetch", options.prefetch, "elements that the infeed reads ahead, 1 to 255")
      ->check(quiet(CLI::Range(1, 255)))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag(
      "--no-memcpy", [&options](std::int64_t) { options.benchmark.do_memcpy = false; },
      "do not copy elements as a transfer would");
  verb->add_flag(
      "--latency", options.of_latency,
      "in place of the rate: how long infeed and outfeed take for a single element, --elements of them");
}

void addRecords(CLI::App& app, Pairs& pairs, Options& options) {
  CLI::App* verb =
      app.add_subcommand("records", "Writes all elements to a file of records, the quickest to read.");
  addSource(*verb, pairs, options);
  verb->add_option("output", options.output, "the file")->required()->type_name("FILE");
}

void addCompare(CLI::App& app, Options& options) {
  CLI::App* verb = app.add_subcommand("compare", "Says whether a program waits for its input.");
  verb->add_option("--replicas", options.replicas, "numbers of replicas, separated by commas")
      ->check(quiet(CLI::Range(1, kMostOfAnything)))
      ->delimiter(',')
      ->type_name("LIST");
  verb->footer("Then --, the program and its arguments.");
}

/// Empty: it is right.
template <typename File>
std::string takePairs(const char* option, const std::vector<std::string>& pairs, std::vector<File>& files) {
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == pair.size())
      return std::string(option) + ' ' + pair + " is not NAME=FILE, such as image=train-images.gz";
    files.push_back({pair.substr(0, equals), pair.substr(equals + 1)});
  }
  return "";
}

/// Empty: it is right.
std::string mistakeIn(const Pairs& pairs, Options& options) {
  std::string mistake = takePairs("--idx", pairs.idx, options.idx);
  if (mistake.empty()) mistake = takePairs("--npy", pairs.npy, options.npy);
  if (!mistake.empty()) return mistake;
  const int sources =
      (options.idx.empty() ? 0 : 1) + (options.npy.empty() ? 0 : 1) + (options.records.empty() ? 0 : 1);
  if (options.verb == Verb::kBenchmark && sources != 1)
    return "benchmark reads either --idx files, --npy files or a --records file";
  if (options.verb == Verb::kRecords && sources != 1)
    return "records needs either --idx NAME=FILE or --npy NAME=FILE";
  if (options.of_latency && (options.by_infeed || options.batch > 0 || options.threads != 1))
    return "--latency is of single elements through an infeed of one thread: leave --infeed, --batch and "
           "--threads out";
  if (options.verb != Verb::kCompare)
    return options.command.empty() ? "" : "only compare takes a command after --";
  if (options.command.empty()) return "compare needs a command: popdist-data compare -- PROGRAM";
  if (options.replicas.empty()) return "";
  for (const std::string& word : options.command) {
    if (word == "--num-replicas" || word.starts_with("--num-replicas="))
      return "--replicas gives poprun --num-replicas, and the command has it, too: leave it out there";
  }
  const std::string program = options.command[0].substr(options.command[0].rfind('/') + 1);
  return program == "poprun" ? "" : "--replicas needs a command that begins with poprun, not with " + program;
}

Verb verbOf(const CLI::App& app) {
  if (app.got_subcommand("records")) return Verb::kRecords;
  return app.got_subcommand("compare") ? Verb::kCompare : Verb::kBenchmark;
}

}  // namespace

Parsed parseOptions(int argc, const char* const* argv) {
  Parsed parsed;
  Pairs pairs;
  CLI::App app("Looks at the input of training programs.", kProgram);
  app.footer(kEpilogue);
  app.require_subcommand(1);
  addBenchmark(app, pairs, parsed.options);
  addRecords(app, pairs, parsed.options);
  addCompare(app, parsed.options);
  // Words after "--" are another program's, and none of those here.
  const auto own_end = std::find(argv, argv + argc, std::string_view("--"));
  if (own_end != argv + argc) parsed.options.command.assign(own_end + 1, argv + argc);
  std::string mistake;
  try {
    app.parse(static_cast<int>(own_end - argv), argv);
    parsed.options.verb = verbOf(app);
    mistake = mistakeIn(pairs, parsed.options);
  } catch (const CLI::CallForHelp&) {
    parsed.exit_code = 0;
    parsed.text = app.help();
    for (const CLI::App* verb : app.get_subcommands()) parsed.text = verb->help(std::string(kProgram));
    return parsed;
  } catch (const CLI::Error& error) {
    mistake = error.what();
  }
  if (!mistake.empty()) {
    parsed.exit_code = 1;
    parsed.text = std::string(kProgram) + ": " + mistake + " (see " + kProgram + " --help)\n";
  }
  return parsed;
}

}  // namespace popdist::data
