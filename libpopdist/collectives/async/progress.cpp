// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/async/progress.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "common/sys/blocked_signals.h"
#include "popdist/error.hpp"

namespace popdist::async {
namespace {

using std::chrono::milliseconds;

// While a call waits for other members, a round now and then finds out who has ended and whose deadline has
// passed.
constexpr milliseconds kWhileWaiting{20};
constexpr milliseconds kIdle{60'000};
// A member that others wait for, or that waits for nothing, begins these rounds; less often while nothing is
// announced. That delays no call: a call is carried out when all have issued it, and issuing it begins a
// round.
constexpr milliseconds kMinBetweenRounds{1};
constexpr milliseconds kMaxBetweenRounds{50};
// Beyond a call's deadline: a round can name the members that missed it, which the deadline of the round
// itself cannot.
constexpr milliseconds kRoundSlack{1000};

group::CollectiveCall named(group::CollectiveCall call, const std::string& name) {
  call.tensor = name;
  return call;
}

}  // namespace

void checkIssue(Communicator& communicator, const std::string& name, const group::CollectiveCall& call) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    communicator.impl().refuse(call, "its name has " + std::to_string(name.size()) +
                                         " bytes, expected 1 to " + std::to_string(kMaxNameBytes));
  }
  communicator.impl().check(named(call, name));
}

Progress::Progress(std::unique_ptr<Communicator>&& communicator)
    : communicator_(std::move(communicator)),
      agreement_(communicator_->size()),
      sizes_(static_cast<std::size_t>(communicator_->size())) {
  const pop::sys::BlockedSignals blocked;  // in the thread: signals are the program's business
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (...) {
    communicator = std::move(communicator_);
    throw;
  }
}

Progress::~Progress() {
  if (fork_ != pop::sys::forksOfThisProcess()) {
    thread_.detach();  // a forked child has no such thread
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_ = true;
  group().path().wake();
  thread_.join();
}

void Progress::abort(const pop::Status& why, int instance) {
  const std::vector<int>& instances = group().members().instances();
  const auto cause = std::find(instances.begin(), instances.end(), instance);
  {
    const std::lock_guard lock(mutex_);
    if (!aborting_)
      aborting_ = {.status = why,
                   .peer_rank = cause == instances.end() ? -1 : static_cast<int>(cause - instances.begin())};
  }
  changed_ = true;
  group().path().wake();
}

// ---- for the callers

Progress::State Progress::submit(const std::string& name, group::CollectiveCall call,
                                 std::optional<milliseconds> timeout, std::function<void()> on_result) {
  const char* const operation = nameOf(call.operation);
  Communicator::Impl& impl = communicator_->impl();
  const auto fail = [&](ErrorCode code, const std::string& why, int peer = -1) {
    group().fail({operation, std::string(operation) + " '" + name + '\''},
                 {static_cast<pop::Code>(code), why}, peer);
  };
  if (fork_ != pop::sys::forksOfThisProcess())
    fail(ErrorCode::kFailedPrecondition, "this process was forked from the one that owns the communicator");
  checkIssue(*communicator_, name, call);
  if (timeout && timeout->count() < 1)
    impl.refuse(named(call, name), "the timeout must be at least a millisecond");

  const auto state = std::make_shared<Pending::State>(
      name, call, std::min(timeout.value_or(group().timeout()), context::kLongestTimeout));
  state->on_result = std::move(on_result);
  {
    const std::lock_guard lock(mutex_);
    if (ended_)
      fail(ended_->code(), std::string("the communicator has ended: ") + ended_->what(), ended_->peer());
    if (!pending_.emplace(name, state).second)
      fail(ErrorCode::kAlreadyExists, "a call with that name is still pending");
    unannounced_.push_back({name, keyOf(call).packed(), agreedCount(call)});
  }
  changed_ = true;
  group().path().wake();
  return state;
}

// ---- the thread

void Progress::loop() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
    }
    try {
      if (awaitRound()) round();
    } catch (const popdist_error& error) {
      end(error);  // the communicator's error: the others hear of it
    } catch (const std::exception& error) {
      abort_message_ =
          AbortMessage{.status = pop::internalError(error.what())};  // our own error: they must be told
    }
  }
}

// If a member cannot see that another has begun a round, a member that only waits for others waits inside a
// round, so that it learns at once what they issue. Two members that wait for each other must not: each would
// join every round of the other, endlessly.
bool Progress::beginsAtOnce() const {
  const int own = communicator_->rank();
  return agreement_.awaitsOthers(own) && (had_news_ || !agreement_.isAwaited(own));
}

bool Progress::awaitRound() {
  if (abort_message_ || (!group().path().sharesMemory() && beginsAtOnce())) return true;
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    waits = !pending_.empty();
  }
  milliseconds limit = waits ? kWhileWaiting : kIdle;
  if (!group().path().sharesMemory()) limit = std::min(limit, between_rounds_);
  const bool begun = group().path().awaitNext([this] { return changed_.load(); }, limit);
  return begun || waits || changed_;
}

void Progress::round() {
  const std::vector<Message> messages = exchange();
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    for (const Announcement& call : messages[rank].announcements)
      agreement_.add(static_cast<int>(rank), call);
  }
  group().path().setDeadline({});
  std::optional<AbortMessage> late = lateCall();  // now that all have been heard
  carryOutAgreed();
  if (in_order_) requireOrder();
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    if (messages[rank].abort_message) return end(static_cast<int>(rank), *messages[rank].abort_message);
  }
  abort_message_ = std::move(late);
}

void Progress::carryOutAgreed() {
  const auto names = [this](int rank) { return group().nameOfRank(rank); };
  const std::vector<Agreed> all = agreement_.takeAgreed(names);
  if (all.empty()) return;
  busy_ = Busy{.since = Clock::now(), .until = Clock::now()};
  for (const Agreed& agreed : all) carryOut(agreed);
}

// All members find the same.
void Progress::requireOrder() {
  const auto found = agreement_.contradiction([this](int rank) { return group().nameOfRank(rank); });
  if (!found) return;
  const int own = communicator_->rank();
  throw popdist_error(ErrorCode::kFailedPrecondition, found->text,
                      {.rank = own,
                       .peer = group().members().instanceOf(found->odd_rank == own ? 0 : found->odd_rank),
                       .operation = ""});
}

// Exchanges the messages of all ranks. Most are empty or short, so the sizes go first, which fit into a call
// slot.
std::vector<Message> Progress::exchange() {
  group().path().setDeadline([this] { return roundDeadline(); });
  const Message own_message = ownMessage();
  const pop::Result<std::string> encoded = encode(own_message);
  if (!encoded.ok()) throw std::runtime_error(encoded.status().message());
  std::string own = encoded.value();
  const std::uint64_t own_bytes = own.size();
  communicator_->allGather(&own_bytes, sizes_.data(), 1, Type::kUint64,
                           {.timeout = context::kLongestTimeout});
  endBusy();
  const std::size_t largest = *std::max_element(sizes_.begin(), sizes_.end());
  std::vector<Message> messages(sizes_.size());
  had_news_ = largest > 0;
  between_rounds_ = largest == 0 ? std::min(2 * between_rounds_, kMaxBetweenRounds) : kMinBetweenRounds;
  if (largest == 0) return messages;
  own.resize(largest);
  bodies_.resize(largest * sizes_.size());
  communicator_->allGather(own.data(), bodies_.data(), largest, Type::kUint8,
                           {.timeout = context::kLongestTimeout});
  for (std::size_t rank = 0; rank < sizes_.size(); ++rank) {
    pop::Result<Message> message = decode(std::string_view(bodies_).substr(rank * largest, sizes_[rank]));
    if (!message.ok()) throw std::runtime_error(message.status().message());
    messages[rank] = std::move(*message);
  }
  return messages;
}

Message Progress::ownMessage() {
  changed_ = false;  // before the look: what is issued from now on is for the next round
  const std::lock_guard lock(mutex_);
  Message message{std::exchange(unannounced_, {}), std::exchange(abort_message_, std::nullopt)};
  if (aborting_) message.abort_message = aborting_;
  if (leaving_ && !message.abort_message) {
    message.abort_message = {.status = pop::failedPrecondition(group().nameOfRank(communicator_->rank()) +
                                                               " destroyed its AsyncCommunicator"),
                             .peer_rank = communicator_->rank()};
  }
  return message;
}

// The earliest deadline, including calls issued during the round. None while there is no call: the round may
// be waiting for a member that has not made its own communicator yet.
Progress::Clock::time_point Progress::roundDeadline() {
  const auto deadline = earliestDeadline();
  if (!deadline) return Clock::time_point::max();
  return (busy_ ? std::max(*deadline, busy_->until) : *deadline) + kRoundSlack;
}

std::optional<Progress::Clock::time_point> Progress::earliestDeadline() {
  const std::lock_guard lock(mutex_);
  std::optional<Clock::time_point> earliest;
  for (const auto& [name, state] : pending_) {
    if (!state->deadline) state->deadline = Clock::now() + state->timeout;
    if (!earliest || *state->deadline < *earliest) earliest = state->deadline;
  }
  if (leaving_ && !leave_by_) leave_by_ = Clock::now() + group().timeout();
  if (leaving_) earliest = std::min(earliest.value_or(*leave_by_), *leave_by_);
  return earliest;
}

void Progress::carryOut(const Agreed& agreed) {
  State state;
  {
    const std::lock_guard lock(mutex_);
    state = pending_.at(agreed.name);
  }
  if (!agreed.mismatch.empty()) {
    // The rank that differs blames rank 0; all others blame it.
    const int own = communicator_->rank();
    const int blamed = agreed.odd_rank == own ? 0 : agreed.odd_rank;
    return finish(state,
                  popdist_error(ErrorCode::kFailedPrecondition, describe(state) + ": " + agreed.mismatch,
                                {.rank = own,
                                 .peer = group().members().instanceOf(blamed),
                                 .operation = nameOf(state->call.operation)}));
  }
  busy_->until = Clock::now() + state->timeout;
  communicator_->impl().run(state->call, {.tensor = state->name, .timeout = state->timeout});
  if (state->on_result) state->on_result();
  finish(state, std::nullopt);
}

// The other members could not be heard while this or another one was busy, so none of them counts as late.
void Progress::endBusy() {
  if (!busy_) return;
  const Clock::duration time = Clock::now() - busy_->since;
  busy_.reset();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, state] : pending_) {
    if (state->deadline) *state->deadline += time;
  }
  if (leave_by_) *leave_by_ += time;
}

// Includes the rank that gets the error.
std::string Progress::describe(const State& state) {
  return state->describe() + " on " + group().nameOfRank(communicator_->rank());
}

// The name is free before any thread learns that the call is done.
void Progress::finish(const State& state, std::optional<popdist_error> error) {
  {
    const std::lock_guard lock(mutex_);
    pending_.erase(state->name);
  }
  state->finish(std::move(error));
}

// ---- the end

// The abort message for a call whose deadline has passed and that some members have not announced.
std::optional<AbortMessage> Progress::lateCall() {
  const auto now = Clock::now();
  if (earliestDeadline().value_or(Clock::time_point::max()) > now) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, state] : pending_) {
    const std::vector<int> without = agreement_.ranksWithout(name);
    if (state->deadline.value_or(Clock::time_point::max()) > now || without.empty()) continue;
    return AbortMessage{.status = {pop::Code::kDeadlineExceeded,
                                   "the deadline has passed (Context::setTimeout): " + state->describe() +
                                       " was not issued by " +
                                       agreement_.describeRanksWithout(
                                           name, [this](int rank) { return group().nameOfRank(rank); })},
                        .peer_rank = without.front()};
  }
  return std::nullopt;
}

void Progress::end(int rank, const AbortMessage& abort_message) {
  const bool own = rank == communicator_->rank();
  const bool leaves = abort_message.peer_rank == rank;
  const std::string& text = abort_message.status.message();
  const int blamed = abort_message.peer_rank < 0 ? -1 : group().members().instanceOf(abort_message.peer_rank);
  if (!own) group().members().context().toldBy(blamed);
  end(popdist_error(static_cast<ErrorCode>(abort_message.status.code()),
                    own || leaves ? text : group().nameOfRank(rank) + " aborted the communicator: " + text,
                    {.rank = communicator_->rank(), .peer = blamed, .operation = ""}));
}

void Progress::end(const popdist_error& cause) {
  std::map<std::string, State> left;
  const std::string why = cause.cause();
  {
    const std::lock_guard lock(mutex_);
    ended_.emplace(cause.code(), why, popdist_error::Where{.peer = cause.peer(), .operation = ""});
    left.swap(pending_);
  }
  for (const auto& [name, state] : left) {
    state->finish(popdist_error(
        cause.code(), describe(state) + ": " + why,
        {.rank = communicator_->rank(), .peer = cause.peer(), .operation = nameOf(state->call.operation)}));
  }
}

}  // namespace popdist::async
