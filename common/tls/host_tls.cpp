// SPDX-License-Identifier: Apache-2.0
#include "common/tls/host_tls.h"

#include <unistd.h>

#include <ctime>

#include "common/sys/host_name.h"

namespace pop::tls {

Result<TlsFiles> loadHostTls(const std::string& directory) {
  const std::string own = directory + "/host-" + sys::hostName();
  const std::string renamed = directory + "/host";
  const auto isThere = [](const std::string& base) { return ::access((base + ".pem").c_str(), F_OK) == 0; };
  if (!isThere(own) && !isThere(renamed))
    return failedPrecondition("this host has no certificate: neither " + own +
                              ".pem (after `uname -n`) nor " + renamed +
                              ".pem is there; make it with popdist-agent init-tls --host " + sys::hostName());
  const std::string& base = isThere(own) ? own : renamed;
  return loadTls({directory + "/ca.pem", base + ".pem", base + "-key.pem"}, TlsRole::kServer,
                 std::time(nullptr));
}

Result<TlsFiles> loadHostTlsForJoining(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(TlsFiles files, loadHostTls(directory));
  if (isForClients(files)) return files;
  return failedPrecondition("the host's certificate in " + directory +
                            " was made by an older init-tls and is for serving only: to join a cluster, make "
                            "a new one with popdist-agent init-tls --overwrite --host");
}

}  // namespace pop::tls
