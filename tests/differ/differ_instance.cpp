// SPDX-License-Identifier: Apache-2.0
// An instance that makes the calls of one row, or those of a circle, and writes into a file what it has
// heard.
//
//   differ_instance ROW|circle|circle-with-fence ODD BEFORE SECONDS DIRECTORY
//
// ODD: the instance that differs. BEFORE: equal calls that come first. SECONDS: of the deadline. The files
// are called after the instances: the milliseconds that the calls took, and the error's text.
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "popdist/cluster_resolver.hpp"
#include "popdist/error.hpp"
#include "tests/differ/circles.h"
#include "tests/differ/heard.h"
#include "tests/differ/row.h"

namespace popdist::testing {
namespace {

constexpr int kBetweenLooks_ms = 5;

void makeCalls(char** arguments, Context& context) {
  const std::string calls = arguments[1];
  const int before = std::stoi(arguments[3]);
  if (calls.starts_with("circle"))
    callInCircle(context, {.equal_calls = before, .has_fence = calls == "circle-with-fence"});
  else
    make(allRows().at(std::stoul(calls)), context, context.instanceIndex() == std::stoi(arguments[2]),
         before);
}

std::string heardOf(char** arguments, Context& context) {
  try {
    makeCalls(arguments, context);
    return "";
  } catch (const popdist_error& error) {
    return error.what();
  }
}

/// Seen by others only when it is whole.
void write(const std::string& path, const std::string& text) {
  std::ofstream(path + ".partial") << text;
  std::filesystem::rename(path + ".partial", path);
}

/// The end of one would be news for the other.
bool areAllThere(const std::string& directory, int instances) {
  for (int instance = 0; instance < instances; ++instance)
    if (!std::filesystem::exists(directory + '/' + std::to_string(instance))) return false;
  return true;
}

int run(char** arguments) {
  const std::string directory = arguments[5];
  const auto context = train::contextFor();
  context->setTimeout(std::chrono::seconds(std::stoi(arguments[4])));
  const auto begin = std::chrono::steady_clock::now();
  const std::string heard = heardOf(arguments, *context);
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  write(directory + '/' + std::to_string(context->instanceIndex()),
        std::to_string(took.count()) + '\n' + heard);
  const auto end = begin + kDeadline;
  while (!areAllThere(directory, context->numInstances()) && std::chrono::steady_clock::now() < end)
    ::poll(nullptr, 0, kBetweenLooks_ms);
  return 0;
}

}  // namespace
}  // namespace popdist::testing

int main(int count, char** arguments) {
  if (count != 6) return 2;
  try {
    return popdist::testing::run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "differ_instance: %s\n", error.what());
    return 1;
  }
}
