// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's messages in the kernel log. dmesg and grep take ten times as long for it.
 *	messages	prints the number of the newest message in the log
 *	messages N	prints the driver's messages after message N
 */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long long number, newest = 0, seen = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	char record[8192];
	regex_t driver;
	ssize_t size;

	if (log < 0 || regcomp(&driver, "ntrace(: | [0-9a-z.-]+: )", REG_EXTENDED | REG_NOSUB)) {
		perror("/dev/kmsg");
		return 1;
	}
	/* EPIPE: the kernel has overwritten the record; the next read returns the oldest one. */
	while ((size = read(log, record, sizeof(record) - 1)) > 0 || (size < 0 && errno == EPIPE)) {
		char *text;

		if (size < 0)
			continue;
		/* "level,number,time,flags;text", and lines about the device */
		record[size] = '\0';
		text = strchr(record, ';');
		if (!text || sscanf(record, "%*u,%llu", &number) != 1)
			continue;
		newest = number;
		text[1 + strcspn(text + 1, "\n")] = '\0';
		if (argc > 1 && number > seen && strstr(text, "ntrace") &&
		    !regexec(&driver, text + 1, 0, NULL, 0))
			puts(text + 1);
	}
	if (argc == 1)
		printf("%llu\n", newest);
	return 0;
}
