// SPDX-License-Identifier: Apache-2.0
// The time of day, as records have it. A port: tests have their own.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <array>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>

namespace pop::popdistd {

using WallClock = std::function<std::chrono::system_clock::time_point()>;

inline google::protobuf::Timestamp timestamp(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  google::protobuf::Timestamp result;
  result.set_seconds(seconds.count());
  result.set_nanos(
      static_cast<int>(std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds).count()));
  return result;
}

/// "2026-11-27 19:04:49 UTC"
inline std::string timeText(const google::protobuf::Timestamp& time) {
  const std::time_t seconds = time.seconds();
  std::tm parts{};
  std::array<char, 64> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "a time that is none";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

/// Rounded down to a millisecond.
inline std::chrono::sys_time<std::chrono::milliseconds> timeOf(const google::protobuf::Timestamp& time) {
  return std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::seconds(time.seconds()) + std::chrono::milliseconds(time.nanos() / 1'000'000));
}

/// Seconds from one to the other.
inline double secondsBetween(const google::protobuf::Timestamp& from, const google::protobuf::Timestamp& to) {
  return static_cast<double>(to.seconds() - from.seconds()) + (to.nanos() - from.nanos()) / 1e9;
}

}  // namespace pop::popdistd
