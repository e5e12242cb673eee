"""Makes the pages that follow from the operators' descriptions and from the conformance report.

`python -m docs.generator` rewrites `docs/conformance.md`. The pages in `docs/operators/` are made
whenever the documentation is built, from `docs/conf.py`.
"""
