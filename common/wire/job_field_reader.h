// SPDX-License-Identifier: Apache-2.0
// Reads the messages of job.proto from bytes that any process may have written.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/status.h"
#include "common/model/cpu_set.h"
#include "proto/popdist/v1/job.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

/// The most bytes of one record, and the most list elements in it: each takes some hundred bytes of memory,
/// but as few as two in the record.
inline constexpr std::size_t kMaxRecordBytes = 64 << 20;
inline constexpr std::size_t kMaxRecordElements = 1 << 20;

/// kInvalidArgument: malformed, or too large; then nothing is built.
Status readRecord(std::string_view bytes, v1::JobSpec& into);
Status readRecord(std::string_view bytes, v1::JobEvent& into);
Status readRecord(std::string_view bytes, v1::Output& into);

/// Takes over the fields of one record, and keeps the first mistake in them: where there is one, what was
/// returned is worth nothing.
class FieldReader {
 public:
  const Status& status() const { return status_; }

  void refuse(const std::string& mistake);

  /// At least 0.
  int count(const char* field, int value);
  std::chrono::milliseconds time(const char* field, std::int64_t ms);

  /// One of the instances 0 to `num_instances` - 1.
  int instance(int value, int num_instances);

  /// A name as in a host list: one that begins with '-' would be an option to other programs.
  const std::string& host(const std::string& name);

  /// The value of `result`, or its mistake and nothing.
  template <typename T>
  T take(Result<T> result) {
    if (result.ok()) return std::move(*result);
    if (status_.ok()) status_ = result.status();
    return {};
  }

  /// The sets of one record have a bounded number of CPUs together: "0-65535" is short.
  void countCpus(const model::CpuSet& cpus);

 private:
  Status status_;
  std::int64_t num_cpus_ = 0;
};

}  // namespace pop::wire
