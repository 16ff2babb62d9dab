"""How often a property is tried."""

from hypothesis import settings


def examples(number: int) -> int:
    """Return how many examples to try: `number`, or those of the profile `quick` if that is loaded
    and has fewer.
    """
    if settings.get_current_profile_name() != "quick":
        return number
    return min(number, settings.get_profile("quick").max_examples)
