"""Traces."""

import json
from pathlib import Path

ALONE = {"prefetch_queue_depth": 1, "exec_pipelined": False, "exec_async": False}


def of_device(path):
    events = json.loads(Path(path).read_text())["traceEvents"]
    (row,) = [
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"].startswith("CUDA device 0, str")
    ]
    return [event for event in events if event["ph"] == "X" and (event["pid"], event["tid"]) == row]
