"""Pools, contexts, devices and what the driver needs for itself, as TAP: the program is told what the driver alone
tells it, in either mode, and whatever the granularity.

Usage: same_answers_test.py PROGRAM LIBRARY PRELOAD
"""

import sys

import tap
from side_by_side import DETACHED, Programs

SCENARIOS = ("pool_counters", "pool_kinds", "frees_across", "second_context", "streams_of_another_context", "reset",
             "from_threads", "devices", "kernels_on_two_devices", "a_graph_on_two_devices",
             "room", "mappings", "sizes", "values", "copies_promised_to_wait", "without_a_context", "outputs_left_out",
             "odd_reservations", "host_ranges_half_registered", "locations_of_the_host", "batches_where_they_may_not_be",
             "ranges_of_many_pieces")
NEARLY_ALL = {"TENCACHE_HBM": "52MiB"}  # of the device's memory, so that the driver runs out of it
CASES = [(scenario, mode, device)
         for scenario in SCENARIOS for mode in ("mapped", "detached") for device in ({},)]
CASES += [("sizes", "mapped", {"SOFTGPU_GRANULARITY": granularity, "SOFTGPU_HBM": "512MiB", "TENCACHE_HBM": "256MiB",
                               "TENCACHE_SMALL_BLOCK_SIZE": "auto", "TENCACHE_BLOCK_SIZE": "64MiB"})
          for granularity in ("512KiB", "2MiB", "64MiB")]


def main():
    programs = Programs(*sys.argv[1:])
    programs.base["SOFTGPU_DEVICES"] = "2"
    print(f"1..{len(CASES)}")
    for number, (scenario, mode, device) in enumerate(CASES, 1):
        options = (DETACHED if mode == "detached" else {}) | (NEARLY_ALL if scenario == "room" else {}) | device
        good, (alone, under) = programs.same(scenario, options)
        tap.report(number, " ".join([scenario, mode, *device.values()]), good,
                   f"alone:\n{alone.stdout}{alone.stderr}\nunder tencache:\n{under.stdout}{under.stderr}")


if __name__ == "__main__":
    main()
