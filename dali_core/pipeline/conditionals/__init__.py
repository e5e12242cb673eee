"""`if`, `and`, `or` and `not` on data, in functions that define pipelines.

Programs without conditionals need `marks` alone: the rest is imported when it is used.
"""
