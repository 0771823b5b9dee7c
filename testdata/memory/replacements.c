// gnulib's own function of a name does what the C library's does.
#include <stdio.h>

FILE *rpl_fopen(const char *name, const char *mode);
int rpl_fclose(FILE *stream);

int first_byte_in(const char *name) //~ clean
{
	FILE *file = rpl_fopen(name, "re");
	int byte = -1;

	if (file) {
		byte = getc(file);
		rpl_fclose(file);
	}
	return byte;
}

int first_byte_lost(const char *name)
{
	FILE *file = rpl_fopen(name, "re"); //~ file/leak

	return file ? getc(file) : -1;
}
