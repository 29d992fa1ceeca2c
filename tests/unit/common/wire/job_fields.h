// SPDX-License-Identifier: Apache-2.0
// The fields of what a job is and what is told of it, one by one. A field that is added does not compile here
// until it is named; then a sample must set it, and the codec must know it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "common/wire/job_codec.h"

namespace pop::testing {

inline auto fieldsOf(model::Host& value) {
  auto& [a, b] = value;
  return std::tie(a, b);
}
inline auto fieldsOf(model::CopyRequest& value) {
  auto& [a, b] = value;
  return std::tie(a, b);
}
inline auto fieldsOf(model::Program& value) {
  auto& [a, b, c, d] = value;
  return std::tie(a, b, c, d);
}
inline auto fieldsOf(model::PartitionRequest& value) {
  auto& [a, b, c, d, e, f, g, h, i, j] = value;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
inline auto fieldsOf(model::BindPolicy& value) {
  auto& [a, b, c, d] = value;
  return std::tie(a, b, c, d);
}
inline auto fieldsOf(model::TfTasks& value) {
  auto& [a, b] = value;
  return std::tie(a, b);
}
inline auto fieldsOf(model::StdinPolicy& value) {
  auto& [a, b] = value;
  return std::tie(a, b);
}
inline auto fieldsOf(model::JobSpec& value) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] = value;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z);
}
inline auto fieldsOf(model::Binding& value) {
  auto& [a, b, c, d] = value;
  return std::tie(a, b, c, d);
}
inline auto fieldsOf(PlacedInstance& value) {
  auto& [a, b] = value;
  return std::tie(a, b);
}
inline auto fieldsOf(LogEntry& value) {
  auto& [a, b, c, d] = value;
  return std::tie(a, b, c, d);
}
inline auto fieldsOf(StackTrace& value) {
  auto& [a, b, c, d] = value;
  return std::tie(a, b, c, d);
}
inline auto fieldsOf(Failure& value) {
  auto& [a, b, c, d, e, f, g, h, i] = value;
  return std::tie(a, b, c, d, e, f, g, h, i);
}
inline auto fieldsOf(JobOutcome& value) {
  auto& [a, b, c, d, e, f, g, h, i] = value;
  return std::tie(a, b, c, d, e, f, g, h, i);
}
inline auto fieldsOf(wire::Output& value) {
  auto& [a, b, c] = value;
  return std::tie(a, b, c);
}

/// Calls `check` with `base` for each field of `T`, where that one alone is as in `sample`, in which no field
/// may have its default.
template <typename T, typename Check>
void withEachField(const T& base, T sample, const Check& check) {
  const auto with = [&](auto index) {
    constexpr std::size_t kField = decltype(index)::value;
    T defaults{};
    EXPECT_FALSE(std::get<kField>(fieldsOf(sample)) == std::get<kField>(fieldsOf(defaults)))
        << "the sample leaves field " << kField << " at its default";
    T one = base;
    std::get<kField>(fieldsOf(one)) = std::get<kField>(fieldsOf(sample));
    SCOPED_TRACE("field " + std::to_string(kField));
    check(one);
  };
  [&]<std::size_t... kFields>(std::index_sequence<kFields...>) {
    (with(std::integral_constant<std::size_t, kFields>()), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(fieldsOf(sample))>>());
}

}  // namespace pop::testing
