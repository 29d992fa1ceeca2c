// SPDX-License-Identifier: Apache-2.0
// Owning handles for OpenSSL's objects, its last error as text, and PEM in and out. Included by this folder
// only.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop::tls::openssl {

template <auto kFree>
struct Freer {
  void operator()(auto* object) const { kFree(object); }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
struct ChainFreer {
  void operator()(STACK_OF(X509) * chain) const { sk_X509_free(chain); }
};
using Chain = std::unique_ptr<STACK_OF(X509), ChainFreer>;  ///< of certificates that others own
using Store = std::unique_ptr<X509_STORE, Freer<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Freer<X509_STORE_CTX_free>>;

/// Returns this thread's last error as text, and clears it.
inline std::string lastError() {
  std::array<char, 256> text{};
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (error == 0) return "OpenSSL does not say why";
  ERR_error_string_n(error, text.data(), text.size());
  return text.data();
}

inline Status failed(std::string_view operation) {
  return internalError(std::string(operation) + ": " + lastError());
}

inline Bio reading(std::string_view pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

inline std::string textOf(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

// No passphrase is asked for at the terminal: an encrypted key cannot be read.
inline int noPassphrase(char*, int, int, void*) {
  return -1;
}

/// Null: `pem` has no certificate, or no further one.
inline Certificate nextCertificate(const Bio& pem) {
  Certificate certificate(PEM_read_bio_X509(pem.get(), nullptr, noPassphrase, nullptr));
  ERR_clear_error();
  return certificate;
}

/// Null: `pem` has no key without a passphrase.
inline Key keyFrom(std::string_view pem) {
  Key key(PEM_read_bio_PrivateKey(reading(pem).get(), nullptr, noPassphrase, nullptr));
  ERR_clear_error();
  return key;
}

}  // namespace pop::tls::openssl
