// SPDX-License-Identifier: Apache-2.0
// Options of programs built with AddressSanitizer, wherever they were started: the environment of a test
// reaches no program on another host. ASAN_OPTIONS still overrides it.

/// The runtime of GCC 13 and before takes blocks of dynamic thread-local storage that begin 16 bytes after a
/// page for those of glibc before 2.25, reads an address before them, and its leak check at exit then breaks
/// off ("Tracer caught signal 11"): in one of three programs that used gRPC.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}

extern "C" [[gnu::visibility("default")]] const char* __lsan_default_options() {
  return "print_suppressions=0";
}

/// MPICH's transport UCX keeps a kilobyte of its own at exit.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:libucs.so\nleak:libuct.so\n";
}
