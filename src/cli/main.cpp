// The program as a file of its own. That of a wheel has its main in python/launcher.
#include "cli/program.h"

int main(int count, char** words) {
    return sardonyx::cli::run_program(count, words);
}
