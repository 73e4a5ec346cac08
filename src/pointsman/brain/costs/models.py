"""The shape of a transformer: what its step time and its KV cache depend on."""

import msgspec


class Experts(msgspec.Struct, frozen=True, kw_only=True):
    """A mixture of experts in place of the feed-forward, in `layers` of the layers.

    Every token passes `per_token` of `count` experts, and a shared one if `shared` (its feed-forward size) is above 0.
    """

    layers: int
    count: int
    per_token: int
    feed_forward: int  # of one expert
    shared: int = 0


class ModelShape(msgspec.Struct, frozen=True, kw_only=True):
    """A decoder's dimensions. `kv_layers` is below `layers` in hybrid models, where only some layers keep a KV cache.

    With multi-head latent attention (MLA), `kv_lora_rank` is positive and a token's cache is one latent vector of
    `kv_lora_rank + rope_size` elements a layer instead of keys and values per head; `head_size` is that of queries and
    keys, `rope_size` included, and `value_size` that of values.
    """

    name: str
    layers: int
    hidden: int  # d
    heads: int  # h
    kv_heads: int  # kv
    head_size: int  # d_h
    feed_forward: int  # ff
    vocabulary: int  # V
    tied_embeddings: bool = False
    kv_layers: int | None = None
    kv_lora_rank: int = 0
    rope_size: int = 0
    q_lora_rank: int = 0
    value_size: int = 0
    experts: Experts | None = None

    @property
    def attention_layers(self) -> int:
        """Layers that keep a KV cache and attend to all of it."""
        return self.layers if self.kv_layers is None else self.kv_layers

    @property
    def attention_sizes(self) -> int:
        """Elements of a head's key and value together: what each pair of tokens is multiplied over."""
        return self.head_size + (self.value_size or self.head_size)

    @property
    def common_parameters(self) -> int:
        """Of all layers, what every token passes: attention, gated feed-forward, shared experts. Norms left out."""
        sparse = self.experts.layers if self.experts else 0
        dense = (self.layers - sparse) * self.feed_forward
        shared = sparse * self.experts.shared if self.experts else 0
        return self.layers * self._attention_parameters + 3 * self.hidden * (dense + shared)

    @property
    def expert_parameters(self) -> int:
        """Of all layers, the experts that tokens choose among."""
        experts = self.experts
        return 3 * self.hidden * experts.layers * experts.count * experts.feed_forward if experts else 0

    @property
    def expert_share(self) -> float:
        """Share of the experts that one token passes."""
        return self.experts.per_token / self.experts.count if self.experts else 0.0

    @property
    def mean_feed_forward(self) -> float:
        """Size of what a token passes in a layer's feed-forward, on average over layers."""
        experts = self.experts
        if experts is None:
            return self.feed_forward
        sparse = experts.layers * (experts.per_token * experts.feed_forward + experts.shared)
        return ((self.layers - experts.layers) * self.feed_forward + sparse) / self.layers

    @property
    def parameters(self) -> int:
        """Parameters of the whole model, norms and biases left out."""
        embeddings = self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)
        return self.common_parameters + self.expert_parameters + embeddings

    @property
    def _attention_parameters(self) -> int:
        """Of one layer: the projections of queries, keys, values and output; in hybrid models taken for all layers."""
        if not self.kv_lora_rank:
            return self.hidden * self.head_size * (2 * self.heads + 2 * self.kv_heads)
        values = self.heads * (self.value_size or self.head_size)
        queries, inputs = self.heads * self.head_size, self.q_lora_rank or self.hidden
        down = self.hidden * (self.q_lora_rank + self.kv_lora_rank + self.rope_size)
        up = self.kv_lora_rank * (queries - self.heads * self.rope_size + values)
        return down + inputs * queries + up + values * self.hidden


def _llama(
    name: str, layers: int, hidden: int, heads: tuple[int, int], feed_forward: int, vocabulary: int
) -> ModelShape:
    return ModelShape(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads[0],
        kv_heads=heads[1],
        head_size=hidden // heads[0],
        feed_forward=feed_forward,
        vocabulary=vocabulary,
    )


_PRESETS = (
    _llama("Llama-2-7B", 32, 4096, (32, 32), 11008, 32000),
    _llama("Llama-2-70B", 80, 8192, (64, 8), 28672, 32000),
    _llama("CodeLlama-34B", 48, 8192, (64, 8), 22016, 32000),
    _llama("Llama-3-8B", 32, 4096, (32, 8), 14336, 128256),
    _llama("Llama-3-70B", 80, 8192, (64, 8), 28672, 128256),
    _llama("Qwen-72B", 80, 8192, (64, 64), 24576, 152064),
    _llama("Qwen2.5-72B", 80, 8192, (64, 8), 29568, 152064),
    msgspec.structs.replace(_llama("SmolLM2-135M", 30, 576, (9, 3), 1536, 49152), tied_embeddings=True),
)

MODELS = {shape.name: shape for shape in _PRESETS}
