// SPDX-License-Identifier: Apache-2.0
// The interface of a backend: a shared library that communicators run on, loaded by registerBackend().
// Its binary interface is C, and it needs no symbol of libpopdist. So a backend may be built by another
// compiler or in another language, and its own libraries stay invisible to the program.
//
// A backend moves bytes between the members of a communicator. The library does the rest: algorithms, sums,
// deadlines, mismatched calls, members that have ended.
//
// A backend exports one function, popdistBackend (see below). For each communicator the library then calls
//   offer     on each member: makes this member's end and says where the others can reach it
//   connect   on each member, after a fence of all instances: with what every member has offered
//   try_send, try_recv, release, delivered, lost, wait
//             during collectives, on the thread of the caller; only `wait` may block
//   close     for each other member, after a call that has failed; only `delivered`, `wait`, `destroy` follow
//   destroy   when the communicator is destroyed. Not called when the process just ends.
// - Calls for one communicator never overlap. Nor do `offer`, `connect` and `destroy` of several ones.
// - The first communicator of a process is that of all instances of the job.
// - Nothing may throw.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Version of this header. A backend and a library fit together when theirs are equal.
enum { kPopdistBackendVersion = 4 };

/// Result of a call.
struct PopdistStatus {
  std::int32_t code;   ///< 0: success; else one of popdist::ErrorCode
  char message[1024];  ///< cause and what to do about it; ends with a zero
};

/// The library's facts for a backend. Valid for as long as the communicator lives.
struct PopdistGroupInfo {
  std::uint64_t number;           ///< the communicator's, the same on all members, never used again
  std::int32_t rank;              ///< this member's
  std::int32_t ranks;             ///< number of members
  const std::int32_t* instances;  ///< instance that is rank r
  const char* host_address;       ///< numeric, at which the members on other hosts reach this one
  std::int64_t timeout_ms;        ///< for `connect`
  void* library;                  ///< argument of `ended`
  /// A `connect` that waits for other members asks this every 100 ms: it must end when the answer is not 0,
  /// since a member has ended. `text` then says which one, and how. Cheap; from any thread.
  std::int32_t (*ended)(void* library, char* text, std::size_t text_bytes);
};

/// A backend: what popdistBackend returns. Lives for ever.
///
/// Between two members there is a stream of bytes in each direction. They arrive in the order in which they
/// were sent, and none is missing. Where the backend cuts the stream does not matter.
struct PopdistBackend {
  std::uint32_t version;  ///< kPopdistBackendVersion
  const char* name;       ///< "grpc"

  /// Makes this member's end and writes it to `group`. Its address for the others, of any bytes, goes to
  /// `address` (`address_bytes` says how much room there is, at least 1 KiB, and is set to its length).
  void (*offer)(const PopdistGroupInfo* info, void** group, char* address, std::size_t* address_bytes,
                PopdistStatus* status);
  /// `addresses[r]` has `address_bytes[r]` bytes: what rank r has offered.
  void (*connect)(void* group, const char* const* addresses, const std::size_t* address_bytes,
                  PopdistStatus* status);

  /// Sends a copy of the beginning of `first` followed by `second`, and returns how many bytes it has taken.
  /// 0: too much is under way to this member, or the member is lost.
  std::size_t (*try_send)(void* group, std::int32_t to, const void* first, std::size_t first_bytes,
                          const void* second, std::size_t second_bytes);
  /// Returns where bytes from this member lie in one piece, and writes to `bytes` how many: 0 if none has
  /// arrived. They stay there until they are released; a later call shows the same ones, or more.
  const void* (*try_recv)(void* group, std::int32_t from, std::size_t* bytes);
  /// The first `bytes` that try_recv shows are no longer needed.
  void (*release)(void* group, std::int32_t from, std::size_t bytes);
  /// Not 0: all that was sent to this member is there, or gets there even if this process ends now, or the
  /// member is lost. A collective does not return before.
  std::int32_t (*delivered)(void* group, std::int32_t to);
  /// Not 0: nothing more comes from this member or goes to it, except what has arrived; `why` says why. If
  /// the member has closed, `last` and `last_bytes` are set to its last message, which stays there.
  std::int32_t (*lost)(void* group, std::int32_t peer, PopdistStatus* why, const void** last,
                       std::size_t* last_bytes);
  /// Returns when an answer of the functions above may have changed since it returned last, and after
  /// `timeout_ms` at the latest. May return early: soon, if the backend makes progress only in these calls.
  void (*wait)(void* group, std::int64_t timeout_ms);

  /// Makes this member lost to `to`, with `last`, of at most 2 KiB, as its last message. Data that was
  /// not delivered before may be dropped, and must not hold up `last`.
  void (*close)(void* group, std::int32_t to, const void* last, std::size_t last_bytes);
  void (*destroy)(void* group);
};

/// The function that a backend exports. `library_version` is the caller's kPopdistBackendVersion: a backend
/// that does not know it returns one of its own, which the caller then refuses by its `version`.
using PopdistBackendFunction = const PopdistBackend* (*)(std::uint32_t library_version);
}
