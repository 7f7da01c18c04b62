"""The model's configuration class, loaded by transformers as remote code."""

from transformers import PretrainedConfig


class DFNRopeVisionTransformerConfig(PretrainedConfig):
    """The vision tower's settings."""

    model_type = "DFNRope_vision_transformer"
    base_config_key = "vision_config"


class Ernie4_5_VLMoEConfig(PretrainedConfig):
    """The language model's settings, with the vision tower's inside."""

    model_type = "ernie4_5_moe_vl"
    sub_configs = {"vision_config": DFNRopeVisionTransformerConfig}

    def __init__(self, vision_config=None, **settings):
        if isinstance(vision_config, dict):
            vision_config = DFNRopeVisionTransformerConfig(**vision_config)
        self.vision_config = vision_config or DFNRopeVisionTransformerConfig()
        super().__init__(**settings)
