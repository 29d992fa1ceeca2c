// SPDX-License-Identifier: Apache-2.0
#include "common/tls/session_cache.h"

#include <utility>
#include <vector>

#include "common/tls/digest.h"

namespace pop::tls {

SessionCache::SessionCache(std::string path, const TlsFiles& files, std::function<std::time_t()> now)
    : path_(std::move(path)),
      certificates_(digestOf({files.authority_pem, files.certificate_pem})),
      now_(std::move(now)) {
  for (KeptSession& session : readKeptSessions(path_, now_())) {
    if (session.certificates != certificates_) continue;
    std::string service = session.service;
    sessions_.insert_or_assign(std::move(service), std::move(session));
  }
}

SessionCache::~SessionCache() {
  if (!path_.empty() && !changed_.empty()) static_cast<void>(save());
}

std::string SessionCache::find(const std::string& service) const {
  const auto found = sessions_.find(service);
  return found != sessions_.end() && found->second.holds(now_()) ? found->second.secret : std::string();
}

void SessionCache::keep(const std::string& service, std::time_t until, std::string secret) {
  KeptSession session{certificates_, service, now_(), until, std::move(secret)};
  if (!session.holds(now_())) return;
  sessions_.insert_or_assign(service, std::move(session));
  changed_.insert(service);
}

void SessionCache::forget(const std::string& service) {
  if (sessions_.erase(service) > 0) changed_.insert(service);
}

// Other jobs may have saved sessions since this one read the file. If two save at once, the last one wins.
Status SessionCache::save() const {
  std::vector<KeptSession> all = readKeptSessions(path_, now_());
  std::erase_if(all, [this](const KeptSession& each) {
    return each.certificates == certificates_ && changed_.contains(each.service);
  });
  for (const std::string& service : changed_) {
    const auto ours = sessions_.find(service);
    if (ours != sessions_.end()) all.push_back(ours->second);
  }
  return writeKeptSessions(path_, std::move(all));
}

}  // namespace pop::tls
