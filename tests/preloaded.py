"""What the forked processes of tests/commands.py begin with; nothing here may start a thread."""

import contextlib
import gc
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import housewise.agent.clipr.rule_editing
import housewise.cli.app
import housewise.experiments.runner
import housewise.experiments.tables
import housewise.language.server.retries
import housewise.report.episode_pages
import housewise.report.rendering
import housewise.report.views.base
import housewise.rollout.comparison
import housewise.rollout.thread_executor
import housewise.systems.adapt.system
import housewise.systems.basis.system
import housewise.systems.clipr.system
import housewise.systems.personalize.system
import housewise.systems.stars.system
import housewise.terminal.run_progress
import housewise.terminal.selftrain_progress
import housewise.worlds.house.simulator.raycast
from housewise.core.errors import UserError
from housewise.language.embedder import shared_minilm
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.worlds.house.tasks import generated_task
from tests.commands import run_in_fork
from tests.embeddings import VARIABLE, share_embeddings

with contextlib.suppress(ImportError):
    import openai.resources.chat  # noqa: F401
with contextlib.suppress(ImportError):
    import matplotlib.figure  # noqa: F401
    import pandas  # noqa: F401
with contextlib.suppress(ImportError):
    import torch  # noqa: F401
    import transformers.models.bert.modeling_bert
    import transformers.models.llama.modeling_llama  # noqa: F401
with contextlib.suppress(ImportError):
    import peft  # noqa: F401
with contextlib.suppress(ImportError):
    import housewise.selftrain.trainers.dpo
    import housewise.selftrain.trainers.local
    import housewise.selftrain.trainers.logprobs
    import housewise.selftrain.trainers.sft

    # Each trainer in a process of its own would import torch and trl again, which takes longer than it trains.
    forks = SimpleNamespace(run=run_in_fork, CalledProcessError=subprocess.CalledProcessError)
    for module in (housewise.selftrain.trainers.local_training, housewise.selftrain.trainers.logprobs):
        vars(module)["subprocess"] = forks

with contextlib.suppress(UserError):
    # The weights are compared once with what they should be.
    shared_minilm()
load_profiles(ADAPT_PROFILES)
housewise.cli.app.build_command()
# Most commands play in the first house, or in the first one of a phase of training.
for number in (0, 1, 1000, 2000, 3000):
    generated_task(number)
# A server that a test breaks does not recover, so that nobody has to wait long for it.
housewise.language.server.retries.LONGEST_PAUSE = 0.25
if VARIABLE in os.environ:
    share_embeddings(Path(os.environ[VARIABLE]))

# Forks look through none of it for garbage.
gc.freeze()
