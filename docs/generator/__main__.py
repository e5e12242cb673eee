"""Rewrites `docs/conformance.md` from `docs/conformance.json`: ``python -m docs.generator``."""

from docs.generator.conformance import PAGE, write_page

if __name__ == "__main__":
    write_page()
    print(f"{PAGE} is up to date.")
