// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/life/host_proofs.h"

#include <utility>

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kUntilNext{1000};

}  // namespace

void HostProofs::ask(Question question, std::function<void()> free) {
  const std::int64_t job = question.job;
  if (add(std::move(question), std::move(free))) askAgain(job);
}

void HostProofs::askSoon(Question question, std::function<void()> free) {
  const std::int64_t job = question.job;
  if (add(std::move(question), std::move(free))) wait(job, asked_.at(job));
}

bool HostProofs::add(Question question, std::function<void()> free) {
  const std::int64_t job = question.job;
  return asked_.try_emplace(job, Asked{std::move(question), std::move(free)}).second;
}

void HostProofs::askAgain(std::int64_t job) {
  Question& question = asked_.at(job).question;
  std::erase_if(question.hosts, [&](const std::string& name) {
    const Host* const host = hosts_.find(name);
    return host == nullptr || host->info().state() == v1::HOST_DOWN ||
           loop_.now() - host->heard > hosts_.rules().silent;
  });
  for (const std::string& name : question.hosts) {
    const Host* const host = hosts_.find(name);
    if (host->channel == nullptr) continue;
    v1::HostOrder order;
    order.mutable_ask()->set_job(job);
    order.mutable_ask()->set_agent_job_id(question.agent_job_id);
    host->channel->send(std::move(order));
  }
  wait(job, asked_.at(job));
  endIfAllFree(job);
}

void HostProofs::wait(std::int64_t job, Asked& asked) {
  asked.timer = loop_.postAfter(kUntilNext, [this, job] { askAgain(job); });
}

void HostProofs::isFree(std::int64_t job, const std::string& host) {
  const auto found = asked_.find(job);
  if (found == asked_.end()) return;
  found->second.question.hosts.erase(host);
  endIfAllFree(job);
}

void HostProofs::endIfAllFree(std::int64_t job) {
  const auto found = asked_.find(job);
  if (!found->second.question.hosts.empty()) return;
  const std::function<void()> free = std::move(found->second.free);
  forget(job);
  free();
}

void HostProofs::forget(std::int64_t job) {
  if (const auto asked = asked_.extract(job)) loop_.cancel(asked.mapped().timer);
}

void HostProofs::clear() {
  while (!asked_.empty()) forget(asked_.begin()->first);
}

}  // namespace pop::popdistd
