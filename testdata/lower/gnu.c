// GNU C and C23 as far as gcc 12 has it, for comparing lowering with a compiler: each test_* returns a
// number. No preprocessing.
int printf(const char *, ...);
static long mix(long h, long v) { return h * 1000003 + v; }

// ---- statement expressions ----
struct pair { int a, b; };
static int twice(int n) { return 2 * n; }
long test_statement_expressions(void) {
  int n = 3;
  int a = ({ int t = n; t * 2; }), b[] = { ({ n + 1; }), 5, [3] = ({ int u = 4; u; }) };
  struct pair p = { .b = ({ int t = 7; t++; t; }), .a = ({ ({ n; }); }) };
  long h = mix(a, b[0] + b[3]); h = mix(h, p.a * 10 + p.b);
  h = mix(h, sizeof(({ long t = n++; t; }))); h = mix(h, n);
  __typeof__(({ n++; (char)n; })) c = 300; h = mix(h, c); h = mix(h, n);
  h = mix(h, ({ struct pair q = { 8, 9 }; q; }).b);
  h = mix(h, ({ if (n > 2) n = 9; else n = 1; n; })); h = mix(h, 1 + ({ for (int i = 0; i < 3; i++) n += i; n; }));
  for (int i = ({ n = 2; n; }); i < ({ 5; }); i += ({ 1; })) h = mix(h, i);
  switch (({ n; })) { case 2: h = mix(h, 22); break; default: h = mix(h, 23); }
  h = mix(h, n ? ({ n = 0; 5; }) : ({ n = 1; 6; })); h = mix(h, n);
  h = mix(h, twice(({ int k = 4; k + n; }))); h = mix(h, (&b[({ 1; })])[({ 0; })]);
  if (({ int *q = &n; *q = 4; *q == 4; }) && ({ n == 4; })) h = mix(h, 1);
  while (({ n--; n > 1; })) h = mix(h, n);
  return h;
}

// ---- ranges, designators, zero-length and flexible arrays ----
struct flexible { int n; short tail[]; };
struct nothing { int n; int none[0]; char last; };
static struct flexible given = { 3, { 1, 2, 3 } };
struct old_style { int x, y; struct { int in; } nested; };
long test_designators(void) {
  int a[10] = { [0 ... 3] = 7, [5] = 1, 2, [8 ... 9] = 3 };
  struct old_style o = { y: 4, x: 5, nested: { in: 6 } };
  struct old_style d = { .nested.in = 9, .x = 1, 2 };
  struct pair ps[] = { [2].a = 1, [2].b = 2, [0] = { 3, 4 } };
  static int s[] = { [4] = 1, 2, [1] = 3 };
  long h = 0;
  for (int i = 0; i < 10; i++) h = mix(h, a[i]);
  h = mix(h, o.x * 100 + o.y * 10 + o.nested.in); h = mix(h, d.nested.in * 100 + d.x * 10 + d.y);
  h = mix(h, sizeof ps / sizeof *ps + ps[2].b + ps[0].a); h = mix(h, sizeof s + s[5] + s[1]);
  h = mix(h, sizeof(struct flexible)); h = mix(h, given.tail[2]); h = mix(h, sizeof(struct nothing));
  h = mix(h, __builtin_offsetof(struct nothing, last)); h = mix(h, __builtin_offsetof(struct flexible, tail[2]));
  struct {} empty = {}; struct pair zero = {}; h = mix(h, sizeof empty + zero.a);
  return h;
}
static int range(unsigned char c) {
  switch (c) { case '0' ... '9': return c - '0'; case 'a' ... 'f': case 'A' ... 'F': return (c | 32) - 'a' + 10;
  case 0x80 ... 0xff: return -2; default: return -1; }
}
long test_case_ranges(void) {
  long h = 0;
  for (int c = 0; c < 256; c += 5) h = mix(h, range(c));
  return h;
}

// ---- elvis, typeof, auto type, labels ----
long test_elvis(void) {
  int calls = 0, x = 0; unsigned char c = 200;
  long h = (calls++, x) ?: 7; h = mix(h, calls); h = mix(h, ({ calls++; 5; }) ?: calls++); h = mix(h, calls);
  h = mix(h, c ?: -1); char *p = 0; h = mix(h, (p ?: "ab")[1]); h = mix(h, sizeof(c ?: 1L)); h = mix(h, x ?: x ?: 3);
  return h;
}
enum hot { HOT, DOG }; typedef enum hot hots; typedef enum { JANET } girls;
long test_compatible(void) {
  return __builtin_types_compatible_p(hots, enum hot) + 2 * __builtin_types_compatible_p(hots, girls) + 4 * __builtin_types_compatible_p(girls *, girls *)
    + 8 * __builtin_types_compatible_p(typeof(HOT), int) + 16 * __builtin_types_compatible_p(int[3], int[]) + 32 * __builtin_types_compatible_p(char, signed char);
}
long test_typeof(void) {
  int n = 3; const volatile short v = 2; typeof(n) *p = &n; __typeof(v) w = 1; typeof(int[3]) a = { 1, 2, 3 };
  __auto_type x = 1.5f; __auto_type y = a; typeof(twice) *f = twice; typeof(typeof(char *)[4]) q;
  long h = mix(sizeof(x), sizeof(y)); h = mix(h, f(*p)); h = mix(h, sizeof q); h = mix(h, a[2] + w + y[1]);
  typeof(a[0] + 1L) l = 1; h = mix(h, sizeof l); typeof(*p) arr[2] = { 4, 5 }; h = mix(h, arr[1]);
  return h;
}
static int find(int *a, int n, int v) {
  __label__ found;
  int i;
  { __label__ next; i = 0; next: if (i < n) { if (a[i] == v) goto found; i++; goto next; } }
  return -1;
found: return i;
}
long test_labels(void) { int a[] = { 4, 5, 6 }; return find(a, 3, 6) * 10 + find(a, 3, 9); }
long test_label_ends_block(void) { int n = 1; { goto out; n = 2; out: } { goto in; in: int k = 3; n += k; } return n; }

// ---- 128 bits, bool, bit-fields ----
long test_int128(void) {
  unsigned __int128 a = 1; __int128_t b = -5; __uint128_t c = ~(__uint128_t)0;
  a = (a << 127) | 3; long h = (long)(a >> 64); h = mix(h, (long)a); h = mix(h, (long)(b / 2)); h = mix(h, (long)(b % 3));
  h = mix(h, (long)(c >> 100)); h = mix(h, a > c); h = mix(h, b < 0); h = mix(h, (long)(c / 7 >> 60)); h = mix(h, (long)((__int128)b * b));
  h = mix(h, _Alignof(__int128)); b++; h = mix(h, (long)b); signed __int128 d = (unsigned)-1; h = mix(h, (long)d);
  return h;
}
struct wide { unsigned long long u33 : 33, u40 : 40; signed long long s35 : 35; unsigned u5 : 5; int s7 : 7; _Bool b : 1; };
long test_wide_bit_fields(void) {
  struct wide w = { .u33 = 0x100000000ull, .u40 = 0x100000000ull, .s35 = -1, .u5 = 31, .s7 = -64, .b = 1 };
  long h = mix(w.u33 + w.u33, w.u33 - w.u40); h = mix(h, w.u40 << 8); h = mix(h, w.s35 * 2); h = mix(h, w.u5 + w.s7);
  h = mix(h, w.u5 - 32 < 0); h = mix(h, ++w.u33); h = mix(h, w.u40--); h = mix(h, w.u40); h = mix(h, w.u5++ + w.u5); h = mix(h, w.u5);
  h = mix(h, sizeof(w.u33 + 0)); h = mix(h, sizeof(+w.u5)); h = mix(h, (w.s7 -= 1)); h = mix(h, w.b ^= 1); h = mix(h, (w.b = 2));
  h = mix(h, ~w.u33); h = mix(h, -w.u40 > 0); h = mix(h, w.u33 ? 1 : 2);
  h = mix(h, w.u40 == -1); h = mix(h, (long)(w.u33 * 1.0)); w.s35 = 1ll << 34; h = mix(h, w.s35); h = mix(h, sizeof(w.b ? 1 : 0));
  return h;
}
long test_bool(void) {
  _Bool b = 0.25; long h = b; b = (void *)&b; h = mix(h, b); b += 5; h = mix(h, b); b--; h = mix(h, b); b--; h = mix(h, b); b = b << 3; h = mix(h, b);
  b |= 2; h = mix(h, b); h = mix(h, sizeof(b + b)); h = mix(h, -b); h = mix(h, ~b); h = mix(h, (_Bool)0x100); return h;
}

// ---- atomics ----
long test_atomics(void) {
  _Atomic(int) a = 3; _Atomic unsigned char c = 250; int seen = 4;
  a += 4; a++; c += 10; long h = mix(a, c); h = mix(h, __atomic_fetch_add(&a, 5, __ATOMIC_SEQ_CST)); h = mix(h, a);
  h = mix(h, __atomic_compare_exchange_n(&a, &seen, 1, 0, 5, 5)); h = mix(h, seen); h = mix(h, __sync_val_compare_and_swap(&seen, 13, 2)); h = mix(h, seen);
  h = mix(h, __atomic_exchange_n(&c, 7, 5)); h = mix(h, __sync_fetch_and_nand(&seen, 3)); h = mix(h, seen); h = mix(h, __atomic_or_fetch(&c, 8, 5));
  __atomic_store_n(&seen, 9, 5); h = mix(h, __atomic_load_n(&seen, 5)); _Bool flag = 0; h = mix(h, __atomic_test_and_set(&flag, 5)); h = mix(h, flag);
  return h;
}

// ---- old and odd declarations ----
int sum(int n; int a[n], int n);
int sum(int n; int a[n], int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s + sizeof(*a); }
static int rows(int n; int m; int a[n][m], int n, int m) { return a[1][0] * 100 + sizeof(a[0]); }
static float half(x) float x; { return x / 2; }
static int narrow(c, s) unsigned char c; short s; { return c * 1000 + s; }
long test_parameters(void) {
  int a[] = { 1, 2, 3 }, b[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
  return mix(mix(sum(a, 3), rows(b, 2, 3)), mix((long)half(5.0), narrow(300, -2)));
}
typedef int handler(int); static handler triple, *chosen = triple; static int triple(int n) { return 3 * n; }
typedef int word; struct names { word word; int handler; };
long test_reused_names(void) {
  struct names word = { .word = 2, .handler = 3 }; int handler = word.word; { typedef char handler; handler c = 300; return mix(c, (*chosen)(word.handler)); }
  return handler;
}
typedef union { int *i; long *l; const void *v; } any __attribute__((__transparent_union__));
static long through(any a, int which) { return which ? *a.l : *a.i; }
long test_transparent_union(void) { int i = 5; long l = 6; return mix(through(&i, 0), through(&l, 1)); }
long test_digraphs(void) <% int a<:2:> = <% 1, 2 %>; return a<:1:>; %>
static inline __attribute__((__always_inline__)) int attributed(int n __attribute__((unused))) { return n; }
[[nodiscard]] static int marked([[maybe_unused]] int n, int) { [[maybe_unused]] int k [[gnu::aligned(16)]] = n; switch (k) { case 1: k = 2; [[fallthrough]]; case 2: k++; } return k; }
enum [[gnu::packed]] tiny { T0 [[deprecated]], T1 __attribute__((unused)) = 5 };
struct [[gnu::packed]] squeezed { char c; int i [[gnu::aligned(2)]]; };
long test_attributes(void) { return mix(mix(attributed(4), marked(1, 2)), sizeof(enum tiny) * 100 + sizeof(struct squeezed)); }
long test_literals(void) {
  long h = mix(u8'a', sizeof(u8'a')); h = mix(h, u8"x\xff"[1]); h = mix(h, sizeof u"ab" + sizeof U"ab" + sizeof L"ab" + sizeof u8"ab");
  h = mix(h, L'\x7fffffff'); h = mix(h, 1'000'000 + 0b1010'0101 + 0x1'f); h = mix(h, u'\uffff'); h = mix(h, "a" "b"[1]); h = mix(h, '\e' + '\?'); h = mix(h, "\u00e9"[1]);
  return h;
}
_Static_assert(sizeof(int) == 4); _Static_assert(1, "one"); struct asserted { int n; _Static_assert(1); };
long test_alignment(void) {
  _Alignas(32) char c = 1; struct { char a; _Alignas(8) char b; } s; typedef int loose __attribute__((aligned(2))); struct { char c; loose n; } l;
  return mix(mix(c, sizeof s), mix(sizeof l, __alignof__(struct { char c; double d; }) + __alignof__(long double)));
}
static int before(int n) { return sizeof(n) && twice(n) && __builtin_types_compatible_p(int, int) && twice(n); }
long test_and_after_types(void) { return before(1) + before(0); }
long test_overflow(void) {
  int r; long l; unsigned char u; long h = __builtin_add_overflow(2147483647, 1, &r); h = mix(h, r); h = mix(h, __builtin_mul_overflow(1l << 40, 1l << 30, &l)); h = mix(h, l);
  h = mix(h, __builtin_sub_overflow(3, 5, &u)); h = mix(h, u); h = mix(h, __builtin_add_overflow_p(1, 2, (char)0)); h = mix(h, __builtin_mul_overflow(-1, -1, &u)); return mix(h, u);
}
static int asm_goto(int n) {
  __asm__ goto ("" : "=r"(n) : "0"(n) : "cc" : out);
  n = 3;
out: return 5;
}
long test_asm_goto(void) { int x = 1; __asm__ volatile ("" ::: "memory"); return x + (sizeof(asm_goto(1)) == 4); }
static long cleaned; static void clean(int *p) { cleaned = mix(cleaned, *p); }
static inline int lock_get(int *p) { cleaned = mix(cleaned, 50 + *p); return *p; }
long test_guards(void) {
  cleaned = 0; int l = 7;
  for (int scope __attribute__((__cleanup__(clean))) = lock_get(&l), *done = 0; !done; done = (void *)8) { if (l == 8) break; cleaned = mix(cleaned, 1); }
  { int guard __attribute__((cleanup(clean))) = lock_get(&l); if (({ int inner __attribute__((cleanup(clean))) = 3; inner; }) == 3) l++; }
  int kept = ({ int f __attribute__((cleanup(clean))) = 9; __auto_type t = f; f = 0; t; });
  return mix(cleaned, kept);
}
struct counted { int n; int items[] __attribute__((__counted_by__(n))); };
long test_memory(void) {
  int a[4]; unsigned short s; long l; __builtin_memset(a, 0, sizeof a); __builtin_memset(&s, 0xab, 2); __builtin_memset(&l, -1, 8); __builtin_memcpy(&a[1], &s, 2);
  return mix(mix(a[1], s), l);
}
static struct pair *literal = &(struct pair){ 3, 4 }; static int *many[] = { (int[]){ 1, 2 }, (int[]){ 5, 6, 7 } };
long test_file_literals(void) { literal->a++; return mix(mix(literal->a, literal->b), many[1][2] + many[0][1]); }
long test_floats(void) {
  double z = 0.0, n = __builtin_nan(""); float f = 16777217; long h = mix(n == n, n != n); h = mix(h, __builtin_isunordered(1.0, n)); h = mix(h, __builtin_isless(1.0, 2.0f));
  h = mix(h, 1 / z == __builtin_inf()); h = mix(h, (long)f); h = mix(h, (long)(float)0x1000001000001l); h = mix(h, __builtin_isinf(-1 / z) != 0); h = mix(h, __builtin_isfinite(n)); h = mix(h, !(n < 1)); return h;
}
