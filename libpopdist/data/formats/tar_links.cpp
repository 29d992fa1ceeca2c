// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/tar_links.h"

#include <filesystem>
#include <utility>

#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr int kMostLinks = 40;  // one after the other, as the system has it

std::string shortest(const std::filesystem::path& path) {
  std::string text = path.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

/// The name of what a link leads to: a hard link's is one of the archive, a symbolic link's one beside it.
std::string targetName(const TarMember& link) {
  if (link.kind == TarMember::Kind::kHardLink) return shortest(link.target);
  return shortest(std::filesystem::path(link.name).parent_path() / link.target);
}

}  // namespace

pop::Result<TarLinks> TarLinks::of(const FileBytes& archive) {
  TarLinks links(archive.path());
  TarMembers members(archive.bytes(), archive.path());
  for (std::size_t at = 0;; ++at) {
    pop::Result<std::optional<TarMember>> next = members.next();
    if (!next.ok()) return next.status();
    if (!*next) return links;
    TarMember& member = **next;
    std::string name = shortest(member.name);
    links.members_.emplace(std::move(name), Entry{at, std::move(member)});
  }
}

const TarLinks::Entry* TarLinks::targetOf(const Entry& link) const {
  const auto [begin, end] = members_.equal_range(targetName(link.member));  // in the order of the archive
  const Entry* target = nullptr;
  for (auto entry = begin; entry != end; ++entry) {
    const bool is_later = entry->second.at > link.at;
    if (entry->second.at == link.at) continue;
    if (link.member.kind == TarMember::Kind::kHardLink && is_later && target != nullptr) break;
    target = &entry->second;
  }
  return target;
}

bool TarLinks::hasFiles(const TarMember& link) const {
  const std::string name = targetName(link);
  if (name == ".") return true;
  const auto below = members_.lower_bound(name + '/');
  return below != members_.end() && below->first.starts_with(name + '/');
}

pop::Result<std::optional<std::span<const std::byte>>> TarLinks::contentOf(const TarMember& member,
                                                                           std::size_t at) const {
  using Content = std::optional<std::span<const std::byte>>;
  Entry entry{at, member};
  for (int links = 0; links <= kMostLinks; ++links) {
    switch (entry.member.kind) {
      case TarMember::Kind::kFile:
        return Content(entry.member.content);
      case TarMember::Kind::kDirectory:
        return Content();
      case TarMember::Kind::kDevice:
        return leadsNowhere(member, "a device or a pipe has no content");
      case TarMember::Kind::kHardLink:
      case TarMember::Kind::kSymbolicLink:
        break;
    }
    const Entry* const target = targetOf(entry);
    if (hasFiles(entry.member))
      return leadsNowhere(member, "that is a directory: make the archive with --dereference");
    if (target == nullptr)
      return leadsNowhere(member, "the archive has no " + pop::inQuotes(entry.member.target) +
                                      ": make it with --dereference and --hard-dereference");
    entry = *target;
  }
  return leadsNowhere(member, "the links lead in a circle");
}

pop::Status TarLinks::leadsNowhere(const TarMember& member, const std::string& why) const {
  const bool is_link = member.kind != TarMember::Kind::kDevice;
  return pop::invalidArgument(pop::inQuotes(archive_) + ": " + pop::inQuotes(member.name) + " is " +
                              (is_link ? "a link to " + pop::inQuotes(member.target) : "no file") + ", and " +
                              why);
}

}  // namespace popdist::io
