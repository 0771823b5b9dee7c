/* Odd records for scripts/layouts: every member's place is compared with the compiler's. */
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef int v4 __attribute__((vector_size(16))); typedef float v8 __attribute__((vector_size(32)));
#ifdef __SIZEOF_INT128__
typedef __int128 integer;
#else
typedef long long integer;
#endif
typedef u64 __attribute__((aligned(4))) loose; typedef int tight __attribute__((aligned(16)));

struct plain { char a; int b; char c; long d; short e; };
struct packed { char a; int b; char c; long d; short e; } __attribute__((packed));
struct packed_aligned { char a; long b; } __attribute__((packed, aligned(4)));
struct member_packed { char a; long b __attribute__((packed)); char c; int d __attribute__((packed, aligned(2))); };
struct over_aligned { char a; int b __attribute__((aligned(32))); _Alignas(8) char c; _Alignas(double) char d; } __attribute__((aligned(64)));
struct typedefs { u8 a; loose b; u8 c; tight d; u8 e; };
struct wide { char a; integer b; char c; long double d; char e; double _Complex f; float _Complex g; char h; long double _Complex i; };
struct vectors { char a; v4 b; char c; v8 d; char e; };
struct small_floats { char a; _Float16 b; char c; __float128 d; char e; };
struct pointers { char a; void *b; char c; int (*d)(int); char e; char *f[3]; char g; int (*h[2])[3]; };

struct bits { int a : 3; unsigned b : 20; char c; short d : 9; long long e : 33; _Bool f : 1; u8 g : 7; u64 h : 40; };
struct bits_zero { char a; int : 0; char b; int c : 5; long : 0; char d : 3; char : 0; char e : 2; short : 0; int f : 31; };
struct bits_unnamed { int a : 3; int : 7; int b : 5; long : 30; char c; };
struct bits_packed { char a; int b : 30; int c : 5; char d; u16 e : 15; u16 f : 2; char g; u64 h : 60; u8 i : 7; } __attribute__((packed));
struct bits_packed_zero { char a; int b : 3; int : 0; int c : 4; u64 d : 50; short : 0; char e : 1; } __attribute__((packed));
struct bits_one_packed { int a : 7; int b : 30 __attribute__((packed)); int c : 3; long long d : 40 __attribute__((packed)); };
struct bits_aligned { int a : 7; int b : 5 __attribute__((aligned(8))); int c : 3; int d : 4 __attribute__((aligned(2))); };
struct bits_whole { u32 a : 32; u64 b : 64; u8 c : 8; u16 d : 16; u64 e : 1; u64 f : 63; };
struct bits_bool { _Bool a : 1; _Bool b : 1; char c; _Bool d : 1; int e : 31; _Bool f; };
struct bits_enum { enum { E0, E1, E2 } a : 2; enum small { S0 = -1, S1 } b : 3; enum tiny { T0, T1 = 200 } __attribute__((packed)) c : 8; char d; };
struct bits_crossing { u8 a : 5; u16 b : 9; u32 c : 17; u64 d : 33; u8 e : 5; u16 f : 12; };
union bit_union { int a : 3; u64 b : 50; char c; u8 d : 7; };
union packed_union { char a[7]; int b; u64 c : 33; } __attribute__((packed));

#pragma pack(push, 1)
struct pack1 { char a; long b; int c : 5; int d : 30; char e; union { char x; int y; } f; };
#pragma pack(2)
struct pack2 { char a; long b; int c : 5; int d : 30; char e; long f __attribute__((aligned(8))); };
#pragma pack(push, 4)
struct pack4 { char a; double b; struct plain c; char d : 3; u64 e : 40; int : 0; char f; };
#pragma pack(pop)
union pack2_union { char a[5]; long b; };
#pragma pack(pop)
struct unpacked { char a; struct pack1 b; long c; };
#pragma pack(8)
struct pack8 { char a; long double b; int c; };
#pragma pack()

struct anonymous { char a; struct { char b; union { long c; char d[9]; }; struct { int e : 3; int f : 4; }; }; char g; struct { short h; } i[2]; };
struct flexible { int n; short tail[]; };
struct flexible_aligned { char n; long tail[]; };
struct zero_length { char n; long none[0]; char m; struct {} nothing; char o; };
struct empty { };
union nothing { };
struct arrays { char a[3]; short b[2][3]; struct packed c[2]; struct { char x; long y; } d[3]; };
struct nested_alignment { char a; struct over_aligned b; char c; } ;
struct atomics { char a; _Atomic(int) b; char c; _Atomic long d; _Atomic char e; };
struct forward { struct later *p; enum small e; } ; struct later { struct forward f; };
typedef struct { char a; int b; } anonymous_typedef; typedef union { char a; int b; } __attribute__((packed)) packed_typedef;
typedef struct { char a; int b; } __attribute__((aligned(32))) aligned_typedef; typedef int array_typedef[3][4];
struct computed { char a[sizeof(struct bits) + 1]; int b[__builtin_offsetof(struct plain, d)]; char c[T1 - 100]; int d : sizeof(int) * 4; };

enum negative { N0 = -5, N1, N2 = 1 << 20 }; enum large { L0 = 1ull << 40, L1 }; enum both { B0 = -1, B1 = 4294967295 };
enum __attribute__((packed)) packed_enum { P0, P1 = 65535 }; enum signed_packed { Q0 = -129, Q1 } __attribute__((packed));
enum byte_mode { M0, M1 } __attribute__((mode(byte))); typedef int half_mode __attribute__((mode(HI))); typedef unsigned word_mode __attribute__((mode(DI)));
enum expressions { X0 = sizeof(struct packed), X1 = X0 * 2, X2 = 'a' + X1, X3 = (X1 > 3) ? -1 : 1, X4 = ~0u, X5 = (char)200 };

/* The alignment of objects, which need not be that of their types; C's own operator tells the least there is. */
struct packed packed_object, *packed_pointer; struct over_aligned over_object; extern int strict_object __attribute__((aligned(32)));
static char _Alignas(long long) as_long_long; int plain_object, array_object[3]; long *long_pointer; loose loose_object; int function(void);
enum alignments {
	G0 = __alignof__(packed_object.b), G1 = __alignof__(packed_pointer->d), G2 = __alignof__ packed_pointer->d, G3 = _Alignof(over_object.b),
	G4 = __alignof__(over_object.d), G5 = __alignof__(strict_object), G6 = __alignof__(as_long_long), G7 = __alignof__(plain_object),
	G8 = __alignof__(array_object), G9 = __alignof__(array_object[1]), G10 = __alignof__(*(char *)long_pointer), G11 = __alignof__(*long_pointer),
	G12 = __alignof__(loose_object), G13 = __alignof__(function), G14 = __alignof__(packed_object), G15 = __alignof__(*&packed_object.b),
	G16 = __alignof__(plain_object + 1), G17 = __alignof__(long long), G18 = _Alignof(long long), G19 = __alignof__(double), G20 = _Alignof(double),
	G21 = _Alignof(double[2]), G22 = __alignof__(double _Complex), G23 = _Alignof(double _Complex), G24 = _Alignof(long double),
	G25 = _Alignof(void *), G26 = _Alignof(loose), G27 = __alignof__(packed_pointer->b + 1), G28 = __alignof__("text"),
};

/* What the widths of types decide. */
enum widths {
	W0 = sizeof(2147483647), W1 = sizeof(2147483648), W2 = sizeof(0x80000000), W3 = sizeof(4294967296), W4 = sizeof(1l), W5 = sizeof(1ll),
	W6 = sizeof(sizeof 1), W7 = sizeof((char *)0 - (char *)0), W8 = sizeof(L'a'), W9 = sizeof(L"ab"), W10 = sizeof(u"ab"), W11 = -1l < 1u,
	W12 = (unsigned long)-1 > 0xffffffffull, W13 = (char)-1 < 0, W14 = '\xff' < 0, W15 = sizeof(1 ? 1l : 1u), W16 = (long)0x80000000 < 0,
	W17 = -1 < (__typeof__(sizeof 1))0, W18 = sizeof(__builtin_va_list), W19 = sizeof(long double), W20 = sizeof(void *[3]),
	W21 = (int)(long)(void *)-1, W22 = sizeof(1ul << 31), W23 = (-1l >> 1) == -1, W24 = L'\xff' > 0, W25 = __builtin_offsetof(struct pointers, g),
	W26 = _Generic(2147483648, int : 1, long : 2, long long : 3, default : 4), W27 = _Generic(0xffffffff, unsigned : 1, long : 2, default : 3),
	W28 = _Generic(sizeof 1, unsigned : 1, unsigned long : 2, unsigned long long : 3), W29 = _Generic(1l + 1u, unsigned long : 1, long : 2, default : 3),
	W30 = _Generic((char *)0 - (char *)0, int : 1, long : 2, long long : 3), W31 = _Generic(L'a', int : 1, long : 2, unsigned : 3, default : 4),
};
typedef int word_sized __attribute__((mode(word))); typedef unsigned pointer_sized __attribute__((mode(pointer))); typedef int double_word __attribute__((mode(DI)));
struct lists { char a; __builtin_va_list b; char c; };
