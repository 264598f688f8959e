/* Linux: libata, SCSI, block layer, NVMe. */
#include "kernel_log_rows.h"
#include "unit.h"

static const struct kernel_log_row rows[] = {
	{ "libata, the record's newline as a second line",
	    "[ 1209.494129] ata3.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen\n"
	    "[ 1209.494134] ata3.00: failed command: WRITE DMA EXT\n"
	    "[ 1209.494143] ata3.00: cmd 35/00:08:80:5a:1f/00:00:03:00:00/e0 tag 0 dma 4096 out\n"
	    "                        res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "[ 1209.494148] ata3.00: status: { DRDY }\n"
	    "[ 1209.494150] ata3: hard resetting link\n"
	    "[ 1209.995713] ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)\n"
	    "[ 1209.995722] ata3: EH complete\n",
	    "T ata3.00 WRITE DMA EXT 1;R ata3 1;" },
	{ "libata, NCQ: several commands of one event",
	    "ata3.00: failed command: WRITE FPDMA QUEUED\n"
	    "ata3.00: cmd 61/08:00:80:5a:1f/00:00:03:00:00/40 tag 0 ncq dma 4096 out\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "ata3.00: status: { DRDY }\n"
	    "ata3.00: failed command: WRITE FPDMA QUEUED\n"
	    "ata3.00: cmd 61/08:08:90:5a:1f/00:00:03:00:00/40 tag 1 ncq dma 4096 out\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "ata3.00: status: { DRDY }\n"
	    "ata3.00: failed command: READ FPDMA QUEUED\n"
	    "ata3.00: cmd 60/08:10:a0:5a:1f/00:00:03:00:00/40 tag 2 ncq dma 4096 in\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "ata3.00: status: { DRDY }\n"
	    "ata3: hard resetting link\n"
	    "ata3: EH complete\n",
	    "T ata3.00 WRITE FPDMA QUEUED 2;T ata3.00 READ FPDMA QUEUED 1;R ata3 1;" },
	{ "libata, a retry with another tag",
	    "ata3.00: failed command: READ FPDMA QUEUED\n"
	    "ata3.00: cmd 60/08:10:a0:5a:1f/00:00:03:00:00/40 tag 2 ncq 4096 in\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "ata3: soft resetting link\n"
	    "ata3.00: failed command: READ FPDMA QUEUED\n"
	    "ata3.00: cmd 60/08:d8:a0:5a:1f/00:00:03:00:00/40 tag 27 ncq 4096 in\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "ata3: hard resetting link\n",
	    "T ata3.00 READ FPDMA QUEUED 1;R ata3 2;" },
	{ "libata, newline escaped by the relay",
	    "Mar  3 02:11:40 h kernel: [ 12.345] ata1.00: failed command: READ DMA\n"
	    "Mar  3 02:11:40 h kernel: [ 12.345] ata1.00: cmd c8/00:08:00:00:00/00:00:00:00:00/e0 tag 0 dma 4096 in#012     "
	    "    res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n",
	    "T ata1.00 READ DMA 1;" },
	{ "libata, /dev/kmsg",
	    "3,1001,1209494129,-;ata1.00: failed command: READ DMA\n"
	    " SUBSYSTEM=scsi\n DEVICE=+scsi:0:0:0:0\n"
	    "3,1002,1209494140,-;ata1.00: cmd c8/00:08:00:00:00/00:00:00:00:00/e0 tag 0 dma 4096 in\\x0a         res "
	    "40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "30,1003,1209494150,-;ata1.00: failed command: READ DMA\n",
	    "T ata1.00 READ DMA 1;" },
	{ "libata, two ports interleaved",
	    "ata3.00: failed command: READ DMA EXT\n"
	    "ata4.00: failed command: WRITE DMA EXT\n"
	    "ata3.00: cmd 25/00:08:00:00:00/00:00:00:00:00/e0 tag 0 dma 4096 in\n"
	    "ata4.00: cmd 35/00:08:00:10:00/00:00:00:00:00/e0 tag 0 dma 4096 out\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "         res 41/40:00:00:00:00/00:00:00:00:00/00 Emask 0x9 (media error)\n",
	    "T ata3.00 READ DMA EXT 1;" },
	{ "libata, kernels without a failed command line",
	    "ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x2 frozen\n"
	    "ata1.00: cmd 35/00:08:3f:00:00/00:00:00:00:00/e0 tag 0 dma 4096 out\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "ata2.00: tag 0 cmd 0x25 Emask 0x4 stat 0x40 err 0x0 (timeout)\n"
	    "ata2.00: tag 0 cmd 0x25 Emask 0x1 stat 0x51 err 0x4 (device error)\n",
	    "T ata1.00  1;T ata2.00  1;" },
	{ "libata, other ends",
	    "ata3.00: failed command: READ FPDMA QUEUED\n"
	    "ata3.00: cmd 60/08:10:a0:5a:1f/00:00:03:00:00/40 tag 2 ncq 4096 in\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x14 (ATA bus error)\n"
	    "ata3.00: failed command: READ FPDMA QUEUED\n"
	    "ata3.00: cmd 60/08:18:b0:5a:1f/00:00:03:00:00/40 tag 3 ncq 4096 in\n"
	    "         res 41/84:00:00:00:00/00:00:00:00:00/00 Emask 0x410 (ATA bus error) <F>\n"
	    "ata3: SError: { PHYRdyChg CommWake }\n"
	    "ata3.00: revalidation failed (errno=-5)\n"
	    "ata3.00: disable device\n"
	    "ata3: reset failed (errno=-16), retrying in 8 secs\n"
	    "ata3: EH pending after 5 tries, giving up\n",
	    "" },
	{ "libata, flushes, port multiplier, mark of a failed fast command",
	    "ata6.01: failed command: FLUSH CACHE EXT\n"
	    "ata6.01: cmd ea/00:00:00:00:00/00:00:00:00:00/a0 tag 4\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout) <F>\n"
	    "ata6.15: hard resetting link\n",
	    "T ata6.01 FLUSH CACHE EXT 1;R ata6.15 1;" },
	{ "libata and the disk above tell of one command",
	    "ata1.00: failed command: READ DMA\n"
	    "ata1.00: cmd c8/00:08:00:10:00/00:00:00:00:00/e0 tag 0 dma 4096 in\n"
	    "         res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"
	    "sd 0:0:0:0: [sda] tag#0 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=30s\n"
	    "sd 0:0:0:0: [sda] tag#0 CDB: Read(10) 28 00 00 00 10 00 00 00 08 00\n"
	    "I/O error, dev sda, sector 4096 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n"
	    "Buffer I/O error on dev sda, logical block 512, async page read\n",
	    "T ata1.00 READ DMA 1;F sda 1;" },
	{ "SCSI: result, CDB and error are one command",
	    "sd 2:0:0:0: [sda] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=30s\n"
	    "sd 2:0:0:0: [sda] tag#5 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00\n"
	    "I/O error, dev sda, sector 1193046 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n",
	    "T sda Write(10) 1;F sda 1;" },
	{ "SCSI: 2.6.32",
	    "sd 2:0:0:0: [sda] Unhandled error code\n"
	    "sd 2:0:0:0: [sda] Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n"
	    "sd 2:0:0:0: [sda] CDB: Write(10): 2a 00 00 12 34 56 00 00 08 00\n"
	    "end_request: I/O error, dev sda, sector 1193046\n"
	    "Buffer I/O error on device sda1, logical block 148874\n"
	    "lost page write due to I/O error on sda1\n",
	    "T sda Write(10) 1;F sda 1;" },
	{ "SCSI: 3.x in pieces, then 3.x with the bytes named",
	    "sd 2:0:0:0: [sdb]  \n"
	    "Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n"
	    "sd 2:0:0:0: [sdb] CDB: \n"
	    "Write(10): 2a 00 00 00 10 00 00 00 08 00\n"
	    "end_request: I/O error, dev sdb, sector 4096\n"
	    "sd 2:0:1:0: [sdc]  Result: hostbyte=0x03 driverbyte=0x00\n"
	    "sd 2:0:1:0: [sdc] CDB: \n"
	    "cdb[0]=0x28: 28 00 00 00 20 00 00 00 08 00\n",
	    "T sdb Write(10) 1;F sdb 1;T sdc cdb[0]=0x28 1;" },
	{ "SCSI: other results are no timeouts",
	    "sd 2:0:0:0: [sda] tag#5 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE cmd_age=0s\n"
	    "sd 2:0:0:0: [sda] tag#5 Sense Key : Medium Error [current] \n"
	    "sd 2:0:0:0: [sda] tag#5 Add. Sense: Unrecovered read error\n"
	    "sd 2:0:0:0: [sda] tag#5 CDB: Read(10) 28 00 00 12 34 56 00 00 08 00\n"
	    "critical medium error, dev sda, sector 1193046 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n"
	    "sd 2:0:0:0: rejecting I/O to offline device\n"
	    "sd 2:0:0:0: Device offlined - not ready after error recovery\n",
	    "F sda 1;" },
	{ "SCSI: two disks and two tags interleaved",
	    "sd 2:0:0:0: [sda] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=30s\n"
	    "sd 2:0:1:0: [sdb] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=30s\n"
	    "sd 2:0:0:0: [sda] tag#6 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE cmd_age=0s\n"
	    "sd 2:0:0:0: [sda] tag#6 CDB: Read(10) 28 00 00 00 00 01 00 00 08 00\n"
	    "sd 2:0:1:0: [sdb] tag#5 CDB: Read(16) 88 00 00 00 00 00 00 12 34 56 00 00 00 08 00 00\n"
	    "sd 2:0:0:0: [sda] tag#5 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00\n",
	    "T sdb Read(16) 1;T sda Write(10) 1;" },
	{ "SCSI: a command without a place",
	    "sd 2:0:0:0: [sda] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n"
	    "sd 2:0:0:0: [sda] tag#5 CDB: Test Unit Ready 00 00 00 00 00 00\n"
	    "sd 2:0:0:0: [sda] tag#7 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n"
	    "sd 2:0:0:0: [sda] tag#7 CDB: Synchronize Cache(10) 35 00 00 00 00 00 00 00 00 00\n",
	    "T sda Test Unit Ready 1;T sda Synchronize Cache(10) 1;" },
	{ "SCSI: no CDB at all",
	    "sd 2:0:0:0: [sda] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n"
	    "blk_update_request: I/O error, dev sda, sector 8 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 0\n"
	    "sd 3:0:0:0: SCSI error: return code = 0x00030000\n"
	    "end_request: I/O error, dev sdq, sector 9\n"
	    "sd 4:0:0:0: [sdr] Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n",
	    "T sda WRITE 1;F sda 1;T sdq  1;F sdq 1;T sdr  1;" },
	{ "SCSI: given up after three minutes",
	    "sd 2:0:0:0: [sda] tag#9 timing out command, waited 180s\n"
	    "sd 2:0:0:0: [sda] tag#9 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=181s\n"
	    "sd 2:0:0:0: [sda] tag#9 CDB: Read(10) 28 00 00 00 10 00 00 00 08 00\n"
	    "I/O error, dev sda, sector 4096 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n",
	    "T sda Read(10) 1;F sda 1;" },
	{ "block layer: the words by status",
	    "print_req_error: I/O error, dev sdb, sector 100 flags 0\n"
	    "timeout error, dev sdc, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n"
	    "critical target error, dev sdd, sector 9 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2\n"
	    "recoverable transport error, dev sde, sector 9 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2\n"
	    "device offline error, dev sdf, sector 9 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2\n"
	    "operation not supported error, dev loop0, sector 9 op 0x9:(WRITE_ZEROES) flags 0x800 phys_seg 0 prio class 2\n",
	    "F sdb 1;T sdc READ 1;F sdc 1;F sdd 1;F sde 1;F sdf 1;" },
	{ "mpt3sas: abort, then the result of the same command",
	    "sd 0:0:3:0: attempting task abort!scmd(0x00000000c3a1b2d4), outstanding for 30180 ms & timeout 30000 ms\n"
	    "sd 0:0:3:0: [sdd] tag#5 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00\n"
	    "scsi target0:0:3: handle(0x000b), sas_address(0x4433221100000000), phy(0)\n"
	    "sd 0:0:3:0: task abort: SUCCESS scmd(0x00000000c3a1b2d4)\n"
	    "sd 0:0:3:0: [sdd] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=30s\n"
	    "sd 0:0:3:0: [sdd] tag#5 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00\n"
	    "I/O error, dev sdd, sector 1193046 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n"
	    "mpt3sas_cm0: log_info(0x31130000): originator(PL), code(0x13), sub_code(0x0000)\n",
	    "T sdd Write(10) 1;F sdd 1;" },
	{ "mpt3sas: abort fails, resets follow",
	    "sd 0:0:3:0: [sdd] Attached SCSI disk\n"
	    "sd 0:0:3:0: attempting task abort! scmd(ffff880123456789)\n"
	    "sd 0:0:3:0: task abort: FAILED scmd(ffff880123456789)\n"
	    "sd 0:0:3:0: attempting device reset! scmd(ffff880123456789)\n"
	    "sd 0:0:3:0: [sdd] tag#5 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00\n"
	    "sd 0:0:3:0: device reset: SUCCESS scmd(ffff880123456789)\n"
	    "mpt2sas0: sending diag reset !!\n"
	    "mpt2sas0: diag reset: SUCCESS\n",
	    "T sdd  1;R sdd 1;R mpt2sas0 1;" },
	{ "UAS and pvscsi",
	    "sd 6:0:0:0: [sdb] tag#10 uas_eh_abort_handler 0 uas-tag 11 inflight: CMD OUT \n"
	    "sd 6:0:0:0: [sdb] tag#10 CDB: Write(10) 2a 00 00 12 34 56 00 00 08 00\n"
	    "scsi host6: uas_eh_device_reset_handler start\n"
	    "sd 2:0:0:0: [sda] task abort on host 2, 00000000f0a8bbd9\n",
	    "T sdb Write(10) 1;R host6 1;T sda  1;" },
	{ "mptscsih",
	    "mptscsih: ioc0: attempting task abort! (sc=ffff88003b0c8a00)\n"
	    "sd 0:0:1:0: [sdb] CDB: Read(10): 28 00 00 12 34 56 00 00 08 00\n"
	    "mptscsih: ioc0: task abort: SUCCESS (rv=2002) (sc=ffff88003b0c8a00)\n"
	    "mptscsih: ioc0: attempting target reset! (sc=ffff88003b0c8a00)\n"
	    "sd 0:0:1:0: [sdb] CDB: Read(10): 28 00 00 12 34 56 00 00 08 00\n"
	    "mptscsih: ioc0: target reset: SUCCESS (sc=ffff88003b0c8a00)\n",
	    "T sdb Read(10) 1;R ioc0 1;" },
	{ "megaraid_sas",
	    "sd 0:2:0:0: [sda] tag#12 attempting task abort! scmd(0x00000000c3a1b2d4) tm_dev_handle 0x1\n"
	    "sd 0:2:0:0: [sda] tag#12 CDB: Read(10) 28 00 00 12 34 56 00 00 08 00\n"
	    "sd 0:2:0:0: [sda] tag#12 task abort FAILED!! scmd(0x00000000c3a1b2d4)\n"
	    "megaraid_sas 0000:03:00.0: OCR is requested due to IO timeout!!\n"
	    "megaraid_sas 0000:03:00.0: resetting fusion adapter scsi0.\n",
	    "T sda Read(10) 1;R 0000:03:00.0 1;" },
	{ "megaraid_sas, only the reset",
	    "megaraid_sas 0000:03:00.0: IO/DCMD timeout is detected, forcibly FAULT Firmware\n"
	    "megaraid_sas 0000:03:00.0: OCR is requested due to IO timeout!!\n",
	    "T 0000:03:00.0  1;" },
	{ "megasas before 4.x: a reset for each command that is lost",
	    "[Sun Nov 20 22:57:43 2016] sd 2:2:0:0: [sda] megasas: RESET cmd=28 retries=0\n"
	    "[Sun Nov 20 22:57:43 2016] megasas: [ 0]waiting for 2 commands to complete\n"
	    "[Sun Nov 20 22:57:44 2016] sd 2:2:1:0: [sdb] megasas: RESET -7812 cmd=2a retries=0\n"
	    "[Mon Nov 21 05:53:26 2016] sd 2:2:0:0: [sda] megasas: RESET cmd=28 retries=0\n",
	    "T sda  2;R sda 2;T sdb  1;R sdb 1;" },
	{ "mpt2sas up to 3.x: the adapter speaks, and recovery probes under the same pointer",
	    "mpt2sas3: attempting task abort! scmd(ffff8814605d2100)\n"
	    "sd 7:0:14:0: CDB: Synchronize Cache(10): 35 00 00 00 00 00 00 00 00 00\n"
	    "mpt2sas3: task abort: SUCCESS scmd(ffff8814605d2100)\n"
	    "mpt2sas3: attempting task abort! scmd(ffff8814605d2100)\n"
	    "sd 7:0:14:0: CDB: Test Unit Ready: 00 00 00 00 00 00\n"
	    "mpt2sas3: task abort: SUCCESS scmd(ffff8814605d2100)\n"
	    "mpt2sas3: attempting device reset! scmd(ffff8814605d2100)\n",
	    "T 7:0:14:0 Synchronize Cache(10) 1;R mpt2sas3 1;" },
	{ "virtio_scsi aborts",
	    "[337869.250042] sd 2:0:0:0: [sda] abort\n"
	    "[337869.250112] sd 2:0:0:0: [sda] tag#7 abort\n"
	    "[337869.250122] sd 2:0:0:0: [sda] tag#8 abo",
	    "T sda  2;" },
	{ "3ware",
	    "sd 0:0:1:0: WARNING: (0x06:0x002C): Command (0x2a) timed out, resetting card.\n"
	    "sd 0:0:1:0: WARNING: (0x06:0x002C): Command (0x28) timed out, resetting card.\n",
	    "T 0:0:1:0  2;R 0:0:1:0 2;" },
	{ "lines that a mailer wrapped",
	    "[ 1240.567890] sd 0:0:3:0: [sdd] tag#12 FAILED Result: hostbyte=DID_TIME_OUT\n"
	    "driverbyte=DRIVER_OK cmd_age=30s\n"
	    "[ 1240.567893] sd 0:0:3:0: [sdd] tag#12 CDB: Write(10) 2a 00 12 34 56 78 00\n"
	    "00 08 00\n"
	    "[ 1250.000002] ata2.00: failed command: READ DMA\n"
	    "[ 1250.000003] ata2.00: cmd c8/00:08:00:00:00/00:00:00:00:00/e0 tag 0 dma 4096\n"
	    "in\n"
	    "[ 1250.000003]          res 40/00:00:00:4f:c2/00:00:00:00:00/00 Emask 0x4\n"
	    "(timeout)\n",
	    "T sdd Write(10) 1;T ata2.00 READ DMA 1;" },
	{ "short lines without a stamp are none that a mailer wrapped",
	    "[ 1240.567890] ata2.00: failed command: READ DMA\n"
	    "EXT\n"
	    "[ 1250.000003] ata2.00: cmd c8/00:08:00:00:00/00:00:00:00:00/e0 tag 0 dma 4096 in\n"
	    "[ 1250.000003]          res 40/00:00:00:4f:c2/00:00:00:00:00/00 Emask 0x4 (timeout)\n",
	    "T ata2.00 READ DMA 1;" },
	{ "NVMe: abort, then reset of the same command",
	    "nvme nvme0: I/O 460 QID 3 timeout, aborting\n"
	    "nvme nvme0: Abort status: 0x0\n"
	    "nvme nvme0: I/O 460 QID 3 timeout, reset controller\n"
	    "nvme nvme0: I/O 460 QID 4 timeout, disable controller\n"
	    "nvme nvme0: I/O 461 QID 4 timeout, completion polled\n"
	    "nvme nvme0: I/O 461 QID 4 timeout, completion polled\n",
	    "T nvme0  4;R nvme0 1;" },
	{ "NVMe: 6.8 and between",
	    "nvme nvme0: I/O tag 123 (407b) opcode 0x1 (Write) QID 4 timeout, aborting req_op:WRITE(1) size:4096\n"
	    "nvme nvme0: I/O tag 123 (407b) opcode 0x1 (Write) QID 4 timeout, reset controller\n"
	    "nvme nvme1: I/O 12 (Read) QID 2 timeout, aborting\n"
	    "nvme nvme1: I/O tag 7 (1007) QID 1 timeout, completion polled\n"
	    "nvme nvme2: I/O tag 1 (0001) type 4 opcode 0x2 (Read) QID 2 timeout\n"
	    "nvme nvme0: controller is down; will reset: CSTS=0x3, PCI_STATUS=0x10\n",
	    "T nvme0 Write 1;R nvme0 2;T nvme1 Read 1;T nvme1  1;T nvme2 Read 1;" },
	{ "NVMe: the block layer's end of it",
	    "nvme nvme0: I/O 460 QID 3 timeout, aborting\n"
	    "nvme0n1: Write(0x1) @ LBA 8, 8 blocks, Command Abort Requested (sct 0x0 / sc 0x7) DNR\n"
	    "timeout error, dev nvme0n1, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2\n",
	    "T nvme0  1;F nvme0n1 1;" },
	{ "SCSI: other words before the result, blocks of 4 KiB",
	    "sd 2:0:0:0: [sda] tag#5 UNKNOWN(0x2003) Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=30s\n"
	    "sd 2:0:0:0: [sda] tag#5 CDB: Write(10) 2a 00 00 00 10 00 00 00 08 00\n"
	    "timeout error, dev sda, sector 32768 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n",
	    "T sda Write(10) 1;F sda 1;" },
	{ "SCSI: the same place again after the failure is a new command",
	    "sd 2:0:0:0: [sda] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n"
	    "sd 2:0:0:0: [sda] tag#5 CDB: Write(10) 2a 00 00 00 10 00 00 00 08 00\n"
	    "I/O error, dev sda, sector 4096 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n"
	    "sd 2:0:0:0: [sda] tag#9 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n"
	    "sd 2:0:0:0: [sda] tag#9 CDB: Write(10) 2a 00 00 00 10 00 00 00 08 00\n"
	    "I/O error, dev sda, sector 4096 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n",
	    "T sda Write(10) 2;F sda 2;" },
	{ "NVMe: named by its bus address, and the words up to 4.1",
	    "nvme 0000:01:00.0: I/O 12 QID 3 timeout, aborting\n"
	    "nvme 0000:01:00.0: Timeout I/O 13 QID 3\n"
	    "nvme nvme1: queue 3: timeout request 0xc type 4\n",
	    "T 0000:01:00.0  2;T nvme1  1;" },
	{ "lookalikes",
	    "[  246.1] INFO: task txg_sync:2: x:1234 blocked for more than 122 seconds.\n"
	    "[  246.1]       Not tainted 5.10.0-8-amd64 #1\n"
	    "[  246.1] NETDEV WATCHDOG: eth0 (e1000): transmit queue 0 timed out\n"
	    "[  246.1] md/raid1:md0: Disk failure on sdb1, disabling device.\n"
	    "md/raid1:md0: Operation continuing on 1 devices.\n"
	    "[  246.1] device-mapper: multipath: 253:0: Failing path 8:16.\n"
	    "[  246.1] device-mapper: multipath: queue_if_no_path timeout on 253:0, failing queued IO\n"
	    "[  246.1] irq 16: nobody cared (try booting with the \"irqpoll\" option)\n"
	    "[  246.1] systemd[1]: dev-sda1.device: Job dev-sda1.device/start timed out.\n"
	    "[  246.1] TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:80. Sending cookies.\n"
	    "[  246.1] net_ratelimit: 120 callbacks suppressed\n"
	    "[  246.1] EXT4-fs error (device sda1): ext4_find_entry:1455: reading directory lblock 0\n",
	    "" },
};

START_TEST(row)
{
	kernel_log_row_check(&rows[_i]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("kernel_log_linux");
	TCase *tc = tcase_create("rows");

	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
