// Programs for comparing lowering with a compiler: each test_* returns a number. No preprocessing.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef signed char s8;

int printf(const char *, ...);

// ---- arithmetic ----
static long mix(long h, long v) { return h * 1000003 + v; }
long test_promotion(void) {
  u8 a = 200, b = 100; s8 c = -3; u16 d = 65535; short e = -1;
  long h = a + b;
  h = mix(h, (u8)(a + b)); h = mix(h, c * d); h = mix(h, e < d); h = mix(h, -1 < 1u);
  h = mix(h, (long)-1 < 1u); h = mix(h, ~a); h = mix(h, -d); h = mix(h, (u8)~a >> 1);
  h = mix(h, 'a' + '\xff'); h = mix(h, sizeof(a + b)); h = mix(h, sizeof(a ? a : 1ul));
  h = mix(h, (char)200); h = mix(h, (_Bool)256); h = mix(h, (_Bool)0.5); h = mix(h, !a);
  return h;
}
long test_shift(void) {
  int a = -16; u32 b = 0xf0000000; long c = 1L << 40; u8 d = 0x80;
  long h = a >> 2; h = mix(h, b >> 4); h = mix(h, c >> 3); h = mix(h, d << 8); h = mix(h, 1u << 31);
  b <<= 1; h = mix(h, b); a >>= 1; h = mix(h, a); d <<= 1; h = mix(h, d); d = 0x81; d >>= 1; h = mix(h, d);
  return h;
}
long test_division(void) {
  int a = -7, b = 2; u32 c = -7; long d = -7;
  long h = a / b; h = mix(h, a % b); h = mix(h, c / b); h = mix(h, d / 2u); h = mix(h, a % 2u);
  a /= 2; h = mix(h, a); a %= 2; h = mix(h, a); h = mix(h, 7 / -2); h = mix(h, 7 % -2);
  return h;
}
long test_wide(void) {
  __int128 a = (__int128)1 << 100; unsigned __int128 b = -1;
  long h = (long)(a >> 90); h = mix(h, (long)(b >> 120)); h = mix(h, a < 0); h = mix(h, (long)((a * 3) >> 98));
  u64 x = 0xffffffffffffffffUL; h = mix(h, (long)(((unsigned __int128)x * x) >> 64)); h = mix(h, sizeof a);
  return h;
}
long test_constants(void) {
  long h = 0x7fffffff; h = mix(h, 2147483648); h = mix(h, 0xffffffff); h = mix(h, 0x80000000 > 0);
  h = mix(h, 0777); h = mix(h, 0b1011); h = mix(h, 1ULL << 63 > 0); h = mix(h, 'ab'); h = mix(h, L'x');
  h = mix(h, '\n'); h = mix(h, '\0'); h = mix(h, '\\'); h = mix(h, -2147483647 - 1 < 0); h = mix(h, sizeof 4294967295);
  return h;
}
long test_floats(void) {
  double a = 1.5, b = -2.25; float c = 0.1f; int n = 7;
  long h = (int)(a * b * 100); h = mix(h, (int)(n / 2 + a)); h = mix(h, a > b); h = mix(h, (long)(c * 1000));
  h = mix(h, (int)(n / 2.0)); h = mix(h, a ? 3 : 4); h = mix(h, !b); n += 1.9; h = mix(h, n); a++; h = mix(h, (int)a);
  h = mix(h, (u8)3.99); h = mix(h, (int)0x1.8p3); h = mix(h, (int)1e3f); c = n; h = mix(h, (int)-c);
  return h;
}
// ---- control flow ----
long test_logic(void) {
  int n = 0; long h = 0; int a = 3, b = 0;
  h = mix(h, a && b++); h = mix(h, b); h = mix(h, a || b++); h = mix(h, b); h = mix(h, b || (n = 5)); h = mix(h, n);
  h = mix(h, (a && n) + (b || !n)); h = mix(h, a > 2 ? n++ : n--); h = mix(h, n); h = mix(h, a ?: 9); h = mix(h, b ?: n++);
  h = mix(h, n); h = mix(h, (a, n, b)); h = mix(h, a == 3 && (n == 6 || b) && !b);
  if (!(a && !b) || n < 0) h = mix(h, 1); else h = mix(h, 2);
  return h;
}
long test_loops(void) {
  long h = 0; int i, j;
  for (i = 0; i < 5; i++) { if (i == 1) continue; if (i == 4) break; h = mix(h, i); }
  while (i --> 0) h = mix(h, i);
  do { h = mix(h, i); i += 2; } while (i < 7);
  for (;;) { if (i-- < 3) break; for (j = 0; j < i; j++) { if (j == 2) goto out; h++; } }
out:
  for (int k = 3, m = 1; k; k--, m *= 2) h = mix(h, m);
  return mix(h, i);
}
static int classify(int n) {
  int r = 0;
  switch (n) {
  case 0: r += 1;
  case 1: r += 10; break;
  case 3 ... 5: r = 100; break;
  default: r = 7;
  case -2: r++; break;
  { case 9: { r = 99; } }
  }
  return r;
}
long test_switch(void) { long h = 0; for (int i = -3; i < 12; i++) h = mix(h, classify(i)); return h; }
static void duff(char *to, const char *from, int count) {
  int n = (count + 7) / 8;
  switch (count % 8) {
  case 0: do { *to++ = *from++;
  case 7: *to++ = *from++;
  case 6: *to++ = *from++;
  case 5: *to++ = *from++;
  case 4: *to++ = *from++;
  case 3: *to++ = *from++;
  case 2: *to++ = *from++;
  case 1: *to++ = *from++;
  } while (--n > 0);
  }
}
long test_duff(void) {
  char to[32] = "", from[] = "the quick brown fox"; duff(to, from, sizeof from);
  long h = 0; for (char *p = to; *p; p++) h = mix(h, *p); return h;
}
long test_switch_unsigned(void) {
  u32 n = 0xfffffffe; long h = 0;
  switch (n) { case -2: h = 5; break; case 1: h = 6; }
  switch ((u8)300) { case 44: h = mix(h, 1); break; default: h = mix(h, 2); }
  switch (sizeof(n)) { case 4: h = mix(h, 3); break; case 8: h = mix(h, 4); }
  switch (3) { int k; case 1: k = 1; h = mix(h, k); break; case 2 ... 4: k = 2; h = mix(h, k); }
  return h;
}
long test_goto(void) {
  int n = 0; long h = 0;
again:
  h = mix(h, n);
  if (n++ < 3) goto again;
  if (0) { inside: h = mix(h, 77); goto end; }
  if (n == 4) goto inside;
end:
  return h;
}
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int ack(int m, int n) { if (!m) return n + 1; if (!n) return ack(m - 1, 1); return ack(m - 1, ack(m, n - 1)); }
long test_recursion(void) { return fib(12) * 1000 + ack(2, 3); }
// ---- records ----
struct bits { u32 a : 3; int b : 5; u32 c : 10; u64 d : 40; _Bool e : 1; int : 0; s8 f : 4; u32 g : 32; };
long test_bits(void) {
  struct bits s = { 5, -9, 1000, 0xfedcba9876, 1, -3, 0xdeadbeef }; long h = 0;
  h = mix(h, s.a); h = mix(h, s.b); h = mix(h, s.c); h = mix(h, s.d); h = mix(h, s.e); h = mix(h, s.f); h = mix(h, s.g);
  s.a += 4; h = mix(h, s.a); s.b = 15; h = mix(h, s.b++); h = mix(h, s.b); h = mix(h, s.c = 5000); h = mix(h, s.c);
  s.e = 8; h = mix(h, s.e); s.f--; h = mix(h, s.f); s.d >>= 4; h = mix(h, s.d); h = mix(h, s.a - 6 < 0); h = mix(h, -s.g > 0);
  h = mix(h, sizeof s); struct bits t = s; t.a ^= 7; h = mix(h, t.a * 10 + s.a); h = mix(h, (s.d == t.d) + ++t.c);
  return h;
}
struct __attribute__((aligned(1))) pad0 { char x; };
struct packed { char a; int b; u16 c : 5; u32 d : 20; long e; } __attribute__((packed));
long test_packed(void) {
  struct packed p = { 1, -2, 17, 99999, -5 }; long h = sizeof p;
  h = mix(h, p.a); h = mix(h, p.b); h = mix(h, p.c); h = mix(h, p.d); h = mix(h, p.e); p.d--; p.e++; h = mix(h, p.d + p.e);
  u8 *b = (u8 *)&p; for (unsigned i = 0; i < sizeof p; i++) if (i != 8) h = mix(h, b[i]);
  return h;
}
union view { u32 word; u16 half[2]; u8 byte[4]; struct { u32 low : 12, high : 20; }; };
long test_union(void) {
  union view v = { 0x12345678 }; long h = v.half[0]; h = mix(h, v.byte[3]); h = mix(h, v.low); h = mix(h, v.high);
  v.high = 0xabcde; h = mix(h, v.word); v.byte[0] = 0; h = mix(h, v.word); union view w = { .half = { 1, 2 } }; h = mix(h, w.word);
  w = v; h = mix(h, w.word); return mix(h, ((union view)(u32)77).word);
}
struct node { int value; struct node *next; };
struct pair { int a; struct { int b; union { int c; char d[4]; }; } in; int tail[]; };
long test_nested(void) {
  struct pair p = { 1, { 2, { 3 } } }, q = { .in = { .c = 7 }, .a = 9 }; long h = 0;
  h = mix(h, p.in.d[0] + p.in.b); h = mix(h, q.in.c + q.a + q.in.b); p.in = q.in; h = mix(h, p.in.c);
  h = mix(h, __builtin_offsetof(struct pair, in.d[2])); h = mix(h, (long)&((struct pair *)0)->tail);
  h = mix(h, sizeof(struct pair)); struct pair *r = &p; r->in.d[1] = 1; h = mix(h, r->in.c);
  return h;
}
static struct node *push(struct node *head, struct node *n, int value) { n->value = value; n->next = head; return n; }
long test_list(void) {
  struct node pool[5], *head = 0, *p; long h = 0; int i;
  for (i = 0; i < 5; i++) head = push(head, &pool[i], i * i);
  for (p = head; p; p = p->next) h = mix(h, p->value);
  struct node **pp = &head; while (*pp) { if ((*pp)->value == 4) *pp = (*pp)->next; else pp = &(*pp)->next; }
  for (p = head; p; p = p->next) h = mix(h, p->value);
  return mix(h, &pool[4] - pool) + (head == &pool[4]);
}
struct big { long v[5]; };
static struct big make(int n) { struct big b; for (int i = 0; i < 5; i++) b.v[i] = n * i; return b; }
static long sum(struct big b, int n) { long s = 0; for (int i = 0; i < n; i++) s += b.v[i]; b.v[0] = 1000; return s; }
long test_records(void) {
  struct big a = make(3), b; b = a; b.v[2] = 50; long h = sum(a, 5); h = mix(h, sum(b, 3)); h = mix(h, make(7).v[3]);
  h = mix(h, a.v[0]); struct big *p = &b; *p = make(2); h = mix(h, b.v[4]); h = mix(h, sum((h & 1) ? a : b, 5));
  h = mix(h, (a = b).v[3]); h = mix(h, ({ struct big t = make(4); t.v[0] = 5; t; }).v[4]);
  return h;
}
// ---- initialisers ----
static const int squares[] = { 0, 1, 4, [5] = 25, 36, [3] = 9 };
static const char *const words[] = { "alpha", "be" "ta", [4] = "gamma" };
struct point { int x, y; };
struct shape { struct point at[3]; const char *name; char tag[4]; };
static struct shape shapes[] = { { { { 1, 2 }, { 3 } }, "tri", "abc" }, { 4, 5, 6, 7, 8, 9, "sq", { 'x' } },
  [3] = { .at[1] = { 10, 11 }, .at[2].y = 12, .tag = "wxyz" } };
static int matrix[2][3] = { { 1, 2, 3 }, { 4 } }, flat[2][2] = { 1, 2, 3 };
static int *const pointers[] = { &matrix[1][0], matrix[0] + 2, flat[1] };
long test_initialisers(void) {
  long h = sizeof squares; for (unsigned i = 0; i < sizeof squares / sizeof *squares; i++) h = mix(h, squares[i]);
  h = mix(h, sizeof words / sizeof *words); h = mix(h, words[1][2]); h = mix(h, words[3] == 0); h = mix(h, words[4][4]);
  h = mix(h, sizeof shapes / sizeof *shapes);
  for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++) { h = mix(h, shapes[i].at[j].x); h = mix(h, shapes[i].at[j].y); }
  for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) h = mix(h, shapes[i].tag[j]);
  h = mix(h, *pointers[0] + *pointers[1] * 10 + *pointers[2] * 100); h = mix(h, matrix[1][1] + flat[1][1]);
  return h;
}
long test_local_initialisers(void) {
  int n = 4; int a[5] = { n, n + 1, [3] = n * 2 }; struct point p = { .y = n }, q[] = { p, { 1, 2 }, p }; char s[10] = "hey", t[3] = "abc";
  long h = sizeof q / sizeof *q; for (int i = 0; i < 5; i++) h = mix(h, a[i]); h = mix(h, p.x * 10 + p.y);
  h = mix(h, q[2].y + q[1].x); for (int i = 0; i < 10; i++) h = mix(h, s[i]); h = mix(h, t[2]); struct point z = {}; h = mix(h, z.x);
  int m[3][4] = { [0 ... 1] = { 1, [2 ... 3] = 5 }, { [1] = 9 } }; for (int i = 0; i < 12; i++) h = mix(h, ((int *)m)[i]);
  struct point *c = (struct point[]){ { 3, 4 }, { 5, 6 } }; h = mix(h, c[1].x); h = mix(h, (&(struct point){ .y = 8 })->y);
  int one = { 5 }; struct { struct point p; int z; } w = { p, 3 }, v = { 1, 2, 3 }; h = mix(h, w.p.y + w.z + v.z + one);
  return h;
}
// ---- pointers and arrays ----
long test_pointers(void) {
  int a[10]; long h = 0; int *p = a, *q; for (int i = 0; i < 10; i++) *p++ = i * 3;
  q = &a[2]; h = mix(h, p - q); h = mix(h, *--p); h = mix(h, p[-2]); h = mix(h, 3[a]); h = mix(h, *(q + 4)); h = mix(h, q < p);
  p -= 3; h = mix(h, *p); char *c = (char *)a; h = mix(h, *(int *)(c + 8)); h = mix(h, (u64)(p + 1) - (u64)p);
  int m[3][4]; for (int i = 0; i < 12; i++) m[i / 4][i % 4] = i; h = mix(h, *(*(m + 2) + 1)); int (*row)[4] = m + 1; h = mix(h, (*row)[3]);
  h = mix(h, sizeof m[0]); h = mix(h, &m[2][0] - &m[0][0]); void *v = a; h = mix(h, (int *)(v + 4) == a + 1); h = mix(h, (char *)(row + 1) - (char *)row);
  u32 idx = 1; h = mix(h, q[-idx + 1]); q = 0; h = mix(h, !q); h = mix(h, q == (void *)0); u8 k = 255; h = mix(h, a[(u8)(k + 3)]);
  return h;
}
static int twice(int n) { return n * 2; } static int thrice(int n) { return n * 3; }
static int (*const table[])(int) = { twice, &thrice };
struct ops { int (*run)(int); int (**more)(int); };
static int apply(int f(int), int n) { return f(n); }
static int (*choose(int n))(int) { return n ? twice : thrice; }
long test_function_pointers(void) {
  struct ops o = { thrice, (int (**)(int))table }; long h = 0;
  h = mix(h, table[1](5)); h = mix(h, (*table[0])(6)); h = mix(h, o.run(7)); h = mix(h, o.more[1](8)); h = mix(h, apply(twice, 9));
  h = mix(h, choose(1)(10) + choose(0)(10)); h = mix(h, (h & 1 ? twice : thrice)(4)); h = mix(h, (**table)(3)); int (*f)(int) = 0; h = mix(h, f == 0);
  return h;
}
long test_vla(void) {
  int n = 5; int a[n]; long h = sizeof a; for (int i = 0; i < n; i++) a[i] = i * i; n = 3; h = mix(h, a[4] + sizeof a);
  int m[n][4]; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) m[i][j] = i * 10 + j; h = mix(h, m[2][3]); h = mix(h, sizeof m); h = mix(h, (char *)&m[1] - (char *)m);
  return h;
}
static long matrix_sum(int rows, int cols, int m[rows][cols]) { long s = 0; for (int i = 0; i < rows; i++) for (int j = 0; j < cols; j++) s += m[i][j]; return s; }
long test_vla_parameter(void) { int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; return matrix_sum(2, 3, m); }
// ---- assignment and effects ----
long test_effects(void) {
  int i = 0, a[6] = { 0 }, *p = a; long h = 0;
  *p++ = 5; *p++ += 6; *++p = 7; (*p)--; a[i++] += i * 0; h = mix(h, i); for (int k = 0; k < 6; k++) h = mix(h, a[k]);
  int x = 1, y = 2; x = y = 9; h = mix(h, x * 10 + y); h = mix(h, x++ * 2 + (y -= 3)); h = mix(h, --x); x = (y++, y + 1); h = mix(h, x);
  u8 b = 250; b += 10; h = mix(h, b); h = mix(h, b++); h = mix(h, --b); s8 c = 127; c++; h = mix(h, c); h = mix(h, (c = 300)); b = -1; h = mix(h, b > 0);
  int n = ({ int t = x; x = 100; t + 1; }) + x * 0; h = mix(h, n + x); long z = 3; z *= 2.5; h = mix(h, z); x ^= y ^= x ^= 0; p = a; p += 2; h = mix(h, p - a); p = 0; h = mix(h, !p++);
  return h;
}
long test_scopes(void) {
  int x = 1; long h = 0; typedef struct { int x; } T; enum { A = 5, B, C = A * 2 }; 
  { int x = 2; h = mix(h, x); { long x = 3; h = mix(h, sizeof x); } typedef char T; h = mix(h, sizeof(T)); enum { A = 50 }; h = mix(h, A + B); }
  T t = { 4 }; h = mix(h, t.x + x + A + C); struct node { char c; } n; h = mix(h, sizeof n); for (int x = 9; x < 10; x++) h = mix(h, x);
  static int calls; calls += 42; h = mix(h, calls); extern int shared; h = mix(h, shared); return h;
}
int shared = 31;
enum color { RED, GREEN = 10, BLUE, NEG = -1 }; enum wide { HUGE_ONE = 0x100000000 }; enum small { S1, S2 } __attribute__((packed));
long test_enums(void) {
  enum color c = BLUE; long h = c; h = mix(h, sizeof(enum color) + sizeof(enum wide) + sizeof(enum small)); h = mix(h, NEG < 0u); h = mix(h, (enum color)-1 == NEG);
  h = mix(h, sizeof HUGE_ONE); enum small s = S2; s++; h = mix(h, s); h = mix(h, c - NEG); return mix(h, HUGE_ONE >> 30);
}
long test_generic(void) {
  int i = 0; const char *s = ""; u64 u = 0; long h = 0;
  h = mix(h, _Generic(i, int: 1, long: 2, default: 3)); h = mix(h, _Generic(s, char *: 1, const char *: 2)); h = mix(h, _Generic(u, long: 1, unsigned long: 2));
  h = mix(h, _Generic((char)1, int: 1, char: 2)); h = mix(h, _Generic("x", char *: 7, default: 8)); h = mix(h, _Generic(+(char)1, int: 1, char: 2)); h = mix(h, _Generic(test_generic, long (*)(void): 3, default: 4));
  return h;
}
long test_builtins(void) {
  int r; long l; u8 b; long h = 0; int big = 2147483647; u64 m = -1;
  h = mix(h, __builtin_add_overflow(big, 1, &r)); h = mix(h, r); h = mix(h, __builtin_sub_overflow(3, 5, &b)); h = mix(h, b); h = mix(h, __builtin_mul_overflow(m, 2, &l)); h = mix(h, l);
  h = mix(h, __builtin_add_overflow(m, -1, &m)); h = mix(h, __builtin_mul_overflow(1L << 40, 1L << 40, &l)); h = mix(h, __builtin_add_overflow(200, 50, &b)); h = mix(h, b);
  h = mix(h, __builtin_bswap32(0x12345678)); h = mix(h, __builtin_bswap16(0x1234)); h = mix(h, __builtin_clz(1)); h = mix(h, __builtin_ctzl(1L << 40)); h = mix(h, __builtin_popcountll(0xff00ff)); h = mix(h, __builtin_ffs(8));
  h = mix(h, __builtin_expect(big, 0)); h = mix(h, __builtin_strlen("four")); h = mix(h, __builtin_choose_expr(sizeof(int) == 4, 'a', "no"));
  char x[8] = "abcdefg", y[8]; __builtin_memcpy(y, x, 8); h = mix(h, y[6]); __builtin_memset(y, 0, 4); h = mix(h, y[3] + y[4]);
  int old = 5, want = 5; h = mix(h, __atomic_fetch_add(&old, 3, 5)); h = mix(h, __sync_add_and_fetch(&old, 2)); h = mix(h, __atomic_compare_exchange_n(&old, &want, 1, 0, 5, 5)); h = mix(h, want);
  h = mix(h, __sync_bool_compare_and_swap(&old, 10, 77)); h = mix(h, __sync_val_compare_and_swap(&old, 77, 78)); h = mix(h, __atomic_exchange_n(&old, 4, 5)); h = mix(h, __sync_fetch_and_or(&old, 3)); h = mix(h, old); __atomic_store_n(&old, 9, 5); h = mix(h, __atomic_load_n(&old, 5));
  return h;
}
static void note(int *p) { shared = shared * 3 + *p; }
static int guarded(int n) {
  int a __attribute__((cleanup(note))) = n;
  for (int i = 0; i < 3; i++) { int b __attribute__((cleanup(note))) = i; if (i == n) continue; if (i + 1 == n) break; if (n == 7) goto out; if (n == 8) return shared; b += 1; }
out:
  a++; return a;
}
long test_cleanup(void) { long h = 0; shared = 1; for (int i = 0; i < 10; i++) { h = mix(h, guarded(i)); h = mix(h, shared); shared &= 0xffff; } shared = 31; return h; }
static int kr(a, b, p) char a; short b; int *p; { return a + b + *p; }
long test_old_style(void) { int x = 5; return kr(300, 70000, &x); }
long test_strings(void) {
  long h = 0; const char *s = "a\tb\x41\101\0z" "q"; for (int i = 0; i < 9; i++) h = mix(h, s[i]); h = mix(h, sizeof "abc" "de"); h = mix(h, "xyz"[1]); h = mix(h, sizeof L"ab"); h = mix(h, L"ab"[1]); h = mix(h, u"c"[0] + sizeof u"c"); h = mix(h, *__func__);
  h = mix(h, sizeof __func__); return h;
}
typedef int aligned_int __attribute__((aligned(16)));
struct odd { char c; aligned_int i; } ; struct flex { u16 n; char data[]; }; typedef int vec __attribute__((vector_size(16)));
long test_layout(void) {
  long h = sizeof(struct odd); h = mix(h, _Alignof(struct odd)); h = mix(h, sizeof(struct flex)); h = mix(h, sizeof(vec)); h = mix(h, sizeof(long double)); h = mix(h, _Alignof(__int128));
  h = mix(h, sizeof(struct { char a; struct {} b; })); h = mix(h, sizeof(struct { int a : 1; long b : 40; char c; })); h = mix(h, sizeof(union { char a[5]; short b; })); h = mix(h, sizeof(int[3][5])); h = mix(h, sizeof(struct bits *)); h = mix(h, sizeof(__builtin_va_list));
  return h;
}
typedef int ints[3]; typedef int function(int); static int take(ints a, function f) { return a[1] + f(a[2]); }
long test_typedefs(void) { ints a = { 1, 2, 3 }; function *f = twice; typeof(a[0]) b = 4; __typeof__(long) c = -1; typeof(ints) d = { 7 }; __auto_type e = 1.5; return take(a, f) * 1000 + b + c + sizeof d + d[0] + (int)(e * 2); }
