/* Compiles a script and runs it from C, on memory of its own. */
#include <sardonyx/c.h>

#include <stdio.h>
#include <stdlib.h>

static void check(sdx_error* error) {
    if (error != NULL) {
        fprintf(stderr, "%s\n", sdx_error_message(error));
        sdx_error_free(error);
        exit(1);
    }
}

int main(void) {
    static const char kScript[] =
        "from sardonyx import FLOAT, opset18 as op, script\n"
        "@script()\n"
        "def swish(x: FLOAT['N']) -> FLOAT['N']:\n"
        "    return x * op.Sigmoid(x)\n";
    sdx_model* model = NULL;
    check(sdx_compile_text(kScript, sizeof kScript - 1, "swish.py", NULL, &model));

    const int64_t dims[] = {3};
    float numbers[] = {-1, 0, 1};
    float results[3];
    const sdx_view in = {SDX_FLOAT, 1, dims, numbers, sizeof numbers};
    const sdx_view out = {SDX_FLOAT, 1, dims, results, sizeof results};
    sdx_value* x = NULL;
    check(sdx_value_borrow(&in, NULL, NULL, &x));
    const sdx_value* inputs[] = {x};
    check(sdx_model_run_into(model, inputs, 1, NULL, &out, 1));
    for (int i = 0; i < 3; ++i) {
        printf("%g\n", results[i]);
    }

    /* What cannot be run says why. */
    sdx_error* error = sdx_model_run_into(model, NULL, 0, NULL, &out, 1);
    fprintf(stderr, "%s\n", sdx_error_message(error));
    sdx_error_free(error);
    sdx_value_free(x);
    sdx_model_free(model);
    return 0;
}
