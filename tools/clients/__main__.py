"""`python -m tools.clients`: see `--help` and `make clients`."""

import argparse
import logging
import signal
import sys

from confluent_kafka import KafkaException

from deploy.embedded import EmbeddedError
from deploy.embedded.fetching.progress import say
from tools.clients.faults import FAULTS
from tools.clients.rounds import run_round
from tools.clients.service import KINDS, Kind
from tools.faults.stage import Servers


def main() -> int:
    """Run the rounds; return 0 if all promises held."""
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # servers are restarted on purpose
    seeds = range(arguments.seed, arguments.seed + arguments.times)
    rounds = [(kind, seed) for seed in seeds for kind in arguments.kind or KINDS]
    clean = 0
    with Servers() as servers:
        for done, (kind, seed) in enumerate(rounds):
            try:
                again = servers.start_again()
            except EmbeddedError as failure:
                say(f"ENDED after {done} of {len(rounds)} rounds: {failure}")
                break
            if again:
                say(f"started again before {kind}, seed {seed}: {', '.join(again)}")
            clean += _is_clean(servers, kind, seed, arguments.faults)
    say(f"{clean} of {len(rounds)} rounds as promised, seeds {seeds[0]} to {seeds[-1]}")
    return 0 if clean == len(rounds) else 1


def _is_clean(servers: Servers, kind: Kind, seed: int, faults: list[str]) -> bool:
    try:
        outcome = run_round(servers, kind, seed, f"clients_{kind}_{seed}", faults or tuple(FAULTS))
    except (AssertionError, EmbeddedError, KafkaException, OSError) as exc:
        say(f"{kind}, seed {seed}: FAILED: {exc}")
        return False
    say(str(outcome))
    return not outcome.wrong


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.clients", description=__doc__)
    parser.add_argument("kind", nargs="*", choices=[*KINDS, []], help="default: all")
    parser.add_argument("--times", type=int, default=50, help="rounds of each kind")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first round")
    parser.add_argument(
        "--faults", nargs="*", choices=list(FAULTS), default=[], help="default: all"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
