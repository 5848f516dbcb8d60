"""Attack every public door with new seeds: python tests/tools/adversary.py [--minutes 60] [--door arrays] [--first-seed 0]

Doors take turns. The exit code is 1 if an attack succeeded; the table lists its seed, which `--door NAME --seed N` repeats.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

from rich.console import Console
from rich.table import Table

from helpers.adversary import Attack, attacks, door_names

TURN = 20.0
"""Seconds for which a door is attacked before the next."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--door", action="append", choices=door_names(), help="attack only this door")
    parser.add_argument("--minutes", type=float, default=1.0, help="time for all doors together")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, help="this number of attacks on each door, whatever the time")
    parser.add_argument("--seed", type=int, help="repeat one attack")
    arguments = parser.parse_args()
    console, made, findings = Console(), Counter[str](), list[Attack]()
    if arguments.seed is not None:
        arguments.first_seed, arguments.trials = arguments.seed, 1
    doors = {name: count(arguments.first_seed) for name in arguments.door or door_names()}
    end = time.monotonic() + 60 * arguments.minutes
    while doors:
        for name, seeds in list(doors.items()):
            turn = time.monotonic() + TURN
            for attack in attacks(name, seeds):
                made[name] += 1
                if attack.finding:
                    findings.append(attack)
                    found = f"{name} --seed {attack.seed}\n{attack.finding}"
                    console.print(found, markup=False, highlight=False, soft_wrap=True)
                if made[name] == arguments.trials or (not arguments.trials and time.monotonic() > min(turn, end)):
                    break
            if made[name] == arguments.trials or (not arguments.trials and time.monotonic() > end):
                del doors[name]
    table = Table("door", "attacks", "findings", "seeds")
    for name, number in made.items():
        seeds_found = [attack.seed for attack in findings if attack.door == name]
        table.add_row(name, str(number), str(len(seeds_found)), " ".join(map(str, seeds_found)))
    console.print(table)
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
