"""The number of examples of a property test."""

from hypothesis import settings


def examples(number: int) -> int:
    """Return how many examples to try: `number` under the profile `thorough`, half of them by
    default, and at most those of the profile `quick` if that is loaded.
    """
    profile = settings.get_current_profile_name()
    if profile == "thorough":
        return number
    if profile == "quick":
        return min(number, settings.get_profile("quick").max_examples)
    return max(1, number // 2)
