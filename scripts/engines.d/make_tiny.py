"""Write a tiny random Llama in Hugging Face format: ``make_tiny.py FOLDER``.

Its text is noise, but everything around the text is real: a byte-level BPE tokenizer, a chat template, a paged KV
cache with prefix caching, and thousands of tokens per second on one core. Weights come from a fixed seed, so every
server started from the folder, on any machine, is a replica of every other.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CORPUS = [
    "The pointsman sets the points before the train arrives.",
    "A train of thought goes where its wagons already are.",
    "Ten trains wait at the signal, and the shortest goes first.",
    "You are a helpful assistant. Answer in one short sentence.",
]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
VOCABULARY_MAX = 512
CONTEXT_TOKENS = 8192


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Train a byte-level BPE: any text round-trips, since all 256 bytes are in its alphabet."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY_MAX, special_tokens=SPECIALS, initial_alphabet=alphabet)
    bpe.train_from_iterator(CORPUS, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<|endoftext|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        model_max_length=CONTEXT_TOKENS,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Build 2 layers of hidden size 64 with seeded random weights."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT_TOKENS,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16)


def main(folder: Path) -> None:
    """Write tokenizer, configuration and weights into `folder`."""
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    make_model(tokenizer).save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
