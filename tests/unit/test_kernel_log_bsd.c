/* FreeBSD, OpenBSD and NetBSD: every shape of a disk's lines. */
#include "kernel_log_rows.h"
#include "unit.h"

static const struct kernel_log_row rows[] = {
	{ "mps, its tab escaped by rsyslog",
	    "Mar  3 02:11:40 h kernel: #011(da0:mps0:0:3:0): WRITE(10). CDB: 2a 00 00 12 34 56 00 00 08 00 length 4096 SMID "
	    "310 "
	    "Command timeout on target 3(0x000c) 60000 set, 60.1 elapsed\n",
	    "T da0 WRITE(10) 1;" },
	/* ata(4) */
	{ "release 4 resets and gives no LBA",
	    "ad0: READ command timeout tag=0 serv=0 - resetting\n"
	    "ata0: resetting devices .. done\n"
	    "ad0: READ command timeout tag=0 serv=0 - resetting\n"
	    "ata0: resetting devices .. done\n"
	    "ad0: trying fallback to PIO mode\n"
	    "ad0: WRITE command timeout tag=12 serv=0 - resetting\n",
	    "T ad0 READ 1;T ad0 WRITE 1;R ata0 2;" },
	{ "release 4, a later command with the same tag",
	    "Mar  3 02:11:40 store2 /kernel: ad0: WRITE command timeout tag=0 serv=0 - resetting\n"
	    "Mar  3 02:11:50 store2 /kernel: ad0: WRITE command timeout tag=0 serv=0 - resetting\n"
	    "Mar  3 04:11:40 store2 /kernel: ad0: WRITE command timeout tag=0 serv=0 - resetting\n",
	    "T ad0 WRITE 2;" },
	{ "stamps of whole seconds",
	    "[86401] (da0:mps0:0:3:0): WRITE(10). CDB: 2a 00 00 12 34 56 00 00 08 00\n"
	    "[86401] (da0:mps0:0:3:0): CAM status: Command timeout\n"
	    "[86500] interrupt storm detected on \"irq18:\"; throttling interrupt source\n",
	    "T da0 WRITE(10) 1;I 18  1;" },
	{ "a console logged by a terminal server, prints mixed",
	    "[2021-12-10 20:56:10] ahcich1: Timeout on slot 5 port 0\n"
	    "[2021-12-10 20:56:11] ahcich1: (ada0:ahcich1:0:0:0): DSM TRIM. ACB: 06 01 00 00 00 40 00 00 00 00 01 00\n"
	    "[2021-12-10 20:56:11] AHCI reset...\n"
	    "[2021-12-10 20:56:11] (ada0:ahcich1:0:0:0): CAM status: Command timeout\n"
	    "[2021-12-10 20:57:15] ahcich1: Timeout on slot 6 port 0\n",
	    "T ada0 DSM TRIM 1;T ahcich1  1;" },
	{ "host and tag cut out",
	    "Feb 12 12:08:05 : ad0: TIMEOUT - WRITE_DMA retrying (2 retries left) LBA=2701279\n"
	    "Feb 13 00:08:51 mail1 ad0: TIMEOUT - WRITE_DMA retrying (2 retries left) LBA=2701279\n"
	    "Feb 13 12:08:51 (da0:mps0:0:3:0): WRITE(10). CDB: 2a 00 00 12 34 56 00 00 08 00\n"
	    "Feb 13 12:08:51 (da0:mps0:0:3:0): CAM status: Command timeout\n"
	    "Feb 13 12:08:52 mail1 mon[77]: ad0: TIMEOUT - WRITE_DMA retrying (2 retries left) LBA=5\n",
	    "T ad0 WRITE_DMA 2;T da0 WRITE(10) 1;" },
	{ "hard error of release 4",
	    "ad0s1a: hard error reading fsbn 12345 of 0-127 (ad0 bn 12345; cn 12 tn 3 sn 4) status=59 error=40\n",
	    "F ad0 1;" },
	{ "hard error that is tried again",
	    "ad0s1a: UDMA ICRC error writing fsbn 12345 of 0-127 (ad0 bn 12345; cn 12 tn 3 sn 4) retrying\n", "" },
	{ "retries of one command",
	    "ad4: TIMEOUT - WRITE_DMA48 retrying (2 retries left) LBA=318904207\n"
	    "ad4: TIMEOUT - WRITE_DMA48 retrying (1 retry left) LBA=318904207\n"
	    "ad4: TIMEOUT - WRITE_DMA48 retrying (0 retries left) LBA=318904207\n",
	    "T ad4 WRITE_DMA48 1;" },
	{ "the same LBA again from the first retry is a new command",
	    "ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=0\n"
	    "ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=0\n",
	    "T ad4 WRITE_DMA 2;" },
	{ "the same LBA hours later",
	    "Mar  3 02:11:40 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=77\n"
	    "Mar  3 09:11:40 h kernel: ad4: TIMEOUT - WRITE_DMA retrying (0 retries left) LBA=77\n",
	    "T ad4 WRITE_DMA 2;" },
	{ "different LBAs and operations",
	    "ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=77\n"
	    "ad4: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=771\n"
	    "ad4: TIMEOUT - READ_DMA retrying (1 retry left) LBA=77\n",
	    "T ad4 WRITE_DMA 2;T ad4 READ_DMA 1;" },
	{ "failure without a retry", "ad0: FAILURE - WRITE_DMA timed out LBA=1\n", "T ad0 WRITE_DMA 1;F ad0 1;" },
	{ "release 5.2: no LBA", "ad0: FAILURE - WRITE_DMA timed out\n", "T ad0 WRITE_DMA 1;F ad0 1;" },
	{ "release 5.2: no interrupt", "ad0: FAILURE - READ_DMA no interrupt\n", "T ad0 READ_DMA 1;F ad0 1;" },
	{ "release 5.2: retries with an LBA, the failure without",
	    "ad0: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=5\n"
	    "ad0: TIMEOUT - WRITE_DMA retrying (0 retries left) LBA=5\n"
	    "ad0: FAILURE - WRITE_DMA timed out\n",
	    "T ad0 WRITE_DMA 1;F ad0 1;" },
	{ "no LBA at all: flushes",
	    "ad0: TIMEOUT - FLUSHCACHE retrying (1 retry left)\n"
	    "ad0: TIMEOUT - FLUSHCACHE retrying (0 retries left)\n"
	    "ad0: TIMEOUT - FLUSHCACHE retrying (1 retry left)\n",
	    "T ad0 FLUSHCACHE 2;" },
	{ "setfeatures", "ad6: FAILURE - SETFEATURES 0x85 timed out\n", "T ad6 SETFEATURES 0x85 1;F ad6 1;" },
	{ "unknown command", "acd0: TIMEOUT - unknown CMD (0xa1) retrying (0 retries left)\n",
	    "T acd0 unknown CMD (0xa1) 1;" },
	{ "the LBA on a line of its own",
	    "ad4: TIMEOUT - READ_DMA retrying (1 retry left)\n"
	    " LBA=4711\n"
	    "ad4: TIMEOUT - READ_DMA retrying (0 retries left)\n"
	    " LBA=4711\n"
	    "ad4: FAILURE - READ_DMA timed out\n"
	    "LBA=4711\n",
	    "T ad4 READ_DMA 1;F ad4 1;" },
	{ "the LBA of another line in syslog",
	    "Mar  3 02:11:40 h kernel: ad4: TIMEOUT - READ_DMA retrying (1 retry left)\n"
	    "Mar  3 02:11:40 h kernel: LBA=4711\n"
	    "Mar  3 02:11:45 h kernel: ad4: TIMEOUT - READ_DMA retrying (1 retry left)\n"
	    "Mar  3 02:11:45 h kernel: LBA=4712\n",
	    "T ad4 READ_DMA 2;" },
	{ "two disks between each other's halves",
	    "ad4: TIMEOUT - READ_DMA retrying (1 retry left)\n"
	    "ad6: TIMEOUT - WRITE_DMA retrying (1 retry left)\n"
	    " LBA=1\n"
	    " LBA=2\n"
	    "ad6: TIMEOUT - WRITE_DMA retrying (0 retries left) LBA=2\n"
	    "ad4: TIMEOUT - READ_DMA retrying (0 retries left) LBA=1\n",
	    "T ad4 READ_DMA 1;T ad6 WRITE_DMA 1;" },
	{ "two disks on one line",
	    "ad4: TIMEOUT - READ_DMA retrying (1 retry left)ad6: TIMEOUT - WRITE_DMA retrying (1 retry left) LBA=2\n "
	    "LBA=1\n",
	    "T ad6 WRITE_DMA 1;T ad4 READ_DMA 1;" },
	{ "two disks, whole lines",
	    "ad4: TIMEOUT - READ_DMA retrying (1 retry left) LBA=1\n"
	    "ad6: TIMEOUT - READ_DMA retrying (1 retry left) LBA=1\n"
	    "ad4: TIMEOUT - READ_DMA retrying (0 retries left) LBA=1\n"
	    "ad6: TIMEOUT - READ_DMA retrying (0 retries left) LBA=1\n"
	    "ad6: FAILURE - READ_DMA timed out LBA=1\n",
	    "T ad4 READ_DMA 1;T ad6 READ_DMA 1;F ad6 1;" },
	{ "a disk that has no name yet", "ata1-slave: FAILURE - ATA_IDENTIFY timed out\n",
	    "T ata1-slave ATA_IDENTIFY 1;F ata1-slave 1;" },
	{ "what is no timeout",
	    "ad0: FAILURE - READ_DMA status=51<READY,DSC,ERROR> error=40<UNCORRECTABLE> LBA=5\n"
	    "ad0: WARNING - READ_DMA UDMA ICRC error (retrying request) LBA=9\n"
	    "ad0: WARNING - WRITE_DMA interrupt was seen but timeout fired LBA=9\n"
	    "ad0: WARNING - WRITE_DMA taskqueue timeout - completing request directly\n"
	    "ad0: WARNING - READ_DMA soft error (ECC corrected) LBA=9\n"
	    "ad0: FAILURE - device detached\n"
	    "ad0: 114473MB <ST3120022A 3.06> at ata0-master UDMA100\n",
	    "F ad0 1;" },
	{ "the file system tells of the same failure",
	    "ad4: FAILURE - READ_DMA timed out LBA=9\n"
	    "g_vfs_done():ad4s1f[READ(offset=98204450816, length=16384)]error = 5\n",
	    "T ad4 READ_DMA 1;F ad4 1;" },
	{ "only the file system tells",
	    "g_vfs_done():da0p2[WRITE(offset=65536, length=16384)]error = 6\n"
	    "g_vfs_done():da0p2[WRITE(offset=98304, length=16384)]error = 6\n",
	    "F da0 2;" },
	/* CAM */
	{ "an ATA disk, releases 9 to 11: retries without a count",
	    "(ada0:ahcich0:0:0:0): WRITE_FPDMA_QUEUED. ACB: 61 08 00 12 34 56 40 00 00 00 00 00\n"
	    "(ada0:ahcich0:0:0:0): CAM status: Command timeout\n"
	    "(ada0:ahcich0:0:0:0): Retrying command\n"
	    "(ada0:ahcich0:0:0:0): WRITE_FPDMA_QUEUED. ACB: 61 08 00 12 34 56 40 00 00 00 00 00\n"
	    "(ada0:ahcich0:0:0:0): CAM status: Command timeout\n"
	    "(ada0:ahcich0:0:0:0): Error 5, Retries exhausted\n"
	    "(ada0:ahcich0:0:0:0): WRITE_FPDMA_QUEUED. ACB: 61 08 00 12 34 56 40 00 00 00 00 00\n"
	    "(ada0:ahcich0:0:0:0): CAM status: Command timeout\n"
	    "(ada0:ahcich0:0:0:0): Retrying command\n",
	    "T ada0 WRITE_FPDMA_QUEUED 2;F ada0 1;" },
	{ "retries with a count that starts anew",
	    "(da1:mps0:0:3:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 \n"
	    "(da1:mps0:0:3:0): CAM status: Command timeout\n"
	    "(da1:mps0:0:3:0): Retrying command, 3 more tries remain\n"
	    "(da1:mps0:0:3:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 \n"
	    "(da1:mps0:0:3:0): CAM status: Command timeout\n"
	    "(da1:mps0:0:3:0): Retrying command, 2 more tries remain\n"
	    "(da1:mps0:0:3:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 \n"
	    "(da1:mps0:0:3:0): CAM status: Command timeout\n"
	    "(da1:mps0:0:3:0): Retrying command, 3 more tries remain\n",
	    "T da1 READ(10) 2;" },
	{ "two disks interleaved, line by line",
	    "(da1:mps0:0:3:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 \n"
	    "(da2:mps0:0:4:0): WRITE(16). CDB: 8a 00 00 00 00 01 00 12 34 56 00 00 00 08 00 00 \n"
	    "(da1:mps0:0:3:0): CAM status: Command timeout\n"
	    "(da2:mps0:0:4:0): CAM status: SCSI Status Error\n"
	    "(da2:mps0:0:4:0): SCSI status: Busy\n"
	    "(da1:mps0:0:3:0): Retrying command\n"
	    "(da2:mps0:0:4:0): Retrying command\n",
	    "T da1 READ(10) 1;" },
	{ "media error, medium not present, bus errors",
	    "(ada1:ahcich1:0:0:0): READ_FPDMA_QUEUED. ACB: 60 08 00 12 34 56 40 00 00 00 00 00\n"
	    "(ada1:ahcich1:0:0:0): CAM status: ATA Status Error\n"
	    "(ada1:ahcich1:0:0:0): ATA status: 51 (DRDY SERV ERR), error: 40 (UNC )\n"
	    "(ada1:ahcich1:0:0:0): RES: 51 40 00 12 34 56 40 00 00 00 00\n"
	    "(ada1:ahcich1:0:0:0): Retrying command, 3 more tries remain\n"
	    "(da5:umass-sim0:0:0:0): READ CAPACITY(10). CDB: 25 00 00 00 00 00 00 00 00 00 \n"
	    "(da5:umass-sim0:0:0:0): CAM status: SCSI Status Error\n"
	    "(da5:umass-sim0:0:0:0): SCSI sense: NOT READY asc:3a,0 (Medium not present)\n"
	    "(da5:umass-sim0:0:0:0): Error 6, Unretryable error\n"
	    "(da6:mpr0:0:1:0): WRITE(10). CDB: 2a 00 00 00 00 00 00 00 08 00 \n"
	    "(da6:mpr0:0:1:0): CAM status: CCB request completed with an error\n"
	    "(da6:mpr0:0:1:0): Retrying command, 3 more tries remain\n",
	    "F da5 1;" },
	{ "final words",
	    "(da1:mps0:0:3:0): Error 5, Unretryable error\n"
	    "(da2:mps0:0:3:0): Error 5, Retry was blocked\n"
	    "(da3:mps0:0:3:0): Error 6, Periph was invalidated\n"
	    "(da4:mps0:0:3:0): Retries Exhausted\n"
	    "(da4:mps0:0:3:0): lost device - 0 outstanding\n",
	    "F da1 1;F da2 1;F da3 1;F da4 1;" },
	{ "release 7: no command, misspelt",
	    "(da0:mpt0:0:3:0): Command timed out\n"
	    "(da0:mpt0:0:3:0): Retrying Command\n"
	    "(da0:mpt0:0:3:0): Command timed out\n"
	    "(da0:mpt0:0:3:0): Retries Exausted\n"
	    "(da0:mpt0:0:3:0): error 5\n",
	    "T da0  1;F da0 1;" },
	{ "release 8: bytes without a zero before, capital status",
	    "(da0:mpt0:0:3:0): READ(10). CDB: 28 0 0 2 8e 3f 0 0 80 0 \n"
	    "(da0:mpt0:0:3:0): CAM Status: Command timeout\n"
	    "(da0:mpt0:0:3:0): Retrying Command\n",
	    "T da0 READ(10) 1;" },
	{ "no periph", "(noperiph:ahcich2:0:-1:ffffffff): CAM status: Command timeout\n", "T ahcich2  1;" },
	{ "no path", "(nopath): CAM status: Command timeout\nda0: <ATA> fixed\n", "" },
	{ "NVMe by CAM",
	    "(nda0:nvme0:0:0:1): WRITE. NCB: opc=1 fuse=0 nsid=1 prp1=0 prp2=0 cdw=1c0e0 0 3f 0 0 0\n"
	    "(nda0:nvme0:0:0:1): CAM status: Command timeout\n"
	    "(nda0:nvme0:0:0:1): Error 5, Retries exhausted\n",
	    "T nda0 WRITE 1;F nda0 1;" },
	/* Controllers */
	{ "mps: a line led by a tab, then the block of the same command",
	    "\t(da0:mps0:0:3:0): WRITE(10). CDB: 2a 00 00 12 34 56 00 00 08 00 length 4096 SMID 310 Command timeout on "
	    "target 3(0x000c) 60000 set, 60.12345 elapsed\n"
	    "mps0: Sending abort to target 3 for SMID 310\n"
	    "(da0:mps0:0:3:0): WRITE(10). CDB: 2a 00 00 12 34 56 00 00 08 00 \n"
	    "(da0:mps0:0:3:0): CAM status: Command timeout\n"
	    "(da0:mps0:0:3:0): Retrying command, 3 more tries remain\n"
	    "mps0: Reinitializing controller\n"
	    "\t(da1:mps0:0:4:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 length 4096 SMID 311 terminated ioc 804b "
	    "loginfo 31130000 scsi 0 state c xfer 0\n",
	    "T da0 WRITE(10) 1;R mps0 1;" },
	{ "mpr: a comma, in syslog",
	    "Mar  3 02:11:40 h kernel: \t(da7:mpr0:0:9:0): READ(16). CDB: 88 00 00 00 00 02 ba a0 f4 00 00 00 00 08 00 00 "
	    "length 4096 SMID 77 Command timeout on target 9(0x0011), 60000 set, 60.5 elapsed\n",
	    "T da7 READ(16) 1;" },
	{ "old mps",
	    "\t(da2:mps0:0:2:0): SYNCHRONIZE CACHE(10). CDB: 35 00 00 00 00 00 00 00 00 00 length 0 SMID 563 command "
	    "timeout cm 0xffffff8000c5bb38 ccb 0xfffffe0015b4a800\n"
	    "\t(noperiph:mps0:0:2:0): SMID 1 abort TaskMID 563 status 0x4a code 0x0 count 1\n"
	    "\t(noperiph:mps1:0:2:0): SMID 3 Command timeout on target 2(0x000c) 60000 set, 60.1 elapsed\n",
	    "T da2 SYNCHRONIZE CACHE(10) 1;T mps1  1;" },
	{ "ahci without a CAM block",
	    "ahcich0: Timeout on slot 8 port 0\n"
	    "ahcich0: is 00000000 cs 00000000 ss 0000ff00 rs 0000ff00 tfd 40 serr 00000000\n"
	    "ahcich0:  ... waiting for slots 0000fe00\n"
	    "ahcich0: Timeout on slot 9 port 0\n"
	    "ahcich1: Poll timeout on slot 1 port 0\n"
	    "ahcich0: AHCI reset: device not ready after 31000ms (tfd = 00000080)\n",
	    "T ahcich0  2;R ahcich0 1;T ahcich1  1;" },
	{ "siis and mvs", "siisch1: Timeout on slot 3\nmvsch2: Timeout on slot 0\n", "T siisch1  1;T mvsch2  1;" },
	{ "two commands of one channel",
	    "ahcich0: Timeout on slot 1 port 0\n"
	    "ahcich0: Timeout on slot 2 port 0\n"
	    "(ada0:ahcich0:0:0:0): READ_DMA. ACB: c8 00 50 8a 8b 41 00 00 00 00 d0 00\n"
	    "(ada0:ahcich0:0:0:0): CAM status: Command timeout\n"
	    "(ada0:ahcich0:0:0:0): Retrying command\n"
	    "(ada0:ahcich0:0:0:0): READ_DMA. ACB: c8 00 60 8a 8b 41 00 00 00 00 d0 00\n"
	    "(ada0:ahcich0:0:0:0): CAM status: Command timeout\n"
	    "(ada0:ahcich0:0:0:0): Retrying command\n",
	    "T ada0 READ_DMA 2;" },
	{ "mfi repeats one command for ever",
	    "mfi0: COMMAND 0xfffffe0000a11234 TIMEOUT AFTER 30 SECONDS\n"
	    "mfi0: COMMAND 0xfffffe0000a11234 TIMEOUT AFTER 60 SECONDS\n"
	    "mfi0: COMMAND 0xfffffe0000a11234 TIMEOUT AFTER 90 SECONDS\n",
	    "T mfi0  1;S mfi0 90;" },
	{ "mfi: two commands, and the pointer used again",
	    "mfi0: COMMAND 0xfffffe0000a11234 TIMEOUT AFTER 30 SECONDS\n"
	    "mfi0: COMMAND 0xfffffe0000a15678 TIMEOUT AFTER 33 SECONDS\n"
	    "mfi0: COMMAND 0xfffffe0000a11234 TIMEOUT AFTER 60 SECONDS\n"
	    "mfi0: COMMAND 0xfffffe0000a11234 TIMEOUT AFTER 30 SECONDS\n",
	    "T mfi0  3;S mfi0 33;" },
	{ "mfi: the age goes when nothing is heard for two minutes",
	    "Mar  3 02:11:40 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\n"
	    "Mar  3 02:12:10 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 60 SECONDS\n"
	    "Mar  3 02:14:11 h kernel: em0: link state changed to UP\n",
	    "T mfi0  1;" },
	{ "mfi: the age is there two minutes on",
	    "Mar  3 02:11:40 h kernel: mfi0: COMMAND 0xa1 TIMEOUT AFTER 30 SECONDS\n"
	    "Mar  3 02:13:40 h kernel: em0: link state changed to UP\n",
	    "T mfi0  1;S mfi0 30;" },
	{ "aac and aacraid",
	    "aac0: COMMAND 0xc5a3b2f4 (TYPE 502) TIMEOUT AFTER 121 SECONDS\n"
	    "aac0: COMMAND 0xc5a3b2f4 (TYPE 502) TIMEOUT AFTER 141 SECONDS\n"
	    "aac0: WARNING! Controller is no longer running! code= 0xbcef0100\n"
	    "aacraid0: COMMAND 0xfffffe00012 TIMEOUT AFTER 122 SECONDS\n",
	    "T aac0  1;S aac0 141;T aacraid0  1;S aacraid0 122;" },
	{ "mpt, twa, arcmsr, ips",
	    "mpt0: request 0xffffff80001a2b40:12345 timed out for ccb 0xffffff0004e93800 (req->ccb 0xffffff0004e93800)\n"
	    "mpt0: attempting to abort req 0xffffff80001a2b40:12345 function 0\n"
	    "mpt0: request 0xffffff80001a2c40:12399 timed out for ccb 0xffffff0004e93800 (req->ccb 0xffffff0004e93800)\n"
	    "twa0: Request 12 timed out! d = 0xffffff00, c = 0xffffff01\n"
	    "twa0: Request 13 timed out!\n"
	    "arcmsr0: wait 'abort all outstanding command' timeout \n"
	    "ips0: WARNING: command timeout. Adapter is in toaster mode, resetting to known state\n"
	    "ciss0: timed out waiting for adapter to come ready\n",
	    "T arcmsr0 abort all outstanding command 1;T ips0  1;R ips0 1;T mpt0  1;T twa0  2;" },
	{ "mrsas",
	    "mrsas0: DCMD timed out after 180 seconds.\n"
	    "mrsas0: Initiaiting OCR because of DCMD IO Timeout!\n"
	    "mrsas1: Initiating Target RESET because of SCSI IO timeout!\n"
	    "mrsas2: Initiaiting OCR because of FW fault!\n",
	    "T mrsas0 DCMD 1;R mrsas0 1;T mrsas1  1;R mrsas1 1;R mrsas2 1;" },
	{ "nvme, one timeout and what was under way",
	    "nvme0: Resetting controller due to a timeout.\n"
	    "nvme0: resetting controller\n"
	    "nvme0: WRITE sqid:1 cid:117 nsid:1 lba:12345 len:8\n"
	    "nvme0: ABORTED - BY REQUEST (00/07) sqid:1 cid:117 cdw0:0\n"
	    "nvme0: READ sqid:2 cid:118 nsid:1 lba:12345 len:8\n"
	    "nvme0: ABORTED - BY REQUEST (00/07) sqid:2 cid:118 cdw0:0\n",
	    "T nvme0  1;R nvme0 1;" },
	{ "nvme, more of it",
	    "nvme1: Aborting command due to a timeout.\n"
	    "nvme1: Missing interrupt\n"
	    "nvme1: Resetting controller due to a timeout and fatal error status.\n"
	    "nvme1: Resetting controller due to a timeout and possible hot unplug.\n",
	    "T nvme1  3;R nvme1 2;" },
	{ "nvme of release 14",
	    "nvme0: RECOVERY_START 12345 vs 12340\n"
	    "nvme0: timeout with nothing complete, resetting\n"
	    "nvme0: Resetting controller due to a timeout.\n"
	    "nvme0: RECOVERY_WAITING\n"
	    "nvme0: waiting\n"
	    "nvme0: resetting controller\n",
	    "T nvme0  1;R nvme0 1;" },
	/* OpenBSD, NetBSD */
	{ "wd, one event",
	    "wd0(pciide0:0:0): timeout\n"
	    "\ttype: ata\n"
	    "\tc_bcount: 16384\n"
	    "\tc_skip: 0\n"
	    "pciide0:0:0: device timeout, c_bcount=16384, c_skip0\n"
	    "wd0a: device timeout reading fsbn 64 of 64-95 (wd0 bn 127; cn 0 tn 2 sn 1), retrying\n"
	    "wd0: soft error (corrected)\n",
	    "T wd0 reading 1;" },
	{ "wd, retries and failure",
	    "wd1(pciide0:0:1): timeout\n"
	    "wd1d: device timeout writing fsbn 64 of 64-95 (wd1 bn 127; cn 0 tn 2 sn 1), retrying\n"
	    "wd1(pciide0:0:1): timeout\n"
	    "wd1d: device timeout writing fsbn 64 of 64-95 (wd1 bn 127; cn 0 tn 2 sn 1), retrying\n"
	    "wd1(pciide0:0:1): timeout\n"
	    "wd1d: device timeout writing fsbn 64 of 64-95 (wd1 bn 127; cn 0 tn 2 sn 1)\n",
	    "T wd1 writing 1;F wd1 1;" },
	{ "wd, corrected and then again",
	    "wd0a: device timeout reading fsbn 64 of 64-95 (wd0 bn 127; cn 0 tn 2 sn 1), retrying\n"
	    "wd0: soft error (corrected)\n"
	    "wd0a: device timeout reading fsbn 64 of 64-95 (wd0 bn 127; cn 0 tn 2 sn 1), retrying\n",
	    "T wd0 reading 2;" },
	{ "wd, only the first lines",
	    "wd0(pciide0:0:0): timeout\n\ttype: ata\n\tc_bcount: 512\n\tc_skip: 0\n"
	    "pciide0:0:0: device timeout, c_bcount=512, c_skip0\n",
	    "T wd0  1;" },
	{ "wd, no timeouts",
	    "wd0a: DMA error reading fsbn 64 of 64-95 (wd0 bn 127; cn 0 tn 2 sn 1), retrying\n"
	    "wd0a: uncorrectable data error reading fsbn 64 (wd0 bn 127; cn 0 tn 2 sn 1)\n"
	    "sd0(mpi0:0:0): Check Condition (error 0x70) on opcode 0x28\n"
	    "    SENSE KEY: Media Error\n"
	    "         INFO: 0x12 (VALID flag on)\n"
	    "     ASC/ASCQ: Unrecovered Read Error\n",
	    "F wd0 1;" },
	{ "NetBSD, with a count of retries",
	    "wd0d: device timeout writing fsbn 12 of 12-19 (wd0 bn 12; cn 0 tn 0 sn 12), xfer 88, retry 0\n"
	    "wd0d: device timeout writing fsbn 12 of 12-19 (wd0 bn 12; cn 0 tn 0 sn 12), xfer 88, retry 1\n"
	    "wd0d: device timeout writing fsbn 12 of 12-19 (wd0 bn 12; cn 0 tn 0 sn 12)\n",
	    "T wd0 writing 1;F wd0 1;" },
	{ "flush, HBAs that speak",
	    "wd0: flush cache command timeout\n"
	    "mpi0: timeout\n"
	    "nvme0: timeout on ccb 12\n"
	    "em0: watchdog timeout\n",
	    "T wd0 flush cache 1;T mpi0  1;T nvme0  1;" },
	{ "wd, two disks of two channels",
	    "wd0(pciide0:0:0): timeout\n"
	    "wd1(pciide0:1:0): timeout\n"
	    "pciide0:1:0: device timeout, c_bcount=512, c_skip0\n"
	    "wd1a: device timeout reading fsbn 64 of 64-95 (wd1 bn 127; cn 0 tn 2 sn 1), retrying\n"
	    "pciide0:0:0: device timeout, c_bcount=512, c_skip0\n"
	    "wd0a: device timeout reading fsbn 64 of 64-95 (wd0 bn 127; cn 0 tn 2 sn 1), retrying\n"
	    "cd0(pciide0:1:1): timeout\n\ttype: atapi\n\tc_bcount: 2048\n\tc_skip: 0\n",
	    "T wd1 reading 1;T wd0 reading 1;T cd0  1;" },
	{ "release 4, ATAPI", "acd0: READ_BIG command timeout - resetting\nacd0: READ_BIG command timeout - resetting\n",
	    "T acd0 READ_BIG 1;" },
	{ "CAM, two lines run together",
	    "(da1:mps0:0:3:0): READ(10). CDB: 28 00 00 12 34 56 00 00 08 00 \n"
	    "(da2:mps0:0:4:0): (da1:mps0:0:3:0): CAM status: Command timeout\n",
	    "T da1 READ(10) 1;" },
	{ "network cards, USB and others",
	    "em0: Watchdog timeout -- resetting\n"
	    "bge0: watchdog timeout -- resetting\n"
	    "umass0: BBB reset failed, TIMEOUT\n"
	    "swap_pager: indefinite wait buffer: bufobj: 0, blkno: 1234, size: 4096\n"
	    "acpi0: timeout\n"
	    "usbd_setup_device_desc: getting device descriptor at addr 1 failed, USB_ERR_TIMEOUT\n"
	    "GEOM_MIRROR: Device gm0: provider ada0p2 disconnected.\n",
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
	Suite *s = suite_create("kernel_log_bsd");
	TCase *tc = tcase_create("rows");

	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
