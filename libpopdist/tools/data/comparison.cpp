// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/data/comparison.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace popdist::data {
namespace {

constexpr double kNoise = 0.1;

bool isBelow(double speed, double other) {
  return speed < (1 - kNoise) * other;
}

/// Factor by which the program would be quicker without input.
double gainWithoutInput(const Speeds& row) {
  return row.synthetic / row.real;
}

const char* adviceFor(Verdict verdict) {
  switch (verdict) {
    case Verdict::kModel:
      return "The input is quick enough: the model takes the time.";
    case Verdict::kReading:
      return "Reading is too slow: raise InfeedOptions::threads, cache() the dataset or write it as records "
             "(popdist-data records), and look at what map() does.";
    case Verdict::kTransfer:
      return "The way to the device is too slow: send smaller types and convert them there (DeviceMap), and "
             "fewer "
             "values back (OutfeedOptions::accumulate).";
    case Verdict::kHost:
      return "The host's input is to blame, the more so with more replicas: start more instances, but no "
             "more than "
             "the host has NUMA nodes, and make reading cheaper (threads, cache(), records).";
    case Verdict::kNoise:
      break;
  }
  return "Real data cannot be quicker than none: something else disturbed the machine. Measure again, with "
         "more steps.";
}

std::string rowText(const std::string& first, const std::string& real, const std::string& generated,
                    const std::string& synthetic) {
  std::array<char, 160> line{};
  std::snprintf(line.data(), line.size(), "%-10s %14s %14s %14s\n", first.c_str(), real.c_str(),
                generated.c_str(), synthetic.c_str());
  return line.data();
}

std::string numberText(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f", number);
  return text.data();
}

}  // namespace

Verdict verdictOf(const std::vector<Speeds>& rows) {
  const Speeds& most = rows.back();
  if (isBelow(most.synthetic, most.real)) return Verdict::kNoise;
  if (!isBelow(most.real, most.synthetic)) return Verdict::kModel;
  if (rows.size() > 1 && isBelow(gainWithoutInput(rows.front()), gainWithoutInput(most)))
    return Verdict::kHost;
  const bool reading_costs_more = most.generated / most.real >= most.synthetic / most.generated;
  return reading_costs_more ? Verdict::kReading : Verdict::kTransfer;
}

std::string inWords(const std::vector<Speeds>& rows) {
  std::string text = rowText("replicas", "real", "generated", "synthetic  samples/s");
  for (const Speeds& row : rows) {
    text += rowText(row.replicas == 0 ? "as given" : std::to_string(row.replicas), numberText(row.real),
                    numberText(row.generated), numberText(row.synthetic));
  }
  return text + adviceFor(verdictOf(rows)) + "\n";
}

double speedIn(const std::string& output) {
  const std::size_t unit = output.rfind("samples/s");
  if (unit == std::string::npos) return 0;
  std::size_t end = unit;
  while (end > 0 && output[end - 1] == ' ') --end;
  const std::string_view before(output.data(), end);
  const std::string_view word = before.substr(before.find_last_of(" \t\r\n:=(") + 1);
  double speed = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), speed);
  return error == std::errc() && stop == word.data() + word.size() ? speed : 0;
}

}  // namespace popdist::data
