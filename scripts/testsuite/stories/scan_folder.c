// bad1: 775 file/leak the folder stays open when the entry is found
// bad2: 401 heap/leak the path is not freed at the end of each round
// bad3: 690 null/unchecked-result the folder is read though it may not be there
// ---- a
static int @_count(const char *folder, const char *wanted)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    int count = 0;

    if (!directory) // not bad3
        return -1; // not bad3
    while ((entry = readdir(directory)) != NULL) {
        char *path;

        if (strcmp(entry->d_name, wanted) == 0) {
            closedir(directory); // not bad1
            return count;
        }
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            break;
        count += access(path, R_OK) == 0;
        free(path); // not bad2
    }
    closedir(directory);
    return count;
}

void @(void)
{
    printf("%d\n", @_count("/etc", "hostname"));
}
