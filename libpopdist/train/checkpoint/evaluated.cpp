// SPDX-License-Identifier: Apache-2.0
// Checkpoints: which state of the training has been evaluated, in a small file of the directory.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>

#include "common/base/json.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/checkpoint/checkpoints_impl.h"
#include "libpopdist/train/checkpoint/disk_file.h"

namespace popdist::train {
namespace {

constexpr const char* kName = "evaluated";
constexpr const char* kPartialName = "evaluated.partial";

pop::Status writeStep(const std::string& path, std::uint64_t step) {
  POP_ASSIGN_OR_RETURN(const Directory directory, openDirectory(path));
  ::unlinkat(directory.fd.get(), kPartialName, 0);  // left by a writer that has died
  POP_RETURN_IF_ERROR(writeText(directory, kPartialName, std::to_string(step) + '\n'));
  if (::renameat(directory.fd.get(), kPartialName, directory.fd.get(), kName) != 0)
    return cannot("name", directory.pathOf(kName), errno);
  return syncDirectory(directory);
}

/// "" if there is none, or none that this function can read: then it counts as not evaluated.
std::string readStep(const std::string& path) {
  const pop::Result<std::string> text = pop::sys::readFile(path + '/' + kName);
  return text.ok() ? text.value() : "";
}

}  // namespace

void CheckpointWriter::setEvaluated(std::uint64_t step) {
  if (communicator_->rank() != 0) return;
  throwIfError(writeStep(options_.directory.string(), step), "Checkpoints.setEvaluated");
}

std::optional<std::uint64_t> CheckpointWriter::evaluated() {
  constexpr const char* kFunction = "Checkpoints.evaluated";
  awaitTurn(kFunction);
  const std::string own =
      store_ ? pop::JsonObject().text("evaluated", readStep(options_.directory.string())).str() : "{}";
  const std::vector<pop::JsonValue> found = agreed(own, kFunction);
  const pop::JsonValue* const text = found.front().find("evaluated");
  if (text == nullptr || text->text() == nullptr) return std::nullopt;
  const std::string& digits = *text->text();
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || std::string_view(end) != "\n") return std::nullopt;
  return step;
}

}  // namespace popdist::train
