// SPDX-License-Identifier: Apache-2.0
#include "popdistd/follower.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/base/text.h"
#include "common/os/epoll_loop.h"
#include "common/sys/process_setup.h"
#include "common/sys/random_name.h"
#include "popdistd/etcd_access.h"
#include "popdistd/leader/campaign.h"
#include "popdistd/leader/pass_through.h"
#include "popdistd/rpc/no_leader_server.h"
#include "popdistd/rpc/rpc_server.h"
#include "popdistd/store/etcd_store.h"
#include "popdistd/store/state_directory.h"
#include "popdistd/systemd.h"
#include "popdistd/web/http_server.h"

namespace pop::popdistd {
namespace {

namespace v1 = ::popdist::v1;

// At once, and not by way of what is in memory: another may lead in a second.
void endAtOnce(const Status& why) {
  std::fprintf(stderr, "popdistd: ends, since it may not lead any more (jobs go on): %s\n",
               why.message().c_str());
  std::_Exit(1);
}

std::string placeText(const std::string& host, int port) {
  return (host.find(':') == std::string::npos ? host : '[' + host + ']') + ':' + std::to_string(port);
}

std::optional<os::Place> placeOf(const std::string& address) {
  const Result<os::Place> place = os::parsePlace("the leader's address", address);
  return place.ok() ? std::optional(place.value()) : std::nullopt;
}

// 256 bits.
std::string randomKey() {
  return sys::randomName() + sys::randomName() + sys::randomName() + sys::randomName();
}

v1::LeaderRecord recordOf(const DaemonOptions& options) {
  v1::LeaderRecord record;
  record.set_address(peerAddress(options));
  if (options.http) record.set_http_address(placeText(options.etcd.peer_host, options.http->port));
  record.set_since_ms(std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count());
  record.set_header_key(randomKey());
  return record;
}

std::uint64_t randomNumber() {
  return std::stoull(sys::randomName(), nullptr, 16);
}

// A connection that is passed on has two descriptors, for gRPC as for HTTP.
ConnectionLimits passedOnLimits() {
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  return limitsWithin(descriptors.rlim_cur / 4, kPassedOnLimits);
}

class Follower {
 public:
  /// `self`: the leader's record, when this popdistd is the leader.
  Follower(const DaemonOptions& options, const v1::LeaderRecord& self, ForbiddenClientWatch& forbidden)
      : options_(options), self_(self), forbidden_(forbidden) {}

  Status start() {
    POP_ASSIGN_OR_RETURN(std::optional<tls::TlsFiles> files, certificatesOf(options_));
    POP_ASSIGN_OR_RETURN(no_leader_, NoLeaderServer::start(files));
    const os::Place no_leader{"127.0.0.1", no_leader_->port()};
    POP_RETURN_IF_ERROR(listen("--listen", options_.listen, rpc_, &v1::LeaderRecord::address, no_leader));
    return options_.http ? startHttp(std::move(files)) : Status();
  }

  /// Null: it was told to end.
  std::unique_ptr<Leadership> run(EtcdClient& etcd) {
    loop_.watchSignals({SIGTERM, SIGINT, SIGHUP}, [this](const os::Signal& signal) {
      signal.number == SIGHUP ? log::info("certificates are loaded anew when this popdistd leads")
                              : loop_.stop();
    });
    const Watchdog watchdog(loop_);
    notifyReady();
    const Campaign campaign(
        loop_,
        {.etcd = etcd,
         .prefix = options_.etcd.prefix,
         .self = self_,
         .lost = endAtOnce,
         .may_take = [this] { return forbidden_.look(); }},
        {.leader = [this, &etcd](const auto& leader,
                                 const Status& problem) { follow(leader, problem, etcd); },
         .leads =
             [this](std::unique_ptr<Leadership> leadership) {
               leadership_ = std::move(leadership);
               loop_.stop();
             }});
    loop_.run();
    return std::move(leadership_);
  }

 private:
  // While there is no leader, all requests are answered with why.
  Status startHttp(std::optional<tls::TlsFiles> files) {
    const auto nobody = [](const Peer&, const Credentials&) {
      return Result<Caller>(unavailable("no popdistd leads"));
    };
    POP_ASSIGN_OR_RETURN(
        no_leader_http_,
        HttpServer::start(
            loop_, [this](const auto& exchange) { exchange->answer(errorAnswer(unavailable(reason_))); },
            {.address = "127.0.0.1",
             .port = 0,
             .tls = std::move(files),
             .identify = nobody,
             .keeps_connections = false}));
    const os::Place no_leader{"127.0.0.1", no_leader_http_->port()};
    return listen("--http", *options_.http, http_, &v1::LeaderRecord::http_address, no_leader);
  }

  using AddressIn = const std::string& (v1::LeaderRecord::*)() const;

  Status listen(const std::string& option, const os::Place& place, std::unique_ptr<PassThrough>& to,
                AddressIn address, const os::Place& no_leader) {
    POP_RETURN_IF_ERROR(checkListening(option, place, options_, ::geteuid()));
    Result<std::unique_ptr<PassThrough>> passes = PassThrough::start(
        loop_, {.listen = place,
                .target = [this, address, no_leader] { return target(address, no_leader); },
                .otherwise = no_leader,
                .limits = passedOnLimits()});
    if (!passes.ok())
      return {passes.code(), "cannot listen at " + placeText(place.address, place.port) + " (" + option +
                                 "): " + passes.status().message()};
    to = std::move(*passes);
    return {};
  }

  std::optional<PassThroughTarget> target(AddressIn address, const os::Place& no_leader) const {
    if (!leader_) return PassThroughTarget{no_leader, nullptr};
    const std::optional<os::Place> place = placeOf(((*leader_).*address)());
    return place ? std::optional(PassThroughTarget{*place, headers_}) : std::nullopt;
  }

  void follow(const std::optional<v1::LeaderRecord>& leader, const Status& problem, const EtcdClient& etcd) {
    const bool names_us = leader && leader->address() == peerAddress(options_);
    leader_ = names_us ? std::nullopt : leader;
    headers_ = leader_ && !leader_->header_key().empty()
                   ? std::make_shared<HeaderWriter>(leader_->header_key(), randomNumber())
                   : nullptr;
    for (PassThrough* each : {rpc_.get(), http_.get()})
      if (each != nullptr) each->closeConnections();
    if (names_us)
      return noLeader(
          "etcd says that one leads at this popdistd's own address, " + peerAddress(options_) +
          ": in its last life, and another takes over within seconds; or another popdistd has the "
          "same --advertise or --peer-address");
    if (leader) {
      const std::string name = printable(leader->address());
      setReason("the popdistd that leads, " + name +
                ", does not answer; another takes over within seconds, so try again");
      return log::info("popdistd follows: " + name + " leads");
    }
    noLeader(problem.ok() ? "no popdistd leads at the moment (etcd at " + etcd.servers().text() + ')'
                          : "no leader: " + problem.message());
  }

  void noLeader(const std::string& why) {
    setReason(why + "; jobs go on, so try again");
    log::warning(why);
  }

  void setReason(const std::string& why) {
    reason_ = why;
    no_leader_->setReason(why);
  }

  os::EpollLoop loop_;
  const DaemonOptions& options_;
  const v1::LeaderRecord& self_;
  ForbiddenClientWatch& forbidden_;
  std::optional<v1::LeaderRecord> leader_;
  std::shared_ptr<HeaderWriter> headers_;  ///< for the leader; null: it knows none
  std::string reason_ = "no popdistd leads yet; try again";
  std::unique_ptr<NoLeaderServer> no_leader_;
  std::unique_ptr<HttpServer> no_leader_http_;
  std::unique_ptr<PassThrough> rpc_;
  std::unique_ptr<PassThrough> http_;
  std::unique_ptr<Leadership> leadership_;
};

}  // namespace

std::string peerAddress(const DaemonOptions& options) {
  return placeText(options.etcd.peer_host, options.listen.port);
}

Result<std::optional<Lead>> waitToLead(const DaemonOptions& options) {
  POP_RETURN_IF_ERROR(sys::setUpForJobs());
  logGrpcAsDebug();
  POP_ASSIGN_OR_RETURN(sys::Fd lock, takeStateDirectory(options.state_directory));
  Lead lead;
  POP_ASSIGN_OR_RETURN(lead.etcd, etcdClientOf(options));
  const auto forbidden = [options] { return forbiddenClientsOf(options); };
  POP_RETURN_IF_ERROR(forbidden().status());
  lead.forbidden = std::make_unique<ForbiddenClientWatch>(*lead.etcd, forbidden, endAtOnce);
  // One that is not there is tried again before this process leads.
  if (const Status refuses = lead.forbidden->look(); refuses.code() == Code::kFailedPrecondition)
    return refuses;
  {
    const v1::LeaderRecord self = recordOf(options);
    lead.header_key = self.header_key();
    Follower follower(options, self, *lead.forbidden);
    POP_RETURN_IF_ERROR(follower.start());
    lead.leadership = follower.run(*lead.etcd);
  }
  if (lead.leadership == nullptr) return std::optional<Lead>();
  log::info("popdistd leads, as " + peerAddress(options));
  POP_ASSIGN_OR_RETURN(lead.store, openEtcdStore({*lead.etcd, options.etcd.prefix, lead.leadership->fence()},
                                                 std::move(lock), options.state_directory));
  return std::optional(std::move(lead));
}

}  // namespace pop::popdistd
