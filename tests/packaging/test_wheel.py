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


@pytest.mark.skipif(not IS_FULL, reason="builds once more for each Python: set SDX_FULL=1")
@pytest.mark.parametrize("version", ["3.10", "3.12"])
def test_wheels_for_other_pythons(version: str, tmp_path: pathlib.Path) -> None:
    """That for 3.12 is for newer ones, too; older versions have one each."""
    python = shutil.which(f"python{version}")
    if python is None:
        pytest.skip(f"this machine has no `python{version}`")
    lines = run(ROOT / "tools/wheel", "--python", python, "--out", tmp_path, cwd=tmp_path)
    built = pathlib.Path(lines.splitlines()[-1])
    assert ("-cp312-abi3-" if version == "3.12" else "-cp310-cp310-") in built.name
    (tmp_path / "twice.py").write_text(SCRIPT)
    newer = shutil.which("python3.13") if version == "3.12" else None
    for one in filter(None, (python, newer)):
        folder = tmp_path / pathlib.Path(one).name
        run(one, "-m", "venv", folder, cwd=tmp_path)
        run(folder / "bin/python", "-m", "pip", "install", "--quiet", built, cwd=tmp_path)
        assert run(folder / "bin/python", "twice.py", cwd=tmp_path) == "[2.0, 4.0, 6.0]\n"


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
