// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/http_server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/log/log.h"
#include "common/os/tcp.h"
#include "popdistd/web/http_session.h"

namespace pop::popdistd {
namespace {

using namespace web;

constexpr std::chrono::milliseconds kStopWithin{1000};
constexpr std::chrono::minutes kBetweenWarnings{1};

Result<std::shared_ptr<asio::ssl::context>> contextOf(const tls::TlsFiles& files) {
  try {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1 | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
    context->use_certificate_chain(asio::buffer(files.certificate_pem));
    context->use_private_key(asio::buffer(files.key_pem), asio::ssl::context::pem);
    context->add_certificate_authority(asio::buffer(files.authority_pem));
    context->set_verify_mode(asio::ssl::verify_peer);
    return context;
  } catch (const boost::system::system_error& error) {
    return failedPrecondition(std::string("the certificates cannot be used for HTTP: ") + error.what());
  }
}

}  // namespace

void Web::run() {
  io.run();
  // Operations that sessions still wait for hold the sessions, and these hold this object.
  stopping = true;
  io.restart();
  for (AnySession* const session : std::set(sessions)) session->drop();
  while (io.poll() > 0) {
  }
}

struct HttpServer::Impl {
  explicit Impl(std::shared_ptr<Web> of) : web(std::move(of)), acceptor(web->io), pause(web->io) {}

  void accept() {
    acceptor.async_accept([this](Error error, tcp::socket socket) {
      if (web->stopping) return;
      if (error) return acceptLater();
      if (makeRoom()) serve(std::move(socket));
      accept();
    });
  }

  // There may be no descriptors.
  void acceptLater() {
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([this](Error) {
      if (!web->stopping) accept();
    });
  }

  // A crowd of idle connections shuts no client out, and those of one address end none of another that has
  // fewer. False: all of them are being answered.
  bool makeRoom() {
    if (web->connections < web->options.most_connections) return true;
    AnySession* const idlest = idlestOfMost();
    if (idlest == nullptr) {
      warn("all are being answered, so a new one is turned away");
      return false;
    }
    warn("the idlest of " + idlest->address() + ", which has the most idle ones, gives way to a new one");
    idlest->drop();
    return true;
  }

  // The connection without a request for longest, of the address with most idle ones. Null: none is idle.
  AnySession* idlestOfMost() const {
    std::map<std::string, std::vector<AnySession*>> idle_of;
    for (AnySession* const session : web->sessions)
      if (session->idleSince() != Clock::time_point::max()) idle_of[session->address()].push_back(session);
    const auto most = std::ranges::max_element(
        idle_of, {}, [](const auto& of_address) { return of_address.second.size(); });
    if (most == idle_of.end()) return nullptr;
    return *std::ranges::min_element(most->second, {}, &AnySession::idleSince);
  }

  void warn(const std::string& what) {
    const Clock::time_point now = Clock::now();
    if (warned && now - *warned < kBetweenWarnings) return;
    warned = now;
    log::warning("HTTP has " + std::to_string(web->connections) + " connections: " + what);
  }

  void serve(tcp::socket socket) const {
    std::make_shared<Session>(web, tls ? tlsStream(std::move(socket), *tls) : plainStream(std::move(socket)))
        ->start();
  }

  void stop(const Status& why) {
    web->stopping = true;
    web->why_stopping = why;
    Error ignored;
    acceptor.close(ignored);
    if (web->sessions.empty()) return web->io.stop();
    for (AnySession* const session : std::set(web->sessions)) session->stop();
    pause.expires_after(kStopWithin);
    pause.async_wait([this](Error) { web->io.stop(); });
    work.reset();
  }

  const std::shared_ptr<Web> web;
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  std::shared_ptr<asio::ssl::context> tls;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::optional<Clock::time_point> warned;
  int port = 0;
  bool stopping = false;
  std::thread thread;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  impl_->web->to_loop->closed = true;
  impl_->web->io.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(Loop& loop, HttpHandler handler, HttpOptions options) {
  POP_ASSIGN_OR_RETURN(os::Listener listener, os::listenAt(options.address, options.port));
  const auto web = std::make_shared<Web>();
  web->to_loop = std::make_shared<ToLoop>(ToLoop{loop, std::move(handler)});
  auto impl = std::make_unique<Impl>(web);
  if (options.tls) {
    POP_ASSIGN_OR_RETURN(impl->tls, contextOf(*options.tls));
  }
  web->options = std::move(options);
  web->options.tls.reset();
  impl->port = listener.port;
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  ::getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&bound), &length);
  Error error;
  impl->acceptor.assign(bound.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), listener.socket.release(),
                        error);
  if (error) return unavailable("cannot listen for HTTP: " + error.message());
  impl->work.emplace(asio::make_work_guard(web->io));
  impl->accept();
  impl->thread = std::thread([web] { web->run(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const {
  return impl_->port;
}

HttpMeters HttpServer::meters() const {
  return impl_->web->to_loop->meters;
}

Status HttpServer::setTls(const tls::TlsFiles& files) {
  POP_ASSIGN_OR_RETURN(std::shared_ptr<asio::ssl::context> context, contextOf(files));
  asio::post(impl_->web->io, [impl = impl_.get(), context = std::move(context)] {
    if (impl->tls) impl->tls = context;
  });
  return {};
}

void HttpServer::stop(const Status& why, std::function<void()> stopped) {
  if (std::exchange(impl_->stopping, true)) return;
  Impl* const impl = impl_.get();
  asio::post(impl->web->io, [impl, why] { impl->stop(why); });
  std::thread old = std::move(impl->thread);
  // Waits for the web thread, so that who destroys the server need not.
  impl->thread = std::thread([loop = &impl->web->to_loop->loop, stopped = std::move(stopped),
                              web_thread = std::move(old)]() mutable {
    web_thread.join();
    loop->post(std::move(stopped));
  });
}

}  // namespace pop::popdistd
