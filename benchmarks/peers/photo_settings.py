"""Settings of the photo pipelines of all peers."""

CROP_SIDE = 224
SHORTER_SIDE = 256
RANDOM_AREA = (0.08, 1.0)
RANDOM_ASPECT_RATIO = (3 / 4, 4 / 3)
# Of the photos of ImageNet, in units of 8-bit pixels.
MEAN = (0.485 * 255, 0.456 * 255, 0.406 * 255)
STANDARD_DEVIATION = (0.229 * 255, 0.224 * 255, 0.225 * 255)

# Ranges of the colour twist: hue in degrees, the others are factors.
HUE = (-20.0, 20.0)
FACTOR = (0.7, 1.3)

# Of RandAugment: augmentations for each image, and their strength of 0 to 30.
NUM_AUGMENTATIONS = 2
MAGNITUDE_BIN = 9

PHOTO_PIPELINES = {
    "decode": "decode only",
    "random_crop": "random resized crop 224, flip, normalise",
    "random_crop_antialias": "random resized crop 224 with antialiasing, flip, normalise",
    "random_crop_colors": "random resized crop 224, colour twist, flip, normalise",
    "rand_augment": "random resized crop 224, RandAugment, flip, normalise",
    "centre_crop": "resize shorter side to 256, centre crop 224, normalise",
}
DEVICE_PIPELINES = {
    "mixed_random_crop": "decode (mixed), random resized crop 224, flip and normalise on the GPU",
}
OVERHEAD_PIPELINES = {
    "random_operators": "two random operators",
    "external_source": "two external sources",
}

SOURCE_PIPELINES = {
    "python_source": "a source that computes in Python",
    "image_source": "a source that makes images of 150 kB and computes next to nothing",
}
SOURCE_STEPS = 10_000
EXPRESSION_PIPELINES = {
    "expression_source": "the images alone",
    "expression_normalise": "(image - mean) / standard deviation, of each channel",
    "expression_blend": "clamp(image * 1.2 + 8, 0, 255)",
    "expression_mask": "(image > 100) & (image < 200)",
    "expression_integers": "(image * 3 + 7) // 2",
    "expression_sine": "sin(image * 0.1) * 0.5",
    "expression_slice": "image[16:-16, ::-1]",
}
