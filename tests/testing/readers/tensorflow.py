# SPDX-License-Identifier: Apache-2.0
# Reads TF_CONFIG as TFConfigClusterResolver does, and checks the rules of TensorFlow's multi_worker_util: known
# tasks, at most one chief and one evaluator, an index within its task, an evaluator outside the cluster (as in
# Estimator's documentation). Then binds the task's own address, as TensorFlow's server would.
import json
import os
import socket

config = json.loads(os.environ.get("TF_CONFIG", "{}"))
cluster, task = config["cluster"], config["task"]
task_type, task_id = str(task["type"]), int(task["index"])

assert set(cluster) <= {"chief", "worker", "evaluator", "ps"}, cluster
assert task_type in ("chief", "worker", "evaluator"), task_type
assert len(cluster.get("chief", [])) <= 1
assert "evaluator" not in cluster, "it is no part of the training cluster"
addresses = [address for task_addresses in cluster.values() for address in task_addresses]
assert len(set(addresses)) == len(addresses) > 0, "each address once"

if task_type == "evaluator":
    assert task_id == 0
    print(f"evaluator beside {len(addresses)}")
else:
    assert task_id < len(cluster[task_type]), f"task id {task_id} exceeds the cluster's {task_type}s"
    host, port = cluster[task_type][task_id].rsplit(":", 1)
    with socket.socket() as server:
        server.bind((host, int(port)))
        server.listen()
    id_in_cluster = task_id + (len(cluster.get("chief", [])) if task_type == "worker" else 0)
    print(f"{task_type} {task_id}, {id_in_cluster} of {len(addresses)}")
