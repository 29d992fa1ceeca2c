# SPDX-License-Identifier: Apache-2.0
# plan.py FILE: compares what this instance finds with what --dry-run=json, in FILE, said it would. Values that
# only a start decides are compared by what surrounds them.
import json
import os
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    plan = json.load(file)
instance = plan["instances"][int(os.environ["POPDIST_INSTANCE_INDEX"])]
variables = plan["environment"] | instance["environment"]
for name, planned in variables.items():
    planned = planned.replace("<tf cluster>", plan["tf_cluster"] or "")
    pattern = "".join("(.+)" if part.startswith("<") else re.escape(part) for part in re.split("(<[^>]*>)", planned))
    assert re.fullmatch(pattern, os.environ[name], re.DOTALL), f"{name}: planned {planned}, is {os.environ[name]}"
replicas = instance["replicas"]
assert replicas["first"] == int(os.environ["POPDIST_REPLICA_INDEX_OFFSET"])
assert replicas["count"] == int(os.environ["POPDIST_NUM_LOCAL_REPLICAS"])
print(f"instance {instance['instance']} is as planned, {len(variables)} variables")
