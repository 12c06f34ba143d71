"""A training in a process of a launcher, long enough to be killed, with its progress on standard output.

python -m tests.selftrain.trainers.launched MODEL FOLDER
"""

import sys
from pathlib import Path

from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference
from tests.selftrain.tiny import pair, training


def main() -> None:
    """Train a model in a folder."""
    config = training(launcher=sys.executable, epochs=2000, checkpoint_steps=1)
    pairs = [pair(number) for number in range(6)]
    trainer = LocalTrainer(config, 3, lambda *state: print(*state, flush=True))
    trainer.train(pairs, ModelReference(model=sys.argv[1]), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
