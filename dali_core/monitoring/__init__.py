"""Live views of running pipelines: `Pipeline.monitor`, and ``dali-core top``."""

from __future__ import annotations

from dali_core.monitoring.monitor import Monitor as Monitor
