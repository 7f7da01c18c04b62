"""A vLLM plugin, copied into the environment: what ERNIE's layers need on vLLM 0.11.2's CPU backend without IPEX."""


def register():
    """Take vLLM's own torch code for the experts, and the rotary embedding's plain way."""
    from vllm.model_executor.layers.fused_moe import cpu_fused_moe
    from vllm.model_executor.layers.rotary_embedding.ernie45_vl_rope import Ernie4_5_VLRotaryEmbedding

    cpu_fused_moe.IPEXFusedMOE = cpu_fused_moe.CPUFusedMOE
    Ernie4_5_VLRotaryEmbedding.forward_cpu = lambda self, positions, query, key=None, offsets=None: self.forward_native(
        positions, query, key
    )
