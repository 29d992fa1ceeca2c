// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/report.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "common/base/text.h"

namespace popdist::algorithms {
namespace {

constexpr double kSlow = 1.1;

const char* nameOf(Memory memory) {
  constexpr const char* kNames[] = {"-", "private", "Buffer"};
  return kNames[static_cast<std::size_t>(memory)];
}

double fastestOf(const Row& row) {
  return std::min_element(
             row.timings.begin(), row.timings.end(),
             [](const Timing& one, const Timing& other) { return one.microseconds < other.microseconds; })
      ->microseconds;
}

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string timeOf(const Timing& timing, double fastest) {
  const int digits = timing.microseconds < 100 ? 2 : 0;
  return formatted("%.*f%s", digits, timing.microseconds, timing.microseconds <= fastest ? "*" : "");
}

std::string line(const char* mark, const char* operation, const std::string& bytes, const char* memory,
                 const std::string& chosen, const std::string& time, const std::string& others) {
  const std::string text = formatted("%-1s %-13s %9s  %-7s  %-18s %10s", mark, operation, bytes.c_str(),
                                     memory, chosen.c_str(), time.c_str());
  return text + (others.empty() ? "" : "  " + others) + '\n';
}

}  // namespace

std::string heading(const Context& context, const Contestants& contestants, int repeats) {
  const std::string way = contestants.shareMemory() ? "through this host's memory" : "by messages";
  return pop::counted(context.numInstances(), "instance") + ' ' + way + "; us a call, median of " +
         std::to_string(repeats) + "; * the fastest, ! the choice takes over 10 % more\n" +
         line("", "operation", "bytes", "memory", "chosen", "us", "others");
}

std::string inWords(const Row& row) {
  const double fastest = fastestOf(row);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < row.timings.size(); ++i)
    others.push_back(row.timings[i].algorithm + ' ' + timeOf(row.timings[i], fastest));
  const bool has_bytes = row.task.memory != Memory::kNone;
  return line(choiceIsSlow(row) ? "!" : "", plan::nameOf(row.task.operation),
              has_bytes ? std::to_string(row.task.bytes) : "-", nameOf(row.task.memory),
              row.timings.front().algorithm, timeOf(row.timings.front(), fastest), pop::join(others, ", "));
}

bool choiceIsSlow(const Row& row) {
  return row.timings.front().microseconds > kSlow * fastestOf(row);
}

std::string verdict(int rows, int slow) {
  return "In " + std::to_string(slow) + " of " + pop::counted(rows, "row") +
         " the choice takes over 10 % more than the fastest.\n";
}

}  // namespace popdist::algorithms
