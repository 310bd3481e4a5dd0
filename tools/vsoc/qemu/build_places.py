# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes to QEMU's build, in the form of PLACES of `apply`: fewer steps, less to compile, and one
file that is compiled for speed.

Most steps of QEMU's build generate and compile files of one trace point group or one QAPI schema
module. This build compiles trace points out (backend "nop"), and compiles all QAPI code as one
file, which reads the headers once.
"""

# One step makes the trace point headers of all groups, and nothing has to be compiled.
TRACE = [
    ("trace/meson.build",
     "  trace_h = custom_target(fmt.format('trace', 'h'),\n"
     "                          output: fmt.format('trace', 'h'),\n"
     "                          input: trace_events_file,\n"
     "                          command: [ tracetool, group, '--format=h', '@INPUT@', '@OUTPUT@' ],\n"
     "                          depend_files: tracetool_depends)\n"
     "  genh += trace_h\n"
     "  trace_c = custom_target(fmt.format('trace', 'c'),\n"
     "                          output: fmt.format('trace', 'c'),\n"
     "                          input: trace_events_file,\n"
     "                          command: [ tracetool, group, '--format=c', '@INPUT@', '@OUTPUT@' ],\n"
     "                          depend_files: tracetool_depends)\n",
     "  trace_h += fmt.format('trace', 'h')\n"),
    ("trace/meson.build", "  trace_ss.add(trace_h, trace_c)\n", "  # nothing to compile\n"),
    ("trace/meson.build", "trace_events_files = []\n", "{}trace_h = []\n"),
    ("trace/meson.build", "trace_events_all = custom_target(",
     "genh += custom_target('trace-headers', output: trace_h, input: trace_events_files,\n"
     "                      command: [ python, files('headers.py'), '@INPUT@', '@OUTPUT@' ],\n"
     "                      depend_files: tracetool_depends)\n\n{}"),
]

# Files generated from the QAPI schema: two compilations, without trace points of commands. Two
# static functions occur in several of the files, so each gets a name per file.
QAPI = [
    ("qapi/meson.build", "      'qapi-commands-@0@.trace-events'.format(module),\n", "      # no trace points\n"),
    ("qapi/meson.build", "'-b', '@INPUT0@' ]", "'-b', '--suppress-tracing', '@INPUT0@' ]"),
    ("qapi/meson.build", "i = 0\nforeach output : qapi_util_outputs\n",
     "qapi_util_text = ''\nqapi_specific_text = ''\n{}"),
    ("qapi/meson.build", "  util_ss.add(qapi_files[i])\n",
     "  if output.endswith('.c')\n"
     "    foreach name : [ 'str', 'ObjectPropertyInfoList' ]\n"
     "      qapi_util_text += '#undef qmp_marshal_output_@0@\\n'.format(name)\n"
     "      qapi_util_text += '#define qmp_marshal_output_@0@ qmp_marshal_output_@0@_@1@\\n'.format(name, i)\n"
     "    endforeach\n"
     "    qapi_util_text += '#include \"qapi/@0@\"\\n'.format(output)\n"
     "  endif\n"),
    ("qapi/meson.build",
     "  specific_ss.add(when: 'CONFIG_SYSTEM_ONLY', if_true: qapi_files[i])\n"
     "  i = i + 1\n"
     "endforeach\n",
     "  if output.endswith('.c')\n"
     "    qapi_specific_text += '#include \"qapi/@0@\"\\n'.format(output)\n"
     "  endif\n"
     "  i = i + 1\n"
     "endforeach\n"
     "\n"
     "util_ss.add(configure_file(input: 'all.c.in', output: 'all-util.c',\n"
     "                           configuration: {{ 'INCLUDES': qapi_util_text }}))\n"
     "specific_ss.add(when: 'CONFIG_SYSTEM_ONLY',\n"
     "                if_true: configure_file(input: 'all.c.in', output: 'all-specific.c',\n"
     "                                        configuration: {{ 'INCLUDES': qapi_specific_text }}))\n"),
]

# Unused sources: they only register objects that no run asks for.
UNUSED = [
    (f"{directory}/meson.build", f"  '{name}.c',\n", f"  # '{name}.c' is not used\n")
    for directory, names in {
        "block": "blkdebug blklogwrites blkverify filter-compress null preallocate quorum snapshot-access",
        "chardev": "msmouse wctablet char-serial char-parallel char-pipe char-udp",
        "backends": "cryptodev-builtin rng-builtin rng-egd",
        "net": "dump filter-buffer filter-mirror",
    }.items() for name in names.split()
] + [
    ("block/meson.build", "  block_ss.add(files('nvme.c'))\n", "  # nvme.c is not used\n"),
    ("backends/meson.build", "  system_ss.add(files('hostmem-memfd.c'))\n", "  # hostmem-memfd.c is not used\n"),
    ("backends/meson.build", "  system_ss.add([files('hostmem-shm.c'), rt])\n", "  # hostmem-shm.c is not used\n"),
    ("backends/meson.build", "  system_ss.add(files('rng-random.c'))\n", "  # rng-random.c is not used\n"),
    ("net/meson.build", "system_ss.add(when: 'CONFIG_TCG', if_true: files('filter-replay.c'))\n",
     "# filter-replay.c is not used\n"),
]

# Few of the stubs are linked, and few of the other members of their archive.
UNUSED += [
    ("meson.build", "\nsubdir('stubs')\n",
     "\nstub_ss.add(files("
     + ", ".join(f"'stubs/{name}.c'" for name in (
        "fw_cfg", "target-get-monitor-def", "target-monitor-defs", "xen-hw-stub")) + "))\n"),
    ("crypto/meson.build", "  'clmul.c',\n", "  # 'clmul.c' is not used\n"),
    ("util/meson.build", "files('envlist.c', 'path.c', 'module.c')", "files('module.c')"),
    ("util/meson.build", "files('qemu-option.c', 'qemu-progress.c')", "files('qemu-option.c')"),
    ("util/meson.build", ", 'qemu-coroutine-io.c'))\n", "))  # without input and output\n"),
    ("util/meson.build", "files('vhost-user-server.c'), vhost_user)\n", "[])  # no vhost-user-server.c\n"),
] + [
    ("util/meson.build", f"util_ss.add(files('{name}.c'))\n", f"# {name}.c is not used\n")
    for name in ("chardev_open", "crc-ccitt", "crc32c", "drm", "getauxval", "host-utils", "int128", "iova-tree",
                 "nvdimm-utils", "reserved-region", "stats64", "systemd", "vfio-helpers")
]

# Directories whose targets are never built. They take a third of the configure time.
UNUSED += [
    ("meson.build", f"\nsubdir('{name}')\n", f"\n# {name} is not used\n")
    for name in ("tests", "tests/qtest/libqos", "tests/qtest/fuzz", "tools", "pc-bios")
]

# A precompiled header: most sources include little more than qemu/osdep.h, and reading it takes
# most of their compile time.
HEADER = [
    ("meson.build", f"{text}\n", f"{{}}\n{' ' * 17}c_pch: 'include/precompiled/qemu.h',\n")
    for text in (
        "libblock = static_library('block', block_ss.sources() + genh,",
        "common_all = static_library('common',", "  lib = static_library('qemu-' + target,",
    )
]

# Every indirect jump calls cpu_get_tb_cpu_state(), whose callees are in the same file. With -O2, they are not inlined.
FAST = [
    ("target/riscv/cpu_helper.c", '#include "qemu/osdep.h"\n', '#pragma GCC optimize("O3")\n{}'),
]

PLACES = TRACE + QAPI + UNUSED + HEADER + FAST

# Files to add to the source tree.
FILES = {
    "configs/devices/riscv64-softmmu/ntrace.mak": """\
# What tools/vsoc/run and the selftests use, beside what the machine itself selects.
CONFIG_RISCV_VIRT=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_9P=y
""",
    "include/precompiled/qemu.h": '#include "qemu/osdep.h"\n',
    "qapi/all.c.in": "@INCLUDES@",
    "trace/headers.py": """\
# SPDX-License-Identifier: GPL-2.0-or-later
# headers.py TRACE-EVENTS... HEADER...: as many headers as files, as tracetool makes them.
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))
import tracetool  # noqa: E402

half = len(sys.argv) // 2
for source, header in zip(sys.argv[1:half + 1], sys.argv[half + 1:], strict=True):
    group = pathlib.Path(header).stem.removeprefix("trace-")
    with open(source) as text:
        events = tracetool.read_events(text, source)
    tracetool.out_open(header)
    tracetool.generate(events, group, "h", ["nop"])
    tracetool.out_fobj.close()
    # Asking whether a trace point is enabled needs no variable: it never is.
    path = pathlib.Path(header)
    path.write_text(re.sub(r"extern uint16_t (\\w+);", r"#define \\1 0", path.read_text()))
""",
}
