"""Generated documents whose statistics are known, so that the best possible loss is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

LETTERS = "abcdefghijklmnop"
SHORTEST, LONGEST = 8, 256
"""Letters of a document."""
_NUM_CHAINS = 4

Floats = npt.NDArray[np.float64]


def transitions() -> Floats:
    """Return the Markov chains that write documents.

    Returns
    -------
    array of shape (chains, letters, letters)
        How probable each letter is behind each other one. A document is written by one chain,
        which a model has to find out.
    """
    random = np.random.default_rng(0)
    size = len(LETTERS)
    return random.dirichlet(np.full(size, 0.2), (_NUM_CHAINS, size)) * 0.98 + 0.02 / size


def entropy() -> float:
    """Return the entropy of a letter behind another one, in nats, if the chain is known.

    No model has a smaller loss. It is the mean over the chains' stationary distributions (T. M.
    Cover and J. A. Thomas, Elements of Information Theory, section 4.2).
    """
    rates = []
    for chain in transitions():
        often = np.linalg.matrix_power(chain, 1000)[0]
        rates.append(-(often[:, np.newaxis] * chain * np.log(chain)).sum())
    return float(np.mean(rates))


def write_documents(path: Path, count: int, seed: int) -> int:
    """Write a document on each line, and return the number of letters in all.

    Parameters
    ----------
    path : Path
        The file.
    count : int
        Number of documents. Their lengths are lognormal, with a median of 30 letters.
    seed : int
        Other seeds give other documents.
    """
    random = np.random.default_rng([seed, 1])
    bounds = transitions().cumsum(axis=2)
    lengths = np.clip(random.lognormal(np.log(30), 0.9, count), SHORTEST, LONGEST).astype(int)
    chains = random.integers(_NUM_CHAINS, size=count)
    letters = random.integers(len(LETTERS), size=(count, LONGEST))
    draws = random.random((count, LONGEST))
    for place in range(1, LONGEST):
        above = bounds[chains, letters[:, place - 1]] < draws[:, place, np.newaxis]
        letters[:, place] = np.minimum(above.sum(axis=1), len(LETTERS) - 1)
    texts = np.array(list(LETTERS))[letters]
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        for text, length in zip(texts, lengths, strict=True):
            file.write("".join(text[:length]) + "\n")
    return int(lengths.sum())
