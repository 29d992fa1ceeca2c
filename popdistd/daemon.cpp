// SPDX-License-Identifier: Apache-2.0
#include "popdistd/daemon.h"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <memory>
#include <utility>

#include "common/sys/account_name.h"
#include "common/sys/process_setup.h"
#include "common/tls/expiry.h"
#include "common/tls/host_tls.h"
#include "popdistd/local_socket.h"
#include "popdistd/rpc/rpc_server.h"
#include "popdistd/systemd.h"
#include "popdistd/web/http_server.h"
#include "popdistd/web/metrics.h"
#include "popdistd/web/routes.h"

namespace pop::popdistd {
namespace {

std::string textOf(const os::Place& place) {
  return place.address + " port " + std::to_string(place.port);
}

class Daemon {
 public:
  Daemon(os::EpollLoop& loop, const DaemonParts& parts, const DaemonOptions& options)
      : loop_(loop),
        parts_(parts),
        options_(options),
        routes_(
            parts.served.api, parts.served.pods,
            [this](bool with_allocations) { return metrics(with_allocations); }, parts.served.access,
            parts.sessions) {}

  Status start() {
    POP_ASSIGN_OR_RETURN(std::optional<tls::TlsFiles> files, certificatesOf(options_));
    if (files) took(*files);
    if (options_.http) {
      Result<std::unique_ptr<HttpServer>> http =
          HttpServer::start(loop_, [this](const auto& exchange) { routes_.handle(exchange); },
                            {.address = options_.http->address,
                             .port = options_.http->port,
                             .tls = files,
                             .identify = parts_.identify,
                             .headers = parts_.headers});
      if (!http.ok()) return cannotListen("--http", *options_.http, http.status());
      http_ = std::move(*http);
    }
    if (!options_.socket.empty()) {
      Result<std::unique_ptr<LocalSocket>> local = LocalSocket::listen(loop_, options_.socket);
      if (!local.ok() && options_.socket_named) return local.status();
      local.ok()
          ? static_cast<void>(local_ = std::move(*local))
          : log::warning("users of this machine need a certificate or a token: " + local.status().message());
    }
    // Last, since it cannot be undone without the loop.
    Result<std::unique_ptr<RpcServer>> rpc = RpcServer::start(loop_, parts_.served,
                                                              {.address = options_.listen.address,
                                                               .port = options_.listen.port,
                                                               .tls = std::move(files),
                                                               .identify = parts_.identify,
                                                               .is_still_good = parts_.is_still_good,
                                                               .headers = parts_.headers});
    if (!rpc.ok()) return cannotListen("--listen", options_.listen, rpc.status());
    rpc_ = std::move(*rpc);
    log::info("popdistd listens at " + textOf({options_.listen.address, rpc_->port()}) +
              (http_ ? ", for HTTP at " + textOf({options_.http->address, http_->port()}) : "") +
              (options_.tls_directory.empty() ? ", without TLS" : "") +
              (local_ ? ", and for users of this machine at " + options_.socket : ""));
    return {};
  }

  void run() {
    loop_.watchSignals({SIGTERM, SIGINT, SIGHUP}, [this](const os::Signal& signal) {
      signal.number == SIGHUP ? reload() : stop(signal.number);
    });
    const Watchdog watchdog(loop_);
    if (local_)
      local_->accept([this](sys::Fd connection, const std::string& user) {
        return rpc_->addLocal(std::move(connection), user);
      });
    notifyReady();
    if (parts_.listening) parts_.listening(rpc_->port());
    loop_.run();
  }

 private:
  static Status cannotListen(const std::string& option, const os::Place& place, const Status& why) {
    return {why.code(), "cannot listen at " + textOf(place) + " (" + option + "): " + why.message() +
                            " (does another popdistd run there, or is the address not this host's?)"};
  }

  std::string metrics(bool with_allocations) const {
    Measures all;
    all.core = parts_.measures();
    if (!with_allocations) all.core.pods.ipus.clear();
    all.process = measureProcess();
    if (rpc_) all.rpc = rpc_->meters();
    if (http_) all.http = http_->meters();
    const std::time_t now = std::time(nullptr);
    if (expiry_.authority) all.certificates.push_back({"authority", std::difftime(*expiry_.authority, now)});
    if (expiry_.certificate)
      all.certificates.push_back({"certificate", std::difftime(*expiry_.certificate, now)});
    return prometheusText(metricFamilies(all));
  }

  void took(const tls::TlsFiles& files) {
    expiry_ = tls::expiryOf(files);
    if (parts_.authority) parts_.authority(files.authority_pem);
  }

  void reload() {
    if (options_.tls_directory.empty()) return log::info("nothing to reload: there are no certificates");
    Result<std::optional<tls::TlsFiles>> files = certificatesOf(options_);
    Status taken = files.status();
    if (taken.ok() && http_) taken = http_->setTls(**files);
    if (!taken.ok())
      return log::warning("cannot reload the certificates, so the old ones stay in force: " +
                          taken.message());
    took(**files);
    rpc_->setTls(std::move(**files));
    log::info("reloaded the certificates; connections that showed one of an authority that is gone end");
  }

  void stop(int signal) {
    if (std::exchange(stopping_, true)) return;
    notifyStopping();
    const Status why = unavailable("popdistd is being stopped: signal " + std::to_string(signal) +
                                   "; jobs go on, so connect again");
    log::info(why.message());
    if (parts_.stopping) parts_.stopping(why);
    local_.reset();
    running_servers_ = http_ ? 2 : 1;
    const auto stopped = [this] {
      if (--running_servers_ == 0) loop_.stop();
    };
    rpc_->stop(why, stopped);
    if (http_) http_->stop(why, stopped);
  }

  os::EpollLoop& loop_;
  const DaemonParts& parts_;
  const DaemonOptions& options_;
  Routes routes_;
  tls::Expiry expiry_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<LocalSocket> local_;
  std::unique_ptr<RpcServer> rpc_;
  int running_servers_ = 0;
  bool stopping_ = false;
};

}  // namespace

Result<std::optional<tls::TlsFiles>> certificatesOf(const DaemonOptions& options) {
  if (options.tls_directory.empty()) return std::optional<tls::TlsFiles>();
  POP_ASSIGN_OR_RETURN(tls::TlsFiles files, tls::loadHostTls(options.tls_directory));
  for (const std::string& warning : files.warnings) log::warning(warning);
  return std::optional(std::move(files));
}

std::string ownUser() {
  return sys::accountName(::geteuid()).value_or(std::to_string(::geteuid()));
}

Status checkListening(const std::string& option, const os::Place& place, const DaemonOptions& options,
                      uid_t self) {
  if (!options.tls_directory.empty()) return {};
  if (!os::isLoopback(place.address))
    return failedPrecondition(option + ": without TLS anybody who can reach " + place.address +
                              " could run jobs: make certificates with popdist-agent init-tls and give "
                              "their directory with --tls, or listen at 127.0.0.1");
  if (self == 0 && !options.insecure)
    return failedPrecondition(
        "without TLS every user of this host could run jobs as root: make "
        "certificates with popdist-agent init-tls and give their directory with "
        "--tls, run popdistd as another user, or allow it with --insecure");
  return {};
}

Status runDaemon(os::EpollLoop& loop, const DaemonParts& parts, const DaemonOptions& options) {
  POP_RETURN_IF_ERROR(sys::setUpForJobs());
  POP_RETURN_IF_ERROR(checkListening("--listen", options.listen, options, ::geteuid()));
  if (options.http) POP_RETURN_IF_ERROR(checkListening("--http", *options.http, options, ::geteuid()));
  Daemon daemon(loop, parts, options);
  POP_RETURN_IF_ERROR(daemon.start());
  daemon.run();
  return {};
}

}  // namespace pop::popdistd
