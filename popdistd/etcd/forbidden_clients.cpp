// SPDX-License-Identifier: Apache-2.0
#include "popdistd/etcd/forbidden_clients.h"

#include <chrono>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/os/epoll_loop.h"
#include "common/os/place.h"
#include "common/os/tcp.h"
#include "common/tls/tls_try.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kEachStep{1000};
constexpr std::string_view kTlsScheme = "https://";

// Blocks. Invalid: nothing answers there.
sys::Fd connectedTo(const os::Place& place) {
  os::EpollLoop loop;
  sys::Fd socket;
  const os::TcpDial dial(loop, place.address, place.port, kEachStep, [&](os::Dialled dialled) {
    socket = std::move(dialled.socket);
    loop.stop();
  });
  loop.run();
  return socket;
}

Result<std::set<std::string>> addressesOf(EtcdClient& etcd, Clock::time_point deadline) {
  std::set<std::string> addresses(etcd.servers().addresses.begin(), etcd.servers().addresses.end());
  const Result<std::vector<EtcdMember>> members = etcd.members(deadline);
  if (!members.ok()) return unavailable(members.status().message());
  for (const EtcdMember& member : members.value()) {
    for (const std::string& url : member.urls) {
      if (!url.starts_with(kTlsScheme))
        return failedPrecondition(
            "etcd's member " + inQuotes(printable(member.name)) + " serves at " + printable(url) +
            " without TLS, where whoever reaches it may do all that popdistd may: give "
            "its --listen-client-urls, --listen-peer-urls and what it advertises https");
      std::string address = url.substr(kTlsScheme.size());
      addresses.insert(address.substr(0, address.find('/')));
    }
  }
  return addresses;
}

}  // namespace

Status checkRefuses(EtcdClient& etcd, const std::vector<ForbiddenClient>& forbidden,
                    Clock::time_point deadline) {
  POP_ASSIGN_OR_RETURN(const std::set<std::string> addresses, addressesOf(etcd, deadline));
  for (const std::string& address : addresses) {
    POP_ASSIGN_OR_RETURN(const os::Place place, os::parsePlace("etcd's member", address));
    for (const ForbiddenClient& each : forbidden) {
      sys::Fd socket = connectedTo(place);
      if (!socket.valid()) break;
      if (tls::isAnswered(std::move(socket), each.shows, kEachStep))
        return failedPrecondition(
            "etcd at " + address + " lets in " + each.who +
            ", with which whoever has one may do all that popdistd may: give etcd certificates of an "
            "authority of its own (popdist-agent init-tls --etcd), --client-cert-auth and "
            "--peer-client-cert-auth");
    }
  }
  return {};
}

}  // namespace pop::popdistd
