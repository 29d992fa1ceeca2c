// SPDX-License-Identifier: Apache-2.0
// The interface of a backend: a shared library that communicators run on, loaded by registerBackend().
// Its binary interface is C, and it needs no symbol of libpopdist. So a backend may be built by another
// compiler or in another language, and its own libraries stay invisible to the program.
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
  kPopdistSendRecv = 9,  ///< every member makes each call, so that all can be told of contradictions
};

/// How a call ended.
struct PopdistStatus {
  std::int32_t code;       ///< 0: success; else one of popdist::ErrorCode
  std::int32_t peer_rank;  ///< the rank that failed or was waited for; -1: none in particular
  char message[1024];      ///< cause and what to do about it, without the operation; ends with a zero
};

/// What the library tells a backend and does for it. Valid for as long as the communicator lives.
struct PopdistGroupInfo {
  std::uint64_t number;           ///< of the communicator, the same on all members, never used again
  std::int32_t rank;              ///< of this member
  std::int32_t ranks;             ///< how many members there are
  const std::int32_t* instances;  ///< instance that is rank r
  const char* host_address;       ///< numeric, at which the members on other hosts reach this one
  std::int64_t timeout_ms;        ///< for `connect`
  void* library;                  ///< first argument of what follows
  /// Asks whether waiting for the ranks `awaited` is useless, because a member has failed or one of `awaited`
  /// has ended. Returns the rank of that member and writes who it is and how it ended to `text`; otherwise
  /// returns -1. Cheap; from any thread. A waiting member asks at least every 100 ms, since all members must
  /// know of an end within a second. A member that learns of one that exited with code 0 must tell the
  /// others: members that wait for somebody else are not told of it here.
  std::int32_t (*ended)(void* library, const std::int32_t* awaited, std::int32_t count, char* text,
                        std::size_t text_bytes);
  /// Asks, in the thread that is in `run` and as often as `ended`, whether the call must end before its
  /// timeout, because a member is known to wait for it without success. Not 0: it must.
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
