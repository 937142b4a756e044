// The program `sardonyx` of a wheel: it finds the extension of the package that was installed with
// it, loads it without Python, and runs the program that is inside.
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace {

using Program = int (*)(int, char**);
using Version = const char* (*)();

// Where installers put packages, relative to the folder of programs: virtual environments and
// prefixes, those of Debian, `pip install --target`, and the folders that uv links files from.
const char* const kPlaces[] = {
    "/../lib/python3*/site-packages/sardonyx/" SDX_EXTENSION,
    "/../lib64/python3*/site-packages/sardonyx/" SDX_EXTENSION,
    "/../lib/python3*/dist-packages/sardonyx/" SDX_EXTENSION,
    "/../local/lib/python3*/dist-packages/sardonyx/" SDX_EXTENSION,
    "/../sardonyx/" SDX_EXTENSION,
    "/../../sardonyx/" SDX_EXTENSION,
};

// The folder of this program, links followed; false where the system does not say.
bool find_own_folder(char (&folder)[PATH_MAX]) {
    ssize_t size = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (size > 0) {
        folder[size] = 0;
    } else {  // without /proc, as in some roots
        auto name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
        if (name == nullptr || realpath(name, folder) == nullptr) {
            return false;
        }
    }
    char* end = strrchr(folder, '/');
    if (end == nullptr) {
        return false;
    }
    *end = 0;
    return true;
}

// `folder` may contain characters that are special in patterns.
bool make_pattern(const char* folder, const char* place, char (&pattern)[2 * PATH_MAX]) {
    size_t at = 0;
    for (const char* c = folder; *c != 0; ++c) {
        if (at + 3 + strlen(place) >= sizeof pattern) {
            return false;
        }
        if (strchr("*?[]\\", *c) != nullptr) {
            pattern[at++] = '\\';
        }
        pattern[at++] = *c;
    }
    strcpy(pattern + at, place);
    return true;
}

// Null if the file is not an extension of this version. `why` gets the message of the linker.
Program load(const char* path, char (&why)[1024]) {
    void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        snprintf(why, sizeof why, "%s", dlerror());
        return nullptr;
    }
    auto version = reinterpret_cast<Version>(dlsym(library, "sardonyx_program_version"));
    auto program = reinterpret_cast<Program>(dlsym(library, "sardonyx_run_program"));
    if (version == nullptr || program == nullptr || strcmp(version(), SDX_VERSION) != 0) {
        snprintf(why, sizeof why, "%s is not of version %s", path, SDX_VERSION);
        return nullptr;
    }
    return program;
}

Program find_program(const char* folder, char (&why)[1024]) {
    static char pattern[2 * PATH_MAX];
    for (const char* place : kPlaces) {
        glob_t found;
        if (!make_pattern(folder, place, pattern) || glob(pattern, 0, nullptr, &found) != 0) {
            continue;
        }
        for (size_t i = 0; i < found.gl_pathc; ++i) {
            if (Program program = load(found.gl_pathv[i], why)) {
                globfree(&found);
                return program;
            }
        }
        globfree(&found);
    }
    return nullptr;
}

}  // namespace

int main(int count, char** words) {
    static char folder[PATH_MAX];
    static char why[1024] = "there is no " SDX_EXTENSION " in the folders where pip puts packages";
    if (find_own_folder(folder)) {
        if (Program program = find_program(folder, why)) {
            return program(count, words);
        }
    }
    fprintf(stderr,
            "error: the Python package sardonyx, which has the code of this program, was not found "
            "beside %s: %s; install the wheel again\n",
            folder, why);
    return 2;
}
