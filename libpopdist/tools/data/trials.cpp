// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/data/trials.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "common/base/text.h"
#include "popdist/error.hpp"

namespace popdist::data {
namespace {

/// As one word for the shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string commandLine(const Options& options, int replicas) {
  std::string line;
  for (std::size_t i = 0; i < options.command.size(); ++i) {
    line += (i == 0 ? "" : " ") + quoted(options.command[i]);
    if (i == 0 && replicas > 0) line += " --num-replicas " + std::to_string(replicas);
  }
  return line;
}

std::string exitText(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "exited with " + std::to_string(WEXITSTATUS(status));
}

/// The command's stdout, which is passed on to stderr.
std::string outputOf(const std::string& command) {
  std::FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) throw popdist_error(ErrorCode::kResourceExhausted, "cannot start " + command);
  std::string said;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), output) != nullptr) {
    std::fputs(part.data(), stderr);
    said += part.data();
  }
  const int status = ::pclose(output);
  if (status != 0) throw popdist_error(ErrorCode::kAborted, command + " " + exitText(status));
  return said;
}

double speedWith(const char* data, const std::string& command) {
  std::fprintf(stderr, "%s: POPDIST_DATA=%s %s\n", kProgram, data, command.c_str());
  ::setenv("POPDIST_DATA", data, 1);
  const double speed = speedIn(outputOf(command));
  if (speed > 0) return speed;
  throw popdist_error(ErrorCode::kNotFound,
                      command + " does not say \"N samples/s\" on its stdout, such as \"1234 samples/s\"");
}

}  // namespace

std::vector<Speeds> runTrials(const Options& options) {
  std::vector<int> replicas = options.replicas;
  std::sort(replicas.begin(), replicas.end());
  if (replicas.empty()) replicas = {0};
  std::vector<Speeds> rows;
  for (const int count : replicas) {
    const std::string command = commandLine(options, count);
    Speeds row{.replicas = count};
    row.real = speedWith("real", command);
    row.generated = speedWith("generated", command);
    row.synthetic = speedWith("synthetic", command);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace popdist::data
