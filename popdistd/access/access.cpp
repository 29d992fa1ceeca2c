// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/access.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kTick{60'000};
constexpr std::chrono::milliseconds kLook{1'000};

Today todayBy(const Accounts& accounts) {
  return [&accounts](const Caller& caller) { return accounts.today(caller); };
}

}  // namespace

Access::Access(const Parts& parts)
    : loop_(parts.loop),
      audit_({parts.store, parts.commits, parts.clock, parts.audit_file}),
      service_({parts.loop, parts.store, parts.commits, parts.accounts, audit_, parts.clock,
                parts.random_name, parts.roles_changed}),
      api_(parts.api, audit_, todayBy(parts.accounts)),
      pods_(parts.pods, audit_, todayBy(parts.accounts)),
      vipu_(parts.vipu, audit_, todayBy(parts.accounts)),
      access_(service_, audit_, todayBy(parts.accounts)) {
  tick_ = loop_.postAfter(kTick, [this] { tick(); });
  look_ = loop_.postAfter(kLook, [this] { look(); });
}

Access::~Access() {
  loop_.cancel(tick_);
  loop_.cancel(look_);
}

Status Access::start() {
  return audit_.start();
}

void Access::tick() {
  service_.noteUses();
  audit_.countOthers();
  tick_ = loop_.postAfter(kTick, [this] { tick(); });
}

void Access::look() {
  api_.look();
  pods_.look();
  look_ = loop_.postAfter(kLook, [this] { look(); });
}

}  // namespace pop::popdistd
