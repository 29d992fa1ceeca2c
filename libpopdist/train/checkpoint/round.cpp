// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/round.h"

#include <utility>

#include "common/base/json.h"
#include "common/base/text.h"

namespace popdist::train {
namespace {

pop::Status checkSame(const Position& first, const Position& other, std::size_t instance) {
  Position same = other;
  same.values = first.values;
  if (same == first) return {};
  const auto text = [](const Position& at) {
    return "step " + std::to_string(at.step) + ", epoch " + std::to_string(at.epoch) + ", " +
           pop::counted(static_cast<std::int64_t>(at.samples), "sample") + ", seed " +
           std::to_string(at.seed);
  };
  return pop::invalidArgument("instances are at different positions: instance 0 at " + text(first) +
                              ", instance " + std::to_string(instance) + " at " + text(other));
}

}  // namespace

std::string Round::proposal(const Order& order, const Snapshot& snapshot, const pop::Status& begun) const {
  if (!order.taken.ok()) return jsonOf(order.taken);
  if (!begun.ok()) return jsonOf(begun);
  return pop::JsonObject().json("position", jsonOf(order.at)).json("pieces", jsonOf(snapshot.parts())).str();
}

pop::Result<Round::Plan> Round::planOf(const std::vector<pop::JsonValue>& proposals) {
  Plan plan;
  std::vector<Part> all;
  for (std::size_t instance = 0; instance < proposals.size(); ++instance) {
    const pop::JsonValue* const position = proposals[instance].find("position");
    const pop::JsonValue* const pieces = proposals[instance].find("pieces");
    if (position == nullptr || pieces == nullptr)
      return pop::internalError("an instance says nothing of its pieces");
    POP_ASSIGN_OR_RETURN(const Position at, positionFrom(*position));
    if (instance == 0) plan.at = at;
    POP_RETURN_IF_ERROR(checkSame(plan.at, at, instance));
    POP_ASSIGN_OR_RETURN(std::vector<Part> parts, partsFrom(*pieces));
    all.insert(all.end(), parts.begin(), parts.end());
    plan.parts.push_back(std::move(parts));
  }
  const pop::Result<Spec> whole = wholeTensors(std::move(all));
  if (!whole.ok()) return whole.status();
  return plan;
}

pop::Result<StoredFile> Round::write(const Order& order, const Snapshot& snapshot) const {
  const std::string path = options_.directory.string() + '/' + partialName(order.at.step);
  pop::Result<Directory> partial = openDirectory(path);
  if (!partial.ok()) {
    const bool is_lost = partial.code() == pop::Code::kNotFound;
    return pop::Status(partial.code(),
                       partial.status().message() +
                           (is_lost ? ": the directory must be on a file system that all hosts share" : ""));
  }
  StoredFile file{.name = shardName(communicator_.rank(), communicator_.size()),
                  .bytes = snapshot.file().size(),
                  .block_crcs = {},
                  .parts = {}};
  if (watch_) watch_("file");
  POP_ASSIGN_OR_RETURN(file.block_crcs, writePages(partial.value(), file.name, snapshot.file()));
  if (watch_) watch_("file is written");
  return file;
}

pop::Status Round::commit(const Plan& plan, const std::vector<pop::JsonValue>& files) const {
  Manifest manifest{.position = plan.at, .files = {}};
  for (std::size_t instance = 0; instance < files.size(); ++instance) {
    POP_ASSIGN_OR_RETURN(StoredFile file, storedFileFrom(files[instance]));
    file.parts = plan.parts[instance];
    manifest.files.push_back(std::move(file));
  }
  return store_->commit(manifest);
}

Outcome Round::run(const Order& order, const Snapshot& snapshot) {
  const std::uint64_t step = order.at.step;
  const pop::Status begun = store_ != nullptr && order.taken.ok() ? store_->begin(step) : pop::Status();
  const bool has_begun = store_ != nullptr && order.taken.ok() && begun.ok();
  const auto failed = [&](pop::Status why) {
    if (has_begun) store_->abandon(step);
    return Outcome{.saved = std::move(why), .is_broken = false};
  };
  const Agreed proposed =
      agree(communicator_, "Checkpoints.save", proposal(order, snapshot, begun), order.start_timeout);
  if (!proposed.exchanged.ok()) return {.saved = proposed.exchanged, .is_broken = true};
  if (!proposed.outcome.ok()) return failed(proposed.outcome);
  const pop::Result<Plan> plan = planOf(proposed.values);
  if (!plan.ok()) return failed(plan.status());

  const pop::Result<StoredFile> file = write(order, snapshot);
  const Agreed written =
      agree(communicator_, "Checkpoints.save, written",
            file.ok() ? jsonOf(file.value()) : jsonOf(file.status()), options_.write_timeout);
  if (!written.exchanged.ok()) return {.saved = written.exchanged, .is_broken = true};
  if (!written.outcome.ok()) return failed(written.outcome);

  const pop::Status committed = store_ != nullptr ? commit(plan.value(), written.values) : pop::Status();
  const Agreed complete =
      agree(communicator_, "Checkpoints.save, complete", jsonOf(committed), options_.write_timeout);
  if (!complete.exchanged.ok()) return {.saved = complete.exchanged, .is_broken = true};
  if (!complete.outcome.ok()) return failed(complete.outcome);
  if (store_ != nullptr) store_->prune(options_.keep);
  return {};
}

}  // namespace popdist::train
