// SPDX-License-Identifier: Apache-2.0
#include "runner/program/follower.h"

#include <algorithm>

#include <utility>
#include "common/contract/record_streams.h"

namespace pop::runner {
namespace {

// More is as good as no limit, and sums of it do not overflow.
constexpr std::int64_t kMostCredit = std::int64_t{1} << 60;

std::int64_t costOf(const Record& record) {
  return contract::creditOf(record.bytes.size());
}

// An unreadable directory ends when it is read.
std::uint64_t endOf(const std::string& directory) {
  const Result<std::uint64_t> last = lastSequenceIn(directory);
  return last.ok() ? last.value() : ~std::uint64_t{0};
}

}  // namespace

Follower::Follower(std::string directory, const ::popdist::v1::Follow& order)
    : directory_(std::move(directory)),
      from_(std::max<std::uint64_t>(order.from_sequence(), 1)),
      reads_(order.events_only() ? Reads::kEvents : Reads::kAll) {
  if (order.until_now()) until_ = endOf(directory_);
  addCredit(order.credit_bytes());
}

void Follower::addCredit(std::int64_t bytes) {
  if (bytes > 0) credit_ = std::min(credit_, kMostCredit) + std::min(bytes, kMostCredit);
}

// True if there is a next one.
Result<bool> Follower::hold() {
  if (held_) return true;
  if (!looks_) return false;
  if (!reader_) {
    POP_ASSIGN_OR_RETURN(reader_, RecordReader::open(directory_, from_, reads_));
  }
  POP_ASSIGN_OR_RETURN(held_, reader_->next());
  if (held_ && until_ && held_->sequence > *until_) held_.reset();
  looks_ = held_.has_value();
  return looks_;
}

Status Follower::take(std::size_t batch_bytes, ::popdist::v1::Records& into) {
  std::size_t taken = 0;
  while (credit_ > 0 && taken < batch_bytes) {
    POP_ASSIGN_OR_RETURN(const bool has_next, hold());
    if (!has_next) break;
    const std::int64_t cost = costOf(*held_);
    if (taken > 0 && taken + static_cast<std::size_t>(cost) > kMostBatchBytes) break;
    ::popdist::v1::StoredRecord& record = *into.add_records();
    record.set_sequence(held_->sequence);
    record.set_kind(static_cast<int>(held_->kind));
    record.set_bytes(std::move(held_->bytes));
    held_.reset();
    credit_ -= cost;
    taken += static_cast<std::size_t>(cost);
  }
  return {};
}

Result<bool> Follower::isAtEnd() {
  POP_ASSIGN_OR_RETURN(const bool has_next, hold());
  return !has_next;
}

}  // namespace pop::runner
