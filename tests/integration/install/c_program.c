/* SPDX-License-Identifier: Apache-2.0
 * A program in C that calls every function of popdist_c.h, as two instances. Prints what is wrong, and ends
 * with "all is well".
 */
#include <popdist_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int is_right, const char* what, int line) {
  if (is_right) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  exit(1);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static void succeed(popdist_error_t* error, int line) {
  if (error == NULL) return;
  fprintf(stderr, "line %d: %s\n", line, popdist_error_message(error));
  popdist_error_free(error);
  exit(1);
}
#define SUCCEED(call) succeed(call, __LINE__)

static void fail(popdist_error_t* error, popdist_code_t code, const char* text, int line) {
  check(error != NULL, "no error", line);
  check(popdist_error_code(error) == code, popdist_error_message(error), line);
  check(strstr(popdist_error_message(error), text) != NULL, popdist_error_message(error), line);
  popdist_error_free(error);
}
#define FAIL(call, code, text) fail(call, code, text, __LINE__)

static void check_library(void) {
  CHECK(popdist_c_interface() >= POPDIST_C_INTERFACE);
  CHECK(strlen(popdist_version()) > 0);
  CHECK(strstr(popdist_library_path(), "libpopdist.so") != NULL);
  CHECK(popdist_type_bytes(POPDIST_BFLOAT16) == 2 && popdist_type_bytes((popdist_type_t)13) == 0);
  CHECK(popdist_supports(POPDIST_SUM, POPDIST_FLOAT) && !popdist_supports(POPDIST_MEAN, POPDIST_INT32));
}

static void check_context(popdist_context_t* context) {
  popdist_context_t* again = NULL;
  SUCCEED(popdist_context(&again));
  CHECK(again == context);
  CHECK(popdist_num_instances(context) == 2 && popdist_local_instance_index(context) < 2);
  CHECK(popdist_num_total_replicas(context) == 4 && popdist_num_local_replicas(context) == 2);
  CHECK(popdist_replica_index_offset(context) == 2 * popdist_instance_index(context));
  CHECK(popdist_num_ipus_per_replica(context) == 1);
  SUCCEED(popdist_set_timeout_ms(context, 20000));
  CHECK(popdist_timeout_ms(context) == 20000);
  FAIL(popdist_set_timeout_ms(context, 0), POPDIST_INVALID_ARGUMENT, "at least a millisecond");

  if (popdist_instance_index(context) == 0) SUCCEED(popdist_put(context, "key", "a\0b", 3));
  SUCCEED(popdist_fence(context));
  void* value = NULL;
  size_t bytes = 0;
  SUCCEED(popdist_get(context, "key", &value, &bytes));
  CHECK(bytes == 3 && memcmp(value, "a\0b", 3) == 0);
  popdist_free_value(value);
  SUCCEED(popdist_get(context, "no key", &value, &bytes));
  CHECK(value == NULL);

  bool shown = false;
  SUCCEED(popdist_report(context, "loss", 0.5, POPDIST_FOLD_MEAN, &shown));
  CHECK(shown);
  FAIL(popdist_report(context, "loss", 0.5, (popdist_fold_t)3, NULL), POPDIST_INVALID_ARGUMENT, "no fold 3");
  FAIL(popdist_abort(context, 0, "never"), POPDIST_INVALID_ARGUMENT, "exit code 0");
}

static void check_collectives(popdist_communicator_t* world) {
  const int rank = popdist_rank(world);
  CHECK(popdist_size(world) == 2);
  const popdist_call_options_t options = {sizeof(options), "loss", 10000};
  int32_t mine[2] = {rank + 1, 10 * (rank + 1)};
  int32_t all[4] = {0, 0, 0, 0};
  SUCCEED(popdist_all_reduce(world, mine, all, 2, POPDIST_INT32, POPDIST_SUM, &options));
  CHECK(all[0] == 3 && all[1] == 30);
  SUCCEED(popdist_reduce_scatter(world, mine, all, 1, POPDIST_INT32, POPDIST_MAX, NULL));
  CHECK(all[0] == (rank == 0 ? 2 : 20));
  SUCCEED(popdist_reduce(world, mine, all, 2, POPDIST_INT32, POPDIST_SUM, 1, NULL));
  if (rank == 1) CHECK(all[1] == 30);
  SUCCEED(popdist_all_gather(world, mine, all, 2, POPDIST_INT32, NULL));
  CHECK(all[0] == 1 && all[1] == 10 && all[2] == 2 && all[3] == 20);
  const size_t counts[2] = {2, 1};
  SUCCEED(popdist_all_gather_v(world, mine, all, counts, POPDIST_INT32, NULL));
  CHECK(all[1] == 10 && all[2] == 2);
  SUCCEED(popdist_gather(world, mine, all, 1, POPDIST_INT32, 0, NULL));
  if (rank == 0) CHECK(all[0] == 1 && all[1] == 2);
  SUCCEED(popdist_scatter(world, mine, all, 1, POPDIST_INT32, 1, NULL));
  CHECK(all[0] == (rank == 0 ? 2 : 20));
  SUCCEED(popdist_all_to_all(world, mine, all, 1, POPDIST_INT32, NULL));
  CHECK(all[0] == (rank == 0 ? 1 : 10) && all[1] == (rank == 0 ? 2 : 20));
  const size_t sent[2] = {(size_t)(rank == 0), (size_t)(rank == 0)};
  const size_t received[2] = {1, 0};
  SUCCEED(popdist_all_to_all_v(world, mine, sent, all, received, POPDIST_INT32, NULL));
  CHECK(all[0] == (rank == 0 ? 1 : 10));
  SUCCEED(popdist_send_recv(world, mine, 2, 1 - rank, all, 2, 1 - rank, POPDIST_INT32, NULL));
  CHECK(all[0] == 2 - rank);
  SUCCEED(popdist_broadcast(world, mine, 2, POPDIST_INT32, 1, NULL));
  CHECK(mine[0] == 2 && mine[1] == 20);
  SUCCEED(popdist_barrier(world, NULL));
}

static void check_wrong_calls(popdist_communicator_t* world) {
  float value = 0;
  FAIL(popdist_all_reduce(NULL, &value, &value, 1, POPDIST_FLOAT, POPDIST_SUM, NULL),
       POPDIST_INVALID_ARGUMENT, "popdist_all_reduce: `communicator` is NULL");
  FAIL(popdist_all_reduce(world, &value, &value, 1, (popdist_type_t)99, POPDIST_SUM, NULL),
       POPDIST_INVALID_ARGUMENT, "no type 99");
  FAIL(popdist_all_reduce(world, &value, &value, 1, POPDIST_FLOAT, (popdist_operator_t)-1, NULL),
       POPDIST_INVALID_ARGUMENT, "no operator -1");
  popdist_call_options_t options;
  memset(&options, 0, sizeof(options));
  FAIL(popdist_barrier(world, &options), POPDIST_INVALID_ARGUMENT, "sizeof(popdist_call_options_t)");
  popdist_error_t* const error = popdist_broadcast(world, &value, 1, POPDIST_FLOAT, 7, NULL);
  CHECK(error != NULL && popdist_error_code(error) == POPDIST_INVALID_ARGUMENT);
  CHECK(strcmp(popdist_error_operation(error), "broadcast") == 0);
  CHECK(popdist_error_rank(error) == popdist_rank(world) && popdist_error_peer(error) == -1);
  popdist_error_free(error);
  popdist_async_t* async = NULL;
  FAIL(popdist_async_create(world, &async), POPDIST_INVALID_ARGUMENT, "belongs to the context");
  popdist_communicator_free(world);
  CHECK(popdist_size(world) == 2);
}

static void finish(popdist_error_t* issued, popdist_request_t** issued_as, int line) {
  succeed(issued, line);
  popdist_request_t* const request = *issued_as;
  succeed(popdist_request_wait(request), line);
  check(popdist_request_done(request), "not done", line);
  popdist_request_free(request);
}
#define FINISH(call) finish(call, &request, __LINE__)

static void check_async(popdist_context_t* context) {
  const unsigned both[2] = {0, 1};
  const unsigned second[1] = {1};
  popdist_communicator_t* alone = NULL;
  SUCCEED(popdist_communicator_create(context, second, 1, &alone));
  CHECK((alone != NULL) == (popdist_instance_index(context) == 1));
  popdist_communicator_free(alone);
  popdist_communicator_t* group = NULL;
  SUCCEED(popdist_communicator_create(context, both, 2, &group));
  const int rank = popdist_rank(group);
  popdist_async_t* async = NULL;
  SUCCEED(popdist_async_create(group, &async));

  popdist_request_t* request = NULL;
  double mine[2] = {1.0 + rank, 3.0};
  double all[4] = {0, 0, 0, 0};
  FINISH(popdist_async_all_reduce(async, "a", mine, all, 2, POPDIST_DOUBLE, POPDIST_MEAN, 0, &request));
  CHECK(all[0] == 1.5 && all[1] == 3.0);
  FINISH(popdist_async_reduce_scatter(async, "b", mine, all, 1, POPDIST_DOUBLE, POPDIST_SUM, 5000, &request));
  CHECK(all[0] == (rank == 0 ? 3.0 : 6.0));
  FINISH(popdist_async_reduce(async, "c", mine, all, 2, POPDIST_DOUBLE, POPDIST_SUM, 0, 0, &request));
  FINISH(popdist_async_all_gather(async, "d", mine, all, 2, POPDIST_DOUBLE, 0, &request));
  CHECK(all[0] == 1.0 && all[2] == 2.0);
  FINISH(popdist_async_all_to_all(async, "e", mine, all, 1, POPDIST_DOUBLE, 0, &request));
  FINISH(popdist_async_broadcast(async, "f", mine, 2, POPDIST_DOUBLE, 0, 0, &request));
  CHECK(mine[0] == 1.0);
  SUCCEED(popdist_async_barrier(async, "g", 0, NULL));
  FINISH(popdist_async_barrier(async, "h", 0, &request));
  FAIL(popdist_async_barrier(async, NULL, 0, NULL), POPDIST_INVALID_ARGUMENT, "`name` is NULL");
  popdist_async_free(async);
}

static void check_pod(popdist_context_t* context) {
  popdist_pod_t* pod = NULL;
  SUCCEED(popdist_pod_create(context, &pod));
  CHECK(strcmp(popdist_pod_system(pod), "pod4") == 0);
  float* tensors[2];
  float* outs[2];
  for (int i = 0; i < 2; ++i) {
    void* memory = NULL;
    SUCCEED(popdist_allocate_shared(context, 4 * sizeof(float), &memory));
    tensors[i] = memory;
    SUCCEED(popdist_allocate_shared(context, 4 * sizeof(float), &memory));
    outs[i] = memory;
    for (int j = 0; j < 4; ++j) tensors[i][j] = (float)(popdist_replica_index_offset(context) + i);
  }
  void* const both[2] = {tensors[0], tensors[1]};
  const void* const in[2] = {tensors[0], tensors[1]};
  void* const out[2] = {outs[0], outs[1]};
  const popdist_pod_options_t pairs = {sizeof(pairs), 2, 0, "clockwise_ring", false};
  SUCCEED(popdist_pod_all_reduce(pod, in, out, 4, POPDIST_FLOAT, POPDIST_SUM, &pairs));
  CHECK(outs[0][3] == 1.0f + 4.0f * (float)popdist_instance_index(context));
  SUCCEED(popdist_pod_reduce_scatter(pod, in, out, 1, POPDIST_FLOAT, POPDIST_MAX, NULL));
  CHECK(outs[1][0] == 3.0f);
  SUCCEED(popdist_pod_reduce_scatter(pod, in, out, 1, POPDIST_FLOAT, POPDIST_LOCAL, NULL));
  CHECK(outs[1][0] == tensors[1][0]);
  const popdist_pod_options_t within = {sizeof(within), 0, 0, NULL, true}; /* replicas of one IPU */
  SUCCEED(popdist_pod_all_reduce(pod, in, out, 4, POPDIST_FLOAT, POPDIST_SUM, &within));
  CHECK(outs[1][0] == tensors[1][0]);
  SUCCEED(popdist_pod_all_gather(pod, in, out, 1, POPDIST_FLOAT, NULL));
  CHECK(outs[0][2] == 2.0f);
  SUCCEED(popdist_pod_all_to_all(pod, in, out, 1, POPDIST_FLOAT, NULL));
  CHECK(outs[0][3] == 3.0f);
  SUCCEED(popdist_pod_all_reduce_sum(pod, both, 4, POPDIST_FLOAT));
  CHECK(tensors[0][0] == 6.0f);
  tensors[0][0] = (float)popdist_instance_index(context);
  SUCCEED(popdist_pod_broadcast(pod, both, 4, POPDIST_FLOAT, 2, NULL));
  CHECK(tensors[1][0] == 1.0f);

  popdist_pod_collective_t last;
  memset(&last, 0, sizeof(last));
  FAIL(popdist_pod_last_collective(pod, &last), POPDIST_INVALID_ARGUMENT, "sizeof(popdist_pod_collective_t)");
  last.bytes = sizeof(last);
  SUCCEED(popdist_pod_last_collective(pod, &last));
  CHECK(last.time_ps >= last.lower_bound_ps && last.lower_bound_ps > 0 && last.rounds > 0);
  CHECK(strlen(last.method) > 0 && last.bytes_on_busiest_link > 0);
  const int64_t before = popdist_pod_time_ps(pod);
  CHECK(before == popdist_pod_collective_time_ps(pod));
  SUCCEED(popdist_pod_advance_compute(pod, 1e9));
  CHECK(popdist_pod_time_ps(pod) > before);
  FAIL(popdist_pod_broadcast(pod, NULL, 4, POPDIST_FLOAT, 0, NULL), POPDIST_INVALID_ARGUMENT,
       "`tensors` is NULL");
  popdist_pod_free(pod);
  for (int i = 0; i < 2; ++i) {
    popdist_free_shared(context, tensors[i]);
    popdist_free_shared(context, outs[i]);
  }
}

int main(void) {
  check_library();
  popdist_context_t* context = NULL;
  SUCCEED(popdist_context(&context));
  FAIL(popdist_context(NULL), POPDIST_INVALID_ARGUMENT, "`context` is NULL");
  check_context(context);
  check_collectives(popdist_world(context));
  check_wrong_calls(popdist_world(context));
  check_async(context);
  check_pod(context);
  puts("all is well");
  return 0;
}
