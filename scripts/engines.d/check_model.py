"""Fail unless FOLDER holds a complete model: ``check_model.py FOLDER``.

Complete: the weights load and generate a token, and the tokenizer knows how to lay out a chat.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(folder: Path) -> None:
    """Load the model and generate one token of an answer; raise where anything is missing."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    messages = [{"role": "user", "content": "Hello"}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    prompt = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        answer = model.generate(**prompt, max_new_tokens=1, do_sample=False)
    assert answer.shape[1] == prompt["input_ids"].shape[1] + 1, "no token was generated"
    print(f"{folder.name}: {model.num_parameters():,} parameters, {len(tokenizer):,} tokens in the vocabulary")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
