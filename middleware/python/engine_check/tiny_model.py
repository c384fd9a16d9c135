"""Writes a model folder without weights: a Llama of two small layers and a tokenizer of one token per ASCII character.

``vllm serve FOLDER --load-format dummy`` fills it with random weights, so nothing is downloaded and every token is
printable text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

MAX_LENGTH = 1_024
END = "</s>"


def write_model(folder: Path) -> None:
    """Writes ``config.json``, ``tokenizer.json`` and ``tokenizer_config.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    characters = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str("".join(map(chr, range(32, 127))))
    alphabet = sorted(set("".join(piece for piece, _ in characters)))
    vocabulary = {character: number for number, character in enumerate([*alphabet, END])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": END,
            "model_max_length": MAX_LENGTH,
            "chat_template": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }} {% endfor %}assistant: ",
        },
    )
    _write(
        folder / "config.json",
        {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "head_dim": 32,
            "hidden_act": "silu",
            "max_position_embeddings": MAX_LENGTH,
            "vocab_size": len(vocabulary),
            "rms_norm_eps": 1e-5,
            "rope_theta": 10_000.0,
            "tie_word_embeddings": False,
            "torch_dtype": "bfloat16",
            "eos_token_id": vocabulary[END],
        },
    )


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content))


if __name__ == "__main__":
    write_model(Path(sys.argv[1]))
