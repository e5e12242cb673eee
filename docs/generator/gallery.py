"""Example calls with pictures for the operators' pages.

In a call, `image` is a decoded photo (height x width x 3, 0 to 255), `encoded` the bytes of its
file, and `label` its class. `sound` is a decoded sound (samples), and `spectrum` its spectrogram.
There are videos, too.
"""

from __future__ import annotations

GALLERY: dict[str, tuple[str, ...]] = {
    "audio_resample": ("fn.audio_resample(sound, in_rate=16000, out_rate=4000)",),
    "brightness": ("fn.brightness(image, brightness=1.5)", "fn.brightness(image, brightness=0.5)"),
    "brightness_contrast": (
        "fn.brightness_contrast(image, brightness=1.2, contrast=0.6)",
        "fn.brightness_contrast(image, brightness_shift=-0.2, contrast=1.5)",
    ),
    "clahe": (
        "fn.clahe(image, tiles_x=8, tiles_y=8, clip_limit=2.0)",
        "fn.clahe(image, tiles_x=3, tiles_y=2, clip_limit=8.0)",
    ),
    "color_space_conversion": (
        "fn.color_space_conversion(image, image_type=types.RGB, output_type=types.GRAY)",
        "fn.color_space_conversion(image, image_type=types.RGB, output_type=types.BGR)",
    ),
    "color_twist": (
        "fn.color_twist(image, hue=40.0, saturation=1.5)",
        "fn.color_twist(image, brightness=1.3, contrast=0.7, saturation=0.4)",
    ),
    "contrast": ("fn.contrast(image, contrast=1.8)", "fn.contrast(image, contrast=0.4)"),
    "crop": (
        "fn.crop(image, crop=[100, 150])",
        "fn.crop(image, crop=[100, 150], crop_pos_x=0.0, crop_pos_y=1.0)",
    ),
    "crop_mirror_normalize": (
        "fn.crop_mirror_normalize(image, crop=[100, 150], mirror=1, dtype=types.FLOAT, "
        'mean=[127.5], std=[64.0], output_layout="HWC")',
    ),
    "cutmix": ("fn.cutmix(image, label, num_classes=3, seed=10)",),
    "decoders.audio": ('fn.decoders.audio(fn.readers.file(files=["sounds/birds/0.wav"])[0])',),
    "decoders.image": (
        "fn.decoders.image(encoded)",
        "fn.decoders.image(encoded, output_type=types.GRAY)",
    ),
    "decoders.image_crop": ("fn.decoders.image_crop(encoded, crop=[100, 150])",),
    "decoders.image_random_crop": (
        "fn.decoders.image_random_crop(encoded, seed=1)",
        "fn.decoders.image_random_crop(encoded, random_area=[0.1, 0.3], seed=4)",
    ),
    "decoders.video": (
        'fn.decoders.video(fn.readers.file(files=["videos/city/0.mp4"])[0], frames=[0, 15, 30])',
    ),
    "decoders.image_slice": (
        "fn.decoders.image_slice(encoded, rel_start=[0.25, 0.25], rel_shape=[0.5, 0.5])",
    ),
    "equalize": ("fn.equalize(image)",),
    "erase": (
        'fn.erase(image, anchor=[0.3, 0.3], shape=[0.3, 0.4], axis_names="HW", '
        "normalized=True, fill_value=[0.0])",
    ),
    "experimental.readers.video": (
        'fn.experimental.readers.video(filenames=["videos/flowers/1.webm"], sequence_length=3, '
        "uniform_sample=True)",
    ),
    "experimental.warp_perspective": (
        "fn.experimental.warp_perspective("
        "image, matrix=[1.0, 0.2, 0.0, 0.1, 1.0, 0.0, 0.0005, 0.0, 1.0])",
    ),
    "filter": (
        "fn.filter(image, fn.constant("
        "fdata=[0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0], shape=[3, 3]))",
        "fn.filter(image, fn.constant(fdata=[1 / 25] * 25, shape=[1, 25]))",
    ),
    "flip": ("fn.flip(image)", "fn.flip(image, horizontal=0, vertical=1)"),
    "gaussian_blur": (
        "fn.gaussian_blur(image, sigma=2.0)",
        "fn.gaussian_blur(image, window_size=[1, 31])",
    ),
    "grid_mask": ("fn.grid_mask(image, tile=40, ratio=0.5, angle=0.4)",),
    "hsv": ("fn.hsv(image, hue=60.0)", "fn.hsv(image, saturation=0.3, value=1.3)"),
    "hue": ("fn.hue(image, hue=60.0)", "fn.hue(image, hue=180.0)"),
    "jitter": ("fn.jitter(image, nDegree=8, seed=1)",),
    "jpeg_compression_distortion": (
        "fn.jpeg_compression_distortion(image, quality=20)",
        "fn.jpeg_compression_distortion(image, quality=3)",
    ),
    "laplacian": (
        "fn.laplacian(image, window_size=5, smoothing_size=9, "
        "normalized_kernel=True, dtype=types.FLOAT)",
    ),
    "mel_filter_bank": ("fn.mel_filter_bank(spectrum, sample_rate=16000, nfilter=64)",),
    "mfcc": ("fn.mfcc(fn.to_decibels(fn.mel_filter_bank(spectrum, sample_rate=16000)))",),
    "mixup": ("fn.mixup(image, label, num_classes=3, alpha=1.0, seed=3)",),
    "multi_paste": (
        "fn.multi_paste(image, in_ids=[0, 1], output_size=[160, 360], "
        "out_anchors=fn.constant(idata=[0, 0, 0, 120], shape=[2, 2]))",
    ),
    "noise.gaussian": ("fn.noise.gaussian(image, stddev=50.0, seed=1)",),
    "noise.salt_and_pepper": ("fn.noise.salt_and_pepper(image, prob=0.05, seed=1)",),
    "noise.shot": ("fn.noise.shot(image, factor=20.0, seed=1)",),
    "normalize": ('fn.normalize(image, axis_names="HW")',),
    "pad": ('fn.pad(image, axis_names="HW", align=[128], fill_value=200.0)',),
    "paste": ("fn.paste(image, ratio=1.5, fill_value=[200, 200, 200])",),
    "preemphasis_filter": ("fn.preemphasis_filter(sound)",),
    "random_resized_crop": (
        "fn.random_resized_crop(image, size=[112, 112], seed=1)",
        "fn.random_resized_crop(image, size=[112, 112], random_area=[0.1, 0.3], seed=2)",
    ),
    "readers.video": (
        'fn.readers.video(filenames=["videos/city/0.mp4"], sequence_length=3, stride=10)',
    ),
    "readers.video_resize": (
        'fn.readers.video_resize(filenames=["videos/city/0.mp4"], sequence_length=3, stride=10, '
        "resize_shorter=60)",
    ),
    "resize": (
        "fn.resize(image, size=[80, 160])",
        "fn.resize(image, resize_shorter=60)",
        "fn.resize(image, size=[200, 200], "
        "interp_type=types.INTERP_NN, roi_start=[0.4, 0.4], roi_end=[0.5, 0.5], roi_relative=True)",
    ),
    "resize_crop_mirror": (
        "fn.resize_crop_mirror(image, resize_shorter=120, crop=[100, 100], mirror=1)",
    ),
    "rotate": (
        "fn.rotate(image, angle=30.0, fill_value=0.0)",
        "fn.rotate(image, angle=30.0, keep_size=True)",
    ),
    "saturation": (
        "fn.saturation(image, saturation=0.0)",
        "fn.saturation(image, saturation=2.5)",
    ),
    "sequence_rearrange": (
        'fn.sequence_rearrange(fn.readers.video(filenames=["videos/city/0.mp4"], '
        "sequence_length=3, stride=10), new_order=[2, 1, 0])",
    ),
    "slice": (
        'fn.slice(image, rel_start=[0.25, 0.25], rel_shape=[0.5, 0.5], axis_names="HW")',
        'fn.slice(image, start=[-20, -20], shape=[120, 120], axis_names="HW", '
        'out_of_bounds_policy="pad", fill_values=[200.0])',
    ),
    "spectrogram": (
        "fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)",
        "fn.spectrogram(sound, nfft=128, window_length=128, window_step=160)",
    ),
    "sphere": ("fn.sphere(image)",),
    "to_decibels": ("fn.to_decibels(spectrum, cutoff_db=-60)",),
    "transpose": ("fn.transpose(image, perm=[1, 0, 2])",),
    "warp_affine": ("fn.warp_affine(image, matrix=[1.0, 0.3, -20.0, 0.1, 1.0, -10.0])",),
    "water": ("fn.water(image)", "fn.water(image, ampl_x=4.0, ampl_y=20.0)"),
}

PROGRAMS: dict[str, str] = {
    "batch_extents": "fn.batch_extents(sound)",
    "decoders.numpy": 'fn.decoders.numpy(fn.io.file.read(np.frombuffer(b"files/0.npy", np.uint8)))',
    "dl_tensor_python_function": "fn.dl_tensor_python_function(image, function=lambda data: data)",
    "dump_image": 'fn.dump_image(image, suffix="dumped")',
    "external_source": "fn.external_source(source=lambda sample: np.full(3, sample.idx_in_epoch), "
    "batch=False)",
    "io.file.read": 'fn.io.file.read(np.frombuffer(b"photos/city/1.jpg", np.uint8))',
    "nonsilent_region": "fn.nonsilent_region(sound, cutoff_db=-30)",
    "peek_image_shape": "fn.peek_image_shape(encoded)",
    "python_function": "fn.python_function(image, function=lambda array: 255 - array)",
    "readers.caffe": 'fn.readers.caffe(path="files/caffe")',
    "readers.coco": (
        'fn.readers.coco(file_root="photos", annotations_file="files/boxes.json", ratio=True)'
    ),
    "readers.dicom": 'fn.readers.dicom(files=["files/0.dcm"], series=True, affine=True)',
    "readers.file": 'fn.readers.file(file_root="photos", random_shuffle=True, name="photos")',
    "readers.jsonl": 'fn.readers.jsonl(paths=["files/captions.jsonl"], fields=["text", "label"])',
    "readers.hdf5": 'fn.readers.hdf5(paths=["files/0.h5"], datasets=["x", "y"])',
    "readers.mds": 'fn.readers.mds(paths=["files/mds"], columns=["image", "label"])',
    "readers.mxnet": 'fn.readers.mxnet(path=["files/0.rec"])',
    "readers.nemo_asr": 'fn.readers.nemo_asr(manifest_filepaths=["files/speech.json"])',
    "readers.nifti": 'fn.readers.nifti(files=["files/0.nii"], orientation="RAS")',
    "readers.numpy": 'fn.readers.numpy(files=["files/0.npy", "files/1.npy"])',
    "readers.parquet": 'fn.readers.parquet(paths=["files/0.parquet"], columns=["image", "label"])',
    "readers.python": "fn.readers.python([np.arange(3), np.arange(2)])",
    "readers.safetensors": (
        'fn.readers.safetensors(files=["files/0.safetensors"], tensors=["a", "b"], rows=True)'
    ),
    "readers.sequence": (
        'fn.readers.sequence(file_root="photos", sequence_length=3, image_type=types.RGB)'
    ),
    "readers.text": 'fn.readers.text(paths=["files/captions.jsonl"])',
    "readers.token_file": 'fn.readers.token_file(paths=["files/tokens"])',
    "tokenize": 'fn.tokenize(fn.readers.text(paths=["files/captions.jsonl"]), '
    'tokenizer="files/tokenizer.json")',
    "readers.webdataset": ('fn.readers.webdataset(paths=["files/photos.tar"], ext=["jpg", "cls"])'),
    "readers.zarr": (
        'fn.readers.zarr(paths=["files/zarr"], arrays=["image", "labels"], crop=[2, 2])'
    ),
}
"""Example calls without pictures, where the examples of the tests are not readable."""
