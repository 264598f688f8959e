#include <stddef.h>

#include "sampler.h"

extern const struct sampler sampler_disk, sampler_dns, sampler_dns_bind, sampler_dns_dnsmasq, sampler_dns_forwarders,
    sampler_dns_named_conf, sampler_dns_probe, sampler_dns_rndc, sampler_filesystems, sampler_filesystems_remote,
    sampler_interrupts, sampler_kernel_log, sampler_listen_queues, sampler_mbuf, sampler_net, sampler_netstat, sampler_pf,
    sampler_pf_limits, sampler_settings, sampler_system, sampler_zones, sampler_zpool;

const struct sampler *const samplers[] = {
	&sampler_mbuf,
	&sampler_interrupts,
	&sampler_net,
	&sampler_netstat,
	&sampler_listen_queues,
	&sampler_zones,
	&sampler_pf,
	&sampler_pf_limits,
	&sampler_disk,
	&sampler_system,
	&sampler_kernel_log,
	&sampler_filesystems,
	&sampler_filesystems_remote,
	&sampler_dns,
	&sampler_dns_bind,
	&sampler_dns_rndc,
	&sampler_dns_named_conf,
	&sampler_dns_dnsmasq,
	&sampler_dns_forwarders,
	&sampler_dns_probe,
	&sampler_zpool,
	&sampler_settings,
	NULL,
};
