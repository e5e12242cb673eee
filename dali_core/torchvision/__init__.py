"""Transforms of images with the names, arguments and pixels of torchvision.

They are computed by the operators of this library, several as one program::

    from dali_core.torchvision import Compose, Normalize, RandomResizedCrop, ToTensor

    normalize = Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    transform = Compose([RandomResizedCrop(224), ToTensor(), normalize])

`accelerate` makes a data loader of PyTorch use them.
"""

from dali_core.torchvision import v2 as v2
from dali_core.torchvision._accelerate import Loader as Loader
from dali_core.torchvision._accelerate import accelerate as accelerate
from dali_core.torchvision._auto_augment import AugMix as AugMix
from dali_core.torchvision._auto_augment import AutoAugment as AutoAugment
from dali_core.torchvision._auto_augment import AutoAugmentPolicy as AutoAugmentPolicy
from dali_core.torchvision._auto_augment import RandAugment as RandAugment
from dali_core.torchvision._auto_augment import TrivialAugmentWide as TrivialAugmentWide
from dali_core.torchvision._batch_mixing import CutMix as CutMix
from dali_core.torchvision._batch_mixing import MixUp as MixUp
from dali_core.torchvision._color_transforms import ColorJitter as ColorJitter
from dali_core.torchvision._color_transforms import GaussianBlur as GaussianBlur
from dali_core.torchvision._color_transforms import Grayscale as Grayscale
from dali_core.torchvision._color_transforms import RandomAdjustSharpness as RandomAdjustSharpness
from dali_core.torchvision._color_transforms import RandomAutocontrast as RandomAutocontrast
from dali_core.torchvision._color_transforms import RandomEqualize as RandomEqualize
from dali_core.torchvision._color_transforms import RandomErasing as RandomErasing
from dali_core.torchvision._color_transforms import RandomGrayscale as RandomGrayscale
from dali_core.torchvision._color_transforms import RandomInvert as RandomInvert
from dali_core.torchvision._color_transforms import RandomPosterize as RandomPosterize
from dali_core.torchvision._color_transforms import RandomSolarize as RandomSolarize
from dali_core.torchvision._containers import Compose as Compose
from dali_core.torchvision._containers import RandomApply as RandomApply
from dali_core.torchvision._containers import RandomChoice as RandomChoice
from dali_core.torchvision._containers import RandomOrder as RandomOrder
from dali_core.torchvision._conversions import ConvertImageDtype as ConvertImageDtype
from dali_core.torchvision._conversions import Identity as Identity
from dali_core.torchvision._conversions import Normalize as Normalize
from dali_core.torchvision._conversions import PILToTensor as PILToTensor
from dali_core.torchvision._conversions import ToDtype as ToDtype
from dali_core.torchvision._conversions import ToImage as ToImage
from dali_core.torchvision._conversions import ToPILImage as ToPILImage
from dali_core.torchvision._conversions import ToPureTensor as ToPureTensor
from dali_core.torchvision._conversions import ToTensor as ToTensor
from dali_core.torchvision._geometry import CenterCrop as CenterCrop
from dali_core.torchvision._geometry import Pad as Pad
from dali_core.torchvision._geometry import RandomCrop as RandomCrop
from dali_core.torchvision._geometry import RandomHorizontalFlip as RandomHorizontalFlip
from dali_core.torchvision._geometry import RandomResizedCrop as RandomResizedCrop
from dali_core.torchvision._geometry import RandomVerticalFlip as RandomVerticalFlip
from dali_core.torchvision._geometry import Resize as Resize
from dali_core.torchvision._resampling import InterpolationMode as InterpolationMode
from dali_core.torchvision._transform import Lambda as Lambda
from dali_core.torchvision._transform import Transform as Transform
from dali_core.torchvision._warps import RandomAffine as RandomAffine
from dali_core.torchvision._warps import RandomPerspective as RandomPerspective
from dali_core.torchvision._warps import RandomRotation as RandomRotation
