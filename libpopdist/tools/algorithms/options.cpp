// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>

#include "common/base/text.h"

namespace popdist::algorithms {
namespace {

using plan::Operation;

constexpr const char* kEpilogue =
    "Run it under poprun, with as many instances as your jobs have:\n"
    "    poprun --num-instances 4 popdist-algorithms --op allReduce --bytes 4k,64k,1M\n"
    "A row shows the algorithm that the library's table chooses and the time of a call with it and with "
    "every\n"
    "other algorithm that supports the call. * marks the fastest, ! rows where the choice takes over 10 % "
    "more.\n"
    "To force one in your own job, use poprun --collectives NAME (without poprun: POPDIST_SHARED_ALGORITHM, "
    "or\n"
    "POPDIST_MESSAGE_ALGORITHM for messages, the same for all instances); this program ignores these "
    "settings.\n";
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

std::vector<Operation> allOperations() {
  std::vector<Operation> operations;
  for (auto number = static_cast<int>(Operation::kAllReduce);
       number <= static_cast<int>(Operation::kSendRecv); ++number)
    operations.push_back(static_cast<Operation>(number));
  return operations;
}

std::vector<std::size_t> usualBytes() {
  std::vector<std::size_t> bytes;
  for (std::size_t each = 8; each <= std::size_t{16} << 20; each *= 8) bytes.push_back(each);
  return bytes;
}

// Drops what CLI11 adds to the type's name.
CLI::Validator quiet(CLI::Validator validator) {
  return validator.description("");
}

// Stores words that have been checked.
void fill(Options& options, const std::vector<std::string>& names, const std::vector<std::uint64_t>& bytes) {
  for (const Operation operation : allOperations()) {
    if (names.empty() || std::find(names.begin(), names.end(), plan::nameOf(operation)) != names.end())
      options.operations.push_back(operation);
  }
  for (const std::uint64_t each : bytes) options.bytes.push_back(each);
  if (bytes.empty()) options.bytes = usualBytes();
}

}  // namespace

Parsed parseOptions(int argc, const char* const* argv) {
  Parsed parsed;
  std::vector<std::string> known;
  for (const Operation operation : allOperations()) known.emplace_back(plan::nameOf(operation));
  std::vector<std::string> names;
  std::vector<std::uint64_t> bytes;
  CLI::App app(
      "Shows which algorithm is chosen for each collective, and how long each takes on this machine.",
      kProgram);
  app.footer(kEpilogue);
  app.add_option("--op", names, "operations, separated by commas (default: all): " + pop::join(known, ", "))
      ->check(quiet(CLI::IsMember(known)))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--bytes", bytes,
                 "sizes of a rank's larger buffer, separated by commas; 4k is 4096 (default: 8 to 16M)")
      ->transform(quiet(CLI::AsSizeValue(false)))
      ->check(quiet(CLI::Range(std::uint64_t{1}, std::uint64_t{kMaxBytes})))
      ->delimiter(',')
      ->type_name("SIZES");
  app.add_option("--repeats", parsed.options.repeats, "number of measurements; the median is shown")
      ->check(quiet(CLI::Range(1, 10'000)))
      ->type_name("N")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    fill(parsed.options, names, bytes);
  } catch (const CLI::CallForHelp&) {
    parsed.exit_code = 0;
    parsed.text = app.help();
  } catch (const CLI::Error& error) {
    parsed.exit_code = 1;
    parsed.text = std::string(kProgram) + ": " + error.what() + " (see " + kProgram + " --help)\n";
  }
  return parsed;
}

}  // namespace popdist::algorithms
