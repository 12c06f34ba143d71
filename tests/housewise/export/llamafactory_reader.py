"""Reads a data set as LLaMA-Factory trains on it, and prints what it learns as JSON. Run by the Python that has it."""

import json
import sys
from pathlib import Path

from llamafactory.data import get_dataset, get_template_and_fix_tokenizer  # type: ignore[import-not-found]
from llamafactory.data.mm_plugin import get_mm_plugin  # type: ignore[import-not-found]
from llamafactory.hparams import get_train_args  # type: ignore[import-not-found]
from llamafactory.model import load_tokenizer  # type: ignore[import-not-found]

folder, model = sys.argv[1:]
model_args, data_args, training_args, _, _ = get_train_args(
    {
        "model_name_or_path": model, "stage": "sft", "do_train": True, "finetuning_type": "lora", "template": "chatml",
        "dataset_dir": folder, "dataset": "housewise", "cutoff_len": 16384, "output_dir": f"{model}/out",
        "overwrite_cache": True, "report_to": "none",
    }
)  # fmt: skip
tokenizer = load_tokenizer(model_args)["tokenizer"]
template = get_template_and_fix_tokenizer(tokenizer, data_args)
rows = get_dataset(template, model_args, data_args, training_args, "sft", tokenizer)["train_dataset"]
for line in Path(folder, "train.jsonl").read_text().splitlines():
    # Models with pictures have their placeholders counted; this model has none, so that nothing else would.
    get_mm_plugin("base")._validate_messages(json.loads(line)["messages"], [], [], [])
texts = [(row["input_ids"], [token for token in row["labels"] if token >= 0]) for row in rows]
print(json.dumps([[tokenizer.decode(whole), tokenizer.decode(learned)] for whole, learned in texts]))
