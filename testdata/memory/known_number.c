// Where the number of an opened file is one that others know, they can close it.
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

bool protect(int number) //~ clean
{
	int opened = open("/dev/null", O_RDONLY);

	if (opened != number) {
		if (opened >= 0)
			close(opened);
		return false;
	}
	return true;
}

bool protect_badly(int number)
{
	int opened = open("/dev/null", O_RDONLY); //~ file/leak

	return opened == number;
}
