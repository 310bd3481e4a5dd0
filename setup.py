# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""What pyproject.toml cannot say: the wheel contains libntrace.so.0, which `make` builds.

The module uses ctypes, so that one wheel serves all versions of Python on a machine.
"""

import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

LIBRARY = "build/libntrace.so.0"


class WithLibrary(build_py):
    def run(self):
        super().run()
        # A make that called pip has a job server that is not for this one.
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
        subprocess.run([os.environ.get("MAKE", "make"), "lib"], check=True, env=environment)
        if not self.editable_mode:
            shutil.copy(LIBRARY, pathlib.Path(self.build_lib, "ntrace"))


class ForThisMachine(Distribution):
    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


# Python's tools would write to build/lib and to lib/python.
os.makedirs("build/wheel", exist_ok=True)
setup(distclass=ForThisMachine, cmdclass={"build_py": WithLibrary, "bdist_wheel": AnyPython},
      options={"build": {"build_base": "build/wheel"}, "egg_info": {"egg_base": "build/wheel"}})
