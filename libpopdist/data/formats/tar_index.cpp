// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/tar_index.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/formats/tar_links.h"
#include "libpopdist/data/formats/tar_members.h"

namespace popdist::io {
namespace {

constexpr std::size_t kMostExtensions = 4096;  // more are no extensions: each is looked for one by one

std::string_view lastPartOf(std::string_view name) {
  return name.substr(name.rfind('/') + 1);
}

/// As other readers have it.
bool isAboutTheArchive(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

bool isOfElement(std::string_view name) {
  const std::size_t dot = lastPartOf(name).find('.');
  return dot != std::string_view::npos && dot != 0 && !isAboutTheArchive(name);
}

/// Elements below it would be missing.
bool mayBeLinkedDirectory(const TarMember& member) {
  return member.kind == TarMember::Kind::kSymbolicLink && !isAboutTheArchive(member.name) &&
         lastPartOf(member.name).find('.') == std::string_view::npos;
}

}  // namespace

pop::Result<TarIndex> TarIndex::open(const std::vector<std::string>& paths) {
  if (paths.empty()) return pop::invalidArgument("no files");
  TarIndex index;
  for (const std::string& path : paths) {
    POP_ASSIGN_OR_RETURN(FileBytes archive, FileBytes::open(path));
    const pop::Status added = index.add(std::move(archive));
    POP_RETURN_IF_ERROR(index.archives_.back().checkUnchanged());  // it tells more than damage in the rest
    POP_RETURN_IF_ERROR(added);
  }
  return index;
}

pop::Status TarIndex::add(FileBytes archive) {
  const auto number = static_cast<std::uint32_t>(archives_.size());
  archives_.push_back(std::move(archive));
  TarMembers members(archives_.back().bytes(), archives_.back().path());
  std::optional<TarLinks> links;  // once one is met
  for (std::size_t at = 0;; ++at) {
    POP_ASSIGN_OR_RETURN(const std::optional<TarMember> member, members.next());
    if (!member) return {};
    const bool is_of_element = isOfElement(member->name);
    if (!is_of_element && !mayBeLinkedDirectory(*member)) continue;
    if (member->kind == TarMember::Kind::kFile) {
      POP_RETURN_IF_ERROR(addFile(member->name, member->content, number));
      continue;
    }
    if (!links) {
      POP_ASSIGN_OR_RETURN(links, TarLinks::of(archives_.back()));
    }
    POP_ASSIGN_OR_RETURN(const auto content, links->contentOf(*member, at));
    if (content && is_of_element) POP_RETURN_IF_ERROR(addFile(member->name, *content, number));
  }
}

pop::Status TarIndex::addFile(std::string_view name, std::span<const std::byte> content,
                              std::uint32_t archive) {
  const std::size_t dot = name.find('.', name.rfind('/') + 1);
  const std::string_view key = name.substr(0, dot);
  const std::string extension = pop::lowerCase(name.substr(dot + 1));
  const bool is_new = elements_.empty() || elements_.back().archive != archive || elements_.back().key != key;
  if (is_new) elements_.push_back({std::string(key), files_.size(), archive});
  const std::uint64_t element = elements_.size() - 1;
  if (file(element, extension)) {
    return pop::invalidArgument(placeOf(element) + " has two files with the extension " +
                                pop::inQuotes(extension));
  }
  const std::uint32_t number = numberOf(extension);
  if (number == kMostExtensions) {
    return pop::invalidArgument(placeOf(element) + " has the extension " + pop::inQuotes(extension) +
                                ", after " + std::to_string(kMostExtensions) +
                                " other ones: what comes before the first dot is the element's name");
  }
  files_.push_back({number, content});
  return {};
}

std::uint32_t TarIndex::numberOf(std::string_view extension) {
  const auto known = std::find(extensions_.begin(), extensions_.end(), extension);
  const auto number = static_cast<std::uint32_t>(known - extensions_.begin());
  if (known == extensions_.end() && number < kMostExtensions) extensions_.emplace_back(extension);
  return number;
}

std::span<const TarIndex::File> TarIndex::filesOf(std::uint64_t element) const {
  const std::size_t begin = elements_[element].first_file;
  const std::size_t end = element + 1 < elements_.size() ? elements_[element + 1].first_file : files_.size();
  return std::span(files_).subspan(begin, end - begin);
}

std::optional<std::span<const std::byte>> TarIndex::file(std::uint64_t element,
                                                         std::string_view extension) const {
  for (const File& file : filesOf(element))
    if (extensions_[file.extension] == extension) return file.content;
  return std::nullopt;
}

std::vector<FileState> TarIndex::archives() const {
  std::vector<FileState> states;
  for (const FileBytes& archive : archives_) states.push_back(archive.state());
  return states;
}

std::string TarIndex::placeOf(std::uint64_t element) const {
  return pop::inQuotes(archives_[elements_[element].archive].path()) + ", element " +
         pop::inQuotes(elements_[element].key);
}

std::string TarIndex::extensionsOf(std::uint64_t element) const {
  std::vector<std::string> names;
  for (const File& file : filesOf(element)) names.push_back(pop::printable(extensions_[file.extension]));
  return pop::join(names, ", ");
}

}  // namespace popdist::io
