// What a format prints in any case is the least result of a call that does not fail: "%zd" prints a digit.
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

char *number_name(long number) //~ clean
{
	char *name = NULL;

	if (asprintf(&name, "%zd", number) > 0)
		return name;
	return NULL;
}

char *temporary_name(const char *name) //~ clean
{
	char *made;

	if (asprintf(&made, "%s.XXXXXX", name) <= 0)
		return NULL;
	return made;
}

// One character may be an error for somebody, but it has been printed.
char *long_number_name(long number)
{
	char *name = NULL;

	if (asprintf(&name, "%zd", number) > 1) //~ heap/leak
		return name;
	return NULL;
}

// A wide character is no pointer.
void end_line(FILE *to) //~ clean
{
	fputwc(L'\n', to);
}

void end_line_of_nothing(void)
{
	fputwc(L'\n', NULL); //~ null/dereference
}
