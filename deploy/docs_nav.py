"""Hook of mkdocs that adds the decisions to the navigation, so that a new file in docs/adr needs no
entry in mkdocs.yml.
"""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Append the pages of docs/adr in the order of their numbers."""
    folder = Path(config.docs_dir) / "adr"
    decisions = [f"adr/{page.name}" for page in sorted(folder.glob("*.md"))]
    config.nav = [*(config.nav or []), {"Decisions": decisions}]
    return config
