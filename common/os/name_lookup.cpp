// SPDX-License-Identifier: Apache-2.0
#include "common/os/name_lookup.h"

#include <netinet/in.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop::os {

struct NameLookup::State {
  std::mutex mutex;
  int error = 0;
  int error_number = 0;
  std::vector<Address> addresses;
  sys::Fd event;

  void look(const Resolver& resolver, const std::string& host, int port, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int outcome = resolver(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    const int outcome_number = errno;
    const std::scoped_lock lock(mutex);
    error = outcome;
    error_number = outcome_number;
    for (const addrinfo* each = outcome == 0 ? list : nullptr; each != nullptr; each = each->ai_next) {
      Address& address = addresses.emplace_back();
      std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
      address.bytes = each->ai_addrlen;
    }
    if (outcome == 0) ::freeaddrinfo(list);
  }

  void fail(int number) {
    error = EAI_SYSTEM;
    error_number = number;
  }
};

std::string numeric(const Address& address) {
  constexpr std::string_view kMapped = "::ffff:";
  std::array<char, NI_MAXHOST> text{};
  ::getnameinfo(address.get(), address.bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  const std::string_view name = text.data();
  const bool is_mapped = name.starts_with(kMapped) && name.find('.') != std::string_view::npos;
  return std::string(is_mapped ? name.substr(kMapped.size()) : name);
}

NameLookup::NameLookup(const std::string& host, int port, Resolver resolver)
    : host_(host), state_(std::make_shared<State>()) {
  state_->look(::getaddrinfo, host, port, AI_NUMERICHOST);
  if (state_->error == 0) return;
  state_->error = EAI_AGAIN;  // until more is known
  state_->event = sys::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!state_->event.valid()) {
    state_->fail(errno);
    return;
  }
  try {
    std::thread([state = state_, resolver = std::move(resolver), host, port] {
      state->look(resolver, host, port, 0);
      ::eventfd_write(state->event.get(), 1);
    }).detach();
  } catch (const std::system_error& error) {
    state_->event.reset();
    state_->fail(error.code().value());
  }
}

int NameLookup::event() const {
  return state_->event.get();
}

Result<std::vector<Address>> NameLookup::addresses() const {
  const std::scoped_lock lock(state_->mutex);
  if (state_->error == 0) return state_->addresses;
  const bool unknown = state_->error == EAI_NONAME || state_->error == EAI_NODATA;
  const char* const why =
      state_->error == EAI_SYSTEM ? ::strerror(state_->error_number) : ::gai_strerror(state_->error);
  return Status(unknown ? Code::kNotFound : Code::kUnavailable,
                "looking up its name " + inQuotes(host_) + ": " + why);
}

}  // namespace pop::os
