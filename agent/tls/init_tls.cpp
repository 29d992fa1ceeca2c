// SPDX-License-Identifier: Apache-2.0
#include "agent/tls/init_tls.h"

#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <set>
#include <utility>

#include "agent/tls/file_set.h"
#include "common/base/text.h"
#include "common/model/host_list.h"
#include "common/sys/writers.h"
#include "common/tls/certificates.h"
#include "common/tls/tls_files.h"

namespace pop::agent {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kAuthority = "ca";

// The certificates to make: one pair of files for each.
struct Wanted {
  std::string file_name;  // "host-h0": host-h0.pem and host-h0-key.pem
  Names hosts;            // the names of a host
  std::string user;       // with neither: popdistd's issuer

  tls::TlsRole role() const {
    if (!hosts.empty()) return tls::TlsRole::kServer;
    return user.empty() ? tls::TlsRole::kAuthority : tls::TlsRole::kClient;
  }
};

// Splits at commas outside of brackets: "a[0,2],b".
Names itemsOf(const std::string& text) {
  Names items(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  return items;
}

bool isAddress6(const std::string& text) {
  std::array<unsigned char, 16> ignored{};
  return ::inet_pton(AF_INET6, text.c_str(), ignored.data()) == 1;
}

Result<std::vector<Names>> hostsOfItem(const std::string& item) {
  if (isAddress6(item)) return std::vector<Names>{{item}};
  if (item.find('+') != std::string::npos) return std::vector<Names>{split(item, '+')};
  POP_ASSIGN_OR_RETURN(const std::vector<model::Host> hosts, model::parseHostList(item));
  std::vector<Names> names;
  for (const model::Host& host : hosts) {
    if (host.slots > 0)
      return invalidArgument(inQuotes(item) + ": a certificate has no slots; remove the ':'");
    names.push_back({host.name});
  }
  return names;
}

class Maker {
 public:
  explicit Maker(const InitTlsRequest& request) : request_(request), files_(request.directory) {}

  InitTlsResult run() {
    collectHosts("--host", request_.hosts);
    collectHosts("--etcd", request_.etcd);
    collectUsers();
    if (request_.issuer) want({"issuer", {}, {}});
    checkNumbers();
    checkDirectory();
    checkPurpose();
    if (result_.mistakes.empty()) keepWhatIsThere();
    if (result_.mistakes.empty()) add(makeAll());
    if (!result_.mistakes.empty()) {
      result_.written.clear();
      result_.kept.clear();
    }
    return std::move(result_);
  }

 private:
  void add(const Status& status) {
    if (!status.ok()) result_.mistakes.push_back(status.message());
  }

  std::string pathOf(const std::string& name) const { return request_.directory + '/' + name; }

  void want(Wanted wanted) {
    if (!names_.insert(wanted.file_name).second) {
      result_.mistakes.push_back(inQuotes(wanted.hosts.empty() ? wanted.user : wanted.hosts.front()) +
                                 " is given more than once");
      return;
    }
    wanted_.push_back(std::move(wanted));
  }

  void collectHosts(const std::string& option, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      Result<std::vector<Names>> hosts = certificateHosts(text);
      if (!hosts.ok()) {
        result_.mistakes.push_back(option + ": " + hosts.status().message());
        continue;
      }
      for (Names& names : *hosts) want({"host-" + names.front(), std::move(names), {}});
    }
  }

  void collectUsers() {
    for (const std::string& text : request_.users) {
      for (const std::string& user : split(text, ',')) {
        const Status good = tls::checkUserName(user);
        if (good.ok()) {
          want({"user-" + user, {}, user});
        } else {
          result_.mistakes.push_back("--user: " + good.message());
        }
      }
    }
  }

  bool isForEtcd() const { return !request_.etcd.empty(); }

  // A writer of etcd's keys is every user's admin: no certificate of hosts, users or jobs may reach it.
  void checkPurpose() {
    const bool is_for_others = !request_.hosts.empty() || !request_.users.empty() || request_.issuer;
    if (!is_for_others && !isForEtcd()) {
      result_.mistakes.emplace_back(
          "say for whom: --host 'h[0-3]' for hosts, --user alice for users, --issuer for popdistd, --etcd "
          "head1,head2,head3 for etcd");
    } else if (is_for_others && isForEtcd()) {
      result_.mistakes.emplace_back(
          "--etcd makes an authority for etcd and popdistd alone: give it a --dir of its own, without "
          "--host, --user and --issuer");
    }
  }

  Status checkAuthority(const tls::TlsFiles& files) const {
    const bool is_etcds = tls::authorityName(files) == tls::kEtcdAuthorityName;
    if (is_etcds == isForEtcd()) return {};
    return failedPrecondition(
        "--dir " + request_.directory +
        (is_etcds
             ? " has the authority of etcd: hosts and users need another --dir, or they could write etcd"
             : " has an authority of hosts and users, who could write etcd: give --etcd a --dir of its own"));
  }

  void checkNumbers() {
    constexpr int kMaxDays = 36500;
    const auto check = [&](const char* option, int days) {
      if (days >= 1 && days <= kMaxDays) return;
      result_.mistakes.push_back(std::string(option) + ' ' + std::to_string(days) + ": must be from 1 to " +
                                 std::to_string(kMaxDays));
    };
    check("--days", request_.valid_days);
    check("--ca-days", request_.authority_valid_days);
  }

  void checkDirectory() {
    if (request_.directory.empty()) {
      result_.mistakes.emplace_back("--dir is missing: name the directory for the certificates");
    } else if (::access(request_.directory.c_str(), F_OK) == 0 || errno != ENOENT) {
      add(checkDirectoryThatIsThere());
    }
  }

  // Any user who can replace ca-key.pem controls the authority.
  Status checkDirectoryThatIsThere() const {
    struct stat status {};
    if (::stat(request_.directory.c_str(), &status) != 0)
      return errnoStatus("--dir " + request_.directory, errno);
    if (!S_ISDIR(status.st_mode))
      return failedPrecondition("--dir " + request_.directory + " is not a directory");
    const Status safe = sys::checkWriters(request_.directory);
    return safe.ok() ? safe : Status(safe.code(), "--dir " + safe.message());
  }

  // Pairs that this authority has signed, and that can still be used, stay.
  void keepWhatIsThere() {
    if (request_.overwrite) return;
    std::erase_if(wanted_, [this](const Wanted& wanted) {
      const std::string certificate = pathOf(wanted.file_name + ".pem");
      const std::string key = pathOf(wanted.file_name + "-key.pem");
      if (::access(certificate.c_str(), F_OK) != 0 && ::access(key.c_str(), F_OK) != 0) return false;
      const Result<tls::TlsFiles> files = tls::loadTls(
          {pathOf(std::string(kAuthority) + ".pem"), certificate, key}, wanted.role(), std::time(nullptr));
      if (files.ok() && wanted.role() == tls::TlsRole::kAuthority && !tls::isIssuer(files.value())) {
        result_.mistakes.push_back(certificate +
                                   " was made by an older init-tls: what it signs would count as a user's; "
                                   "--overwrite makes it anew");
      } else if (files.ok()) {
        result_.kept.insert(result_.kept.end(), {certificate, key});
      } else {
        result_.mistakes.push_back(certificate + " is there, and cannot be used: " +
                                   files.status().message() + "; --overwrite makes it anew");
      }
      return true;
    });
  }

  Status makeAll() {
    if (::mkdir(request_.directory.c_str(), 0700) != 0) {
      if (errno != EEXIST) return errnoStatus("making --dir " + request_.directory, errno);
      POP_RETURN_IF_ERROR(checkDirectoryThatIsThere());  // since we last looked, maybe
    }
    POP_ASSIGN_OR_RETURN(const tls::KeyPair authority, haveAuthority());
    for (const Wanted& wanted : wanted_) {
      POP_ASSIGN_OR_RETURN(const tls::KeyPair pair, make(wanted, authority));
      POP_RETURN_IF_ERROR(addPair(wanted.file_name, pair, request_.overwrite));
    }
    return files_.commit();
  }

  Result<tls::KeyPair> make(const Wanted& wanted, const tls::KeyPair& authority) const {
    switch (wanted.role()) {
      case tls::TlsRole::kServer:
        return tls::makeHostCertificate(authority, wanted.hosts, request_.valid_days);
      case tls::TlsRole::kClient:
        return tls::makeUserCertificate(authority, wanted.user, request_.valid_days);
      case tls::TlsRole::kAuthority:
        break;
    }
    return tls::makeIssuer(authority, request_.valid_days);
  }

  // The existing authority, or a new one.
  Result<tls::KeyPair> haveAuthority() {
    const std::string certificate = pathOf(std::string(kAuthority) + ".pem");
    const std::string key = pathOf(std::string(kAuthority) + "-key.pem");
    if (::access(certificate.c_str(), F_OK) != 0 && ::access(key.c_str(), F_OK) != 0) {
      POP_ASSIGN_OR_RETURN(tls::KeyPair made, isForEtcd()
                                                  ? tls::makeEtcdAuthority(request_.authority_valid_days)
                                                  : tls::makeAuthority(request_.authority_valid_days));
      POP_RETURN_IF_ERROR(addPair(kAuthority, made, false));
      return made;
    }
    POP_ASSIGN_OR_RETURN(tls::TlsFiles files, tls::loadTls({certificate, certificate, key},
                                                           tls::TlsRole::kAuthority, std::time(nullptr)));
    POP_RETURN_IF_ERROR(checkAuthority(files));
    return tls::KeyPair{std::move(files.certificate_pem), std::move(files.key_pem)};
  }

  // The key first: a leftover certificate without its key would block the next try.
  Status addPair(const std::string& name, const tls::KeyPair& pair, bool replace) {
    POP_RETURN_IF_ERROR(files_.add(name + "-key.pem", pair.key_pem, true, replace));
    POP_RETURN_IF_ERROR(files_.add(name + ".pem", pair.certificate_pem, false, replace));
    result_.written.push_back(pathOf(name + ".pem"));
    result_.written.push_back(pathOf(name + "-key.pem"));
    return {};
  }

  const InitTlsRequest& request_;
  FileSet files_;
  std::vector<Wanted> wanted_;
  std::set<std::string> names_;
  InitTlsResult result_;
};

}  // namespace

InitTlsResult initTls(const InitTlsRequest& request) {
  return Maker(request).run();
}

Result<std::vector<Names>> certificateHosts(const std::string& text) {
  std::vector<Names> hosts;
  for (const std::string& item : itemsOf(text)) {
    POP_ASSIGN_OR_RETURN(std::vector<Names> more, hostsOfItem(item));
    for (Names& names : more) {
      for (const std::string& name : names) POP_RETURN_IF_ERROR(tls::checkHostName(name));
      hosts.push_back(std::move(names));
    }
  }
  return hosts;
}

}  // namespace pop::agent
