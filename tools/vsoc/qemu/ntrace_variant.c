/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's property ntrace-variant: properties of the trace blocks that
 * the specifications allow. model/variant.h describes the text.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "ntrace.h"
#include "topology.h"

/* There is one machine. */
static struct variant variant;
static char *variant_text;

const struct variant *ntrace_variant(void)
{
    return &variant;
}

/* Prints the choices of all blocks, as a text for ntrace-variant. */
void ntrace_variant_report(const struct topology *topology, DeviceState **dev)
{
    g_autoptr(GString) all = g_string_new(NULL);
    char text[8192];
    unsigned int i;

    if (!variant_text) {
        return;
    }
    for (i = 0; i < topology->nodes; i++) {
        uint32_t index = topology->node[i].index;

        switch (topology->node[i].kind) {
        case TOPOLOGY_ENCODER:
            variant_print(&variant, VARIANT_ENCODER, index,
                          &NTRACE_ENCODER(dev[i])->te.parameters, text,
                          sizeof(text));
            break;
        case TOPOLOGY_RAM_SINK:
            variant_print(&variant, VARIANT_RAM_SINK, index,
                          &NTRACE_RAM_SINK(dev[i])->sink.parameters, text,
                          sizeof(text));
            break;
        case TOPOLOGY_FUNNEL:
            variant_print(&variant, VARIANT_FUNNEL, index,
                          &NTRACE_FUNNEL(dev[i])->funnel.parameters, text,
                          sizeof(text));
            break;
        default:
            *text = '\0';
        }
        g_string_append_printf(all, "%s%s", all->len && *text ? "+" : "",
                               text);
    }
    info_report("ntrace-variant=%s", all->str);
}

static char *get_variant(Object *obj, Error **errp)
{
    return g_strdup(variant_text);
}

static void set_variant(Object *obj, const char *value, Error **errp)
{
    char error[VARIANT_ERROR_MAX];

    if (!variant_parse(&variant, value, error)) {
        error_setg(errp, "ntrace-variant: %s", error);
        return;
    }
    g_free(variant_text);
    variant_text = g_strdup(value);
}

void ntrace_variant_properties(ObjectClass *oc)
{
    object_class_property_add_str(oc, "ntrace-variant", get_variant,
                                  set_variant);
    object_class_property_set_description(oc, "ntrace-variant",
                                          "Trace blocks with any properties "
                                          "that the specifications allow: a "
                                          "seed, or NAME=VALUE; joined by +");
}
