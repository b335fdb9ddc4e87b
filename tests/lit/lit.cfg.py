"""Lit configuration of the textual tests.

With --param threads=1,2,8 every command of tf-opt runs with each number of threads and has to print the same.

The programs are taken from --param tf_bin_dir=DIR, else $TF_BIN_DIR, else target/ci. A suite
elsewhere (a plugin's) reuses this file from its own lit.cfg.py:

    config.name = "my-plugin"
    config.test_source_root = os.path.dirname(__file__)
    lit_config.load_config(config, "<repository>/tests/lit/lit.cfg.py")

Substitutions: %tf-opt %tf-run %tf-gen %tf-reduce %mlir-opt %ptxas %compare %bless %python %reference (tests/reference)
%plugins (the folder of plugin libraries: --param plugin_dir=DIR, else where the programs are).
On PATH: FileCheck, not and the other LLVM tools. Features: has-ptxas, has-plugins, has-mypy, cuda-device.
"""

import os
import shutil
import subprocess
import sys

import lit.formats

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def setting(name, default):
    """A value by lit parameter, environment variable or default."""
    return lit_config.params.get(name) or os.environ.get(name.upper()) or default


def has_cuda_device():
    """Whether this machine has an NVIDIA GPU with a driver."""
    if os.path.exists("/dev/nvidiactl"):
        return True
    smi = shutil.which("nvidia-smi")
    return bool(smi) and subprocess.run([smi, "-L"], capture_output=True).returncode == 0


target = os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target")
bin_dir = os.path.abspath(setting("tf_bin_dir", os.path.join(target, "ci")))
llvm_bin = os.path.join(setting("llvm_prefix", "/usr/lib/llvm-22"), "bin")
tf_opt = os.path.join(bin_dir, "tf-opt")
if not os.path.exists(tf_opt):
    lit_config.fatal(f"no {tf_opt}: run `cargo build --profile ci --workspace`, or set TF_BIN_DIR")

if config.name == "<unnamed>":  # what lit calls a suite that no other file named first
    config.name = "tilefoundry"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".py", ".tfir", ".test"]
config.excludes = ["lit.cfg.py", "lit.local.cfg", "Inputs", "Output", "__pycache__"]
config.test_source_root = config.test_source_root or HERE
config.test_exec_root = os.path.join(bin_dir, "lit", config.name)

config.substitutions.append(("%{bin_dir}", bin_dir))
config.environment["PATH"] = os.pathsep.join([llvm_bin, config.environment.get("PATH", "")])
for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

programs = {
    "tf-opt": tf_opt,
    "tf-run": os.path.join(bin_dir, "tf-run"),
    "tf-reduce": os.path.join(bin_dir, "tf-reduce"),
    "tf-gen": os.path.join(bin_dir, "tf-gen"),
    "mlir-opt": os.path.join(llvm_bin, "mlir-opt"),
    "compare": f"{sys.executable} {os.path.join(ROOT, 'tools', 'compare.py')}",
    "reference": os.path.join(ROOT, "tests", "reference"),
    "python": sys.executable,
    "bless": f"{sys.executable} {os.path.join(ROOT, 'tools', 'bless.py')} --bin={bin_dir}",
    "plugins": setting("plugin_dir", bin_dir),
}

ptxas = setting("ptxas", os.path.join(ROOT, ".cache", "ptxas", "ptxas"))
if ptxas != "none" and os.access(ptxas, os.X_OK):
    config.available_features.add("has-ptxas")
    programs["ptxas"] = ptxas
def has_plugins():
    """Whether tools/plugins.sh has built the plugins for this driver. Stale ones count as absent, unless TF_PLUGINS=required."""
    libraries = [os.path.join(programs["plugins"], f"lib{name}.so") for name in ("peephole", "softsign", "hostile", "faults")]
    if os.environ.get("TF_PLUGINS") == "required":
        return True
    if not all(map(os.path.exists, libraries)):
        return False
    load = [f"--load-pass-plugin={library}" for library in libraries]
    return subprocess.run([tf_opt, *load, "--help"], capture_output=True).returncode == 0


if has_plugins():
    config.available_features.add("has-plugins")
    # Any shared library that is no plugin.
    programs["a_library"] = os.path.join(llvm_bin, "..", "lib", "libLTO.so")
if shutil.which("mypy"):
    config.available_features.add("has-mypy")
if has_cuda_device():
    config.available_features.add("cuda-device")

threads = lit_config.params.get("threads")
if threads:
    programs["tf-opt"] = f"{sys.executable} {os.path.join(ROOT, 'tools', 'same_output.py')} {threads} {tf_opt}"

# A word boundary keeps `%tf-opt` apart from a longer name; these come before lit's own %t, %s, %p.
for name, command in programs.items():
    config.substitutions.append((rf"%{name}\b(?!-)", command))
