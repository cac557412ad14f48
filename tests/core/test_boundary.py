"""Which places an error names: those of the library, whatever the folders around it are called."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.core.boundary import public
from discreet.core.errors import InternalError


@pytest.mark.parametrize("folder", ["/clones/discreet", "/clones/discreet/tests", "/a folder/x"])
def test_a_script_in_a_folder_called_like_the_package_is_not_the_library(folder: str) -> None:
    names: dict[str, Any] = {}
    exec(compile("def look_up(key):\n    return {}[key]\n", f"{folder}/script.py", "exec"), names)
    with pytest.raises(InternalError) as caught:
        public(names["look_up"])("planted")
    assert "script.py" not in str(caught.value)
    assert "planted" not in str(caught.value)
