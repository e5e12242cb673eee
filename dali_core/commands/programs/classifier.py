"""Train a classifier on photos, in a folder for each class: photos/cat/1.jpg, photos/dog/1.jpg.

python classifier.py --data photos
dali-core show classifier.py:pipeline         # what the augmentation does
dali-core bench classifier.py:pipeline        # how fast the photos are loaded
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.pytorch import Loader

SIDE = 224
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STANDARD_DEVIATION = [0.229 * 255, 0.224 * 255, 0.225 * 255]


@pipeline_def(batch_size=32, num_threads=4, device_id=None, seed=1)
def pipeline(data: str = "photos", training: bool = True) -> tuple[DataNode, DataNode]:
    """Return images of shape (3, SIDE, SIDE) and the numbers of their classes."""
    encoded, label = fn.readers.file(file_root=data, random_shuffle=training)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    mirror: DataNode | int = 0
    if training:
        image = fn.random_resized_crop(image, size=[SIDE, SIDE])
        mirror = fn.random.coin_flip()
    else:
        image = fn.resize(image, resize_shorter=SIDE * 8 // 7)
    image = fn.crop_mirror_normalize(
        image,
        crop=[SIDE, SIDE],
        mirror=mirror,
        mean=MEAN,
        std=STANDARD_DEVIATION,
        dtype=types.FLOAT,
        output_layout="CHW",
    )
    return image, label


def make_model(num_classes: int) -> nn.Module:
    """Stack a few convolutions; replace them by the model of your choice."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, num_classes))


def main() -> None:
    """Train, and print loss and accuracy after each epoch."""
    parser = argparse.ArgumentParser(description="Train a classifier.")
    parser.add_argument("--data", default="photos", help="photos for training (%(default)s)")
    parser.add_argument("--validation", help="photos for validation; by default those for training")
    parser.add_argument("--epochs", type=int, default=2, help="(%(default)s)")
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    training = Loader(pipeline(options.data), device=device)
    validation = Loader(pipeline(options.validation or options.data, training=False), device=device)
    model = make_model(len(training.classes)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(options.epochs):
        model.train()
        loss = torch.zeros(())
        for images, labels in training:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        right, total = 0, 0
        with torch.inference_mode():
            for images, labels in validation:
                right += int((model(images).argmax(1) == labels).sum())
                total += len(labels)
        print(f"epoch {epoch}: loss {loss.item():.3f}, {right} of {total} photos right")


if __name__ == "__main__":
    main()
