// SPDX-License-Identifier: Apache-2.0
// What a shared library has to offer so that communicators run on it: a backend, loaded by registerBackend().
// Everything here is C by its binary interface and needs no symbol of libpopdist, so that a backend may be
// built by another compiler, in another language, and bring libraries of its own that the program never sees.
//
// A backend exports one function, popdistBackend (see below). For each communicator the library then calls
//   offer    on each member: makes this member's end and says where the others can reach it
//   connect  on each member, after a fence of all instances: with what every member has offered
//   run      once for each collective, on the caller's thread; it returns when the member's part is done
//   destroy  when the communicator is destroyed. Not called when the process just ends.
// All but `run` of different communicators are called one at a time. The first communicator of a process is
// that of all instances of the job. A call that fails is the communicator's last: only `destroy` follows.
// Nothing may throw. Names and numbers follow communicator.hpp, which says what each operation means;
// arguments have been checked when `run` is called, as far as one member can.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Of this header. A backend and a library fit together when theirs are equal.
enum { kPopdistBackendVersion = 3 };

/// The collectives; `PopdistCall::operation`.
enum PopdistOperation : std::uint32_t {
  kPopdistAllReduce = 0,
  kPopdistReduceScatter = 1,
  kPopdistAllGather = 2,
  kPopdistBroadcast = 3,  ///< of `input` on the root; `output` is the same buffer
  kPopdistAllToAll = 4,
  kPopdistBarrier = 5,
  kPopdistReduce = 6,
  kPopdistGather = 7,
  kPopdistScatter = 8,
  kPopdistSendRecv = 9,  ///< every member makes each call, so that contradictions can be told to all
};

/// How a call ended.
struct PopdistStatus {
  std::int32_t code;       ///< 0: well; else one of popdist::ErrorCode
  std::int32_t peer_rank;  ///< the rank that failed or was waited for; -1: none in particular
  char message[1024];      ///< cause and what to do about it, without the operation; ends with a zero
};

/// What the library tells and does for a backend, for as long as the communicator lives.
struct PopdistGroupInfo {
  std::uint64_t number;           ///< of the communicator, the same on all members, never used again
  std::int32_t rank;              ///< of this member
  std::int32_t ranks;             ///< how many members there are
  const std::int32_t* instances;  ///< instance that is rank r
  const char* host_address;       ///< numeric, at which the members on other hosts reach this one
  std::int64_t timeout_ms;        ///< for `connect`
  void* library;                  ///< first argument of what follows
  /// Asks whether the wait for `awaited` is in vain: a member has failed, or one of `awaited` has ended. Then
  /// its rank, and who it was and how it ended in `text`; else -1. Cheap, any thread; a member that waits
  /// asks every 100 ms at least, for the end of a member must be known to all within a second. Who has heard
  /// of one that has left well tells the others, since those who wait for somebody else do not hear of it.
  std::int32_t (*ended)(void* library, const std::int32_t* awaited, std::int32_t count, char* text,
                        std::size_t text_bytes);
  /// Asks, in the thread that is in `run` and as often as `ended`, whether its time is up before that of the
  /// call has passed: not 0 if so. It is known then that somebody waits for the call in vain.
  std::int32_t (*time_is_up)(void* library);
};

/// One collective of one member.
struct PopdistCall {
  std::uint32_t operation;  ///< PopdistOperation
  std::uint32_t type;       ///< popdist::Type
  std::uint32_t op;         ///< popdist::Operator
  std::int32_t root;
  const void* input;
  void* output;
  std::uint64_t count;             ///< elements, as the API counts them; 0 for ragged calls
  const std::size_t* counts;       ///< nullptr, or: ragged all-gather: of each rank; all-to-all: to each rank
  const std::size_t* recv_counts;  ///< nullptr, or: ragged all-to-all: from each rank
  const char* tensor;              ///< its name, or ""
  std::int64_t timeout_ms;
  std::int32_t to;           ///< kPopdistSendRecv: the rank that is sent to; -1: none, as in other calls
  std::int32_t from;         ///< likewise: the rank that is received from
  std::uint64_t send_count;  ///< kPopdistSendRecv: elements; 0 to nobody
  std::uint64_t recv_count;  ///< likewise
};

/// A backend: what popdistBackend returns. Lives for ever.
struct PopdistBackend {
  std::uint32_t version;  ///< kPopdistBackendVersion
  const char* name;       ///< "grpc"
  /// Makes this member's end and writes it to `group`. Its address for the others, of any bytes, goes to
  /// `address` (`address_bytes` says how much room there is, and is set to its length).
  void (*offer)(const PopdistGroupInfo* info, void** group, char* address, std::size_t* address_bytes,
                PopdistStatus* status);
  /// `addresses[r]` has `address_bytes[r]` bytes: what rank r has offered.
  void (*connect)(void* group, const char* const* addresses, const std::size_t* address_bytes,
                  PopdistStatus* status);
  void (*run)(void* group, const PopdistCall* call, PopdistStatus* status);
  void (*destroy)(void* group);
};

/// The function that a backend exports. `library_version` is the caller's kPopdistBackendVersion: a backend
/// that does not know it returns one of its own, which the caller then refuses by its `version`.
using PopdistBackendFunction = const PopdistBackend* (*)(std::uint32_t library_version);
}
