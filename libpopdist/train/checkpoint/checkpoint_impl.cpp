// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/checkpoint_impl.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/contract/fence_slots.h"
#include "libpopdist/train/checkpoint/safetensors.h"
#include "libpopdist/train/checkpoint/store.h"

namespace popdist::train {
namespace {

// A checksum for each MiB and a line for each tensor: of a checkpoint of 10 TB.
constexpr std::uint64_t kMostManifestBytes = std::uint64_t{256} << 20;

/// Some names, for a message.
std::string namesOf(const Spec& tensors) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, tensors.size()); ++i)
    text += (text.empty() ? "" : ", ") + pop::inQuotes(tensors[i].name);
  if (tensors.empty()) return "it has no tensors";
  return "it has " + text + (tensors.size() > kMost ? ", …" : "");
}

}  // namespace

pop::Result<std::unique_ptr<Checkpoint::Impl>> Checkpoint::Impl::open(const std::string& directory,
                                                                      std::uint64_t step) {
  std::unique_ptr<Impl> impl(new Impl);
  POP_ASSIGN_OR_RETURN(impl->directory_, openDirectory(directory + '/' + stepName(step)));
  const std::string path = impl->directory_.pathOf(kManifestName);
  POP_ASSIGN_OR_RETURN(const FileToRead file, openToRead(impl->directory_, kManifestName));
  if (file.bytes > kMostManifestBytes) {
    return pop::Status(pop::Code::kDataLoss, pop::inQuotes(path) + " has " + std::to_string(file.bytes) +
                                                 " bytes: no manifest has");
  }
  POP_ASSIGN_OR_RETURN(const std::string text, pop::sys::readAll(file.fd, path));
  pop::Result<Manifest> manifest = parseManifest(text);
  if (!manifest.ok())
    return pop::Status(manifest.code(), pop::inQuotes(path) + ": " + manifest.status().message());
  impl->manifest_ = std::move(manifest).value();
  impl->digest_ = pop::contract::tagDigest(text);
  if (impl->manifest_.position.step != step) {
    return pop::Status(pop::Code::kDataLoss, pop::inQuotes(path) + " is of step " +
                                                 std::to_string(impl->manifest_.position.step) +
                                                 ": the directory has got another name");
  }
  POP_RETURN_IF_ERROR(impl->openFiles());
  POP_RETURN_IF_ERROR(impl->index());
  return impl;
}

pop::Status Checkpoint::Impl::openFiles() {
  for (const StoredFile& file : manifest_.files) {
    const std::string path = directory_.pathOf(file.name);
    POP_ASSIGN_OR_RETURN(FileToRead opened, openToRead(directory_, file.name));
    if (opened.bytes != file.bytes) {
      return {pop::Code::kDataLoss, pop::inQuotes(path) + " has " + std::to_string(opened.bytes) +
                                        " bytes, expected " + std::to_string(file.bytes) +
                                        ": take another checkpoint, or restore the file"};
    }
    files_.push_back(std::move(opened.fd));
  }
  return {};
}

pop::Status Checkpoint::Impl::index() {
  pop::Result<Spec> whole = tensorsOf(manifest_);
  if (!whole.ok()) {
    return {pop::Code::kDataLoss,
            pop::inQuotes(directory_.pathOf(kManifestName)) + ": " + whole.status().message()};
  }
  tensors_ = std::move(whole).value();
  for (std::size_t file = 0; file < manifest_.files.size(); ++file)
    for (const Part& part : manifest_.files[file].parts) places_[part.tensor.name].push_back({file, &part});
  return {};
}

pop::Status Checkpoint::Impl::checkTensor(const Part& wanted) const {
  const auto stored =
      std::lower_bound(tensors_.begin(), tensors_.end(), wanted.tensor.name,
                       [](const TensorSpec& tensor, const std::string& name) { return tensor.name < name; });
  if (stored == tensors_.end() || stored->name != wanted.tensor.name) {
    return {pop::Code::kNotFound, "the checkpoint " + pop::inQuotes(directory_.path) + " has no tensor " +
                                      pop::inQuotes(wanted.tensor.name) + "; " + namesOf(tensors_)};
  }
  if (*stored == wanted.tensor) return {};
  return pop::invalidArgument("the checkpoint " + pop::inQuotes(directory_.path) + " has " + textOf(*stored) +
                              ", asked for " + textOf(wanted.tensor));
}

pop::Result<Checkpoint::Impl::Head> Checkpoint::Impl::headOf(std::size_t file) const {
  const StoredFile& stored = manifest_.files[file];
  const std::string path = directory_.pathOf(stored.name);
  BlockReader reader(files_[file], stored, path);
  std::string header(std::min<std::uint64_t>(sizeof(std::uint64_t), stored.bytes), '\0');
  POP_RETURN_IF_ERROR(reader.read(0, std::as_writable_bytes(std::span(header.data(), header.size()))));
  const auto named = [&](const pop::Status& status) {
    return pop::Status(status.code(), pop::inQuotes(path) + ": " + status.message());
  };
  const auto bytes = safetensorsHeaderBytes(header, stored.bytes);
  if (!bytes.ok()) return named(bytes.status());
  header.resize(bytes.value());
  POP_RETURN_IF_ERROR(reader.read(0, std::as_writable_bytes(std::span(header.data(), header.size()))));
  pop::Result<std::vector<StoredTensor>> tensors = parseSafetensors(header, stored.bytes);
  if (!tensors.ok()) return named(tensors.status());
  Head head;
  for (StoredTensor& tensor : tensors.value()) head.emplace(tensor.spec.name, std::move(tensor));
  for (const Part& part : stored.parts) {
    const auto found = head.find(part.key());
    if (found == head.end() || found->second.spec.bytes() != part.bytes() ||
        found->second.spec.type != part.tensor.type) {
      return named({pop::Code::kDataLoss, "it has no " + pop::inQuotes(part.key()) + " of " +
                                              std::to_string(part.bytes()) + " bytes of type " +
                                              nameOf(part.tensor.type) + ", as the manifest says"});
    }
  }
  return head;
}

pop::Result<std::vector<Checkpoint::Impl::Copy>> Checkpoint::Impl::copiesFor(
    std::span<const Piece> pieces) const {
  std::vector<Copy> copies;
  std::map<std::size_t, Head> heads;  // one for each file that is needed
  for (const Piece& piece : pieces) {
    POP_ASSIGN_OR_RETURN(const Part wanted, partOf(piece));
    POP_RETURN_IF_ERROR(checkTensor(wanted));
    const std::size_t size = sizeOf(piece.type);
    for (const Place& place : places_.find(piece.name)->second) {
      const std::size_t from = std::max(wanted.first, place.part->first);
      const std::size_t to = std::min(wanted.end(), place.part->end());
      if (from >= to) continue;
      if (!heads.contains(place.file)) {
        POP_ASSIGN_OR_RETURN(heads[place.file], headOf(place.file));
      }
      copies.push_back(
          {.file = place.file,
           .at = heads[place.file].at(place.part->key()).begin + (from - place.part->first) * size,
           .into = piece.bytes.subspan((from - wanted.first) * size, (to - from) * size),
           .tensor = piece.name});
    }
  }
  std::sort(copies.begin(), copies.end(),
            [](const Copy& a, const Copy& b) { return std::pair(a.file, a.at) < std::pair(b.file, b.at); });
  return copies;
}

pop::Status Checkpoint::Impl::copy(std::span<const Copy> copies) const {
  std::optional<BlockReader> reader;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Copy& each = copies[i];
    const StoredFile& file = manifest_.files[each.file];
    if (i == 0 || copies[i - 1].file != each.file)
      reader.emplace(files_[each.file], file, directory_.pathOf(file.name));
    if (const pop::Status status = reader->read(each.at, each.into); !status.ok()) {
      return {status.code(),
              "the tensor " + pop::inQuotes(each.tensor) + " cannot be read: " + status.message()};
    }
  }
  return {};
}

pop::Status Checkpoint::Impl::load(std::span<const Piece> pieces) const {
  POP_ASSIGN_OR_RETURN(const std::vector<Copy> copies, copiesFor(pieces));
  return copy(copies);
}

}  // namespace popdist::train
