// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/etcd_place.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pop::popdistd {
namespace {

// Lease and writes go to the same etcd: where one is answered, the other is soon.
constexpr std::chrono::seconds kWriteTimeout{10};

constexpr std::size_t kNumberDigits = 20;

Status lose(const EtcdPlace& place, const std::string& why) {
  Status status(Code::kAborted, why);
  place.fence.lost(status);
  return status;
}

// An earlier try may have arrived, whose answer has not. Only a leader writes these keys.
bool isDone(const EtcdPlace& place, const EtcdTransaction& transaction, const EtcdOutcome& outcome) {
  const auto has = [&](const std::string& key, const auto& is_right) {
    return std::any_of(outcome.read.begin(), outcome.read.end(),
                       [&](const EtcdPair& pair) { return pair.key == key && is_right(pair); });
  };
  if (transaction.puts.empty() || !has(place.fence.key, [&](const EtcdPair& pair) {
        return pair.create_revision == place.fence.revision;
      }))
    return false;
  return std::all_of(transaction.puts.begin(), transaction.puts.end(), [&](const EtcdTransaction::Put& put) {
    return has(put.key, [&](const EtcdPair& pair) { return pair.value == put.value; });
  });
}

}  // namespace

std::string numberKey(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kNumberDigits - std::min(kNumberDigits, digits.size()), '0') + digits;
}

std::string logKeys(const EtcdPlace& place) {
  return place.prefix + "/log/";
}
std::string partKeys(const EtcdPlace& place) {
  return place.prefix + "/parts/";
}
std::string snapshotKey(const EtcdPlace& place) {
  return place.prefix + "/snapshot";
}
std::string snapshotKeys(const EtcdPlace& place) {
  return place.prefix + "/snapshots/";
}

Result<std::int64_t> writeAsLeader(const EtcdPlace& place, EtcdTransaction transaction) {
  transaction.expected.push_back({place.fence.key, place.fence.revision});
  transaction.else_read = {place.fence.key};
  for (const EtcdTransaction::Put& put : transaction.puts) transaction.else_read.push_back(put.key);
  const Clock::time_point last = Clock::now() + kWriteTimeout;
  bool may_be_done = false;
  while (true) {
    const Clock::time_point deadline = std::min(place.fence.held_until(), last);
    Result<EtcdOutcome> outcome = place.client.transact(transaction, deadline);
    if (outcome.ok()) {
      if (outcome->done || isDone(place, transaction, *outcome)) return outcome->revision;
      return lose(place, "another popdistd leads by now");
    }
    if (outcome.code() != Code::kUnavailable)
      return may_be_done
                 ? lose(place, "etcd refuses what it may have done before: " + outcome.status().message())
                 : outcome.status();
    may_be_done = true;
    if (Clock::now() >= std::min(place.fence.held_until(), last))
      return lose(place, outcome.status().message());
  }
}

}  // namespace pop::popdistd
