// SPDX-License-Identifier: Apache-2.0
// Checkpoints: what the caller's thread does, and the thread that writes.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/json.h"
#include "common/base/text.h"
#include "common/sys/blocked_signals.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/checkpoint/checkpoints_impl.h"

namespace popdist::train {
namespace {

std::unique_ptr<Communicator> communicatorOfAll(Context& context) {
  std::set<unsigned> all;
  for (int instance = 0; instance < context.numInstances(); ++instance)
    all.insert(static_cast<unsigned>(instance));
  return context.createCommunicator(all);
}

pop::Status checkOptions(const CheckpointOptions& options) {
  if (options.directory.empty()) return pop::invalidArgument("no directory is given");
  if (options.keep < 0) {
    return pop::invalidArgument("keep is " + std::to_string(options.keep) +
                                ": give 0 (all) or a number of checkpoints");
  }
  if (options.write_timeout < std::chrono::milliseconds(1))
    return pop::invalidArgument("write_timeout is less than a millisecond");
  return {};
}

std::string valueIn(const pop::JsonValue& object, const char* name) {
  const pop::JsonValue* const value = object.find(name);
  return value == nullptr || value->text() == nullptr ? "" : *value->text();
}

pop::Status checkSame(const std::vector<pop::JsonValue>& options, const char* option) {
  const std::string first = valueIn(options.front(), option);
  for (std::size_t instance = 1; instance < options.size(); ++instance) {
    const std::string other = valueIn(options[instance], option);
    if (other != first)
      return pop::failedPrecondition("CheckpointOptions::" + std::string(option) + " is " + first +
                                     " on instance 0 and " + other + " on instance " +
                                     std::to_string(instance) + ": give all instances the same");
  }
  return {};
}

pop::Status load(const Checkpoint& checkpoint, std::span<const Piece> pieces) {
  try {
    checkpoint.load(pieces);
    return {};
  } catch (...) {
    return currentException("a checkpoint does not fit", "a checkpoint");
  }
}

pop::Status checkPosition(const Position& at) {
  for (const auto& [name, value] : at.values) {
    if (pop::validUtf8(name) != name || pop::validUtf8(value) != value)
      return pop::invalidArgument("the value " + pop::inQuotes(name) + " is not UTF-8");
  }
  return {};
}

}  // namespace

CheckpointWriter::CheckpointWriter(Context& context, CheckpointOptions options, Watch watch)
    : context_(context),
      options_(std::move(options)),
      watch_(std::move(watch)),
      communicator_(communicatorOfAll(context)) {
  openStore(watch_);
  startThread();
}

/// All instances throw, or none.
void CheckpointWriter::openStore(Watch watch) {
  pop::Status opened = checkOptions(options_);
  if (opened.ok() && communicator_->rank() == 0) {
    pop::Result<Store> store = Store::open(options_.directory.string(), std::move(watch));
    opened = store.status();
    if (store.ok()) store_.emplace(std::move(store).value());
  }
  const std::string own = opened.ok() ? pop::JsonObject()
                                            .text("keep", std::to_string(options_.keep))
                                            .text("directory", options_.directory.lexically_normal().string())
                                            .str()
                                      : jsonOf(opened);
  const Agreed agreed = agree(*communicator_, "Checkpoints", own, context_.timeout());
  throwIfError(agreed.exchanged, "Checkpoints");
  throwIfError(agreed.outcome, "Checkpoints");
  for (const char* const option : {"keep", "directory"})
    throwIfError(checkSame(agreed.values, option), "Checkpoints");
}

void CheckpointWriter::startThread() {
  const pop::sys::BlockedSignals blocked;  // in the thread: signals are the program's business
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throwIfError({pop::Code::kResourceExhausted, "cannot start a thread: " + std::string(error.what())},
                 "Checkpoints");
  }
}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (!failure_.ok()) std::fprintf(stderr, "popdist: Checkpoints: %s\n", failure_.message().c_str());
}

void CheckpointWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return order_ || is_over_; });
    if (!order_) return;
    lock.unlock();
    const Outcome outcome = write(*order_);
    lock.lock();
    if (!outcome.saved.ok()) failure_ = describe(outcome.saved, order_->at.step);
    is_broken_ = is_broken_ || outcome.is_broken;
    order_.reset();
    changed_.notify_all();
  }
}

Outcome CheckpointWriter::write(const Order& order) {
  try {
    return Round(*communicator_, store_ ? &*store_ : nullptr, options_, watch_).run(order, snapshot_);
  } catch (...) {
    // The other instances wait in an exchange that this one has not reached.
    return {.saved = currentException("the list of pieces does not fit", "the file system"),
            .is_broken = true};
  }
}

pop::Status CheckpointWriter::describe(const pop::Status& why, std::uint64_t step) const {
  std::string text = "the checkpoint of step " + std::to_string(step) + " in " +
                     pop::inQuotes(options_.directory.string()) + " is not complete: " + why.message();
  const auto steps = completeSteps(options_.directory.string());
  if (steps.ok() && !steps.value().empty())
    text += "; the newest complete one is of step " + std::to_string(steps.value().back());
  return {why.code(), text};
}

void CheckpointWriter::awaitTurn(const char* function) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !order_; });
  const pop::Status failure = std::exchange(failure_, {});
  throwIfError(failure, function);
  if (!is_broken_) return;
  throwIfError(pop::failedPrecondition("an earlier call has ended its communicator: make a new object"),
               function);
}

void CheckpointWriter::prepare(std::span<const Piece> pieces) {
  awaitTurn("Checkpoints.prepare");
  throwIfError(snapshot_.prepare(pieces), "Checkpoints.prepare");
}

void CheckpointWriter::save(std::span<const Piece> pieces, const Position& at) {
  awaitTurn("Checkpoints.save");
  pop::Status taken = checkPosition(at);
  if (taken.ok()) taken = snapshot_.take(pieces);
  // Several instances hear of a failure at the same call, the next one: those that have thrown at different
  // calls would save at different ones from then on.
  if (communicator_->size() == 1) throwIfError(taken, "Checkpoints.save");
  {
    const std::lock_guard lock(mutex_);
    order_ = Order{.taken = taken, .at = at, .start_timeout = context_.timeout()};
  }
  changed_.notify_all();
}

void CheckpointWriter::wait() {
  awaitTurn("Checkpoints.wait");
}

bool CheckpointWriter::isWriting() const {
  const std::lock_guard lock(mutex_);
  return order_.has_value();
}

/// `newest`: what instance 0 has found; "": none.
pop::Result<std::optional<Checkpoint>> CheckpointWriter::open(const std::string& newest,
                                                              const Accept& accept) const {
  if (newest.empty()) return std::optional<Checkpoint>();
  std::uint64_t step = 0;
  std::from_chars(newest.data(), newest.data() + newest.size(), step);
  try {
    std::optional<Checkpoint> checkpoint = Checkpoint::open(options_.directory, step);
    if (accept) accept(checkpoint->position());
    return checkpoint;
  } catch (...) {
    return currentException("a checkpoint does not fit", "a checkpoint");
  }
}

std::vector<pop::JsonValue> CheckpointWriter::agreed(const std::string& own, const char* function) {
  Agreed answer = agree(*communicator_, function, own, options_.write_timeout);
  if (!answer.exchanged.ok()) is_broken_ = true;
  throwIfError(answer.exchanged, function);
  throwIfError(answer.outcome, function);
  return std::move(answer.values);
}

/// All instances have opened the same one, or none.
void CheckpointWriter::requireOne(const pop::Result<std::optional<Checkpoint>>& opened,
                                  const char* function) {
  const auto digestOf = [](const std::optional<Checkpoint>& checkpoint) {
    return checkpoint ? std::to_string(checkpoint->digest()) : "";
  };
  const std::vector<pop::JsonValue> all =
      agreed(opened.ok() ? pop::JsonObject().text("digest", digestOf(opened.value())).str()
                         : jsonOf(opened.status()),
             function);
  for (std::size_t instance = 1; instance < all.size(); ++instance) {
    const pop::JsonValue* const first = all.front().find("digest");
    const pop::JsonValue* const other = all[instance].find("digest");
    if (first != nullptr && other != nullptr && first->text() != nullptr && other->text() != nullptr &&
        *first->text() == *other->text())
      continue;
    throwIfError(pop::failedPrecondition(
                     "the newest checkpoint in " + pop::inQuotes(options_.directory.string()) +
                     " is another on instance " + std::to_string(instance) +
                     " than on instance 0: CheckpointOptions::directory must be one that all of them share"),
                 function);
  }
}

std::optional<Position> CheckpointWriter::resume(std::span<const Piece> pieces, const Accept& accept) {
  constexpr const char* kFunction = "Checkpoints.resume";
  awaitTurn(kFunction);
  std::string own = "{}";
  if (store_) {
    const auto steps = completeSteps(options_.directory.string());
    const bool is_any = steps.ok() && !steps.value().empty();
    own = !steps.ok()
              ? jsonOf(steps.status())
              : pop::JsonObject().text("newest", is_any ? std::to_string(steps.value().back()) : "").str();
  }
  const std::vector<pop::JsonValue> found = agreed(own, kFunction);
  const pop::JsonValue* const newest = found.front().find("newest");
  const pop::Result<std::optional<Checkpoint>> opened =
      open(newest == nullptr || newest->text() == nullptr ? "" : *newest->text(), accept);
  requireOne(opened, kFunction);
  if (!opened.value()) return std::nullopt;
  agreed(jsonOf(load(*opened.value(), pieces)), kFunction);
  const Position& position = opened.value()->position();
  if (store_) store_->adoptUpTo(position.step);
  return position;
}

// ---- Checkpoints

Checkpoints::Checkpoints(Context& context, CheckpointOptions options)
    : impl_(std::make_unique<Impl>(context, std::move(options))) {}
Checkpoints::Checkpoints(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoints::~Checkpoints() = default;

std::optional<Position> Checkpoints::resume(std::span<const Piece> pieces,
                                            const std::function<void(const Position&)>& accept) {
  return impl_->writer("Checkpoints.resume").resume(pieces, accept);
}
void Checkpoints::prepare(std::span<const Piece> pieces) {
  impl_->writer("Checkpoints.prepare").prepare(pieces);
}
void Checkpoints::save(std::span<const Piece> pieces, const Position& at) {
  impl_->writer("Checkpoints.save").save(pieces, at);
}
void Checkpoints::wait() {
  impl_->writer("Checkpoints.wait").wait();
}
void Checkpoints::setEvaluated(std::uint64_t step) {
  impl_->writer("Checkpoints.setEvaluated").setEvaluated(step);
}
std::optional<std::uint64_t> Checkpoints::evaluated() {
  return impl_->writer("Checkpoints.evaluated").evaluated();
}
bool Checkpoints::isWriting() const {
  return impl_->writer("Checkpoints.isWriting").isWriting();
}

}  // namespace popdist::train
