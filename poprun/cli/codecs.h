// SPDX-License-Identifier: Apache-2.0
// Readers and writers of options' values: one codec for each kind, bound to a field by its path of
// members, as in integer<&Options::partition, &PartitionRequest::server_port>().
#pragma once

#include <chrono>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "common/base/text.h"
#include "poprun/cli/option_table.h"

namespace pop::cli {

/// "1.5", "90s", "10m", "2h", "250ms". Without a unit: seconds.
Result<std::chrono::milliseconds> parseDuration(std::string_view text);

/// A decimal number from `least` to `most`.
Result<int> parseIntegerIn(std::string_view text, int least, int most);

namespace detail {

template <typename Class, typename Field>
Class classOf(Field Class::*);

template <auto First, auto... Rest>
auto& fieldOf(auto& object) {
  if constexpr (sizeof...(Rest) == 0) {
    return object.*First;
  } else {
    return fieldOf<Rest...>(object.*First);
  }
}

// The class of the first member selects the settings that the path starts from.
template <auto First, auto... Rest>
auto& at(auto settings) {
  if constexpr (std::same_as<decltype(classOf(First)), ProgramOptions>) {
    return fieldOf<First, Rest...>(settings.program);
  } else {
    return fieldOf<First, Rest...>(settings.options);
  }
}

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// An optional field is written only if it has a value.
template <typename T>
std::vector<std::string> written(const T& field, auto text) {
  if constexpr (kIsOptional<T>) {
    return field ? std::vector<std::string>{text(*field)} : std::vector<std::string>{};
  } else {
    return {text(field)};
  }
}

}  // namespace detail

template <auto... Path>
constexpr Codec text() {
  return {[](Settings settings, const std::string& value) -> Status {
            // Usually an unset variable in a script, which does not mean the default.
            if (value.empty()) return invalidArgument("'' is empty: give a value, or leave the option out");
            detail::at<Path...>(settings) = value;
            return {};
          },
          [](ConstSettings settings) -> std::vector<std::string> {
            const std::string& value = detail::at<Path...>(settings);
            return value.empty() ? std::vector<std::string>{} : std::vector<std::string>{value};
          }};
}

template <int kLeast, int kMost, auto... Path>
constexpr Codec integerIn() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(detail::at<Path...>(settings), parseIntegerIn(value, kLeast, kMost));
            return {};
          },
          [](ConstSettings settings) {
            return detail::written(detail::at<Path...>(settings),
                                   [](int value) { return std::to_string(value); });
          }};
}

/// For numbers whose limits are checked with the job.
template <auto... Path>
constexpr Codec integer() {
  return integerIn<std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), Path...>();
}

template <auto... Path>
constexpr Codec boolean() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(detail::at<Path...>(settings), parseBool(value));
            return {};
          },
          [](ConstSettings settings) {
            return detail::written(detail::at<Path...>(settings),
                                   [](bool value) { return std::string(value ? "yes" : "no"); });
          }};
}

template <auto... Path>
constexpr Codec duration() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(detail::at<Path...>(settings), parseDuration(value));
            return {};
          },
          [](ConstSettings settings) -> std::vector<std::string> {
            return {secondsText(detail::at<Path...>(settings))};
          }};
}

/// For actions of this run, which configuration files do not store.
template <auto... Path>
constexpr Codec flag() {
  return {[](Settings settings, const std::string&) -> Status {
            detail::at<Path...>(settings) = true;
            return {};
          },
          [](ConstSettings) { return std::vector<std::string>{}; }};
}

/// A detached job, by number or name, or HOST:ID.
template <auto Field>
constexpr Codec jobAddress() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(settings.options.detached.*Field, parseJobAddress(value));
            return {};
          },
          [](ConstSettings) { return std::vector<std::string>{}; }};
}

// Values with a grammar of their own: codecs.cpp, detached_codecs.cpp.
Codec processPlacement();
Codec numaAware();
Codec hostSubnet();
Codec instancesPerHost();
Codec tagOutput();
Codec dryRun();
Codec versionFormat();
Codec scalingFormat();
Codec stdinPolicy();
Codec envFamilies();
Codec collectiveWays();
Codec tfConfigTasks();
Codec syncType();
Codec variable();
Codec synchronisedPath();
Codec verbose();
Codec veryVerbose();
Codec deprecatedAllocation();
/// Words as a shell has them.
Codec rsh();
/// Greater than 0, and at most a day.
Codec connectTimeout();
/// At least 2 s, so that a healthy host is not lost between two heartbeats.
Codec hostSilence();
/// --mpi-global-args and --mpi-local-args: the command line reader has already split them.
Codec mpiArguments();
Codec jobName();
/// HOST:, or "yes" for this host.
Codec jobsOfHost();
Codec logLimit();
Codec onHangup();

}  // namespace pop::cli
