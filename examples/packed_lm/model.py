"""A small transformer that predicts the next token within a document."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from .dataloading import IGNORED, Batch


class Block(nn.Module):
    """Attention and a network of two layers, each added to its input."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self._num_heads = num_heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.project = nn.Linear(width, 3 * width)
        self.join = nn.Linear(width, width)
        self.layers = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
        """Return the output for x of shape (rows, length, width)."""
        rows, length, width = x.shape
        parts = self.project(self.norms[0](x)).view(rows, length, 3, self._num_heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed[:, None])
        x = x + self.join(found.transpose(1, 2).reshape(rows, length, width))
        out: torch.Tensor = x + self.layers(self.norms[1](x))
        return out


class LanguageModel(nn.Module):
    """Two blocks between embeddings and scores of the next token."""

    def __init__(self, num_tokens: int, longest: int, width: int = 32) -> None:
        super().__init__()
        self.tokens = nn.Embedding(num_tokens, width)
        self.places = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, 2) for _ in range(2))
        self.scores = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, num_tokens))

    def forward(
        self, tokens: torch.Tensor, segment_ids: torch.Tensor, position_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return scores of shape (rows, length, tokens).

        A token sees itself and those before it in its document, and none of another one.
        """
        x = self.tokens(tokens) + self.places(position_ids)
        allowed = (segment_ids[:, :, None] == segment_ids[:, None, :]).tril()
        for block in self.blocks:
            x = block(x, allowed)
        scores: torch.Tensor = self.scores(x)
        return scores


def sum_of_losses(model: LanguageModel, batch: Batch) -> tuple[torch.Tensor, int]:
    """Return the sum of the losses of all predicted tokens, and their number."""
    scores = model(batch.tokens, batch.segment_ids, batch.position_ids)
    labels = batch.labels[:, 1:].flatten()
    loss = functional.cross_entropy(
        scores[:, :-1].flatten(0, 1), labels, ignore_index=IGNORED, reduction="sum"
    )
    return loss, int((labels != IGNORED).sum())
