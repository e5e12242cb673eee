"""The example of captions trains networks on documents with several images each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("torch", reason="not available: PyTorch")
pytest.importorskip("matplotlib", reason="not available: Matplotlib")

import torch

from examples.image_text.__main__ import Images, best_captions, read_arguments
from examples.image_text.dataloading import RULE, TOKEN, Steps, count_tokens
from examples.image_text.documents import Documents, write_documents
from examples.image_text.model import Matcher, contrastive_loss

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    return write_documents(tmp_path_factory.mktemp("documents"), 40, [1])


def test_from_documents_to_captions(tmp_path: Path) -> None:
    short = ["--documents=160", "--held-out=40", "--epochs=6", "--threads=1"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.image_text", "--work", str(tmp_path), *short],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(
        r"160 documents with \d+ images, \d+ tokens in \d+ steps, 9\d.\d% filled", lines[0]
    )
    losses = re.fullmatch(r"loss: (\S+) in the first epoch, (\S+) in the last", lines[2])
    assert losses is not None, lines
    first, last = map(float, losses.groups())
    assert 0 < last < 0.8 * first
    found = re.fullmatch(
        r"captions found for held-out documents: (\S+)% before training, (\S+)% after", lines[3]
    )
    assert found is not None, lines
    before, after = map(float, found.groups())
    assert before < 25
    assert after > before + 15
    with Image.open(tmp_path / "image_text.png") as picture:
        assert min(picture.size) > 500


def test_tokens_are_counted_from_headers(documents: Documents) -> None:
    lengths = count_tokens(documents, num_threads=1)
    firsts = np.cumsum([0, *documents.counts])
    captions = documents.captions.read_text().splitlines()
    for number, caption in enumerate(captions):
        tokens = 0.0
        for file in documents.images[firsts[number] : firsts[number + 1]]:
            with Image.open(file) as image:
                area = image.width * image.height
            tokens += min(area, RULE["max_pixels"]) / TOKEN**2
        # Sides are rounded to multiples of a token.
        assert abs(lengths[number] - len(caption) - tokens) < 0.5 * tokens


def test_a_step_has_the_images_and_captions_of_its_documents(documents: Documents) -> None:
    captions = documents.captions.read_text().splitlines()
    firsts = np.cumsum([0, *documents.counts])
    steps = Steps(documents, tokens=500, num_threads=2, seed=3)
    seen = []
    for samples, step in zip(steps.plan, steps, strict=True):
        own = [number for one in samples for number in range(firsts[one], firsts[one + 1])]
        assert step.image_numbers.tolist() == own
        assert torch.equal(step.offsets.diff(), step.grids.prod(1))
        assert step.patches.shape == (step.offsets[-1], TOKEN * TOKEN * 3)
        assert len(step.patches) + len(step.letters) <= 500
        for place, one in enumerate(samples, 1):
            letters = bytes(step.letters[step.segment_ids == place].tolist())
            assert letters.decode() == captions[one]
        seen += samples.tolist()
        expected = [documents.counts[one] for one in samples]
        found = torch.bincount(Images(documents).documents(step))
        assert found.tolist() == expected
    steps.close()
    assert sorted(seen) == list(range(40))


def test_images_and_captions_do_not_see_those_of_other_documents(documents: Documents) -> None:
    torch.manual_seed(0)
    model = Matcher()
    steps = Steps(documents, tokens=500, num_threads=1, shuffle=False)
    alone = Steps(documents, tokens=250, num_threads=1, shuffle=False)
    images = Images(documents)
    vectors: list[dict[int, torch.Tensor]] = []
    with torch.no_grad():
        for one in (steps, alone):
            found: dict[int, torch.Tensor] = {}
            for samples, step in zip(one.plan, one, strict=True):
                both = [model.of_images(step, images.documents(step)), model.of_captions(step)]
                rows = torch.cat(both, 1)
                found |= {int(sample): row for sample, row in zip(samples, rows, strict=True)}
            vectors.append(found)
        assert {one for one, _ in best_captions(model, steps, images)} == set(range(40))
    steps.close()
    alone.close()
    for number in range(40):
        torch.testing.assert_close(vectors[0][number], vectors[1][number], rtol=1e-4, atol=1e-5)


def test_loss_is_least_for_the_own_caption() -> None:
    own = contrastive_loss(20 * torch.eye(4))
    other = contrastive_loss(20 * torch.eye(4).roll(1, 0))
    assert float(own) < 1e-6
    assert float(other) > 10


def test_invalid_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["image_text", "--tokens=4"])
    with pytest.raises(SystemExit, match="2"):
        read_arguments()
    assert "--tokens: must be at least 200 (got 4)" in capsys.readouterr().err
