"""The first hour of a new user, with a wheel and outside of the checkout.

``python -m tests.packaging.newcomers_hour dist/NAME.whl`` makes an environment in a temporary
folder, installs the wheel and what users train with, copies the programs of README.md and of the
pages into files, runs them, the tutorials as notebooks, and commands with right and wrong input. It
prints the last output of each, and ends with status 1 if one of them was not as expected.

It needs an index of packages, and takes about ten minutes; it is no part of the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("lightning>=2.5,<3", "accelerate>=1.10,<2", "keras>=3", "matplotlib", "pillow",
            "nbclient", "nbformat", "ipykernel")  # fmt: skip
EXTRAS = "pytorch,jax,audio,video,arrow"
PAGES = ("getting_started", "loaders_for_folders",
         "cookbook/lightning", "cookbook/accelerate", "cookbook/keras",
         "cookbook/steps_per_epoch", "cookbook/csv_and_multi_label", "cookbook/image_with_mask",
         "cookbook/mixup_and_cutmix", "cookbook/npy_with_labels",
         "cookbook/class_and_file_names")  # fmt: skip
CODE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)

MAKE_PHOTOS = """
import sys
from pathlib import Path
import numpy as np
from PIL import Image

folder, per_class = Path(sys.argv[1]), int(sys.argv[2])
for label, name in enumerate(("city", "flowers")):
    (folder / name).mkdir(parents=True)
    for number in range(per_class):
        noise = np.random.default_rng([label, number]).integers(0, 256, (20, 30, 3), dtype=np.uint8)
        Image.fromarray(noise).resize((240, 160)).save(folder / name / f"{number}.jpg")
"""

MAKE_OTHER_DATA = """
import io, json, tarfile, wave
from pathlib import Path
import av
import numpy as np

generator = np.random.default_rng(0)
for label in ("no", "yes"):
    for folder in ("sounds", "videos"):
        Path(folder, label).mkdir(parents=True)
    for number in range(3):
        with wave.open(f"sounds/{label}/{number}.wav", "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(16000)
            sound.writeframes(generator.integers(-9000, 9000, 16000, np.int16).tobytes())
        with av.open(f"videos/{label}/{number}.mp4", "w") as video:
            stream = video.add_stream("mpeg4", rate=10)
            stream.width, stream.height, stream.pix_fmt = 160, 128, "yuv420p"
            for _ in range(40):
                pixels = generator.integers(0, 256, (128, 160, 3), np.uint8)
                video.mux(stream.encode(av.VideoFrame.from_ndarray(pixels)))
            video.mux(stream.encode(None))

listed = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "thing"}]}
for number, path in enumerate(sorted(Path("photos").rglob("*.jpg"))):
    name = {"file_name": str(path.relative_to("photos")), "width": 240, "height": 160}
    listed["images"].append({"id": number, **name})
    box = {"bbox": [20, 30, 90, 80], "category_id": 1, "area": 7200, "iscrowd": 0}
    listed["annotations"].append({"id": number, "image_id": number, **box})
Path("annotations.json").write_text(json.dumps(listed))

Path("mixed").mkdir()
with tarfile.open("mixed/train.tar", "w") as archive:
    archive.add("photos/city/0.jpg", "0.jpg")
    bad = tarfile.TarInfo("1.jpg")
    bad.size = 3
    archive.addfile(bad, io.BytesIO(b"bad"))
Path("mixed/animation.gif").write_bytes(b"GIF89a" + bytes(20))
"""

FOLDERS = """
import sys
import dali_core
from dali_core import pytorch

calls = {
    "image_folder": (("photos",), {"size": 32}),
    "segmentation_folder": (("images", "masks"), {"size": 32}),
    "csv_folder": (("photos.csv",), {"size": 32, "root": "photos", "path": "file"}),
    "audio_folder": (("sounds",), {"seconds": 0.5, "num_mels": 20}),
    "video_folder": (("videos",), {"num_frames": 4, "size": 32}),
}
for name, (paths, options) in calls.items():
    for module in (dali_core, pytorch):
        loader = getattr(module, name)(*paths, batch_size=2, file_names=True, **options)
        arrays, *_, names = next(iter(loader))
        again = {"__name__": "program"}
        exec(loader.code(), again)
        other, *_, other_names = next(iter(again["make_loader"]()))
        assert names == other_names and arrays.shape == other.shape and len(names) == 2
    print(name, tuple(arrays.shape), names)
"""

LIGHTNING_800 = """
import lightning
import torch
from dali_core import fn, pipeline_def
from dali_core.pytorch import Loader


@pipeline_def(batch_size=64, num_threads=2, device_id=None, seed=1)
def photos(folder, training):
    encoded, label = fn.readers.file(file_root=folder, random_shuffle=training)
    image = fn.resize(fn.decoders.image(encoded), size=[16, 16])
    return fn.crop_mirror_normalize(image, mean=[128], std=[64], output_layout="CHW"), label


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, 2))
        self.trained, self.validated = [], []

    def on_train_epoch_start(self):
        self.trained.append(0)

    def training_step(self, batch):
        images, labels = batch
        self.trained[-1] += len(labels)
        return torch.nn.functional.cross_entropy(self.layers(images), labels)

    def on_validation_epoch_start(self):
        self.validated.append(0)

    def validation_step(self, batch):
        self.validated[-1] += len(batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


model = Classifier()
trainer = lightning.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False,
)
trainer.fit(model, Loader(photos("many", True)), Loader(photos("many", False)))
print("trained on", model.trained, "validated on", model.validated[1:], "after the sanity check")
assert model.trained == model.validated[1:] == [800, 800, 800]
"""

RUN_NOTEBOOK = """
import sys
import nbclient, nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300).execute()
pictures = sum(
    "image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.outputs
)
print(len(notebook.cells), "cells were executed;", pictures, "pictures")
"""

# Arguments, whether the command succeeds, and what its output contains.
COMMANDS: tuple[tuple[Sequence[str], bool, str], ...] = (
    (("dali-core",), True, "check"),
    (("dali-core", "--version"), True, "0."),
    (("dali-core", "check", "photos"), True, "8 good, 0 bad"),
    (("dali-core", "check", "nowhere"), False, "nowhere"),
    (("dali-core", "chekc", "photos"), False, "check"),
    (("dali-core", "show", "nowhere.py:photos"), False, "nowhere.py"),
    (("dali-core", "show", "try_getting_started.py:photos"), False, "folder"),
    (("dali-core", "show", "try_getting_started.py:photos", "--arg", "folder=photos"), True, ""),
    (("dali-core", "check", "mixed"), False, "bad: train.tar:1.jpg"),
    (("dali-core", "check", "mixed", "--write-list", "good.txt"), False, "archives"),
    (("dali-core", "check", "sounds", "--write-list", "good.txt"), True, "6 good, 0 bad"),
    (("dali-core", "new", "classifer.py"), False, "Did you mean classifier.py?"),
    (("dali-core", "bench", "try_getting_started.py:photos", "--arg", "folder=photos"), True, ""),
    (("python", "-m", "dali_core", "info"), True, "dali_core"),
)

# Programs of `dali-core new`, and the options with which they find the data.
NEW: tuple[tuple[str, Sequence[str]], ...] = (
    ("classifier.py", ()),
    ("detection.py", ("images=photos",)),
    ("segmentation.py", ()),
    ("video.py", ()),
    ("audio.py", ()),
    ("train_jax.py", ()),
)


class Hour:
    """Runs steps in a folder with an environment, and keeps those that were not as expected."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failed: list[str] = []
        scripts = folder / "environment" / "bin"
        self._variables = {
            **{name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")},
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "KERAS_BACKEND": "torch",
        }

    def step(
        self,
        name: str,
        command: Sequence[str],
        *,
        succeeds: bool = True,
        contains: str = "",
        lines: int = 3,
    ) -> bool:
        """Run a command, print the end of its output, and note if it is not as expected."""
        start = time.monotonic()
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        tells_all = "Traceback (most recent call last)" in done.stdout
        is_right = (done.returncode == 0) == succeeds and contains in done.stdout
        is_right = is_right and (succeeds or not tells_all)  # errors of users are messages
        seconds = time.monotonic() - start
        print(
            f"{'ok  ' if is_right else 'FAIL'} {name} ({seconds:.0f} s, status {done.returncode})"
        )
        shown = done.stdout.strip().splitlines()[-25:]
        shown = shown[-lines:] if is_right and lines else shown * (not is_right)
        print("".join(f"       {line}\n" for line in shown), end="", flush=True)
        if not is_right:
            self.failed.append(name)
        return is_right

    def program(self, name: str, text: str, *arguments: str) -> bool:
        """Write a program into a file, and run it."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return self.step(f"python {path.name}", ["python", path.name, *arguments])

    def notebook(self, page: Path) -> None:
        """Make a notebook of the cells of a tutorial, and execute it."""
        cells = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": source,
             "execution_count": None, "id": f"cell-{number}"}
            for number, source in enumerate(CELL.findall(page.read_text("utf-8")))
        ]  # fmt: skip
        content: Mapping[str, object] = {
            "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5
        }  # fmt: skip
        path = self.folder / f"{page.stem}.ipynb"
        path.write_text(json.dumps(content), "utf-8")
        self.step(f"notebook {page.stem}", ["python", "run_notebook.py", path.name])


def main() -> int:
    """Read the command line, do everything, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.packaging.newcomers_hour")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--index", default="", help="another index, as of PyTorch for the CPU")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="newcomer-") as name:
        hour = Hour(Path(name))
        venv.create(hour.folder / "environment", with_pip=True)
        spend(hour, arguments.wheel.resolve(), arguments.index)
    print(f"not as expected: {', '.join(hour.failed) or 'nothing'}")
    return int(bool(hour.failed))


def spend(hour: Hour, wheel: Path, index: str) -> None:
    """Install, and try everything."""
    pip = ["python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["-c", str(ROOT / "constraints.txt")]
    extra = ["--extra-index-url", index] if index else []
    packages = [f"{wheel}[{EXTRAS}]", *PACKAGES]
    if hour.step("pip install", [*pip, *extra, *packages], lines=0):
        try_all(hour)


def try_all(hour: Hour) -> None:
    """Run everything that needs no installation any more."""
    hour.program("make_photos.py", MAKE_PHOTOS, "photos", "4")
    for folder, per_class in (("readme/photos/train", "40"), ("many", "400")):
        hour.step(f"photos in {folder}", ["python", "make_photos.py", folder, per_class])

    programs = CODE.findall((ROOT / "README.md").read_text("utf-8"))
    (hour.folder / "readme" / "readme.py").write_text("\n".join(programs), "utf-8")
    hour.step("README.md", ["python", "-c", "import os, runpy; os.chdir('readme'); "
              "print({k: v.shape for k, v in runpy.run_path('readme.py').items() "
              "if k in ('images', 'labels')})"])  # fmt: skip
    for page in PAGES:
        programs = CODE.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8"))
        hour.program(f"try_{page.rpartition('/')[2]}.py", "\n\n".join(programs))
    hour.program("lightning_800.py", LIGHTNING_800)
    (hour.folder / "run_notebook.py").write_text(RUN_NOTEBOOK, "utf-8")
    for tutorial in sorted((ROOT / "docs/tutorials").glob("*.md")):
        hour.notebook(tutorial)
    hour.program("make_other_data.py", MAKE_OTHER_DATA)
    hour.program("folders.py", FOLDERS)
    for name, options in NEW:
        arguments = [word for option in options for word in ("--arg", option)]
        measured = ("--seconds", "0.2", "--rounds", "1", "--batch-size", "2")
        hour.step(f"dali-core new {name}", ["dali-core", "new", name], contains=name)
        hour.step(f"python {name} --help", ["python", name, "--help"], contains="usage")
        words = [word for option in options for word in f"--{option}".split("=")]
        hour.step(f"python {name}", ["python", name, *words], contains="epoch 1: loss")
        for command, more in (("show", ()), ("bench", measured)):
            called = ["dali-core", command, f"{name}:pipeline", *arguments, *more]
            hour.step(" ".join(called), called)
    for command, succeeds, contains in COMMANDS:
        hour.step(" ".join(command), command, succeeds=succeeds, contains=contains, lines=6)


if __name__ == "__main__":
    sys.exit(main())
