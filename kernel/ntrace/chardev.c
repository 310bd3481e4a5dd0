// SPDX-License-Identifier: GPL-2.0-only
/* /dev/ntraceN, the user interface of a path. include/uapi/linux/ntrace.h describes it. */
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "path.h"
#include "version.h"

/* An ETR of Arm is a sink that writes to memory, without tr??Impl. */
#define NTRACE_SINK_IMPL_ETR (TR_COMP_TYPE_RAM_SINK << TR_IMPL_COMP_TYPE_SHIFT)

static dev_t ntrace_devt;

/*
 * Anyone may open the device: open() checks the capability, not the file mode, so that CAP_PERFMON
 * alone is enough.
 */
static char *ntrace_chardev_devnode(const struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

static const struct class ntrace_class = {
	.name = "ntrace",
	.devnode = ntrace_chardev_devnode,
};

/* Return: the capture of an open file, with a reference, or an error pointer. */
static struct ntrace_capture *ntrace_file_capture(struct file *file)
{
	struct ntrace_path *path = file->private_data;

	guard(mutex)(&path->lock);
	if (path->gone)
		return ERR_PTR(-ENODEV);
	if (!path->capture || path->owner != file)
		return ERR_PTR(-EINVAL);
	ntrace_capture_get(path->capture);
	return path->capture;
}

static int ntrace_chardev_open(struct inode *inode, struct file *file)
{
	struct ntrace_path *path = container_of(inode->i_cdev, struct ntrace_path, cdev);
	int ret = security_locked_down(LOCKDOWN_PERF);

	if (ret)
		return ret;
	if (!perfmon_capable())
		return -EACCES;
	/* The cdev is a child of the device: the path lives as long as the file. */
	file->private_data = path;
	return nonseekable_open(inode, file);
}

static int ntrace_chardev_release(struct inode *inode, struct file *file)
{
	struct ntrace_path *path = file->private_data;

	guard(mutex)(&path->lock);
	if (path->owner == file)
		ntrace_capture_detach(path);
	return 0;
}

/*
 * Copies a struct whose first member is its size from user space.
 *
 * Return: 0, an error of copy_struct_from_user(), or -EINVAL if the struct is too small for its
 * size.
 */
static int ntrace_struct_from_user(void *kernel, size_t kernel_size, void __user *user,
				   u32 *user_size)
{
	if (get_user(*user_size, (u32 __user *)user))
		return -EFAULT;
	if (*user_size < sizeof(u32))
		return -EINVAL;
	if (*user_size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(kernel, kernel_size, user, *user_size);
}

/*
 * Copies as much to user space as fits into the caller's struct. The first member becomes
 * @kernel_size.
 */
static int ntrace_struct_to_user(void __user *user, u32 user_size, void *kernel, u32 kernel_size)
{
	*(u32 *)kernel = kernel_size;
	return copy_to_user(user, kernel, min(user_size, kernel_size)) ? -EFAULT : 0;
}

static int ntrace_path_info(struct ntrace_path *path, struct ntrace_info *info)
{
	const struct ntrace_component *sink;
	const struct ntrace_encoder *encoder;
	const struct ntrace_timestamp *unit;

	guard(mutex)(&path->lock);
	if (path->gone)
		return -ENODEV;
	encoder = &ntrace_path_encoder(path)->encoder;
	unit = &ntrace_path_encoder(path)->timestamp;
	sink = ntrace_path_sink(path);
	info->abi_version = NTRACE_ABI_VERSION;
	info->cpu = path->cpu;
	info->src = encoder->src;
	info->src_bits = encoder->src_bits;
	info->xlen = __riscv_xlen;
	info->hartid = encoder->hartid;
	info->modes = encoder->modes;
	info->sync_modes = encoder->sync_modes;
	info->sync_max = encoder->sync_max;
	info->inst_features = encoder->features;
	info->privilege = encoder->privilege;
	info->encoder_impl = ntrace_path_encoder(path)->impl;
	info->sink_impl = sink->ramsink.framed ? NTRACE_SINK_IMPL_ETR : sink->impl;
	info->granule = sink->ramsink.granule;
	info->sink_size_max = ntrace_ramsink_size_max(sink);
	strscpy(info->module_version, NTRACE_VERSION);
	info->sink = sink->start;
	info->range_max = encoder->ranges;
	info->comparators = encoder->comparator_count;
	info->comparisons = encoder->comparisons;
	info->traps = encoder->traps;
	info->causes = encoder->causes;
	info->triggers_in = encoder->triggers_in;
	info->triggers_out = encoder->triggers_out;
	info->triggers_debug = !!encoder->triggers_debug;
	info->stall = !!encoder->stall;
	info->context = encoder->control_on & TR_TE_CONTROL_CONTEXT ? 2 : !!encoder->context;
	info->sync_maxes = encoder->sync_maxes;
	info->framing = sink->ramsink.framed ? NTRACE_FRAMING_CORESIGHT : NTRACE_FRAMING_NONE;
	info->atid = sink->ramsink.framed ? encoder->atid : 0;
	info->timestamp_modes = unit->offered;
	info->timestamp_bits = unit->offered ? unit->bits : 0;
	info->timestamp_prescale_max = unit->prescale_max;
	memcpy(info->timestamp_hz, unit->hz, sizeof(info->timestamp_hz));
	return 0;
}

static int ntrace_chardev_info(struct ntrace_path *path, void __user *user)
{
	struct ntrace_info info;
	u32 size;
	int ret;

	ret = ntrace_struct_from_user(&info, sizeof(info), user, &size);
	if (ret)
		return ret;
	memset(&info, 0, sizeof(info));
	ret = ntrace_path_info(path, &info);
	if (ret)
		return ret;
	return ntrace_struct_to_user(user, size, &info, sizeof(info));
}

static int ntrace_path_configure(struct ntrace_path *path, struct file *file,
				 struct ntrace_config *config)
{
	int ret;

	flush_workqueue(ntrace_release_queue);
	/* No event takes the path meanwhile. */
	guard(mutex)(&ntrace_lock);
	ntrace_topology_evict(path, NULL);
	guard(mutex)(&path->lock);
	if (path->gone)
		return -ENODEV;
	if (path->capture && (path->owner != file || path->capture->running))
		return -EBUSY;
	/* The encoder of an offline CPU may have no power. */
	if (!path->cpu_up)
		return -ENODEV;
	ret = ntrace_encoder_check(ntrace_path_encoder(path), config) ?:
		      ntrace_capture_open(path, config, NULL, file);
	if (!ret)
		*config = path->capture->config;
	return ret;
}

static int ntrace_chardev_configure(struct ntrace_path *path, struct file *file, void __user *user)
{
	struct ntrace_config config;
	u32 size;
	int ret;

	ret = ntrace_struct_from_user(&config, sizeof(config), user, &size);
	if (ret)
		return ret;
	if (config.flags & NTRACE_CONFIG_CONTEXT) {
		ret = ntrace_context_get();
		if (ret)
			return ret;
	}
	ret = ntrace_path_configure(path, file, &config);
	if (ret) {
		if (config.flags & NTRACE_CONFIG_CONTEXT)
			ntrace_context_put();
		return ret;
	}
	return ntrace_struct_to_user(user, size, &config, sizeof(config));
}

static int ntrace_chardev_consume(struct file *file, void __user *user)
{
	struct ntrace_consume consume;
	u32 size;
	int ret;

	ret = ntrace_struct_from_user(&consume, sizeof(consume), user, &size);
	if (ret)
		return ret;
	if (consume.reserved)
		return -EINVAL;

	struct ntrace_capture *capture __free(ntrace_capture) = ntrace_file_capture(file);

	return IS_ERR(capture) ? PTR_ERR(capture) :
				 ntrace_feed_consume(&capture->feed, consume.tail);
}

/* The calls without an argument, for the owner of the path. */
static int ntrace_chardev_control(struct ntrace_path *path, struct file *file, unsigned int nr)
{
	guard(mutex)(&path->lock);
	if (path->gone)
		return -ENODEV;
	if (!path->capture || path->owner != file)
		return -EINVAL;
	switch (nr) {
	case _IOC_NR(NTRACE_IOC_START):
		return ntrace_capture_start(path->capture);
	case _IOC_NR(NTRACE_IOC_STOP):
		return ntrace_capture_stop(path->capture);
	default:
		if (path->capture->running)
			ntrace_drain_flush(&path->capture->feed);
		return 0;
	}
}

static long ntrace_chardev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct ntrace_path *path = file->private_data;
	void __user *user = (void __user *)arg;

	if (_IOC_TYPE(cmd) != NTRACE_IOC_MAGIC)
		return -ENOTTY;
	/* Compares only the number: the size in @cmd is the size of the caller's struct. */
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(NTRACE_IOC_INFO):
		return ntrace_chardev_info(path, user);
	case _IOC_NR(NTRACE_IOC_CONFIGURE):
		return ntrace_chardev_configure(path, file, user);
	case _IOC_NR(NTRACE_IOC_CONSUME):
		return ntrace_chardev_consume(file, user);
	case _IOC_NR(NTRACE_IOC_START):
	case _IOC_NR(NTRACE_IOC_STOP):
	case _IOC_NR(NTRACE_IOC_FLUSH):
		return ntrace_chardev_control(path, file, _IOC_NR(cmd));
	default:
		return -ENOTTY;
	}
}

static void ntrace_vma_open(struct vm_area_struct *vma)
{
	ntrace_capture_get(vma->vm_private_data);
}

static void ntrace_vma_close(struct vm_area_struct *vma)
{
	ntrace_capture_put(vma->vm_private_data);
}

static const struct vm_operations_struct ntrace_vm_ops = {
	.open = ntrace_vma_open,
	.close = ntrace_vma_close,
};

static int ntrace_chardev_mmap(struct file *file, struct vm_area_struct *vma)
{
	int ret;

	/* The kernel relies on the contents of the control page. */
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;

	struct ntrace_capture *capture __free(ntrace_capture) = ntrace_file_capture(file);

	if (IS_ERR(capture))
		return PTR_ERR(capture);
	/*
	 * Forbid a later mprotect() to writable. Do not copy to children, which would hold the
	 * device. Exclude from core dumps: the data may hold trace of others.
	 */
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTDUMP | VM_DONTEXPAND, VM_MAYWRITE | VM_MAYEXEC);
	/* Without data there is only the control page. */
	ret = capture->config.data_size || vma_pages(vma) + vma->vm_pgoff == 1 ?
		      remap_vmalloc_range(vma, capture->feed.control, vma->vm_pgoff) :
		      -EOPNOTSUPP;
	if (ret)
		return ret;
	/* The mapping keeps the reference. */
	vma->vm_private_data = no_free_ptr(capture);
	vma->vm_ops = &ntrace_vm_ops;
	return 0;
}

static __poll_t ntrace_chardev_poll(struct file *file, poll_table *wait)
{
	struct ntrace_path *path = file->private_data;
	u64 readable, tail;
	__poll_t mask = 0;
	u32 state;

	poll_wait(file, &path->wait, wait);

	struct ntrace_capture *capture __free(ntrace_capture) = ntrace_file_capture(file);

	if (IS_ERR(capture))
		return EPOLLERR | (PTR_ERR(capture) == -ENODEV ? EPOLLHUP : 0);
	/* The state before the data: no data arrives after STOPPED. */
	state = smp_load_acquire(&capture->feed.control->state);
	readable = ntrace_feed_readable(&capture->feed, &tail);
	if (ntrace_feed_is_due(&capture->feed, readable) ||
	    (readable && state >= NTRACE_STATE_STOPPED))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!readable && state == NTRACE_STATE_STOPPED)
		mask |= EPOLLHUP;
	if (state == NTRACE_STATE_DEAD)
		mask |= EPOLLERR;
	return mask;
}

/* Copies out of the data area, which is a ring. Return: number of bytes copied. */
static size_t ntrace_copy_to_user(struct ntrace_capture *capture, char __user *user, u64 from,
				  size_t bytes)
{
	u64 mask = capture->config.data_size - 1;
	size_t first = min_t(u64, bytes, mask + 1 - (from & mask));
	size_t failed;

	failed = copy_to_user(user, capture->feed.data + (from & mask), first);
	if (failed)
		return first - failed;
	return bytes - copy_to_user(user + first, capture->feed.data, bytes - first);
}

/*
 * The number of unread bytes, of which the first one is at @tail.
 * Return: the number; 0 at the end; -EAGAIN if some may come; or another error.
 */
static ssize_t ntrace_read_size(const struct ntrace_path *path, struct ntrace_capture *capture,
				u64 *tail)
{
	/* The state before the data: no data arrives after STOPPED. */
	u32 state = smp_load_acquire(&capture->feed.control->state);
	u64 readable = ntrace_feed_readable(&capture->feed, tail);

	if (readable)
		return readable;
	if (READ_ONCE(path->gone) || state == NTRACE_STATE_DEAD)
		return -ENODEV;
	return state == NTRACE_STATE_STOPPED ? 0 : -EAGAIN;
}

static ssize_t ntrace_chardev_read(struct file *file, char __user *user, size_t count,
				   loff_t *position)
{
	struct ntrace_capture *capture __free(ntrace_capture) = ntrace_file_capture(file);
	const bool nonblock = file->f_flags & O_NONBLOCK;
	struct ntrace_path *path = file->private_data;
	ssize_t ret;
	u64 tail;

	if (IS_ERR(capture))
		return PTR_ERR(capture);
	/* The sink has no memory: no trace will ever arrive. */
	if (!capture->config.data_size)
		return -EOPNOTSUPP;
	if (!mutex_trylock(&capture->read_lock)) {
		ret = nonblock ? -EAGAIN : mutex_lock_interruptible(&capture->read_lock);
		if (ret)
			return ret;
	}
	while ((ret = ntrace_read_size(path, capture, &tail)) == -EAGAIN && !nonblock) {
		ret = wait_event_interruptible(path->wait,
					       ntrace_read_size(path, capture, &tail) != -EAGAIN);
		if (ret)
			break;
	}
	if (ret > 0) {
		ret = ntrace_copy_to_user(capture, user, tail, min_t(size_t, count, ret));
		if (!ret && count)
			ret = -EFAULT;
		/* Fails if another thread has consumed meanwhile: the copy may be overwritten. */
		else if (ntrace_feed_consume(&capture->feed, tail + ret))
			ret = -EINVAL;
	}
	mutex_unlock(&capture->read_lock);
	return ret;
}

static const struct file_operations ntrace_chardev_fops = {
	.owner = THIS_MODULE,
	.open = ntrace_chardev_open,
	.release = ntrace_chardev_release,
	.read = ntrace_chardev_read,
	.poll = ntrace_chardev_poll,
	.mmap = ntrace_chardev_mmap,
	.unlocked_ioctl = ntrace_chardev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static void ntrace_chardev_free(struct device *dev)
{
	kfree(container_of(dev, struct ntrace_path, dev));
}

/*
 * Creates /dev/ntraceN of a path that is ready for use. From here on put_device() frees the path,
 * also if this fails.
 *
 * Return: 0 or a negative error, -EEXIST if the hart has another encoder.
 */
static int ntrace_chardev_add(struct ntrace_path *path)
{
	int ret;

	device_initialize(&path->dev);
	path->dev.class = &ntrace_class;
	path->dev.parent = ntrace_path_encoder(path)->dev;
	path->dev.devt = ntrace_devt + path->cpu;
	path->dev.release = ntrace_chardev_free;
	cdev_init(&path->cdev, &ntrace_chardev_fops);
	path->cdev.owner = THIS_MODULE;
	ret = dev_set_name(&path->dev, "ntrace%u", path->cpu);
	if (!ret)
		ret = cdev_device_add(&path->cdev, &path->dev);
	if (ret)
		dev_err(path->dev.parent, "cannot create /dev/ntrace%u: %d\n", path->cpu, ret);
	return ret;
}

/* Removes /dev/ntraceN; open files stay. */
static void ntrace_chardev_remove(struct ntrace_path *path)
{
	cdev_device_del(&path->cdev, &path->dev);
}

const struct ntrace_path_ops ntrace_chardev_path_ops = {
	.add = ntrace_chardev_add,
	.remove = ntrace_chardev_remove,
};

/** ntrace_chardev_init - allocate device numbers, one per possible CPU */
int __init ntrace_chardev_init(void)
{
	int ret = alloc_chrdev_region(&ntrace_devt, 0, nr_cpu_ids, "ntrace");

	if (ret)
		return ret;
	ret = class_register(&ntrace_class);
	if (ret)
		unregister_chrdev_region(ntrace_devt, nr_cpu_ids);
	return ret;
}

/** ntrace_chardev_exit - undo ntrace_chardev_init() */
void ntrace_chardev_exit(void)
{
	class_unregister(&ntrace_class);
	unregister_chrdev_region(ntrace_devt, nr_cpu_ids);
}
