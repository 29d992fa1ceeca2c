// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/model_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <optional>
#include <vector>

#include "common/base/similar_word.h"
#include "common/base/text.h"
#include "pod/system/units.h"

namespace pop::pod::predict {
namespace {

constexpr std::int64_t kMostCount = 1'000'000;
constexpr Picoseconds kMostTime = std::chrono::seconds(1'000'000);

Result<double> secondsOf(std::string_view text) {
  POP_ASSIGN_OR_RETURN(const Picoseconds time, timeOf(text, kMostTime));
  return std::chrono::duration<double>(time).count();
}

struct Key {
  std::string_view name;
  bool is_required;
  Status (*read)(Training& training, std::string_view value);
  std::optional<std::string> (*write)(const Training& training);  ///< nothing: it is missing
};

template <typename Value>
Status take(Result<Value> result, auto& target) {
  if (!result.ok()) return result.status();
  target = static_cast<std::remove_cvref_t<decltype(target)>>(result.value());
  return {};
}

template <auto field>
constexpr Key count(std::string_view name, bool is_required = false) {
  return {name, is_required,
          [](Training& training, std::string_view value) {
            return take(countOf(value, kMostCount), training.*field);
          },
          [](const Training& training) { return std::optional(std::to_string(training.*field)); }};
}

template <auto field>
constexpr Key normCount(std::string_view name) {
  return {name, false,
          [](Training& training, std::string_view value) {
            return take(countOf(value, kMostCount), training.batch_norm.*field);
          },
          [](const Training& training) {
            return training.batch_norm.layers > 0 ? std::optional(std::to_string(training.batch_norm.*field))
                                                  : std::nullopt;
          }};
}

template <auto field>
constexpr Key learned(std::string_view name) {
  return {name, false,
          [](Training& training, std::string_view value) { return take(secondsOf(value), training.*field); },
          [](const Training& training) {
            const std::optional<double>& seconds = training.*field;
            return seconds ? std::optional(secondsWithUnit(*seconds)) : std::nullopt;
          }};
}

std::string bytesText(std::uint64_t bytes) {
  return std::to_string(bytes) + " B";
}

Status readChip(Training& training, std::string_view value) {
  for (const std::string_view chip : {"Mk2", "Bow", "Mk1"}) {
    if (lowerCase(value) != lowerCase(chip)) continue;
    training.chip = chip;
    return {};
  }
  return invalidArgument(inQuotes(value) + " is no chip: use Mk2, Bow or Mk1");
}

constexpr Key kKeys[] = {
    {"chip", true, readChip, [](const Training& training) { return std::optional(training.chip); }},
    count<&Training::ipus_per_replica>("ipus_per_replica"),
    count<&Training::stages>("stages"),
    {"samples_per_element", false,
     [](Training& training, std::string_view value) {
       return take(positiveOf(value), training.samples_per_element);
     },
     [](const Training& training) { return std::optional(numberText(training.samples_per_element)); }},
    count<&Training::micro_batch>("micro_batch", true),
    count<&Training::gradient_accumulation>("gradient_accumulation", true),
    {"gradients", true,
     [](Training& training, std::string_view value) { return take(bytesOf(value), training.gradient_bytes); },
     [](const Training& training) { return std::optional(bytesText(training.gradient_bytes)); }},
    count<&Training::collectives>("collectives"),
    normCount<&BatchNorm::layers>("batch_norm_layers"),
    normCount<&BatchNorm::span>("batch_norm_span"),
    {"batch_norm_statistics", false,
     [](Training& training, std::string_view value) {
       return take(bytesOf(value), training.batch_norm.statistics_bytes);
     },
     [](const Training& training) {
       return training.batch_norm.layers > 0 ? std::optional(bytesText(training.batch_norm.statistics_bytes))
                                             : std::nullopt;
     }},
    {"host_io_time", false,
     [](Training& training, std::string_view value) { return take(secondsOf(value), training.host_io_s); },
     [](const Training& training) { return std::optional(secondsWithUnit(training.host_io_s)); }},
    learned<&Training::micro_batch_s>("micro_batch_time"),
    learned<&Training::fixed_s>("fixed_time"),
    learned<&Training::gateway_s>("gateway_time"),
};

std::string suggestion(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Key& key : kKeys) names.push_back(key.name);
  const std::string_view similar = similarWord(word, names);
  if (!similar.empty()) return ": did you mean " + std::string(similar) + '?';
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return ": the keys are " + all;
}

// Lines in which keys stand; 0: they do not.
using Places = std::array<std::size_t, std::size(kKeys)>;

Status readLine(std::string_view line, std::size_t number, Training& training, Places& places) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return invalidArgument("expected key = value, not " + inQuotes(line));
  const std::string_view name = trimmed(line.substr(0, equals));
  const auto* const key =
      std::find_if(std::begin(kKeys), std::end(kKeys), [name](const Key& each) { return each.name == name; });
  if (key == std::end(kKeys)) return invalidArgument("unknown key " + inQuotes(name) + suggestion(name));
  std::size_t& place = places[static_cast<std::size_t>(key - std::begin(kKeys))];
  if (place != 0)
    return invalidArgument(std::string(name) + " is already in line " + std::to_string(place) +
                           ": remove one of them");
  place = number;
  const Status read = key->read(training, trimmed(line.substr(equals + 1)));
  return read.ok() ? read : invalidArgument(std::string(name) + ": " + read.message());
}

Status checkTogether(const Training& training, const Places& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (kKeys[i].is_required && places[i] == 0)
      return invalidArgument(std::string(kKeys[i].name) + " is missing: add " + std::string(kKeys[i].name) +
                             " = …");
  }
  const BatchNorm& norm = training.batch_norm;
  if ((norm.layers > 0) != (norm.span > 1) || (norm.layers > 0) != (norm.statistics_bytes > 0))
    return invalidArgument(
        "batch_norm_layers, batch_norm_span (2 or more) and batch_norm_statistics belong together: write "
        "all three or none");
  if (!std::has_single_bit(static_cast<unsigned>(training.ipus_per_replica)))
    return invalidArgument("ipus_per_replica: a replica has a power of two of IPUs, not " +
                           std::to_string(training.ipus_per_replica));
  if (training.gradient_bytes == 0) return invalidArgument("gradients: 0 bytes exchange nothing");
  if (training.micro_batch_s && *training.micro_batch_s == 0)
    return invalidArgument("micro_batch_time is 0: leave it out to learn it");
  return {};
}

}  // namespace

Result<Training> parseModel(std::string_view text, std::string_view file) {
  Training training;
  Places places{};
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view line = trimmed(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    const Status read = readLine(line, number, training, places);
    if (!read.ok())
      return invalidArgument(inQuotes(file) + ", line " + std::to_string(number) + ": " + read.message());
  }
  const Status checked = checkTogether(training, places);
  if (!checked.ok()) return invalidArgument(inQuotes(file) + ": " + checked.message());
  return training;
}

std::string modelText(const Training& training) {
  std::string text;
  for (const Key& key : kKeys) {
    if (const std::optional<std::string> value = key.write(training))
      text += std::string(key.name) + " = " + *value + '\n';
  }
  return text;
}

}  // namespace pop::pod::predict
