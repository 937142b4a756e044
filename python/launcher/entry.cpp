// The program inside the extension of a wheel, for the launcher.
#include "cli/program.h"

#define SDX_EXPORTED extern "C" __attribute__((visibility("default")))

SDX_EXPORTED int sardonyx_run_program(int count, char** words);
SDX_EXPORTED const char* sardonyx_program_version();

int sardonyx_run_program(int count, char** words) {
    return sardonyx::cli::run_program(count, words);
}

const char* sardonyx_program_version() {
    return SDX_VERSION;
}
