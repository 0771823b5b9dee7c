// bad1: 401 heap/leak the rows that were made are not freed when one cannot be
// bad2: 401 heap/leak the rows are not freed with the matrix
// bad3: 690 null/unchecked-result the table of rows is filled unchecked
// bad4: 590 heap/bad-free the matrix, a local variable, is freed
// ---- header
struct matrix {
    int rows;
    double **values;
};
// ---- a
static int @_make(struct matrix *matrix, int rows)
{
    matrix->rows = 0;
    matrix->values = malloc(rows * sizeof(*matrix->values));
    if (matrix->values == NULL) // not bad3
        return -1; // not bad3
    for (int row = 0; row < rows; row++) {
        matrix->values[row] = calloc(rows, sizeof(double));
        if (matrix->values[row] == NULL || (row == 1 && suite_either())) {
            free(matrix->values[row]);
            while (--row >= 0) // not bad1
                free(matrix->values[row]); // not bad1
            free(matrix->values);
            return -1;
        }
    }
    matrix->rows = rows;
    return 0;
}

static void @_clear(struct matrix *matrix)
{
    for (int row = 0; row < matrix->rows; row++) // not bad2
        free(matrix->values[row]); // not bad2
    free(matrix->values);
    free(matrix); // bad4
}

void @(void)
{
    struct matrix matrix;

    if (@_make(&matrix, 2) == 0) {
        printf("%f\n", matrix.values[1][0]);
        @_clear(&matrix);
    }
}
