"""Comparison of the library with other loaders.

Each module with a ``main`` is a command:

``python -m benchmarks``                    images per second and memory
``python -m benchmarks.batch_plans``        batches by lengths, up to a billion samples
``python -m benchmarks.batch_overhead``     time per batch when there is nothing to compute
``python -m benchmarks.busy_main_thread``   what a busy Python thread costs the loader
``python -m benchmarks.device_planning``    time that a batch on a device takes of the host
``python -m benchmarks.expressions``        time of computing with the values of a graph
``python -m benchmarks.import_time``        time to import the library
``python -m benchmarks.many_files``         start-up time and memory by the number of files
``python -m benchmarks.scaling``            start, order, states, up to a billion samples
"""
