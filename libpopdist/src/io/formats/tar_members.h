// SPDX-License-Identifier: Apache-2.0
// The files in a tar archive: POSIX's ustar and pax, and GNU's long names and sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/base/status.h"

namespace popdist::io {

struct TarMember {
  std::string name;
  std::span<const std::byte> content;
};

/// Goes from one regular file to the next; directories, links and devices are passed over.
class TarMembers {
 public:
  /// `archive` is the file's name, for messages.
  TarMembers(std::span<const std::byte> bytes, std::string archive)
      : bytes_(bytes), archive_(std::move(archive)) {}

  /// Nothing: the archive's end. kInvalidArgument: not of this format, or a sparse file; kDataLoss: a header
  /// is damaged, or the archive is cut.
  pop::Result<std::optional<TarMember>> next();

 private:
  /// What headers before the one of a file say about it.
  struct Announced {
    std::string name;
    std::optional<std::uint64_t> size;
  };

  pop::Status damaged(const std::string& why) const;
  pop::Status cut(const std::string& why) const;
  pop::Status checkEnd() const;
  pop::Result<std::span<const std::byte>> takeContent(std::uint64_t bytes);
  pop::Status readPax(std::span<const std::byte> records, Announced& announced) const;

  std::span<const std::byte> bytes_;
  std::string archive_;
  std::size_t at_ = 0;
  std::size_t header_ = 0;  // the latest
};

}  // namespace popdist::io
