# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Instruction traces of RISC-V chips (N-Trace), through libntrace.

    with ntrace.Session("ntrace.data") as session, session.profile() as profile:
        for branch in profile.branches()[:10]:
            print(branch)
        for function in session.hot_functions()[:10]:
            print(function.instructions, function.calls, function.name)

Needs libntrace.so.0, and no compiler. What comes in large numbers are tables: columns are
numpy arrays where numpy is installed, else arrays of the standard library. Handles of the
library are closed by with, or when nothing refers to them. Errors are exceptions: OSError
where the system said no, MemoryError, else Error with the library's own text.
"""

from . import _abi
from ._cursor import Cursor, Mark, Place, Thread, Value, threads
from ._errors import Error
from ._flow import Blocks, Event, decode
from ._image import Location, Object, Space
from ._messages import Messages
from ._params import Params
from ._profile import Branch, Function, Profile, Traces
from ._session import Session, SessionBlocks, Stats, Stream
from ._table import Table
from ._tandem import Tandem, TandemField

__all__ = ["Blocks", "Branch", "Cursor", "Error", "Event", "Function", "Location", "Mark", "Messages",
           "Object", "Params", "Place", "Profile", "Session", "SessionBlocks", "Space", "Stats", "Stream",
           "Table", "Tandem", "TandemField", "Thread", "Traces", "Value", "decode", "threads"]

# Of the library; the module comes with it.
__version__ = _abi.library.version().decode()
