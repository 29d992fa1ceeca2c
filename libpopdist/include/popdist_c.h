/* SPDX-License-Identifier: Apache-2.0
 *
 * libpopdist for C, and for languages that call C: contexts, collectives, asynchronous collectives and the
 * emulated Pod. Link libpopdist.so (pkg-config popdist_shared). A first program and the rules of stability:
 * docs/guide/c_interface.md.
 *
 * What is computed, who must call, costs, and the order of sums are those of the C++ functions of the same
 * name, in popdist/context.hpp, communicator.hpp, async.hpp and pod.hpp beside this file.
 *
 * Errors
 *   - Functions that can fail return NULL, or an error that the caller frees. Nothing else is written then:
 *     results through pointers hold what they held.
 *   - A null pointer where none is allowed, and numbers that are no popdist_type_t or popdist_operator_t, are
 *     POPDIST_INVALID_ARGUMENT. Handles that were freed are not noticed.
 * Text
 *   - Is UTF-8 and ends with a zero. Text that is returned belongs to the library, and stays until its object
 *     is freed.
 * Units
 *   - Counts are numbers of elements; times are milliseconds or, on the simulated Pod, picoseconds.
 * Threads
 *   - As in C++: one caller at a time on a communicator; any thread may call the others' functions.
 */
#pragma once

#include <stdbool.h> /* NOLINT(modernize-deprecated-headers): C */
#include <stddef.h>  /* NOLINT(modernize-deprecated-headers) */
#include <stdint.h>  /* NOLINT(modernize-deprecated-headers) */

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions are added; none is changed or taken away before libpopdist.so.1. */
#define POPDIST_C_INTERFACE 1

/* The library in this process. */
int popdist_c_interface(void);          /* its POPDIST_C_INTERFACE: not less than that of the header */
const char* popdist_version(void);      /* such as "0.1.0" */
const char* popdist_library_path(void); /* of its file */

/* ---- Errors -------------------------------------------------------------------------------------------- */

/* the numbers of gRPC's status codes */
typedef enum popdist_code_t {
  POPDIST_CANCELLED = 1,
  POPDIST_UNKNOWN = 2,
  POPDIST_INVALID_ARGUMENT = 3,
  POPDIST_DEADLINE_EXCEEDED = 4,
  POPDIST_NOT_FOUND = 5,
  POPDIST_ALREADY_EXISTS = 6,
  POPDIST_PERMISSION_DENIED = 7,
  POPDIST_RESOURCE_EXHAUSTED = 8,
  POPDIST_FAILED_PRECONDITION = 9,
  POPDIST_ABORTED = 10,
  POPDIST_OUT_OF_RANGE = 11,
  POPDIST_UNIMPLEMENTED = 12,
  POPDIST_INTERNAL = 13,
  POPDIST_UNAVAILABLE = 14,
  POPDIST_DATA_LOSS = 15
} popdist_code_t;

typedef struct popdist_error_t popdist_error_t;

popdist_code_t popdist_error_code(const popdist_error_t* error);
const char* popdist_error_message(const popdist_error_t* error);   /* the operation, the cause, what to do */
const char* popdist_error_operation(const popdist_error_t* error); /* "allReduce"; "" if it has none */
int popdist_error_rank(const popdist_error_t* error); /* the caller's in the communicator; -1: not in one */
int popdist_error_peer(const popdist_error_t* error); /* the instance to blame; -1: none in particular */
void popdist_error_free(popdist_error_t* error);      /* NULL: nothing happens */

/* ---- Elements ------------------------------------------------------------------------------------------ */

typedef enum popdist_type_t {
  POPDIST_BOOL = 0,
  POPDIST_INT8 = 1,
  POPDIST_UINT8 = 2,
  POPDIST_INT16 = 3,
  POPDIST_UINT16 = 4,
  POPDIST_INT32 = 5,
  POPDIST_UINT32 = 6,
  POPDIST_INT64 = 7,
  POPDIST_UINT64 = 8,
  POPDIST_HALF = 9,
  POPDIST_BFLOAT16 = 10,
  POPDIST_FLOAT = 11,
  POPDIST_DOUBLE = 12
} popdist_type_t;

/* popdist/operators.hpp: which types each has, and how it rounds */
typedef enum popdist_operator_t {
  POPDIST_SUM = 0,
  POPDIST_MEAN = 1,
  POPDIST_MIN = 2,
  POPDIST_MAX = 3,
  POPDIST_PRODUCT = 4,
  POPDIST_SQUARE_ADD = 5,
  POPDIST_LOGICAL_AND = 6,
  POPDIST_LOGICAL_OR = 7,
  POPDIST_BIT_AND = 8,
  POPDIST_BIT_OR = 9,
  POPDIST_BIT_XOR = 10,
  POPDIST_LOCAL = 11 /* of popdist_pod_reduce_scatter only */
} popdist_operator_t;

size_t popdist_type_bytes(popdist_type_t type); /* of one element; 0: there is no such type */
bool popdist_supports(popdist_operator_t op, popdist_type_t type);

/* ---- Context ------------------------------------------------------------------------------------------- */

typedef struct popdist_context_t popdist_context_t;
typedef struct popdist_communicator_t popdist_communicator_t;

/* The context of this process, from the environment that poprun sets; without poprun one instance. All who
 * call it get the same one, which C++ and Python in this process have, too; it lives until the process ends.
 * Every instance makes the first call. Errors: as popdist::Context::fromEnvironment. */
popdist_error_t* popdist_context(popdist_context_t** context);

int popdist_instance_index(const popdist_context_t* context);
int popdist_num_instances(const popdist_context_t* context);
int popdist_local_instance_index(const popdist_context_t* context);
int popdist_num_total_replicas(const popdist_context_t* context);
int popdist_num_local_replicas(const popdist_context_t* context);
int popdist_replica_index_offset(const popdist_context_t* context);
int popdist_num_ipus_per_replica(const popdist_context_t* context);

int64_t popdist_timeout_ms(const popdist_context_t* context);
popdist_error_t* popdist_set_timeout_ms(popdist_context_t* context, int64_t timeout_ms);

popdist_error_t* popdist_put(popdist_context_t* context, const char* key, const void* value, size_t bytes);
/* *value: the bytes that were put, which the caller gives to popdist_free_value; NULL: there is no such key.
 */
popdist_error_t* popdist_get(popdist_context_t* context, const char* key, void** value, size_t* bytes);
void popdist_free_value(void* value);
popdist_error_t* popdist_fence(popdist_context_t* context);

typedef enum popdist_fold_t {
  POPDIST_FOLD_SUM = 0,
  POPDIST_FOLD_MEAN = 1,
  POPDIST_FOLD_MAX = 2
} popdist_fold_t;

/* *shown, if it is not NULL: false where Context::report returns false. */
popdist_error_t* popdist_report(popdist_context_t* context, const char* name, double value,
                                popdist_fold_t fold, bool* shown);
/* Ends the whole job, and this process; returns only an error, for an exit code that is not from 1 to 255. */
popdist_error_t* popdist_abort(popdist_context_t* context, int exit_code, const char* message);

/* Memory that all instances of this host share, aligned to 64 bytes: the fastest for collectives. */
popdist_error_t* popdist_allocate_shared(popdist_context_t* context, size_t bytes, void** memory);
void popdist_free_shared(popdist_context_t* context, void* memory); /* NULL: nothing happens */

/* ---- Collectives between instances --------------------------------------------------------------------- */

/* Belongs to the context: popdist_communicator_free does nothing with it. */
popdist_communicator_t* popdist_world(popdist_context_t* context);
/* A communicator of the `count` instances in `participants`. Every instance calls it, with the same ones;
 * those that are none of them get NULL. */
popdist_error_t* popdist_communicator_create(popdist_context_t* context, const unsigned* participants,
                                             size_t count, popdist_communicator_t** communicator);
void popdist_communicator_free(popdist_communicator_t* communicator);
int popdist_rank(const popdist_communicator_t* communicator);
int popdist_size(const popdist_communicator_t* communicator);

/* Optional settings of one call; NULL in place of a pointer to them: the defaults. Set `bytes` to
 * sizeof(popdist_call_options_t), so that later versions of the library know which fields there are. */
typedef struct popdist_call_options_t {
  size_t bytes;
  const char* tensor; /* its name, for error texts; NULL: none */
  int64_t timeout_ms; /* in place of the context's; 0: the context's */
} popdist_call_options_t;

/* In all of them n is popdist_size(). */

/* `in` and `out` have `count` elements. In place: yes. */
popdist_error_t* popdist_all_reduce(popdist_communicator_t* communicator, const void* in, void* out,
                                    size_t count, popdist_type_t type, popdist_operator_t op,
                                    const popdist_call_options_t* options);
/* `in` has n * count elements, `out` has count. In place: `out` may be this member's block of `in`. */
popdist_error_t* popdist_reduce_scatter(popdist_communicator_t* communicator, const void* in, void* out,
                                        size_t count, popdist_type_t type, popdist_operator_t op,
                                        const popdist_call_options_t* options);
/* `in` has `count` elements, and `out` of member `root`, too. In place: yes. */
popdist_error_t* popdist_reduce(popdist_communicator_t* communicator, const void* in, void* out, size_t count,
                                popdist_type_t type, popdist_operator_t op, int root,
                                const popdist_call_options_t* options);
/* `in` has `count` elements, `out` has n * count. In place: `in` is NULL. */
popdist_error_t* popdist_all_gather(popdist_communicator_t* communicator, const void* in, void* out,
                                    size_t count, popdist_type_t type, const popdist_call_options_t* options);
/* `in` has counts[rank] elements, `out` has all of the n counts, which are the same on all members. */
popdist_error_t* popdist_all_gather_v(popdist_communicator_t* communicator, const void* in, void* out,
                                      const size_t* counts, popdist_type_t type,
                                      const popdist_call_options_t* options);
/* `data` has `count` elements. */
popdist_error_t* popdist_broadcast(popdist_communicator_t* communicator, void* data, size_t count,
                                   popdist_type_t type, int root, const popdist_call_options_t* options);
/* `in` has `count` elements, `out` of member `root` has n * count. */
popdist_error_t* popdist_gather(popdist_communicator_t* communicator, const void* in, void* out, size_t count,
                                popdist_type_t type, int root, const popdist_call_options_t* options);
/* `in` of member `root` has n * count elements, `out` has count. */
popdist_error_t* popdist_scatter(popdist_communicator_t* communicator, const void* in, void* out,
                                 size_t count, popdist_type_t type, int root,
                                 const popdist_call_options_t* options);
/* `in` and `out` have n * count elements, and do not overlap. */
popdist_error_t* popdist_all_to_all(popdist_communicator_t* communicator, const void* in, void* out,
                                    size_t count, popdist_type_t type, const popdist_call_options_t* options);
/* send_counts[j] elements go to member j, recv_counts[j] come from it; blocks follow each other. */
popdist_error_t* popdist_all_to_all_v(popdist_communicator_t* communicator, const void* in,
                                      const size_t* send_counts, void* out, const size_t* recv_counts,
                                      popdist_type_t type, const popdist_call_options_t* options);
/* Every member takes part; -1 in place of a rank: it does not send, or not receive. */
popdist_error_t* popdist_send_recv(popdist_communicator_t* communicator, const void* in, size_t send_count,
                                   int to, void* out, size_t recv_count, int from, popdist_type_t type,
                                   const popdist_call_options_t* options);
popdist_error_t* popdist_barrier(popdist_communicator_t* communicator, const popdist_call_options_t* options);

/* ---- Asynchronous collectives, matched by name --------------------------------------------------------- */

typedef struct popdist_async_t popdist_async_t;
typedef struct popdist_request_t popdist_request_t;

/* Takes `communicator` over, which must not be popdist_world(): on success its handle is freed. */
popdist_error_t* popdist_async_create(popdist_communicator_t* communicator, popdist_async_t** async);
void popdist_async_free(popdist_async_t* async); /* waits until the other members know of it */

/* Shapes as above. `name` is unique among this instance's calls that are not done. timeout_ms: 0 is the
 * context's. *request: the call, which goes on when it is freed; NULL in place of `request`: nobody waits. */
popdist_error_t* popdist_async_all_reduce(popdist_async_t* async, const char* name, const void* in, void* out,
                                          size_t count, popdist_type_t type, popdist_operator_t op,
                                          int64_t timeout_ms, popdist_request_t** request);
popdist_error_t* popdist_async_reduce_scatter(popdist_async_t* async, const char* name, const void* in,
                                              void* out, size_t count, popdist_type_t type,
                                              popdist_operator_t op, int64_t timeout_ms,
                                              popdist_request_t** request);
popdist_error_t* popdist_async_reduce(popdist_async_t* async, const char* name, const void* in, void* out,
                                      size_t count, popdist_type_t type, popdist_operator_t op, int root,
                                      int64_t timeout_ms, popdist_request_t** request);
popdist_error_t* popdist_async_all_gather(popdist_async_t* async, const char* name, const void* in, void* out,
                                          size_t count, popdist_type_t type, int64_t timeout_ms,
                                          popdist_request_t** request);
popdist_error_t* popdist_async_broadcast(popdist_async_t* async, const char* name, void* data, size_t count,
                                         popdist_type_t type, int root, int64_t timeout_ms,
                                         popdist_request_t** request);
popdist_error_t* popdist_async_all_to_all(popdist_async_t* async, const char* name, const void* in, void* out,
                                          size_t count, popdist_type_t type, int64_t timeout_ms,
                                          popdist_request_t** request);
popdist_error_t* popdist_async_barrier(popdist_async_t* async, const char* name, int64_t timeout_ms,
                                       popdist_request_t** request);

/* Returns when the call is done, with its error. Any thread, any number of times. */
popdist_error_t* popdist_request_wait(const popdist_request_t* request);
bool popdist_request_done(const popdist_request_t* request);
void popdist_request_free(popdist_request_t* request); /* NULL: nothing happens */

/* ---- Collectives between replicas, on the emulated Pod ------------------------------------------------- */

typedef struct popdist_pod_t popdist_pod_t;

/* Every instance calls it. */
popdist_error_t* popdist_pod_create(popdist_context_t* context, popdist_pod_t** pod);
void popdist_pod_free(popdist_pod_t* pod);
const char* popdist_pod_system(const popdist_pod_t* pod);

/* `bytes` as in popdist_call_options_t. Zeros and NULL: all replicas, by the method of GCL_OPTIONS. */
typedef struct popdist_pod_options_t {
  size_t bytes;
  int group_size;      /* 0: all replicas of the job */
  int group_stride;    /* 0 with a size: 1 */
  const char* method;  /* such as "quickest" */
  bool within_replica; /* between the IPUs of each replica: one pointer for each IPU of each replica here */
} popdist_pod_options_t;

/* Arrays `in`, `out` and `tensors` hold one pointer for each replica of this instance, but for options with
 * within_replica. Counts, and in place,
 * as above, with n the size of the group. */
popdist_error_t* popdist_pod_all_reduce_sum(popdist_pod_t* pod, void* const* tensors, size_t count,
                                            popdist_type_t type);
popdist_error_t* popdist_pod_all_reduce(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        size_t count, popdist_type_t type, popdist_operator_t op,
                                        const popdist_pod_options_t* options);
popdist_error_t* popdist_pod_reduce_scatter(popdist_pod_t* pod, const void* const* in, void* const* out,
                                            size_t count, popdist_type_t type, popdist_operator_t op,
                                            const popdist_pod_options_t* options);
popdist_error_t* popdist_pod_all_gather(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        size_t count, popdist_type_t type,
                                        const popdist_pod_options_t* options);
popdist_error_t* popdist_pod_all_to_all(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        size_t count, popdist_type_t type,
                                        const popdist_pod_options_t* options);
popdist_error_t* popdist_pod_broadcast(popdist_pod_t* pod, void* const* tensors, size_t count,
                                       popdist_type_t type, int root, const popdist_pod_options_t* options);

popdist_error_t* popdist_pod_advance_compute(popdist_pod_t* pod, double flops_per_replica);
int64_t popdist_pod_time_ps(const popdist_pod_t* pod);
int64_t popdist_pod_collective_time_ps(const popdist_pod_t* pod);

/* `bytes` as in popdist_call_options_t: fields beyond it are not written. */
typedef struct popdist_pod_collective_t {
  size_t bytes;
  int64_t time_ps;
  int64_t lower_bound_ps;
  int64_t rounds;
  uint64_t bytes_on_busiest_link;
  const char* method; /* until the next collective */
} popdist_pod_collective_t;
/* The last collective that advanced the clock. */
popdist_error_t* popdist_pod_last_collective(const popdist_pod_t* pod, popdist_pod_collective_t* collective);

#ifdef __cplusplus
}
#endif
