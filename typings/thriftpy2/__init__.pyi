from types import ModuleType
from typing import TextIO

def load_fp(source: TextIO, module_name: str) -> ModuleType: ...
