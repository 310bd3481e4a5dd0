// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ntraceN as seen by user space: structures of other sizes, mappings, and the results of
 * poll() and read(). Rules: include/uapi/linux/ntrace.h, "/dev/ntraceN" in
 * Documentation/trace/ntrace.rst.
 */
#include <tap.h>

#define __riscv_xlen 64
#include "../../kernel/ntrace/chardev.c"
#include "../../kernel/ntrace/feed.c"
#include "host/machine.h"

#define SIZE 4096

static struct machine machine;
static struct ntrace_path *const path = &machine.path[0];
static struct ntrace_capture *const capture = &machine.capture[0];
static struct ntrace_control *const control = &machine.control[0];
static struct file file, other;

/* Calls of the tested code into the rest of the driver, and their results. */
static struct {
	bool capable, locked;
	int references;
	int start, stop, flushes, opens, detaches, contexts, evictions;
	int check_error, open_error, context_error;
	/* end of the writable user memory */
	const u8 *user_end;
	int waits, wait_error;
	void (*while_waiting)(void);
	int remap_error;
	const void *remapped;
	unsigned long remapped_first;
	bool of_mapping;	/* the last reference belongs to a mapping */
} rest;

/* A path's capture may be read and changed only under the lock of the path. */
static bool unlocked;

static void needs_lock(void)
{
	unlocked |= !path->lock.lock.held;
}

bool perfmon_capable(void)
{
	return rest.capable;
}

int security_locked_down(enum lockdown_reason what)
{
	return what == LOCKDOWN_PERF && rest.locked ? -EPERM : 0;
}

u32 readl(const void *address)
{
	return 0;
}

void writel(u32 value, void *address)
{
}

struct mutex ntrace_lock;
static struct workqueue_struct releases;
struct workqueue_struct *ntrace_release_queue = &releases;

void ntrace_topology_evict(const struct ntrace_path *p, const struct pid *session)
{
	rest.evictions += ntrace_lock.lock.held && !p->lock.lock.held && !session;
}

size_t ntrace_ramsink_size_max(const struct ntrace_component *component)
{
	needs_lock();
	return 4 << 20;
}

void ntrace_capture_get(struct ntrace_capture *c)
{
	if (!rest.of_mapping)
		needs_lock();
	rest.references++;
}

void ntrace_capture_put(struct ntrace_capture *c)
{
	rest.references -= !IS_ERR_OR_NULL(c);
}

static struct ntrace_capture made;

int ntrace_capture_open(struct ntrace_path *p, const struct ntrace_config *config,
			const struct ntrace_client *client, struct file *owner)
{
	needs_lock();
	rest.opens++;
	if (rest.open_error)
		return rest.open_error;
	made.config = *config;
	made.config.sync_max = 7;
	rest.references++;
	p->owner = owner;
	p->capture = &made;
	return 0;
}

void ntrace_capture_detach(struct ntrace_path *p)
{
	needs_lock();
	rest.detaches++;
	p->owner = NULL;
	p->capture = NULL;
}

int ntrace_capture_start(struct ntrace_capture *c)
{
	needs_lock();
	return 100 + rest.start++;
}

int ntrace_capture_stop(struct ntrace_capture *c)
{
	needs_lock();
	return 200 + rest.stop++;
}

void ntrace_drain_flush(struct ntrace_feed *feed)
{
	needs_lock();
	rest.flushes++;
}

int ntrace_encoder_check(const struct ntrace_component *component, struct ntrace_config *config)
{
	return rest.check_error;
}

int ntrace_context_get(void)
{
	if (rest.context_error)
		return rest.context_error;
	rest.contexts++;
	return 0;
}

void ntrace_context_put(void)
{
	rest.contexts--;
}

unsigned long copy_to_user(void *to, const void *from, unsigned long size)
{
	unsigned long room = size;

	if (rest.user_end)
		room = (u8 *)to < rest.user_end ? (unsigned long)(rest.user_end - (u8 *)to) : 0;
	if (room > size)
		room = size;
	(memcpy)(to, from, room);
	return size - room;
}

/* Like the kernel's: unknown trailing fields must be 0. */
int copy_struct_from_user(void *to, size_t size, const void *from, size_t user_size)
{
	(memset)(to, 0, size);
	for (size_t i = size; i < user_size; i++)
		if (((const u8 *)from)[i])
			return -E2BIG;
	(memcpy)(to, from, user_size < size ? user_size : size);
	return 0;
}

int host_wait(void)
{
	rest.waits++;
	if (rest.while_waiting)
		rest.while_waiting();
	return rest.wait_error;
}

int remap_vmalloc_range(struct vm_area_struct *vma, void *memory, unsigned long first)
{
	rest.remapped = memory;
	rest.remapped_first = first;
	return rest.remap_error;
}

int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int count, const char *name)
{
	return 0;
}

void unregister_chrdev_region(dev_t dev, unsigned int count)
{
}

int class_register(const struct class *class)
{
	return 0;
}

void class_unregister(const struct class *class)
{
}

void device_initialize(struct device *dev)
{
}

int dev_set_name(struct device *dev, const char *format, ...)
{
	return 0;
}

void cdev_init(struct cdev *cdev, const struct file_operations *ops)
{
	cdev->ops = ops;
}

int cdev_device_add(struct cdev *cdev, struct device *dev)
{
	return 0;
}

void cdev_device_del(struct cdev *cdev, struct device *dev)
{
}

/* Returns a file that has configured the device. */
static void fresh(size_t data_size)
{
	machine_free(&machine);
	machine_init(&machine, 1, data_size);
	(memset)(&rest, 0, sizeof(rest));
	rest.capable = true;
	path->owner = &file;
	path->cpu_up = true;
	file = (struct file){ .private_data = path };
	other = file;
	machine.sink.ramsink.granule = 64;
	control->state = NTRACE_STATE_RUNNING;
}

static u64 written;

static void trace(u32 bytes)
{
	for (u32 i = 0; i < bytes; i++) {
		u8 byte = (u8)((written++ % 63) << 2);

		ntrace_feed_put(&capture->feed, &byte, 1);
	}
	ntrace_feed_commit(&capture->feed);
}

static void test_open(void)
{
	struct inode inode = { .i_cdev = &path->cdev };
	struct file opened = { 0 };
	umode_t mode = 0;

	fresh(SIZE);
	rest.capable = false;
	is_u64(ntrace_chardev_open(&inode, &opened), (u64)-EACCES, "without CAP_PERFMON: EACCES");
	rest.capable = true;
	rest.locked = true;
	is_u64(ntrace_chardev_open(&inode, &opened), (u64)-EPERM, "locked down: EPERM");
	rest.locked = false;
	is_u64(ntrace_chardev_open(&inode, &opened), 0, "with it: open");
	ok(opened.private_data == path, "the device is known");
	ntrace_chardev_devnode(NULL, &mode);
	is_u64(mode, 0666, "everybody may try");
	ok(!ntrace_chardev_devnode(NULL, NULL), "without a mode to set: fine");
	ntrace_chardev_release(&inode, &other);
	is_u64(rest.detaches, 0, "the end of a file that has configured nothing");
	ntrace_chardev_release(&inode, &file);
	is_u64(rest.detaches, 1, "the end of the owner: all is given back");
}

static void test_structs(void)
{
	u8 user[8192];
	struct ntrace_info info;
	u32 size;

	fresh(SIZE);
	for (size = 0; size < 4; size++) {
		(memcpy)(user, &size, 4);
		if (ntrace_chardev_ioctl(&file, NTRACE_IOC_INFO, (unsigned long)user) != -EINVAL)
			ok(false, "a structure of %u bytes: EINVAL", size);
	}
	(memset)(user, 0, sizeof(user));
	size = 4097;
	(memcpy)(user, &size, 4);
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_INFO, (unsigned long)user), (u64)-E2BIG,
	       "more than a page: E2BIG");
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_INFO, 0), (u64)-EFAULT, "no memory: EFAULT");
	static const u32 sizes[] = { 4, 8, sizeof(info) - 4, sizeof(info), sizeof(info) + 40, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 least = sizes[i] < sizeof(info) ? sizes[i] : (u32)sizeof(info);
		bool good = true;

		(memset)(user, 0, sizeof(user));
		(memset)(user + least, 0x00, 64);
		user[sizes[i]] = 0xee;
		(memcpy)(user, &sizes[i], 4);
		is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_INFO, (unsigned long)user), 0,
		       "INFO with %u bytes", sizes[i]);
		(memset)(&info, 0, sizeof(info));
		(memcpy)(&info, user, least);
		is_u64(info.size, sizeof(info), "tells what the kernel knows");
		for (u32 k = least; k < 4200; k++)
			good &= user[k] == (k == sizes[i] ? 0xee : 0);
		ok(good, "and writes no more than there is room for");
	}
	(memcpy)(&info, user, sizeof(info));
	ok(info.abi_version == NTRACE_ABI_VERSION && info.xlen == 64 && info.granule == 64 &&
		   info.sink_size_max == 4 << 20,
	   "what the hardware is");
	size = sizeof(info) + 8;
	(memcpy)(user, &size, 4);
	user[sizeof(info) + 7] = 1;
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_INFO, (unsigned long)user), (u64)-E2BIG,
	       "an unknown field that is not 0: E2BIG");
	rest.user_end = user + 16;
	size = sizeof(info);
	(memcpy)(user, &size, 4);
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_INFO, (unsigned long)user), (u64)-EFAULT,
	       "memory that ends before it: EFAULT");
	path->gone = true;
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_INFO, (unsigned long)user), (u64)-ENODEV,
	       "a device that has gone: ENODEV");
	is_u64(ntrace_chardev_ioctl(&file, _IO(0xbc, 99), 0), (u64)-ENOTTY, "an unknown call");
	is_u64(ntrace_chardev_ioctl(&file, _IO(0xbd, 2), 0), (u64)-ENOTTY, "a foreign call");
}

static long configure(struct file *who, u32 flags)
{
	struct ntrace_config config = { .size = sizeof(config), .flags = flags };
	long ret = ntrace_chardev_ioctl(who, NTRACE_IOC_CONFIGURE, (unsigned long)&config);

	if (!ret && config.sync_max != 7)
		ok(false, "CONFIGURE returns the values in effect");
	return ret;
}

static void test_configure(void)
{
	fresh(SIZE);
	is_u64(configure(&other, 0), (u64)-EBUSY, "CONFIGURE: another file has it: EBUSY");
	capture->running = true;
	is_u64(configure(&file, 0), (u64)-EBUSY, "it runs: EBUSY");
	capture->running = false;
	is_u64(configure(&file, 0), 0, "it does not: fine");
	ok(rest.opens == 1 && path->capture == &made && path->owner == &file,
	   "the old capture is replaced");
	ok(rest.evictions, "events of users without rights make room");
	path->cpu_up = false;
	is_u64(configure(&file, 0), (u64)-ENODEV, "the hart is off: ENODEV");
	path->cpu_up = true;
	path->gone = true;
	is_u64(configure(&file, 0), (u64)-ENODEV, "the device has gone: ENODEV");
	path->gone = false;
	rest.check_error = -EOPNOTSUPP;
	rest.contexts = 0;
	is_u64(configure(&file, NTRACE_CONFIG_CONTEXT), (u64)-EOPNOTSUPP, "unsupported requests");
	is_u64(rest.contexts, 0, "and nothing is kept for it");
	ok(path->capture == &made, "the old capture stays");
	rest.check_error = 0;
	rest.references = 0;
	rest.open_error = -EBUSY;
	is_u64(configure(&file, NTRACE_CONFIG_CONTEXT), (u64)-EBUSY, "the sink is not available");
	ok(!rest.contexts && !rest.references, "and nothing is kept");
	rest.open_error = 0;
	rest.context_error = -EOPNOTSUPP;
	is_u64(configure(&file, NTRACE_CONFIG_CONTEXT), (u64)-EOPNOTSUPP, "no context");
	rest.context_error = 0;
	is_u64(configure(&file, NTRACE_CONFIG_CONTEXT), 0, "with context");
	is_u64(rest.contexts, 1, "which is kept");
}

static void test_control(void)
{
	fresh(SIZE);
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_START, 0), 100, "START starts");
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_STOP, 0), 200, "STOP stops");
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_FLUSH, 0), 0, "FLUSH");
	is_u64(rest.flushes, 0, "while stopped has nothing to do");
	capture->running = true;
	ntrace_chardev_ioctl(&file, NTRACE_IOC_FLUSH, 0);
	is_u64(rest.flushes, 1, "while it runs drains");
	is_u64(ntrace_chardev_ioctl(&other, NTRACE_IOC_START, 0), (u64)-EINVAL,
	       "not configured by this file: EINVAL");
	path->gone = true;
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_START, 0), (u64)-ENODEV, "gone: ENODEV");

	struct ntrace_consume consume = { .size = sizeof(consume) };

	fresh(SIZE);
	trace(100);
	consume.tail = 60;
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_CONSUME, (unsigned long)&consume), 0,
	       "CONSUME");
	is_u64(control->tail, 60, "is seen");
	consume.reserved = 1;
	consume.tail = 70;
	is_u64(ntrace_chardev_ioctl(&file, NTRACE_IOC_CONSUME, (unsigned long)&consume),
	       (u64)-EINVAL, "a reserved field that is not 0: EINVAL");
	consume.reserved = 0;
	is_u64(ntrace_chardev_ioctl(&other, NTRACE_IOC_CONSUME, (unsigned long)&consume),
	       (u64)-EINVAL, "another file: EINVAL");
	is_u64(control->tail, 60, "nothing is consumed");
	is_u64(rest.references, 0, "no reference is kept");
}

static int map(unsigned long first, unsigned long pages, unsigned long flags,
	       struct vm_area_struct *vma)
{
	*vma = (struct vm_area_struct){ .vm_start = 0x10000,
					.vm_end = 0x10000 + pages * PAGE_SIZE,
					.vm_pgoff = first,
					.vm_flags = flags | VM_MAYWRITE | VM_MAYEXEC };
	return ntrace_chardev_mmap(&file, vma);
}

static void test_mmap(void)
{
	struct vm_area_struct vma;

	fresh(SIZE);
	is_u64(map(0, 2, VM_WRITE, &vma), (u64)-EACCES, "to write: EACCES");
	is_u64(map(0, 2, VM_EXEC, &vma), (u64)-EACCES, "to execute: EACCES");
	is_u64(map(0, 2, 0, &vma), 0, "to read: mapped");
	ok(rest.remapped == control && rest.remapped_first == 0 && vma.vm_private_data == capture,
	   "the control page, then the data");
	ok(!(vma.vm_flags & (VM_MAYWRITE | VM_MAYEXEC)),
	   "mprotect() cannot make it writable or executable later");
	ok(vma.vm_flags & VM_DONTCOPY, "a child does not get it");
	ok(vma.vm_flags & VM_DONTDUMP, "a core dump does not have it");
	ok(vma.vm_flags & VM_DONTEXPAND, "mremap() does not make it larger");
	is_u64(rest.references, 1, "it keeps the capture");
	rest.of_mapping = true;
	vma.vm_ops->open(&vma);
	is_u64(rest.references, 2, "a part of it as well");
	vma.vm_ops->close(&vma);
	vma.vm_ops->close(&vma);
	rest.of_mapping = false;
	is_u64(rest.references, 0, "and gives it back");
	map(1, 1, 0, &vma);
	is_u64(rest.remapped_first, 1, "the data alone");
	rest.references = 0;
	rest.remap_error = -EINVAL;
	is_u64(map(0, 3, 0, &vma), (u64)-EINVAL, "more than there is: the error");
	is_u64(rest.references, 0, "and no reference");
	path->owner = NULL;
	is_u64(map(0, 1, 0, &vma), (u64)-EINVAL, "before CONFIGURE: EINVAL");

	fresh(0);
	is_u64(map(0, 1, 0, &vma), 0, "without data: the control page");
	is_u64(map(0, 2, 0, &vma), (u64)-EOPNOTSUPP, "and no more: EOPNOTSUPP");
	is_u64(map(1, 1, 0, &vma), (u64)-EOPNOTSUPP, "nor what would be the data");
}

static void test_poll(void)
{
	static const struct {
		const char *what;
		u32 bytes, state;
		unsigned int events;
	} table[] = {
		{ "nothing", 0, NTRACE_STATE_RUNNING, 0 },
		{ "a byte less than a quarter", 1023, NTRACE_STATE_RUNNING, 0 },
		{ "a quarter", 1024, NTRACE_STATE_RUNNING, EPOLLIN | EPOLLRDNORM },
		{ "stopped, a byte", 1, NTRACE_STATE_STOPPED, EPOLLIN | EPOLLRDNORM },
		{ "stopped, nothing", 0, NTRACE_STATE_STOPPED, EPOLLHUP },
		{ "dead, a byte", 1, NTRACE_STATE_DEAD, EPOLLIN | EPOLLRDNORM | EPOLLERR },
		{ "dead, nothing", 0, NTRACE_STATE_DEAD, EPOLLERR },
		{ "configured", 0, NTRACE_STATE_CONFIGURED, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		fresh(SIZE);
		trace(table[i].bytes);
		control->state = table[i].state;
		is_hex(ntrace_chardev_poll(&file, NULL), table[i].events, "poll: %s",
		       table[i].what);
		is_u64(rest.references, 0, "no reference is kept");
	}
	is_hex(ntrace_chardev_poll(&other, NULL), EPOLLERR, "poll: not configured by this file");
	path->gone = true;
	is_hex(ntrace_chardev_poll(&file, NULL), EPOLLERR | EPOLLHUP, "poll: gone");
}

static void more_trace(void)
{
	trace(5);
}

static void stopped(void)
{
	control->state = NTRACE_STATE_STOPPED;
}

static void gone(void)
{
	path->gone = true;
}

static ssize_t read_some(u8 *user, size_t count)
{
	return ntrace_chardev_read(&file, (char *)user, count, NULL);
}

static void test_read(void)
{
	u8 user[2 * SIZE];
	u64 start = 0, expected = 0;
	bool good = true;

	fresh(SIZE);
	written = 0;
	/* Many rounds in pieces of odd sizes: user space reads each byte exactly once. */
	for (u32 i = 1; i < 3000; i++) {
		ssize_t got;

		trace(i * 7 % 1500 + 1);
		got = read_some(user, i * 13 % 1900 + 1);
		for (ssize_t k = 0; k < got; k++)
			good &= user[k] == (u8)((expected++ % 63) << 2);
		good &= got > 0 && control->tail == expected;
		start = control->head - control->tail;
		if (start > 2000)
			while (control->head != control->tail) {
				got = read_some(user, sizeof(user));
				for (ssize_t k = 0; k < got; k++)
					good &= user[k] == (u8)((expected++ % 63) << 2);
			}
	}
	ok(good && !control->lost, "read(): the bytes of the stream, once each");

	fresh(SIZE);
	file.f_flags = O_NONBLOCK;
	is_u64(read_some(user, 10), (u64)-EAGAIN, "nothing, non-blocking: EAGAIN");
	file.f_flags = 0;
	rest.while_waiting = more_trace;
	is_u64(read_some(user, 100), 5, "nothing: sleeps until something comes");
	is_u64(rest.waits, 1, "once");
	rest.while_waiting = stopped;
	is_u64(read_some(user, 100), 0, "STOP while it sleeps: the end");
	is_u64(read_some(user, 100), 0, "after it as well");
	control->state = NTRACE_STATE_RUNNING;
	rest.while_waiting = gone;
	is_u64(read_some(user, 100), (u64)-ENODEV, "it goes while it sleeps: ENODEV");
	path->gone = false;
	rest.while_waiting = NULL;
	rest.wait_error = -ERESTARTSYS;
	is_u64(read_some(user, 100), (u64)-ERESTARTSYS, "a signal");
	control->state = NTRACE_STATE_DEAD;
	is_u64(read_some(user, 100), (u64)-ENODEV, "dead: ENODEV");
	trace(9);
	is_u64(read_some(user, 100), 9, "but existing data can be read");
	is_u64(rest.references, 0, "no reference is kept");
	ok(!capture->read_lock.lock.held, "nor a lock");

	fresh(SIZE);
	trace(3000);
	is_u64(read_some(user, 0), 0, "no byte: 0");
	rest.user_end = user + 100;
	is_u64(read_some(user, 3000), 100, "memory ends: what has got there");
	is_u64(control->tail, 100, "is consumed, and no more");
	rest.user_end = user;
	is_u64(read_some(user, 3000), (u64)-EFAULT, "no readable memory: EFAULT");
	is_u64(control->tail, 100, "and nothing is consumed");
	/* A read that wraps around the end of the data area. */
	rest.user_end = NULL;
	read_some(user, 2900);
	trace(2000);
	rest.user_end = user + 1500;
	is_u64(read_some(user, 2000), 1500, "memory ends after the end of the area");
	rest.user_end = NULL;
	is_u64(read_some(user, 2000), 500, "the rest");

	capture->read_lock.lock.held = true;
	file.f_flags = O_NONBLOCK;
	is_u64(read_some(user, 1), (u64)-EAGAIN, "another read() at the same time: EAGAIN");
	file.f_flags = 0;
	is_u64(read_some(user, 1), (u64)-EINTR, "or waits for it");
	capture->read_lock.lock.held = false;
	is_u64(rest.references, 0, "no reference is kept");
	fresh(0);
	is_u64(read_some(user, 1), (u64)-EOPNOTSUPP, "trace that leaves the machine: EOPNOTSUPP");
}

static void consume_beside(enum host_event event, const void *address, size_t size)
{
	if (event == HOST_EXCHANGE) {
		host_event = NULL;
		atomic64_set(&capture->feed.tail, 50);
	}
}

static void test_consumed_beside(void)
{
	u8 user[100];

	fresh(SIZE);
	trace(80);
	host_event = consume_beside;
	is_u64(read_some(user, 40), (u64)-EINVAL, "a concurrent consumer took more: void");
	host_event = NULL;
	is_u64(capture->feed.tail.counter, 50, "the tail does not go back");
}

int main(void)
{
	test_open();
	test_structs();
	test_configure();
	test_control();
	test_mmap();
	test_poll();
	test_read();
	test_consumed_beside();
	ok(!unlocked, "the lock of the path was held wherever it has to be");
	machine_free(&machine);
	return done_testing();
}
