"""Reductions: many numbers become one."""
