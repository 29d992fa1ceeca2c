// SPDX-License-Identifier: Apache-2.0
// The calls of clients about hosts.
#include <utility>

#include "common/base/text.h"
#include "popdistd/api/page_room.h"
#include "popdistd/jobs/daemon_core.h"
#include "popdistd/jobs/life/queue_input.h"

namespace pop::popdistd {

Status DaemonCore::checkManages(const Caller& caller, const std::string& what) {
  if (manages(caller)) return {};
  return {Code::kPermissionDenied,
          "user " + inQuotes(caller.user) + " may not " + what + ": that is for operators and admins"};
}

Result<Host*> DaemonCore::hostOf(const v1::HostRef& ref) {
  if (Host* const host = hosts_.find(ref.name())) return host;
  return Status(Code::kNotFound, "no host " + inQuotes(ref.name()) + " has joined");
}

void DaemonCore::listHosts(const Caller&, v1::ListHostsRequest request, Reply<v1::ListHostsReply> reply) {
  if (const Status fits = checkPageSize(request.page_size()); !fits.ok()) return reply(fits);
  v1::ListHostsReply list;
  const std::map<std::string, HostLoad> load = loadOf(jobs_);
  PageRoom room(request.page_size());
  for (auto each = hosts_.all().upper_bound(request.page_token()); each != hosts_.all().end(); ++each) {
    if (room.isFull()) {
      list.set_next_page_token(list.hosts().rbegin()->name());
      break;
    }
    v1::HostInfo info = view(each->second, load);
    room.take(info.ByteSizeLong());
    *list.add_hosts() = std::move(info);
  }
  list.set_revision(revisions_.current());
  reply(std::move(list));
}

void DaemonCore::getHost(const Caller&, v1::HostRef ref, Reply<v1::HostInfo> reply) {
  const Result<Host*> host = hostOf(ref);
  host.ok() ? reply(view(*host.value())) : reply(host.status());
}

void DaemonCore::drain(const Caller& caller, v1::DrainRequest request, Reply<v1::HostInfo> reply) {
  if (const Status allowed = checkManages(caller, "drain hosts"); !allowed.ok()) return reply(allowed);
  const Result<Host*> host = hostOf(request.host());
  if (!host.ok()) return reply(host.status());
  if (request.reason().empty())
    return reply(invalidArgument("reason is empty: say why the host is drained, for those whose jobs wait"));
  hosts_.drain(*host.value(), request.reason(), caller.user);
  replyWhenDurable(request.host().name(), std::move(reply));
}

void DaemonCore::resume(const Caller& caller, v1::HostRef ref, Reply<v1::HostInfo> reply) {
  if (const Status allowed = checkManages(caller, "resume hosts"); !allowed.ok()) return reply(allowed);
  const Result<Host*> host = hostOf(ref);
  if (!host.ok()) return reply(host.status());
  hosts_.resume(*host.value());
  replyWhenDurable(ref.name(), std::move(reply));
}

void DaemonCore::removeHost(const Caller& caller, v1::HostRef ref, Reply<v1::Nothing> reply) {
  if (const Status allowed = checkManages(caller, "remove hosts"); !allowed.ok()) return reply(allowed);
  const Result<Host*> host = hostOf(ref);
  if (!host.ok()) return reply(host.status());
  if (host.value()->channel != nullptr)
    return reply(
        failedPrecondition("host " + ref.name() + " is joined: stop popdist-agent serve there first"));
  lives_.hostRemoved(ref.name());
  hosts_.remove(ref.name());
  commits_.wrote(store_.removeRecord(RecordKind::kHost, ref.name()));
  commits_.whenDurable([reply](const Status& status) { status.ok() ? reply(v1::Nothing()) : reply(status); });
}

void DaemonCore::replyWhenDurable(const std::string& name, Reply<v1::HostInfo> reply) {
  commits_.whenDurable([this, name, reply = std::move(reply)](const Status& status) {
    const Host* const host = hosts_.find(name);
    if (!status.ok()) return reply(status);
    if (host == nullptr) return reply(Status(Code::kNotFound, "host " + name + " was removed"));
    reply(view(*host));
  });
}

v1::HostInfo DaemonCore::view(const Host& host) {
  return view(host, loadOf(jobs_));
}

v1::HostInfo DaemonCore::view(const Host& host, const std::map<std::string, HostLoad>& load) {
  v1::HostInfo info = host.info();
  if (const auto found = load.find(info.name()); found != load.end()) {
    info.set_jobs_running(found->second.jobs);
    info.set_instances_running(found->second.instances);
  }
  return info;
}

}  // namespace pop::popdistd
