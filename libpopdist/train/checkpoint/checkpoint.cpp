// SPDX-License-Identifier: Apache-2.0
// Checkpoint: finding one, and opening it while a writer may delete it.
#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/base/text.h"
#include "common/sys/awake_clock.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/checkpoint/checkpoint_impl.h"
#include "libpopdist/train/checkpoint/store.h"

namespace popdist::train {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

using Opened = std::unique_ptr<Checkpoint::Impl>;

pop::Status noneThere(const std::string& directory) {
  return {pop::Code::kNotFound, "there is no complete checkpoint in " + pop::inQuotes(directory)};
}

std::string textOf(const std::vector<std::uint64_t>& steps) {
  std::vector<std::string> texts;
  for (const std::uint64_t step : steps) texts.push_back(std::to_string(step));
  return pop::join(texts, ", ");
}

/// The newest. nullptr: there is none above `step`.
pop::Result<Opened> openNewest(const std::string& directory, std::optional<std::uint64_t> step) {
  while (true) {
    POP_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> steps, completeSteps(directory));
    if (steps.empty() || (step && steps.back() <= *step)) return Opened();
    pop::Result<Opened> opened = Checkpoint::Impl::open(directory, steps.back());
    if (opened.ok()) return opened;
    // It may have been deleted meanwhile, since a newer one has become complete.
    POP_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> now, completeSteps(directory));
    if (std::find(now.begin(), now.end(), steps.back()) != now.end()) return opened.status();
  }
}

}  // namespace

Checkpoint Checkpoint::newest(const std::filesystem::path& directory) {
  pop::Result<Opened> opened = openNewest(directory.string(), {});
  throwIfError(opened.status(), "Checkpoint.newest");
  if (!opened.value()) throwIfError(noneThere(directory.string()), "Checkpoint.newest");
  return Checkpoint(std::move(opened).value());
}

Checkpoint Checkpoint::open(const std::filesystem::path& directory, std::uint64_t step) {
  pop::Result<Opened> opened = Impl::open(directory.string(), step);
  pop::Status status = opened.status();
  if (status.code() == pop::Code::kNotFound) {
    const auto steps = completeSteps(directory.string());
    const bool is_any = steps.ok() && !steps.value().empty();
    status = is_any ? pop::Status(pop::Code::kNotFound, "there is no complete checkpoint of step " +
                                                            std::to_string(step) + " in " +
                                                            pop::inQuotes(directory.string()) +
                                                            "; there are those of " + textOf(steps.value()))
                    : noneThere(directory.string());
  }
  throwIfError(status, "Checkpoint.open");
  return Checkpoint(std::move(opened).value());
}

std::optional<Checkpoint> Checkpoint::waitForNewer(const std::filesystem::path& directory,
                                                   std::optional<std::uint64_t> step,
                                                   std::chrono::milliseconds timeout) {
  using Clock = pop::sys::AwakeClock;
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);  // now + more would overflow
  const Clock::time_point deadline = Clock::now() + std::min(timeout, kLongest);
  while (true) {
    pop::Result<Opened> opened = openNewest(directory.string(), step);
    throwIfError(opened.status(), "Checkpoint.waitForNewer");
    if (opened.value()) return Checkpoint(std::move(opened).value());
    const Clock::duration left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return std::nullopt;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, kBetweenLooks));
  }
}

const Position& Checkpoint::position() const {
  return impl_->position();
}
const Spec& Checkpoint::tensors() const {
  return impl_->tensors();
}
std::uint64_t Checkpoint::digest() const {
  return impl_->digest();
}
void Checkpoint::load(std::span<const Piece> pieces) const {
  throwIfError(impl_->load(pieces), "Checkpoint.load");
}

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

std::vector<std::uint64_t> checkpointSteps(const std::filesystem::path& directory) {
  const auto steps = completeSteps(directory.string());
  throwIfError(steps.status(), "checkpointSteps");
  return steps.value();
}

}  // namespace popdist::train
