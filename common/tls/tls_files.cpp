// SPDX-License-Identifier: Apache-2.0
#include "common/tls/tls_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "common/sys/writers.h"
#include "common/tls/peer_user.h"
#include "common/tls/tls_objects.h"

namespace pop::tls {
namespace {

using namespace openssl;

constexpr std::time_t kSoonSeconds = 30L * 24 * 60 * 60;
constexpr unsigned kOthersBits = 077;

std::string dateText(const std::tm& parts) {
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

std::string dayOf(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return dateText(parts);
}

std::string clockText(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return dateText(parts);
}

// Reads files and collects their mistakes.
class Checker {
 public:
  Checker(TlsRole role, std::time_t now) : role_(role), now_(now) {}

  TlsFiles check(const TlsPaths& paths) {
    const sys::Fd authority_file = open(paths.authority, "the authority's certificate (ca.pem)");
    if (role_ == TlsRole::kServer) checkAuthorityWriters(authority_file, paths.authority);
    files_.authority_pem = read(authority_file, paths.authority);
    files_.certificate_pem = read(open(paths.certificate, "the certificate"), paths.certificate);
    const sys::Fd key_file = open(paths.key, "the key");
    checkKeyMode(key_file, paths.key);
    files_.key_pem = read(key_file, paths.key);
    const auto objects = std::make_shared<TlsObjects>();
    objects->authorities = certificatesAt(files_.authority_pem, paths.authority);
    objects->chain = certificatesAt(files_.certificate_pem, paths.certificate);
    objects->key = keyIn(files_.key_pem, paths.key);
    files_.objects = objects;
    if (objects->chain.empty()) return std::move(files_);
    X509* const own = objects->chain.front().get();
    if (objects->key && X509_check_private_key(own, objects->key.get()) != 1) {
      ERR_clear_error();
      mistakes_.push_back(paths.key + " is not the key of " + paths.certificate);
    }
    if (checkDates(own, paths.certificate) && !objects->authorities.empty()) checkChain(*objects, paths);
    return std::move(files_);
  }

  const std::vector<std::string>& mistakes() const { return mistakes_; }

 private:
  // Invalid: it is listed as a mistake.
  sys::Fd open(const std::string& path, const std::string& what) {
    if (path.empty()) {
      mistakes_.push_back("no path is given for " + what);
      return {};
    }
    Result<sys::Fd> file = sys::openFile(path);
    if (file.ok()) return std::move(*file);
    mistakes_.push_back(file.status().message());
    return {};
  }

  std::string read(const sys::Fd& file, const std::string& path) {
    if (!file.valid()) return {};
    Result<std::string> text = sys::readAll(file, path);
    if (text.ok()) return std::move(*text);
    mistakes_.push_back(text.status().message());
    return {};
  }

  // A user who can replace this file controls every user's identity.
  void checkAuthorityWriters(const sys::Fd& file, const std::string& path) {
    if (!file.valid()) return;
    const Status safe = sys::checkWriters(file, path);
    if (!safe.ok()) mistakes_.push_back(safe.message());
  }

  void checkKeyMode(const sys::Fd& file, const std::string& path) {
    struct stat status {};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) return;
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777U);
    if ((status.st_mode & kOthersBits) != 0) {
      mistakes_.push_back(path + " is open to others (mode " + mode.data() +
                          "): chmod 600 it, or make a new " + "key if others may have read it");
    }
    if (status.st_uid != ::geteuid() && status.st_uid != 0) {
      mistakes_.push_back(path + " belongs to user " + std::to_string(status.st_uid) +
                          ": a key must belong to this user or root");
    }
  }

  std::vector<Certificate> certificatesAt(const std::string& pem, const std::string& path) {
    if (pem.empty()) {
      if (couldRead(path)) mistakes_.push_back(path + " is empty");
      return {};
    }
    std::vector<Certificate> certificates = certificatesIn(pem);
    if (certificates.empty()) mistakes_.push_back(path + " holds no certificate in PEM form");
    return certificates;
  }

  Key keyIn(const std::string& pem, const std::string& path) {
    if (pem.empty()) {
      if (couldRead(path)) mistakes_.push_back(path + " is empty");
      return {};
    }
    Key key = keyFrom(pem);
    if (!key) {
      const bool encrypted = pem.find("ENCRYPTED") != std::string::npos;
      mistakes_.push_back(
          path + (encrypted ? " has a passphrase: a service cannot ask for it, so use a key without one"
                            : " holds no key in PEM form"));
    }
    return key;
  }

  bool couldRead(const std::string& path) const { return !path.empty() && ::access(path.c_str(), R_OK) == 0; }

  bool checkDates(const X509* certificate, const std::string& path) {
    const ASN1_TIME* begin = X509_get0_notBefore(certificate);
    const ASN1_TIME* end = X509_get0_notAfter(certificate);
    std::time_t soon = now_ + kSoonSeconds;
    if (X509_cmp_time(begin, &now_) > 0) {
      mistakes_.push_back(path + " is not valid before " + dayOf(begin) + ", and this host's clock says " +
                          clockText(now_) + ": set the clock");
      return false;
    }
    if (X509_cmp_time(end, &now_) < 0) {
      mistakes_.push_back(path + " expired on " + dayOf(end) + " (this host's clock says " + clockText(now_) +
                          "): make a new one with popdist-agent init-tls --overwrite");
      return false;
    }
    if (X509_cmp_time(end, &soon) < 0) files_.warnings.push_back(path + " expires soon, on " + dayOf(end));
    return true;
  }

  // As the peer will do: through the certificates that follow ours, to any of the authorities.
  void checkChain(const TlsObjects& objects, const TlsPaths& paths) {
    X509* const own = objects.chain.front().get();
    const Store store(X509_STORE_new());
    const StoreContext context(X509_STORE_CTX_new());
    const Chain others(sk_X509_new_null());
    const bool is_set_up =
        store && context && others && trust(store.get(), objects.authorities) &&
        std::all_of(objects.chain.begin() + 1, objects.chain.end(),
                    [&](const auto& each) { return sk_X509_push(others.get(), each.get()) > 0; }) &&
        X509_STORE_CTX_init(context.get(), store.get(), own, others.get()) == 1;
    if (!is_set_up) {
      mistakes_.push_back(paths.certificate + " cannot be checked: " + lastError());
      return;
    }
    X509_STORE_CTX_set_time(context.get(), 0, now_);
    if (role_ == TlsRole::kServer) X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_SERVER);
    if (role_ == TlsRole::kClient) X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
    const bool good = X509_verify_cert(context.get()) == 1;
    ERR_clear_error();
    if (good && role_ == TlsRole::kClient && isHosts(own)) {
      mistakes_.push_back(whyRefused(paths, X509_V_ERR_INVALID_PURPOSE));
      return;
    }
    if (!good) return explainRefusal(context.get(), objects, paths);
    // A host is a client, too, of the daemon that it joins, but nobody's user.
    if (role_ == TlsRole::kClient && !userOf(own).ok())
      mistakes_.push_back(whyRefused(paths, X509_V_ERR_INVALID_PURPOSE));
    const STACK_OF(X509)* const chain = X509_STORE_CTX_get0_chain(context.get());
    for (int i = 1; i < sk_X509_num(chain); ++i) {
      const X509* const each = sk_X509_value(chain, i);
      checkDates(each, fileOf(each, objects, paths));  // those that expire soon
    }
    if (role_ == TlsRole::kAuthority && X509_check_ca(own) != 1) {
      mistakes_.push_back(paths.certificate + " is not an authority's certificate: it cannot sign others");
    }
  }

  static std::string fileOf(const X509* certificate, const TlsObjects& objects, const TlsPaths& paths) {
    const bool is_authority =
        std::any_of(objects.authorities.begin(), objects.authorities.end(),
                    [certificate](const auto& each) { return X509_cmp(each.get(), certificate) == 0; });
    return is_authority ? paths.authority : paths.certificate;
  }

  void explainRefusal(X509_STORE_CTX* context, const TlsObjects& objects, const TlsPaths& paths) {
    const int error = X509_STORE_CTX_get_error(context);
    const X509* const refused = X509_STORE_CTX_get_current_cert(context);
    const bool by_date = error == X509_V_ERR_CERT_HAS_EXPIRED || error == X509_V_ERR_CERT_NOT_YET_VALID;
    if (by_date && !checkDates(refused, fileOf(refused, objects, paths))) return;
    mistakes_.push_back(whyRefused(paths, error));
  }

  std::string whyRefused(const TlsPaths& paths, int error) const {
    if (error != X509_V_ERR_INVALID_PURPOSE)
      return paths.certificate + " is not signed by " + paths.authority + ": " +
             X509_verify_cert_error_string(error);
    const bool is_server = role_ == TlsRole::kServer;
    return paths.certificate + " is not a " + (is_server ? "host" : "user") +
           "'s certificate: make one with popdist-agent init-tls " + (is_server ? "--host" : "--user");
  }

  TlsRole role_;
  std::time_t now_;
  TlsFiles files_;
  std::vector<std::string> mistakes_;
};

}  // namespace

TlsFiles tlsFilesOf(std::string authority_pem, std::string certificate_pem, std::string key_pem) {
  const auto objects = std::make_shared<TlsObjects>();
  objects->authorities = certificatesIn(authority_pem);
  objects->chain = certificatesIn(certificate_pem);
  objects->key = keyFrom(key_pem);
  return {std::move(authority_pem), std::move(certificate_pem), std::move(key_pem), {}, objects};
}

std::vector<std::string> hostNamesIn(const TlsFiles& files) {
  return files.objects->chain.empty() ? std::vector<std::string>()
                                      : hostNamesOf(files.objects->chain.front().get());
}

bool isIssuer(const TlsFiles& files) {
  return !files.objects->chain.empty() && isForJobs(files.objects->chain.front().get());
}

bool isForClients(const TlsFiles& files) {
  return !files.objects->chain.empty() &&
         X509_check_purpose(files.objects->chain.front().get(), X509_PURPOSE_SSL_CLIENT, 0) == 1;
}

std::string authorityName(const TlsFiles& files) {
  if (files.objects->authorities.empty()) return {};
  std::array<char, 256> text{};
  X509_NAME* const subject = X509_get_subject_name(files.objects->authorities.front().get());
  const int length = X509_NAME_get_text_by_NID(subject, NID_commonName, text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

// By their keys: whoever has the key signs for all its certificates.
bool haveOneAuthority(const TlsFiles& one, const TlsFiles& other) {
  for (const Certificate& each : one.objects->authorities)
    for (const Certificate& its : other.objects->authorities)
      if (EVP_PKEY_eq(X509_get0_pubkey(each.get()), X509_get0_pubkey(its.get())) == 1) return true;
  ERR_clear_error();
  return false;
}

Result<TlsFiles> loadTls(const TlsPaths& paths, TlsRole role, std::time_t now) {
  Checker checker(role, now);
  TlsFiles files = checker.check(paths);
  if (checker.mistakes().empty()) return files;
  return failedPrecondition(join(checker.mistakes(), "; "));
}

}  // namespace pop::tls
