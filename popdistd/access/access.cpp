// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/access.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kTick{60'000};

}  // namespace

Access::Access(const Parts& parts)
    : loop_(parts.loop),
      audit_({parts.store, parts.commits, parts.clock, parts.audit_file}),
      service_({parts.store, parts.commits, parts.accounts, audit_, parts.clock, parts.random_name}),
      api_(parts.api, audit_),
      pods_(parts.pods, audit_),
      vipu_(parts.vipu, audit_),
      access_(service_, audit_) {
  tick_ = loop_.postAfter(kTick, [this] { tick(); });
}

Access::~Access() {
  loop_.cancel(tick_);
}

Status Access::start() {
  return audit_.start();
}

void Access::tick() {
  service_.noteUses();
  tick_ = loop_.postAfter(kTick, [this] { tick(); });
}

}  // namespace pop::popdistd
