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
  enum class Kind : std::uint8_t { kFile, kHardLink, kSymbolicLink, kDirectory, kDevice };

  Kind kind = Kind::kFile;
  std::string name;
  std::span<const std::byte> content;  // a file's
  std::string target = {};             // a link's, as it is written
};

/// Goes from one member to the next: whatever an archive has under a name is told.
class TarMembers {
 public:
  /// `archive` is the file's name, for messages.
  TarMembers(std::span<const std::byte> bytes, std::string archive)
      : bytes_(bytes), archive_(std::move(archive)) {}

  /// Nothing: the archive's end. kInvalidArgument: not of this format; kDataLoss: a header is damaged, the
  /// archive is cut, or holds a file in pieces (sparse, or of several volumes).
  pop::Result<std::optional<TarMember>> next();

 private:
  /// Facts about a file from the headers before its own.
  struct Announced {
    std::string name;
    std::string target;
    std::optional<std::uint64_t> size;

    bool isAnything() const { return !name.empty() || !target.empty() || size; }
  };

  pop::Status damaged(const std::string& why) const;
  pop::Status cut(const std::string& why) const;
  pop::Status checkEnd() const;
  /// Reads the header of kind `kind`, on the next member, or on all.
  pop::Status readAnnounced(char kind, std::span<const std::byte> content, Announced& announced) const;
  pop::Result<std::span<const std::byte>> takeContent(std::uint64_t bytes);
  pop::Status readPax(std::span<const std::byte> records, Announced& announced) const;

  std::span<const std::byte> bytes_;
  std::string archive_;
  std::size_t at_ = 0;
  std::size_t header_ = 0;  // the latest
};

}  // namespace popdist::io
