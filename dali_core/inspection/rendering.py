"""Turns samples into HTML, by the templates of this package."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dali_core._messages import printable
from dali_core.inspection.encoding import EncodedPicture, encode_picture
from dali_core.inspection.optional import require
from dali_core.inspection.panels import Panel, StepPanels, panels_of
from dali_core.inspection.samples import InspectedSample, SampleStep, StepValue
from dali_core.inspection.themes import notebook_style, style_sheet


@dataclass(frozen=True)
class EncodedPanel:
    """A panel with its pictures encoded."""

    value: StepValue
    description: str
    pictures: tuple[EncodedPicture, ...]
    text: str


@dataclass(frozen=True)
class EncodedStep:
    """The panels of a step, and whether it makes an output of the pipeline."""

    step: SampleStep
    panels: tuple[EncodedPanel, ...]
    outputs: bool
    is_compact: bool = False
    """Whether it made a single number, which needs no more than a line."""
    skipped: tuple[SampleStep, ...] = ()
    """With other steps that follow and did not run either: all of them."""


def render(template: str, samples: Sequence[InspectedSample], **others: Any) -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        Name of a file in the folder `templates`. Everything that it inserts is escaped.
    samples : sequence of InspectedSample
        The samples to show.
    **others : object
        What else the template refers to.

    Raises
    ------
    MissingModuleError
        If Jinja2 or Pillow is not installed.
    """
    encoded = [(sample, _steps(sample)) for sample in samples]
    text: str = _environment().get_template(template).render(samples=encoded, **others)
    return text


@cache
def _environment() -> Any:
    jinja2 = require("jinja2", "Jinja2")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dali_core.inspection"),
        autoescape=True,
        finalize=_visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    markup = require("markupsafe", "Jinja2").Markup
    environment.globals["style"] = markup(style_sheet())
    environment.globals["notebook_style"] = markup(notebook_style())
    return environment


def _visible(value: Any) -> Any:
    """Write characters that cannot be seen, or turn text around, as `printable` does."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return printable(value, keeps_lines=True) if is_text else value


def _steps(sample: InspectedSample) -> list[EncodedStep]:
    """Encode the steps; of those that did not run, neighbors are shown as one."""
    shown: list[EncodedStep] = []
    for ran, group in itertools.groupby(panels_of(sample), lambda entry: not entry.step.reason):
        entries = list(group)
        if ran or len(entries) == 1:
            shown += map(_encoded, entries)
        else:
            skipped = tuple(entry.step for entry in entries)
            shown.append(EncodedStep(entries[0].step, (), outputs=False, skipped=skipped))
    return shown


def _encoded(entry: StepPanels) -> EncodedStep:
    panels = tuple(_encoded_panel(panel) for panel in entry.panels)
    outputs = any(value.outputs for value in entry.step.values)
    values = entry.step.values
    is_compact = len(values) == 1 and values[0].array.size == 1 and not entry.step.error
    return EncodedStep(entry.step, panels, outputs, is_compact)


def _encoded_panel(panel: Panel) -> EncodedPanel:
    pictures = tuple(map(encode_picture, panel.pictures))
    return EncodedPanel(panel.value, panel.description, pictures, panel.text)
