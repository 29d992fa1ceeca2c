// SPDX-License-Identifier: Apache-2.0
// The audit log's file: a line of JSON for each entry, for other programs to read and to keep. The store
// decides: the file gets a line when its entry is durable there, and the missing lines after a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "proto/popdist/v1/access.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

class AuditFile {
 public:
  /// An entry of the store. kNotFound: there is none of this number.
  using EntryAt = std::function<Result<v1::AuditEntry>(std::int64_t id)>;

  /// Opens the file, or makes it, for this user alone; cuts off a last line that was not ended. If its last
  /// line is none of the store's, because that is an older copy, the file is moved aside, and a new one
  /// begins with the store's first entry.
  static Result<AuditFile> open(const std::string& path, const EntryAt& entry_at);

  /// Number of the last entry that is in it.
  std::int64_t last() const { return last_; }
  const std::string& path() const { return path_; }

  /// Adds the next lines, each with its newline, up to entry `last`. An error: none of them is there.
  Status append(const std::string& lines, std::int64_t last);

 private:
  AuditFile(std::string path, sys::Fd file, std::int64_t last)
      : path_(std::move(path)), file_(std::move(file)), last_(last) {}

  std::string path_;
  sys::Fd file_;
  std::int64_t last_ = 0;
};

}  // namespace pop::popdistd
