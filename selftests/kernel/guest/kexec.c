// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads a kernel and an initial file system and jumps to it, like `kexec -l; kexec -e` would if
 * kexec-tools supported the kernel image of this architecture. The memory addresses are fixed, for
 * the virtual SoC.
 * Usage: kexec IMAGE INITRD
 */
#include <endian.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "guest.h"

#define KERNEL_ADDRESS UINT64_C(0xa0000000)
#define INITRD_ADDRESS UINT64_C(0xb0000000)
#define FDT_ADDRESS UINT64_C(0xbf000000)

/* Offset of the kernel's memory size in the RISC-V boot image header. */
#define IMAGE_SIZE_OFFSET 16

enum { FDT_BEGIN_NODE = 1, FDT_END_NODE, FDT_PROP, FDT_NOP };

static size_t page_align(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

static void *read_file(const char *name, size_t *size)
{
	size_t room = 128 << 20;
	char *data = malloc(room);
	int fd = open(name, O_RDONLY);
	ssize_t got;

	if (fd < 0 || !data)
		bail(name);
	*size = 0;
	while ((got = read(fd, data + *size, room - *size)) > 0)
		*size += got;
	if (got < 0 || *size == room)
		bail(name);
	close(fd);
	return data;
}

static uint32_t fdt_cell(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, 4);
	return be32toh(value);
}

static void fdt_set(uint8_t *value, uint32_t size, uint64_t number)
{
	while (size) {
		value[--size] = number;
		number >>= 8;
	}
}

/* Sets linux,initrd-start and -end, which the first boot has created. */
static int fdt_set_initrd(uint8_t *fdt, uint64_t start, uint64_t end)
{
	uint8_t *at = fdt + fdt_cell(fdt + 8);
	const char *strings = (const char *)fdt + fdt_cell(fdt + 12);
	int found = 0;

	for (;;) {
		uint32_t token = fdt_cell(at);

		at += 4;
		if (token == FDT_BEGIN_NODE) {
			at += (strlen((char *)at) + 4) & ~3u;
		} else if (token == FDT_PROP) {
			uint32_t size = fdt_cell(at);
			const char *name = strings + fdt_cell(at + 4);

			at += 8;
			if (!strcmp(name, "linux,initrd-start") ||
			    !strcmp(name, "linux,initrd-end")) {
				fdt_set(at, size, strstr(name, "start") ? start : end);
				found++;
			}
			at += (size + 3) & ~3u;
		} else if (token != FDT_END_NODE && token != FDT_NOP) {
			return found == 2 ? 0 : -1;
		}
	}
}

int main(int argc, char **argv)
{
	struct kexec_segment segments[3];
	size_t kernel_size, initrd_size, fdt_size;
	uint64_t image_size;
	uint8_t *kernel, *initrd, *fdt;

	if (argc != 3)
		usage("kexec IMAGE INITRD");
	kernel = read_file(argv[1], &kernel_size);
	initrd = read_file(argv[2], &initrd_size);
	fdt = read_file("/sys/firmware/fdt", &fdt_size);
	if (fdt_set_initrd(fdt, INITRD_ADDRESS, INITRD_ADDRESS + initrd_size))
		bail("no initrd in the device tree");
	memcpy(&image_size, kernel + IMAGE_SIZE_OFFSET, sizeof(image_size));

	segments[0] = (struct kexec_segment){ kernel, kernel_size, (void *)KERNEL_ADDRESS,
					      page_align(le64toh(image_size)) };
	segments[1] = (struct kexec_segment){ initrd, initrd_size, (void *)INITRD_ADDRESS,
					      page_align(initrd_size) };
	segments[2] =
		(struct kexec_segment){ fdt, fdt_size, (void *)FDT_ADDRESS, page_align(fdt_size) };
	if (syscall(SYS_kexec_load, KERNEL_ADDRESS, 3L, segments, KEXEC_ARCH_DEFAULT))
		bail("kexec_load");
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	bail("reboot");
}
