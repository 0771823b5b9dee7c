/* Odd records for scripts/layouts: every member's place is compared with the compiler's. */
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long u64;
typedef int v4 __attribute__((vector_size(16))); typedef float v8 __attribute__((vector_size(32)));
typedef u64 __attribute__((aligned(4))) loose; typedef int tight __attribute__((aligned(16)));

struct plain { char a; int b; char c; long d; short e; };
struct packed { char a; int b; char c; long d; short e; } __attribute__((packed));
struct packed_aligned { char a; long b; } __attribute__((packed, aligned(4)));
struct member_packed { char a; long b __attribute__((packed)); char c; int d __attribute__((packed, aligned(2))); };
struct over_aligned { char a; int b __attribute__((aligned(32))); _Alignas(8) char c; _Alignas(double) char d; } __attribute__((aligned(64)));
struct typedefs { u8 a; loose b; u8 c; tight d; u8 e; };
struct wide { char a; __int128 b; char c; long double d; char e; double _Complex f; float _Complex g; char h; long double _Complex i; };
struct vectors { char a; v4 b; char c; v8 d; char e; };
struct small_floats { char a; _Float16 b; char c; __float128 d; char e; };
struct pointers { char a; void *b; char c; int (*d)(int); char e; char *f[3]; char g; int (*h[2])[3]; };

struct bits { int a : 3; unsigned b : 20; char c; short d : 9; long e : 33; _Bool f : 1; u8 g : 7; u64 h : 40; };
struct bits_zero { char a; int : 0; char b; int c : 5; long : 0; char d : 3; char : 0; char e : 2; short : 0; int f : 31; };
struct bits_unnamed { int a : 3; int : 7; int b : 5; long : 30; char c; };
struct bits_packed { char a; int b : 30; int c : 5; char d; u16 e : 15; u16 f : 2; char g; u64 h : 60; u8 i : 7; } __attribute__((packed));
struct bits_packed_zero { char a; int b : 3; int : 0; int c : 4; u64 d : 50; short : 0; char e : 1; } __attribute__((packed));
struct bits_one_packed { int a : 7; int b : 30 __attribute__((packed)); int c : 3; long d : 40 __attribute__((packed)); };
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

enum negative { N0 = -5, N1, N2 = 1 << 20 }; enum large { L0 = 1ul << 40, L1 }; enum both { B0 = -1, B1 = 4294967295 };
enum __attribute__((packed)) packed_enum { P0, P1 = 65535 }; enum signed_packed { Q0 = -129, Q1 } __attribute__((packed));
enum byte_mode { M0, M1 } __attribute__((mode(byte))); typedef int half_mode __attribute__((mode(HI))); typedef unsigned word_mode __attribute__((mode(DI)));
enum expressions { X0 = sizeof(struct packed), X1 = X0 * 2, X2 = 'a' + X1, X3 = (X1 > 3) ? -1 : 1, X4 = ~0u, X5 = (char)200 };
