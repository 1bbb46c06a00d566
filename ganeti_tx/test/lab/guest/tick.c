/* A guest that boots at once even where QEMU runs in an emulated machine: `-kernel tick.elf -append WORDS`, machine "pc", 16 MiB.
 *
 * It counts five times a second and says so on its first serial port and on the debug console (port 0xe9): "guest WORDS is up", then
 * "tick N". With a first IDE disk each count is on that disk before it is said: in sector 8, and for the last thousand in sector
 * 64 + N % 1000, as text; at boot it goes on from sector 8. It obeys the power button and lets go devices that are unplugged.
 * Each count makes another page dirty, so that a live migration has something to do. With "fault" among the WORDS it does at the
 * fifth count what KVM cannot emulate, which ends in QEMU's run state internal-error.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

enum {
    SERIAL = 0x3f8, DEBUG = 0xe9, TIMER = 0x40, IDE = 0x1f0,
    POWER = 0x600,     /* status, enable, control: as SeaBIOS places them on an i440fx */
    UNPLUG = 0xae00,   /* ACPI's PCI hot-plug of QEMU */
    LAST = 8, RING = 64, RING_LENGTH = 1000,
    PATIENCE = 10000000,
    TRIES = 1000,
    PAGES = 0x400000, PAGE = 4096, DIRTY = 1024,
    HERTZ = 20, JIFFIES_A_TICK = HERTZ / 5
};

__asm__(
    ".section .multiboot,\"ax\"\n .align 4\n .long 0x1badb002, 2, -(0x1badb002 + 2)\n"
    ".text\n .globl _start\n"
    "_start: cli\n mov $stack, %esp\n lgdt gdt_register\n ljmp $8, $flat\n"
    "flat: mov $16, %ax\n mov %ax, %ds\n mov %ax, %es\n mov %ax, %ss\n push %ebx\n call run\n"
    ".align 8\n .globl timer\n timer: push %eax\n incl jiffies\n mov $0x20, %al\n out %al, $0x20\n pop %eax\n iret\n"
    ".data\n .align 8\n gdt: .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff\n gdt_register: .word 23\n .long gdt\n"
    ".bss\n .align 16\n .skip 16384\n stack:\n .text\n");
extern char timer[];
volatile u32 jiffies;

static void out8(u16 port, u8 value) { __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port)); }
static void out16(u16 port, u16 value) { __asm__ volatile("outw %0, %1" ::"a"(value), "Nd"(port)); }
static void out32(u16 port, u32 value) { __asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port)); }
static u8 in8(u16 port) { u8 value; __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port)); return value; }
static u16 in16(u16 port) { u16 value; __asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port)); return value; }
static u32 in32(u16 port) { u32 value; __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port)); return value; }

static void say(const char *text)
{
    for (; *text; text++) {
        while (!(in8(SERIAL + 5) & 0x20));
        out8(SERIAL, *text);
        out8(DEBUG, *text);
    }
}

static const char *decimal(u32 number)
{
    static char text[11];
    char *at = text + 10;
    do *--at = '0' + number % 10; while (number /= 10);
    return at;
}

/* The disk: one sector at a time by the processor; 0 when there is no disk, or it does not answer. */
static int disk_until(u8 mask, u8 wanted)
{
    for (int tries = 0; tries < PATIENCE; tries++)
        if ((in8(IDE + 7) & mask) == wanted) return 1;
    return 0;
}

static int disk_begin(u32 sector, u8 command)
{
    out8(IDE + 6, 0xe0);
    u8 status = in8(IDE + 7);
    if (status == 0xff || !(status & 0x40)) return 0;
    out8(IDE + 2, 1);
    out8(IDE + 3, sector);
    out8(IDE + 4, sector >> 8);
    out8(IDE + 5, sector >> 16);
    out8(IDE + 7, command);
    return disk_until(0x88, 0x08);
}

static u32 last_on_disk(void)
{
    if (!disk_begin(LAST, 0x20)) return 0;
    char sector[512];
    for (int i = 0; i < 256; i++) ((u16 *)sector)[i] = in16(IDE);
    u32 number = 0;
    if (sector[0] == 't' && sector[4] == ' ')
        for (int i = 5; sector[i] >= '0' && sector[i] <= '9'; i++) number = number * 10 + sector[i] - '0';
    return number;
}

static int write_tick(u32 sector, u32 number)
{
    if (!disk_begin(sector, 0x30)) return 0;
    char text[512] = "tick ";
    int at = 5;
    for (const char *digit = decimal(number); *digit; digit++) text[at++] = *digit;
    text[at] = '\n';
    for (int i = 0; i < 256; i++) out16(IDE, ((u16 *)text)[i]);
    return disk_until(0x80, 0);
}

/* A disk that is slow, or not ready yet, is waited for: what is said is on it. */
static int insist(u32 sector, u32 number)
{
    for (int tries = 0; tries < TRIES; tries++)
        if (write_tick(sector, number)) return 1;
    return 0;
}

static void keep_on_disk(u32 number)
{
    if (!insist(RING + number % RING_LENGTH, number) || !insist(LAST, number)) return;
    out8(IDE + 7, 0xe7); /* flush */
    disk_until(0x80, 0);
}

static void begin_interrupts(void)
{
    static u32 table[2 * 48];
    struct { u16 limit; void *base; } __attribute__((packed)) place = {sizeof table - 1, table};
    table[64] = ((u32)timer & 0xffff) | 8 << 16;
    table[65] = ((u32)timer & 0xffff0000) | 0x8e00;
    __asm__ volatile("lidt %0" ::"m"(place));
    static const u8 controllers[] = {0x20, 0x11, 0xa0, 0x11, 0x21, 0x20, 0xa1, 0x28, 0x21, 4, 0xa1, 2, 0x21, 1, 0xa1, 1, 0x21, 0xfe, 0xa1, 0xff};
    for (u32 i = 0; i < sizeof controllers; i += 2) out8(controllers[i], controllers[i + 1]);
    out8(TIMER + 3, 0x34);
    out8(TIMER, (1193182 / HERTZ) & 255);
    out8(TIMER, (1193182 / HERTZ) >> 8);
}

static void obey(void)
{
    if (in16(POWER) & 0x100) {
        say("power button\n");
        out16(POWER, 0x100);
        out16(POWER + 4, 0x2000);
    }
    out32(UNPLUG + 16, 0);
    u32 unplugged = in32(UNPLUG + 4);
    if (unplugged) out32(UNPLUG + 8, unplugged & -unplugged);
}

static int has(const char *text, const char *wanted)
{
    for (; *text; text++)
        for (int at = 0; text[at] == wanted[at]; at++)
            if (!wanted[at + 1]) return 1;
    return 0;
}

/* Reads by the mathematical coprocessor where no memory is. */
static void fault(void) { __asm__ volatile("flds %0" ::"m"(*(const float *)0x70000000)); }

void run(const u32 *boot)
{
    const char *words = boot[0] & 4 ? (const char *)boot[4] : "";

    begin_interrupts();
    out8(SERIAL + 1, 0);
    out8(SERIAL + 3, 3);
    out16(POWER + 2, 0x100);
    say("guest ");
    say(words);
    say(" is up\n");
    u32 number = last_on_disk();
    for (u32 next = 0;;) {
        __asm__ volatile("sti; hlt; cli");
        obey();
        if ((int)(jiffies - next) < 0) continue;
        next = jiffies + JIFFIES_A_TICK;
        number++;
        *(volatile u32 *)(PAGES + number % DIRTY * PAGE) = number;
        keep_on_disk(number);
        say("tick ");
        say(decimal(number));
        say("\n");
        if (number == 5 && has(words, "fault")) fault();
    }
}
