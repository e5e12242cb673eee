"""Two small transformers that bring the images and the caption of a document near to each other."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from examples.packed_lm.model import Block

from .dataloading import TOKEN, Step

_MOST_TOKENS = 16
_MOST_LETTERS = 80


class Matcher(nn.Module):
    """Vectors of unit length for documents, from their images and from their captions.

    An image sees only itself, and so does a caption, though all of a step are one sequence.
    """

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.patches = nn.Linear(TOKEN * TOKEN * 3, width)
        self.rows = nn.Embedding(_MOST_TOKENS, width)
        self.columns = nn.Embedding(_MOST_TOKENS, width)
        self.letters = nn.Embedding(128, width)
        self.places = nn.Embedding(_MOST_LETTERS, width)
        self.blocks = nn.ModuleList(Block(width, 2) for _ in range(2))
        self.outputs = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
            for _ in range(2)
        )
        self.scale = nn.Parameter(torch.tensor(2.5))

    def of_images(self, step: Step, document_of_image: torch.Tensor) -> torch.Tensor:
        """Return a vector for each document, of shape (documents, width), by its images."""
        counts = step.offsets.diff()
        image = torch.repeat_interleave(torch.arange(len(counts)), counts)
        place = torch.arange(len(image)) - step.offsets[:-1].long()[image]
        columns = step.grids[:, 1].long()[image]
        x = self.patches(step.patches) + self.rows(place // columns) + self.columns(place % columns)
        images = self.outputs[0](self._means(self.blocks[0], x, image))
        return functional.normalize(_sums(images, document_of_image), dim=1)

    def of_captions(self, step: Step) -> torch.Tensor:
        """Return a vector for each document, of shape (documents, width), by its caption."""
        document = step.segment_ids.long() - 1
        first = torch.searchsorted(document, document)
        place = (torch.arange(len(document)) - first).clamp(max=_MOST_LETTERS - 1)
        x = self.letters(step.letters) + self.places(place)
        found = self.outputs[1](self._means(self.blocks[1], x, document))
        return functional.normalize(found, dim=1)

    def _means(self, block: nn.Module, x: torch.Tensor, segment: torch.Tensor) -> torch.Tensor:
        """Return the mean over each segment, within which elements see each other."""
        allowed = segment[:, None] == segment
        return _sums(block(x[None], allowed[None])[0], segment) / _sums(
            torch.ones(len(x), 1), segment
        )


def _sums(values: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    zeros = torch.zeros(int(group.max()) + 1, values.shape[1])
    return zeros.index_add(0, group, values)


def scores(model: Matcher, step: Step, document_of_image: torch.Tensor) -> torch.Tensor:
    """Return how well each document's images (rows) match each caption (columns)."""
    similar = model.of_images(step, document_of_image) @ model.of_captions(step).T
    return similar * model.scale.exp()


def contrastive_loss(found: torch.Tensor) -> torch.Tensor:
    """Return the loss of CLIP: images find their caption, and captions their images.

    A. Radford et al., Learning Transferable Visual Models From Natural Language Supervision, 2021.
    """
    own = torch.arange(len(found))
    both = functional.cross_entropy(found, own) + functional.cross_entropy(found.T, own)
    return both / 2
