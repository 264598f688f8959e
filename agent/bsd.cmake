# The files of the BSDs: built into the agent there, and by the tests of any system against kernels of their own making.
set(HIWAT_OS_FreeBSD
	${CMAKE_CURRENT_LIST_DIR}/os/cpu_freebsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/disk_freebsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/host_freebsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/irq_freebsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/mount_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/netif_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/netif_freebsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/sysctl_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/sysctl_byname.c)
set(HIWAT_OS_OpenBSD
	${CMAKE_CURRENT_LIST_DIR}/os/cpu_openbsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/disk_openbsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/host_openbsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/irq_openbsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/mount_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/netif_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/netif_openbsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/pf_status_openbsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/sysctl_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/os/sysctl_openbsd.c)
set(HIWAT_SAMPLERS_BSD
	${CMAKE_CURRENT_LIST_DIR}/samplers/disk_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/filesystems_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/interrupts_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/kernel_log_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/mbuf_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/net_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/pf_command.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/pf_limits_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/settings_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/system_bsd.c
	${CMAKE_CURRENT_LIST_DIR}/samplers/table_bsd.c)
set(HIWAT_SAMPLERS_FreeBSD ${CMAKE_CURRENT_LIST_DIR}/samplers/pf_freebsd.c)
set(HIWAT_SAMPLERS_OpenBSD ${CMAKE_CURRENT_LIST_DIR}/samplers/pf_openbsd.c)
