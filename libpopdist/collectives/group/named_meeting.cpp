// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/named_meeting.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/text.h"

namespace popdist::group {

using context::LinkError;
using pop::contract::Frame;
using transport::SealedFrames;
using transport::SocketSleeper;

namespace {

constexpr std::chrono::microseconds kLongestPause{10'000};

Frame frameOf(DoorMessage type, std::vector<std::string> fields = {}) {
  return {static_cast<std::uint8_t>(type), std::move(fields)};
}

bool isA(DoorMessage type, const Frame& frame) {
  return static_cast<DoorMessage>(frame.type) == type;
}

}  // namespace

Frame failedFrame(const LinkError& error) {
  return frameOf(DoorMessage::kFailed, {std::to_string(static_cast<int>(error.status.code())),
                                        std::to_string(error.instance), error.status.message()});
}

// ---- a connection to another door

// A door that is not there is not there yet: the end of its instance is noticed by its end notice.
bool Visit::isUp(SocketSleeper& sleeper) {
  if (stream_ && !stream_->isGone()) return true;
  stream_.reset();
  const Clock::time_point now = Clock::now();
  if (!dialler_ && now < next_try_) return false;
  const auto tryAgain = [&](const pop::Status& why) {
    trouble_ = why;
    dialler_.reset();
    next_try_ = now + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    return false;
  };
  if (!dialler_) {
    pop::Result<transport::Dialler> dialler = ways_.dial(instance_);
    if (!dialler.ok()) return tryAgain(dialler.status());
    dialler_.emplace(std::move(*dialler));
  }
  pop::Result<std::optional<transport::AcceptedStream>> up = ways_.advance(*dialler_, instance_);
  if (!up.ok()) return tryAgain(up.status());
  if (!up->has_value()) return false;
  dialler_.reset();
  stream_.emplace(std::move(**up), SealedFrames::Side::kDialler);
  stream_->send(first_);
  stream_->flush(sleeper);
  return was_up_ = true;
}

std::optional<Frame> Visit::next(SocketSleeper& sleeper) {
  stream_->flush(sleeper);
  return stream_->next(sleeper);
}

// ---- the meeting

NamedMeeting::NamedMeeting(const Visit::Ways& ways, const Proposal& own, int instance, TakeNumber take_number)
    : ways_(ways), own_(own), instance_(instance), take_number_(std::move(take_number)) {
  if (leads())
    come_.emplace(instance, own.offers);
  else
    leader_.emplace(ways, own.leader(), frameOf(DoorMessage::kCome, own.toFields()));
}

void NamedMeeting::turn(SocketSleeper& sleeper, bool is_long) {
  if (failure_) return;
  if (leads())
    lead(sleeper, is_long);
  else if (!made_)
    follow(sleeper);
}

bool NamedMeeting::triesAgainSoon() const {
  const auto soon = [](const auto& each) { return each.second.triesAgainSoon(); };
  return (leader_ && leader_->triesAgainSoon()) || std::any_of(asked_.begin(), asked_.end(), soon);
}

void NamedMeeting::welcome(int instance, Proposal theirs, SealedFrames stream) {
  come_.insert_or_assign(instance, std::move(theirs.offers));
  std::erase_if(guests_, [instance](const Guest& guest) { return guest.instance == instance; });
  guests_.push_back({instance, std::move(stream)});
  asked_.erase(instance);
}

void NamedMeeting::lead(SocketSleeper& sleeper, bool is_long) {
  for (auto guest = guests_.begin(); guest != guests_.end() && !made_ && !failure_;) {
    const auto each = guest++;
    if (const std::optional<Frame> frame = each->stream.next(sleeper)) {
      hear(each, *frame);
    } else if (each->stream.isGone()) {
      come_.erase(each->instance);  // it has given up
      guests_.erase(each);
    }
  }
  if (failure_) return;
  if (!made_ && come_.size() == own_.instance_of_rank.size()) make();
  if (!made_ && is_long) askMissing(sleeper);
  if (!made_) return;
  for (Guest& guest : guests_) guest.stream.flush(sleeper);
  std::erase_if(guests_, [](const Guest& guest) { return !guest.stream.hasUnsent(); });
}

void NamedMeeting::hear(std::list<Guest>::iterator guest, const Frame& frame) {
  if (isA(DoorMessage::kFailed, frame) && failsBy(frame)) return fail(LinkError(*failure_));
  if (isA(DoorMessage::kLate, frame)) guest->stream.send(failedFrame(whoIsMissing()));
  come_.erase(guest->instance);
  guests_.erase(guest);
}

void NamedMeeting::make() {
  made_ = true;
  number_ = take_number_();
  for (auto& [instance, offers] : come_) offers_.merge(offers);
  std::vector<std::string> fields{std::to_string(number_)};
  appendValues(offers_, fields);
  for (Guest& guest : guests_) guest.stream.send(frameOf(DoorMessage::kMade, fields));
}

// One that is in no such call hears it when it comes.
void NamedMeeting::askMissing(SocketSleeper& sleeper) {
  for (const int instance : own_.instance_of_rank) {
    if (come_.contains(instance) || asked_.contains(instance)) continue;
    Proposal question = own_;
    question.offers.clear();
    asked_.try_emplace(instance, ways_, instance, frameOf(DoorMessage::kAsk, question.toFields()));
  }
  for (auto& [instance, visit] : asked_) {
    if (!visit.isUp(sleeper)) continue;
    const std::optional<Frame> frame = visit.next(sleeper);
    if (frame && failsBy(*frame)) return fail(LinkError(*failure_));
  }
}

void NamedMeeting::follow(SocketSleeper& sleeper) {
  if (!leader_->isUp(sleeper)) return;
  const std::optional<Frame> frame = leader_->next(sleeper);
  if (frame && !failsBy(*frame) && !accept(*frame))
    failure_ = {pop::internalError("instance " + std::to_string(own_.leader()) + " answers what it may not")};
}

bool NamedMeeting::accept(const Frame& frame) {
  if (!isA(DoorMessage::kMade, frame)) return false;
  pop::Result<int> number = pop::contract::numberField(frame, 0);
  std::optional<context::Link::Values> offers = valuesFrom(frame.fields, 1);
  if (!number.ok() || !offers) return false;
  number_ = *number;
  offers_ = std::move(*offers);
  return made_ = true;
}

bool NamedMeeting::failsBy(const Frame& frame) {
  if (!isA(DoorMessage::kFailed, frame) || frame.fields.size() != 3) return false;
  pop::Result<int> code = pop::contract::numberField(frame, 0);
  pop::Result<std::int64_t> instance = pop::parseInteger(frame.fields[1]);
  const bool known = code.ok() && *code > 0 && *code <= static_cast<int>(pop::Code::kDataLoss);
  const bool named = instance.ok() && *instance >= 0 && *instance <= INT32_MAX;
  failure_ = {{known ? static_cast<pop::Code>(*code) : pop::Code::kUnknown, frame.fields[2]},
              named ? static_cast<int>(*instance) : -1};
  return true;
}

void NamedMeeting::fail(const LinkError& error) {
  failure_ = error;
  for (Guest& guest : guests_) guest.stream.send(failedFrame(error));
  guests_.clear();
  if (leader_) leader_->send(failedFrame(error));
}

void NamedMeeting::timeIsUp(bool is_last) {
  if (isOver()) return;
  if (made_) return guests_.clear();  // they do not take their answers
  if (leads() || is_last || !leader_->wasUp()) return fail(whoIsMissing());
  if (!std::exchange(said_late_, true)) leader_->send(frameOf(DoorMessage::kLate));
}

// On a follower whose leader does not answer, that is the one.
LinkError NamedMeeting::whoIsMissing() const {
  std::vector<std::string> missing;
  int first = -1;
  for (const int instance : own_.instance_of_rank) {
    if (leads() ? come_.contains(instance) : instance != own_.leader()) continue;
    if (first < 0) first = instance;
    missing.push_back(std::to_string(instance));
  }
  std::string text = missing.size() == 1 ? "instance " + missing[0] + " has"
                                         : "instances " + pop::join(missing, ", ") + " have";
  text += " not come in time to make " + pop::inQuotes(own_.name) + " (Context::setTimeout)";
  if (leader_ && !leader_->trouble().ok()) text += ": " + leader_->trouble().message();
  return {{pop::Code::kDeadlineExceeded, std::move(text)}, first};
}

}  // namespace popdist::group
