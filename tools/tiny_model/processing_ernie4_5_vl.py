"""The model's picture and prompt processors, loaded by transformers as remote code; the publisher's arithmetic."""

import math

import numpy as np
import torch
from transformers.feature_extraction_utils import BatchFeature
from transformers.image_processing_utils import BaseImageProcessor
from transformers.processing_utils import ProcessorMixin

PLACEHOLDER = "<|IMAGE_START|><|image@placeholder|><|IMAGE_END|>"


def fit(height, width, step, least, most):
    """Return the size nearest to a picture's own whose sides are multiples of the step, within the pixel bounds."""
    if max(height, width) > 200 * min(height, width):
        raise ValueError(f"absolute aspect ratio must be smaller than 200, got {height}x{width}")
    rows, columns = round(height / step) * step, round(width / step) * step
    if rows * columns > most:
        shrink = math.sqrt(height * width / most)
        rows = max(step, math.floor(height / shrink / step) * step)
        columns = max(step, math.floor(width / shrink / step) * step)
    elif rows * columns < least:
        grow = math.sqrt(least / (height * width))
        rows, columns = math.ceil(height * grow / step) * step, math.ceil(width * grow / step) * step
    return rows, columns


class Ernie4_5_VLImageProcessor(BaseImageProcessor):
    """Resizes a picture and cuts it into patches."""

    model_input_names = ["pixel_values", "image_grid_thw", "pixel_values_videos", "video_grid_thw"]

    def __init__(self, min_pixels=3136, max_pixels=4816896, patch_size=14, merge_size=2, **settings):
        super().__init__(**settings)
        self.min_pixels, self.max_pixels = min_pixels, max_pixels
        self.size = {"min_pixels": min_pixels, "max_pixels": max_pixels}  # newer releases of vLLM read the bounds here
        self.patch_size, self.merge_size = patch_size, merge_size
        self.image_mean, self.image_std = settings["image_mean"], settings["image_std"]
        self.rescale_factor = settings["rescale_factor"]

    def get_smarted_resize(self, height, width, min_pixels=None, max_pixels=None):
        """Return the size in pixels and in patches, both as (height, width)."""
        step = self.patch_size * self.merge_size
        size = fit(height, width, step, min_pixels or self.min_pixels, max_pixels or self.max_pixels)
        return size, (size[0] // self.patch_size, size[1] // self.patch_size)

    def preprocess(self, images, **settings):
        """Return one picture's patches, grouped as they are merged, and its grid."""
        patch, merge = self.patch_size, self.merge_size
        picture = (images[0] if isinstance(images, (list, tuple)) else images).convert("RGB")
        (height, width), (rows, columns) = self.get_smarted_resize(picture.height, picture.width)
        pixels = np.asarray(picture.resize((width, height), 3)).transpose(2, 0, 1)
        pixels = pixels.reshape(3, rows // merge, merge, patch, columns // merge, merge, patch)
        pixels = pixels.transpose(1, 4, 2, 5, 0, 3, 6).reshape(rows * columns, 3 * patch * patch)
        return {"pixel_values": pixels, "image_grid_thw": np.array([[1, rows, columns]])}


class Ernie4_5_VLProcessor(ProcessorMixin):
    """Puts as many picture tokens into the prompt as the picture has merged patches."""

    attributes = ["image_processor", "tokenizer"]
    valid_kwargs = [
        "chat_template",
        "spatial_conv_size",
        "temporal_conv_size",
        "image_min_pixels",
        "image_max_pixels",
        "video_min_pixels",
        "video_max_pixels",
    ]
    image_processor_class = "AutoImageProcessor"
    tokenizer_class = "AutoTokenizer"

    def __init__(
        self,
        image_processor=None,
        tokenizer=None,
        chat_template=None,
        spatial_conv_size=2,
        temporal_conv_size=2,
        image_min_pixels=3136,
        image_max_pixels=4842768,
        video_min_pixels=234416,
        video_max_pixels=937664,
        **settings,
    ):
        super().__init__(image_processor, tokenizer, chat_template=chat_template)
        self.spatial_conv_size, self.temporal_conv_size = spatial_conv_size, temporal_conv_size
        self.image_min_pixels, self.image_max_pixels = image_min_pixels, image_max_pixels
        self.video_min_pixels, self.video_max_pixels = video_min_pixels, video_max_pixels
        self.image_patch_id = self.tokenizer.convert_tokens_to_ids("<|IMAGE_PLACEHOLDER|>")

    def __call__(self, text, images=None, videos=None, **settings):
        if videos:
            raise ValueError("this tiny model's processor takes no video")
        text = text[0] if isinstance(text, list) else text
        ids, pixels, grids = [], [], []
        for place, part in enumerate(text.split(PLACEHOLDER)):
            if place:
                picture = images[place - 1]
                # As in the publisher's code: the number of tokens follows the processor's own bounds
                # (image_max_pixels), the grid those of its image processor (max_pixels).
                bounds = (self.image_min_pixels, self.image_max_pixels)
                rows, columns = self.image_processor.get_smarted_resize(picture.height, picture.width, *bounds)[1]
                count = rows * columns // self.spatial_conv_size**2
                ids += self._ids("<|IMAGE_START|>") + [self.image_patch_id] * count + self._ids("<|IMAGE_END|>")
                seen = self.image_processor.preprocess([picture])
                pixels.append(seen["pixel_values"])
                grids.append(seen["image_grid_thw"])
            ids += self._ids(part)
        made = {"input_ids": torch.tensor([ids])}
        made["images"] = torch.tensor(np.concatenate(pixels)) if pixels else None
        made["grid_thw"] = torch.tensor(np.concatenate(grids)) if grids else None
        return BatchFeature(data=made)

    def _ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False)
