// SPDX-License-Identifier: Apache-2.0
// Targets of a tar archive's links, within the archive.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "common/base/status.h"
#include "libpopdist/data/formats/file_bytes.h"
#include "libpopdist/data/formats/tar_members.h"

namespace popdist::io {

/// Memory: some 200 bytes for each member.
class TarLinks {
 public:
  /// Links of an archive that lives as long.
  static pop::Result<TarLinks> of(const FileBytes& archive);

  /// The content of the file that `member`, number `at` of the archive, leads to, over any links between;
  /// nothing: it is a directory, or leads to an empty one. kInvalidArgument: it leads nowhere, in a circle,
  /// to a device, or to a directory with files, which would be elements under its name.
  pop::Result<std::optional<std::span<const std::byte>>> contentOf(const TarMember& member,
                                                                   std::size_t at) const;

 private:
  struct Entry {
    std::size_t at;
    TarMember member;
  };

  explicit TarLinks(std::string archive) : archive_(std::move(archive)) {}

  /// As if members were extracted one after the other: a hard link is to what is there by then. nullptr: to
  /// nothing.
  const Entry* targetOf(const Entry& link) const;
  /// Below the directory that it leads to.
  bool hasFiles(const TarMember& link) const;
  pop::Status leadsNowhere(const TarMember& member, const std::string& why) const;

  std::string archive_;
  std::multimap<std::string, Entry> members_;  // by the shortest form of the name
};

}  // namespace popdist::io
