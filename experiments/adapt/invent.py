"""People who do not exist as people files: to try a recipe on before anybody is met.

python -m housewise.experiments.adapt.invent --people 8 --seed 10000 --out FOLDER
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from housewise.core.files import write_text
from housewise.people.kitchen.invented_profiles import invent_profile_fields
from housewise.selftrain.adapt.settings import load_adapt_training


def main(
    out: Annotated[Path, typer.Option(help="Folder of the files, one for each person.")],
    people: Annotated[int, typer.Option(min=1, help="How many.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of the first; the others have the next ones.")] = 10_000,
) -> None:
    """Write people files of invented people, whom the warm-up has not met unless their seeds are among its own.

    Examples:

      python -m housewise.experiments.adapt.invent --people 8 --out invented

      python -m housewise.experiments.adapt.main_results --people invented --fold 0 --json results.json
    """
    for number in range(seed, seed + people):
        person = invent_profile_fields(number)
        write_text(out / f"{person['name']}.yaml", yaml.safe_dump(person, sort_keys=False))
    warm_up = load_adapt_training().warm_up
    if seed < warm_up.seed + warm_up.people and warm_up.seed < seed + people:
        typer.echo(
            f"Some of them are met in the warm-up, which has the seeds {warm_up.seed} to "
            f"{warm_up.seed + warm_up.people - 1}."
        )


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
