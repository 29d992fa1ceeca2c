// SPDX-License-Identifier: Apache-2.0
#include "popdistd/user_names.h"

#include <sys/eventfd.h>

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/sys/fd.h"

namespace pop::popdistd {

// The part of a look-up that outlasts the loop.
struct UserNames::State {
  explicit State(Lookup lookup) : look_up(std::move(lookup)) {}

  const Lookup look_up;
  const sys::Fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::map<uid_t, std::optional<std::string>> found;

  void find(uid_t user) {
    std::optional<std::string> name = look_up(user);
    const std::scoped_lock lock(mutex);
    found[user] = std::move(name);
    ::eventfd_write(event.get(), 1);
  }
};

UserNames::UserNames(os::EpollLoop& loop, Lookup lookup)
    : loop_(loop), state_(std::make_shared<State>(std::move(lookup))) {
  POP_CHECK(state_->event.valid());
  loop_.watchReadable(state_->event.get(), [this] { take(); });
}

UserNames::~UserNames() {
  loop_.unwatch(state_->event.get());
}

Status UserNames::find(uid_t user, Found found) {
  if (!waiting_.contains(user) && waiting_.size() >= kMostUsers)
    return {Code::kResourceExhausted, "too many names of users are being looked up"};
  std::vector<Found>& waiting = waiting_[user];
  if (waiting.size() >= kMostOfAUser)
    return {Code::kResourceExhausted,
            "the name of user " + std::to_string(user) + " is being looked up, and too many wait for it"};
  waiting.push_back(std::move(found));
  if (waiting.size() > 1) return {};
  try {
    std::thread([state = state_, user] { state->find(user); }).detach();
  } catch (const std::system_error& error) {
    waiting_.erase(user);
    return unavailable("looking up the name of user " + std::to_string(user) + ": " + error.what());
  }
  return {};
}

void UserNames::take() {
  eventfd_t ignored = 0;
  ::eventfd_read(state_->event.get(), &ignored);
  std::map<uid_t, std::optional<std::string>> names;
  {
    const std::scoped_lock lock(state_->mutex);
    names.swap(state_->found);
  }
  for (const auto& [user, name] : names) {
    const auto waited = waiting_.extract(user);
    for (const Found& found : waited.mapped()) found(name);
  }
}

}  // namespace pop::popdistd
