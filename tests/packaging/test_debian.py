"""The Debian packages of a build: what is in them, and that they work where they are installed.

`SDX_BUILD` names the build, which must be up to date. With SDX_FULL=1 apt installs them, with what
they depend on, into a minimal Debian of its own, which debootstrap makes.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("SDX_BUILD", "build/release")
PACKAGES = ("sardonyx", "libsardonyx0.1", "libsardonyx-dev")

for program in ("cpack", "dpkg", "dpkg-deb", "dpkg-shlibdeps"):
    if shutil.which(program) is None:
        pytest.skip(f"this machine has no `{program}`", allow_module_level=True)


def run(*command: str | pathlib.Path, cwd: pathlib.Path, **environment: str) -> str:
    env = {**os.environ, **environment}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """The files by the names of the packages."""
    out = tmp_path_factory.mktemp("debian")
    # xz, the default, takes most of a minute for the static library.
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", out,
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", cwd=out)  # fmt: skip
    files = {file.name.partition("_")[0]: file for file in out.glob("*.deb")}
    assert sorted(files) == sorted(PACKAGES)
    return files


def fields(package: pathlib.Path) -> dict[str, str]:
    text = run("dpkg-deb", "--field", package, cwd=package.parent)
    return dict(re.findall(r"(?m)^([\w-]+): (.*)$", text))


def names(package: pathlib.Path) -> set[str]:
    lines = run("dpkg-deb", "--contents", package, cwd=package.parent).splitlines()
    return {line.split()[5].removeprefix("./") for line in lines if not line.startswith("d")}


def test_each_package_holds_its_part(packages: dict[str, pathlib.Path]) -> None:
    assert names(packages["sardonyx"]) == {
        "usr/bin/sardonyx",
        "usr/share/man/man1/sardonyx.1",
        "usr/share/bash-completion/completions/sardonyx",
        "usr/share/fish/vendor_completions.d/sardonyx.fish",
        "usr/share/zsh/vendor-completions/_sardonyx",
        "usr/share/doc/sardonyx/copyright",
    }
    assert names(packages["libsardonyx0.1"]) == {
        "usr/lib/libsardonyx.so.0.1",
        "usr/lib/libsardonyx.so.0.1.0",
        "usr/share/doc/libsardonyx0.1/copyright",
    }
    development = names(packages["libsardonyx-dev"])
    assert {
        "usr/include/sardonyx/sardonyx.h",
        "usr/include/sardonyx/c.h",
        "usr/include/sardonyx/op20.h",
        "usr/lib/libsardonyx.so",
        "usr/lib/libsardonyx_static.a",
        "usr/lib/pkgconfig/sardonyx.pc",
        "usr/lib/cmake/sardonyx/sardonyx-config.cmake",
    } <= development
    assert not [name for name in development if "test" in name or "/src/" in name]


def test_each_package_says_what_it_needs(packages: dict[str, pathlib.Path]) -> None:
    program, library, development = (fields(packages[name]) for name in PACKAGES)
    needs = [{word.split()[0] for word in one["Depends"].split(",")} for one in (program, library)]
    assert "libc6" in needs[0] and "libstdc++6" not in needs[0]  # which is linked in
    assert {"libc6", "libstdc++6"} <= needs[1]
    for one in (program, library):
        assert "libpng16-16" in one["Recommends"]
    assert development["Depends"] == f"libsardonyx0.1 (= {program['Version']})"
    for one in (program, library, development):
        assert one["Version"] == "0.1.0-1" and one["Description"] and one["Maintainer"]


@pytest.fixture(scope="module")
def installed(
    packages: dict[str, pathlib.Path], tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """A folder that dpkg has installed the packages into."""
    root = tmp_path_factory.mktemp("root")
    if os.geteuid() != 0:
        for package in packages.values():
            run("dpkg", "--extract", package, root, cwd=root)
        return root
    (root / "var/lib/dpkg/updates").mkdir(parents=True)
    (root / "var/lib/dpkg/info").mkdir()
    (root / "var/lib/dpkg/status").touch()
    # What they depend on is that of the machine.
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless"]
    run(*dpkg, "--install", *packages.values(), cwd=root)
    return root


def test_the_program_runs(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = installed / "usr/bin/sardonyx"
    assert run(program, "--version", cwd=tmp_path) == "sardonyx 0.1.0\n"
    run(program, "build", ROOT / "examples/gelu.py", "-o", "gelu.onnx", cwd=tmp_path)
    assert (tmp_path / "gelu.onnx").stat().st_size > 0
    bash = installed / "usr/share/bash-completion/completions/sardonyx"
    run("bash", "-n", bash, cwd=tmp_path)


def test_cmake_finds_the_library(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(user CXX)\n"
        "find_package(sardonyx 0.1 CONFIG REQUIRED)\n"
        f"add_executable(user {ROOT}/examples/cpp/embed.cpp)\n"
        "target_link_libraries(user PRIVATE sardonyx::sardonyx)\n"
    )
    run("cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={installed}/usr", cwd=tmp_path)
    run("cmake", "--build", "b", cwd=tmp_path)
    assert run(tmp_path / "b/user", cwd=tmp_path).startswith("1\n90\n")


def test_pkg_config_finds_the_library(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("this machine has no `pkg-config`")
    words = run("pkg-config", "--cflags", "--libs", "sardonyx", cwd=tmp_path,
                PKG_CONFIG_PATH=f"{installed}/usr/lib/pkgconfig").split()  # fmt: skip
    run("cc", ROOT / "examples/c/main.c", *words, "-o", "user", cwd=tmp_path)
    said = run(tmp_path / "user", cwd=tmp_path, LD_LIBRARY_PATH=f"{installed}/usr/lib")
    assert said.startswith("-0.268941\n")


def test_what_is_removed_leaves_nothing(
    packages: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("dpkg installs for root alone")
    (tmp_path / "var/lib/dpkg/updates").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/info").mkdir()
    (tmp_path / "var/lib/dpkg/status").touch()
    dpkg = ["dpkg", f"--root={tmp_path}", "--force-depends", "--force-script-chrootless"]
    run(*dpkg, "--install", packages["sardonyx"], cwd=tmp_path)
    assert (tmp_path / "usr/bin/sardonyx").exists()
    run(*dpkg, "--purge", "sardonyx", cwd=tmp_path)
    assert not list((tmp_path / "usr").rglob("*sardonyx*"))


def test_apt_installs_them_into_a_minimal_debian(
    packages: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    """Their dependencies are found, and nothing that compiles is needed to run."""
    if os.environ.get("SDX_FULL", "") in ("", "0"):
        pytest.skip("takes minutes: set SDX_FULL=1")
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("this machine has no `debootstrap` for its users")
    root = tmp_path / "debian"
    release = re.search(r"(?m)^VERSION_CODENAME=(.*)$", pathlib.Path("/etc/os-release").read_text())
    assert release is not None
    run("debootstrap", "--variant=minbase", release[1], root, cwd=tmp_path)
    for package in packages.values():
        shutil.copy(package, root)
    script = tmp_path / "debian/gelu.py"
    shutil.copy(ROOT / "examples/gelu.py", script)

    def inside(*command: str) -> str:
        return run("chroot", root, *command, cwd=tmp_path, PATH="/usr/sbin:/usr/bin:/sbin:/bin",
                   LC_ALL="C.UTF-8", DEBIAN_FRONTEND="noninteractive")  # fmt: skip

    files = [f"/{package.name}" for package in packages.values()]
    inside("apt-get", "install", "-y", *files)
    assert "g++" not in inside("dpkg-query", "-W", "-f", "${Package}\n").split()
    inside("sardonyx", "build", "/gelu.py", "-o", "/gelu.onnx")
    said = inside("sardonyx", "run", "/gelu.onnx", "x=[[0.0]]")
    assert said.endswith("[[0.0]]\n")
    found = inside("sardonyx", "doctor")
    for name in ("oneDNN", "libpng", "libtiff", "libwebp", "libopenjp2", "zlib"):
        assert re.search(rf"(?m)^ *{name} +found", found), found
