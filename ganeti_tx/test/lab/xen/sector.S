# A boot sector that says a count on the first serial line, about twice a second, as long as it runs.
    .code16
    .globl _start
_start:
    ljmp $0, $begin
begin:
    cli
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %ss
    movw $0x7c00, %sp
    sti
    movw $0x3fb, %dx            # 115200 8n1
    movb $0x80, %al
    outb %al, %dx
    movw $0x3f8, %dx
    movb $1, %al
    outb %al, %dx
    incw %dx
    movb $0, %al
    outb %al, %dx
    movw $0x3fb, %dx
    movb $3, %al
    outb %al, %dx
next:
    incw number
    movw $text, %si
say:
    lodsb
    testb %al, %al
    jz digits
    call send
    jmp say
digits:
    movw number, %ax
    xorw %cx, %cx
    movw $10, %bx
divide:
    xorw %dx, %dx
    divw %bx
    pushw %dx
    incw %cx
    testw %ax, %ax
    jnz divide
print:
    popw %ax
    addb $'0', %al
    call send
    loop print
    movb $'\r', %al
    call send
    movb $'\n', %al
    call send
    movl 0x46c, %ebx            # the BIOS counts 18 times a second
    addl $9, %ebx
wait:
    hlt
    cmpl %ebx, 0x46c
    jb wait
    jmp next
send:
    pushw %ax
ready:
    movw $0x3fd, %dx
    inb %dx, %al
    testb $0x20, %al
    jz ready
    popw %ax
    movw $0x3f8, %dx
    outb %al, %dx
    ret
text:
    .asciz "tick "
number:
    .word 0
    .org 510
    .word 0xaa55
