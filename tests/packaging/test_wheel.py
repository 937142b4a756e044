"""The wheel: it is built, holds what it should, says which systems it is for, and works in an
environment of its own and on a system that has nothing to build with.

With SDX_FULL=1 it is built from the sdist. Joined sources name their files with whole paths, so
that the compiler's cache finds none of them there, and all is compiled once more. Else it is built
from the checkout, whose sources the sdist must have byte by byte.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IS_FULL = os.environ.get("SDX_FULL", "") not in ("", "0")

if not (ROOT / "python/sardonyx/__init__.py").exists():
    pytest.skip("there is no Python package yet", allow_module_level=True)

SCRIPT = """\
import numpy
from sardonyx import FLOAT, script, opset18 as op
@script()
def twice(x: FLOAT[3]) -> FLOAT[3]:
    return op.Add(x, x)
if __name__ == '__main__':
    print(twice(numpy.array([1, 2, 3], numpy.float32)).tolist())
"""


def run(*command: str | pathlib.Path, cwd: pathlib.Path, **variables: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment.update(variables)
    environment.setdefault("CXX", "c++")  # the compiler's name of the other builds, for ccache
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The sdist, unpacked."""
    out = tmp_path_factory.mktemp("sdist")
    build = f"from scikit_build_core.build import build_sdist; build_sdist({str(out)!r})"
    run(sys.executable, "-c", build, cwd=ROOT)
    (archive,) = out.glob("sardonyx-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(out, filter="data")
    return out / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("wheel")
    folder = request.getfixturevalue("sources") if IS_FULL else ROOT
    words = [folder / "tools/wheel", "--python", sys.executable, "--out", out]
    return pathlib.Path(run(sys.executable, *words, cwd=out).splitlines()[-1])


@pytest.fixture(scope="module")
def environment(wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The bin folder of an environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet"]
    constraints = ROOT / "requirements/build.txt"
    run(*pip, "--disable-pip-version-check", "-c", constraints, wheel, cwd=folder)
    return folder / "bin"


def test_the_sdist_has_all_sources_and_nothing_that_was_built(sources: pathlib.Path) -> None:
    names = {path.name for path in sources.iterdir()}
    assert {"CMakeLists.txt", "LICENSE", "README.md", "docs", "tests", "tools"} <= names
    assert not {"build", "dist", ".venv", ".git", ".ci"} & names
    for folder in ("src", "include", "python", "lib", "cmake"):
        files = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.*")}
        lacking = {path for path in files if not (sources / path).exists()}
        assert {path for path in lacking if "__pycache__" not in path.parts} == set()
        for path in files - lacking:
            assert (sources / path).read_bytes() == (ROOT / path).read_bytes(), path


def test_the_wheel_holds_the_package_the_types_and_the_license(wheel: pathlib.Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "sardonyx/__init__.py" in names
    assert "sardonyx/py.typed" in names
    assert any(name.startswith("sardonyx/") and name.endswith(".so") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "test" in name or name.endswith((".cpp", ".h", ".a"))]


def test_the_wheel_has_the_engine_once(wheel: pathlib.Path) -> None:
    """The program is a launcher of the extension."""
    binaries = {
        item.filename: item.file_size
        for item in zipfile.ZipFile(wheel).infolist()
        if item.filename.endswith((".so", "/sardonyx"))
    }
    program, extension = sorted(binaries.values())
    assert program < 200_000 < extension, binaries


def test_the_wheel_says_which_systems_it_is_for(wheel: pathlib.Path, tmp_path) -> None:
    platform = wheel.stem.rpartition("-")[2]
    assert platform.startswith("manylinux_2_") and platform.endswith(os.uname().machine)
    archive = zipfile.ZipFile(wheel)
    assert archive.testzip() is None
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
    assert f"-{platform}\n" in archive.read(metadata).decode()
    # It is the oldest glibc that has all symbols.
    extension = next(name for name in archive.namelist() if name.endswith(".so"))
    archive.extract(extension, tmp_path)
    symbols = run("objdump", "-T", tmp_path / extension, cwd=tmp_path)
    minor = int(platform.split("_")[2])
    versions = {int(word.partition(".")[2].partition(".")[0].rstrip(")"))
                for word in symbols.split() if word.lstrip("(").startswith("GLIBC_2.")}  # fmt: skip
    assert 0 < max(versions) <= minor <= int(os.confstr("CS_GNU_LIBC_VERSION").split(".")[1])


def test_the_wheel_depends_on_numpy_alone(wheel: pathlib.Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    lines = archive.read(metadata).decode().splitlines()
    required = [line for line in lines if line.startswith("Requires-Dist:")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy>=1.26"]


def test_an_installed_wheel_compiles_and_runs(
    environment: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    script = tmp_path / "twice.py"
    script.write_text(SCRIPT)
    assert run(environment / "python", script, cwd=tmp_path) == "[2.0, 4.0, 6.0]\n"
    run(environment / "sardonyx", "build", "twice.py", "-o", "twice.onnx", cwd=tmp_path)
    assert (tmp_path / "twice.onnx").stat().st_size > 0
    values = run(
        environment / "sardonyx", "run", "twice.py", "--python", "x=[1, 2, 3]", cwd=tmp_path
    )
    assert values.endswith("[2.0 4.0 6.0]\n")
    said = run(environment / "sardonyx", "doctor", cwd=tmp_path)
    assert str(environment) in said and f"  sardonyx      {'0.1.0'}\n" in said


def test_a_program_without_its_package_says_so(
    environment: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    program = tmp_path / "bin[1]/sardonyx"
    program.parent.mkdir()
    shutil.copy(environment / "sardonyx", program)
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the Python package sardonyx") and "bin[1]" in done.stderr
    # With `pip install --target` the package is beside the folder of programs.
    (site,) = environment.parent.glob("lib/python3*/site-packages")
    (tmp_path / "sardonyx").symlink_to(site / "sardonyx")
    assert run(program, "--version", cwd=tmp_path) == "sardonyx 0.1.0\n"


# --- The programs that people install programs with ----------------------------------------------


def tool(name: str, request: pytest.FixtureRequest) -> pathlib.Path:
    """The one on PATH; with SDX_FULL=1 else one that pip fetches."""
    found = shutil.which(name)
    if found is not None:
        return pathlib.Path(found)
    if not IS_FULL:
        pytest.skip(f"this machine has no `{name}`; SDX_FULL=1 fetches it")
    folder = request.getfixturevalue("tmp_path_factory").mktemp(name)
    venv.create(folder, with_pip=True)
    run(folder / "bin/python", "-m", "pip", "install", "--quiet", name, cwd=folder)
    return folder / "bin" / name


def test_pipx_installs_and_removes_the_program(
    wheel: pathlib.Path, tmp_path: pathlib.Path, request: pytest.FixtureRequest
) -> None:
    pipx = tool("pipx", request)
    folders = ("home", "bin_dir", "man_dir")
    places = {f"PIPX_{name.upper()}": str(tmp_path / name) for name in folders}
    run(pipx, "install", "--python", sys.executable, wheel, cwd=tmp_path, **places)
    program = tmp_path / "bin_dir/sardonyx"
    assert run(program, "--version", cwd=tmp_path) == "sardonyx 0.1.0\n"
    (tmp_path / "twice.py").write_text(SCRIPT)
    said = run(program, "run", "twice.py", "--python", "x=[1, 2, 3]", cwd=tmp_path)
    assert said.endswith("[2.0 4.0 6.0]\n")
    run(pipx, "uninstall", "sardonyx", cwd=tmp_path, **places)
    assert not program.is_symlink()


def test_uv_runs_scripts_and_the_program(
    wheel: pathlib.Path, tmp_path: pathlib.Path, request: pytest.FixtureRequest
) -> None:
    uv = tool("uv", request)
    (tmp_path / "twice.py").write_text(SCRIPT)
    python = ["--python", sys.executable]
    words = [uv, "run", "--no-project", *python, "--with", wheel, "twice.py"]
    assert run(*words, cwd=tmp_path) == "[2.0, 4.0, 6.0]\n"
    words = [uv, "tool", "run", *python, "--from", wheel, "sardonyx", "--version"]
    assert run(*words, cwd=tmp_path) == "sardonyx 0.1.0\n"


# --- Other versions of Python --------------------------------------------------------------------


# What a wheel's Python has to be able to do: `venv`, and to compile extensions.
USABLE = """
import ensurepip, pathlib, sysconfig, venv
print((pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists())
"""


def found_python(version: str) -> pathlib.Path | None:
    """A Python of this version that wheels can be built for: on PATH, or one of pyenv.

    pyenv puts programs on PATH also for versions that are not active, and these do not run.
    """
    roots = [os.environ.get("PYENV_ROOT", ""), str(pathlib.Path.home() / ".pyenv")]
    places = [pathlib.Path(place) / f"python{version}" for place in os.get_exec_path()]
    for root in filter(None, roots):
        places += pathlib.Path(root).glob(f"versions/{version}.*/bin/python{version}")
    for python in places:
        if os.access(python, os.X_OK):
            done = subprocess.run([python, "-c", USABLE], capture_output=True, text=True)
            if (done.returncode, done.stdout) == (0, "True\n"):
                return python
    return None


# The versions that have a wheel of their own, and the newer ones that the last of them is for.
OWN, NEWER = ("3.10", "3.11", "3.12"), ("3.13", "3.14")


@pytest.mark.parametrize("version", OWN + NEWER)
def test_the_package_is_in_the_syntax_of_each_python(version: str, tmp_path: pathlib.Path) -> None:
    python = found_python(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    for folder in ("python/sardonyx", "lib/torch"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    run(python, "-W", "error", "-m", "compileall", "-q", ".", cwd=tmp_path)


@pytest.mark.skipif(not IS_FULL, reason="builds once more for each Python: set SDX_FULL=1")
@pytest.mark.parametrize("version", OWN)
def test_wheels_for_other_pythons(version: str, tmp_path: pathlib.Path) -> None:
    """Each works where it is installed: as the package, as the program, and on the examples."""
    python = found_python(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    lines = run(ROOT / "tools/wheel", "--python", python, "--out", tmp_path, cwd=tmp_path)
    built = pathlib.Path(lines.splitlines()[-1])
    short = "cp" + version.replace(".", "")
    assert (f"-{short}-abi3-" if version == "3.12" else f"-{short}-{short}-") in built.name
    (tmp_path / "twice.py").write_text(SCRIPT)
    examples = [path for path in (ROOT / "examples").glob("*.py") if "torch" not in path.name]
    newer = [found_python(one) for one in NEWER] if version == "3.12" else []
    for one in filter(None, (python, *newer)):
        folder = tmp_path / f"installed-{one.name}"
        run(one, "-m", "venv", folder, cwd=tmp_path)
        own = folder / "bin/python"
        run(own, "-m", "pip", "install", "--quiet", built, cwd=tmp_path)
        assert run(own, "twice.py", cwd=tmp_path) == "[2.0, 4.0, 6.0]\n"
        said = run(folder / "bin/sardonyx", "run", "twice.py", "x=[1, 2, 3]", cwd=tmp_path)
        assert said.endswith("[2.0 4.0 6.0]\n")
        for example in examples:
            run(own, "-m", "sardonyx", example, cwd=tmp_path)


def test_a_build_that_fails_shows_the_end_of_its_log(tmp_path: pathlib.Path) -> None:
    (tmp_path / "backend.py").write_text(
        "def build_wheel(*words):\n    for i in range(100):\n        print('line', i)\n"
        "    raise SystemExit(3)\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
        "[project]\nname = 'failing'\nversion = '1'\n"
    )
    command = [sys.executable, ROOT / "tools/wheel", "--source", tmp_path, "--out", tmp_path]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 41 and not any(line.endswith("line 0") for line in lines)
    (log,) = tmp_path.glob("sardonyx-wheel-*.log")
    assert lines[-1] == f"error: the wheel: pip could not build it, exit status 1; the log is {log}"
    assert log.read_text().splitlines()[-40:] == lines[:-1]
    assert any(line.endswith("line 0") for line in log.read_text().splitlines())


@pytest.mark.parametrize("words", [["--python", "/no/python"], ["--tag", "no.whl"], ["--tag", "."]])
def test_wrong_arguments_of_the_wheel_are_errors(words: list[str], tmp_path: pathlib.Path) -> None:
    command = [sys.executable, ROOT / "tools/wheel", "--out", tmp_path, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and len(done.stderr.splitlines()) == 1
    (tmp_path / "text.whl").write_text("no archive")
    done = subprocess.run(
        [sys.executable, ROOT / "tools/wheel", "--tag", "text.whl"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "error: File is not a zip file\n")


# --- A system without compilers ------------------------------------------------------------------


def libraries_of(*files: pathlib.Path) -> set[str]:
    """The files that the dynamic linker takes for these."""
    found = set()
    for file in files:
        done = subprocess.run(["ldd", file], capture_output=True, text=True)
        words = (line.split("=>")[-1].split() for line in done.stdout.splitlines())
        found |= {one[0] for one in words if one and one[0].startswith("/")}
    return found


def test_a_root_without_compilers(environment: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A root folder that has Python, NumPy, the wheel, and the libraries that these need."""
    root = tmp_path / "root"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    base = pathlib.Path(sys.base_prefix)
    standard = pathlib.Path(sysconfig.get_path("stdlib"))
    unneeded = shutil.ignore_patterns("test", "site-packages", "dist-packages", "config-*",
                                      "__pycache__", "idlelib", "ensurepip", "*.a")  # fmt: skip
    library = root / f"usr/lib/{version}"
    shutil.copytree(standard, library, ignore=unneeded)
    site = next(environment.parent.glob("lib/python3*/site-packages"))
    for name in ("numpy", "numpy.libs", "sardonyx"):
        if (site / name).exists():
            shutil.copytree(site / name, library / "site-packages" / name)
    programs = root / "usr/bin"
    programs.mkdir()
    python = (environment / "python").resolve()
    shutil.copy(python, programs / "python3")
    shutil.copy(environment / "sardonyx", programs / "sardonyx")
    binaries = [python, *library.rglob("*.so"), *base.glob("lib/libpython3*.so*")]
    for name in libraries_of(*binaries):
        if not name.startswith(str(root)):
            target = root / name.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, target)
    (root / "twice.py").write_text(SCRIPT)

    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    unshare = shutil.which("unshare")
    if chroot is None or (os.geteuid() != 0 and unshare is None):
        pytest.skip("this machine has no `chroot` for its users")
    enter = [chroot] if os.geteuid() == 0 else [str(unshare), "--map-root-user", chroot]

    def inside(*command: str) -> str:
        clean = {"PATH": "/usr/bin", "PYTHONHOME": "/usr", "LC_ALL": "C.UTF-8"}
        done = subprocess.run([*enter, root, *command], env=clean, capture_output=True, text=True)
        if "Operation not permitted" in done.stderr:
            pytest.skip("this machine does not let a test have a root of its own")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert inside("/usr/bin/python3", "/twice.py") == "[2.0, 4.0, 6.0]\n"
    built = inside("/usr/bin/sardonyx", "build", "/twice.py", "-o", "/twice.onnx")
    assert (root / "twice.onnx").stat().st_size > 0, built
    assert inside("/usr/bin/sardonyx", "run", "/twice.onnx", "x=[1, 2, 3]").endswith(
        "[2.0 4.0 6.0]\n"
    )
    assert "oneDNN        missing; for" in inside("/usr/bin/sardonyx", "doctor")


# --- What a build needs --------------------------------------------------------------------------


def test_what_is_missing_is_named_at_once(tmp_path: pathlib.Path) -> None:
    command = ["cmake", "-S", ROOT, "-B", tmp_path, "-DSDX_PYTHON=OFF", "-DSDX_TESTS=OFF",
               f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_IGNORE_PATH=/usr/include",
               "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    words = " ".join(done.stderr.split())
    assert (
        "apt install libfmt-dev libprotozero-dev libtomlplusplus-dev nlohmann-json3-dev "
        "libcli11-dev" in words
    ), done.stderr
