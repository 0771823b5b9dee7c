/* The examples of "Angelic Verification" (CAV'15), as C. A marker tells the strictest filter that reports a failure. */
#include <assert.h>
#include <stddef.h>

void __cassini_angelic(int);

int gs;

/* Figure 1: `x` may be null, as the comparison says. */
void Bar(int *x)
{
    if (x != NULL)
        gs = 1;
    else
        gs = 2;
    *x = 5; //~ conc null/dereference
}

void Baz(int *y)
{
    *y = 4;
}

int **Lib1(void);
int **Lib2(void);

void FooBar(void)
{
    int **z = Lib1();
    *z = NULL;
    int **x = Lib2();
    int *w = *x;
    *w = 4;
}

void Foo(int *z)
{
    Bar(z);
    Baz(NULL); //~ conc null/dereference
    FooBar();
}

/* Figure 6 (a): some depth on entry makes it hold; that of the harness does not. */
int LockDepth;

static void KeAcquireSpinLock(void) { LockDepth++; }
static void KeReleaseSpinLock(void) { LockDepth--; }
static void KeCheckSpinLock(void) { assert(LockDepth > 0); } //~ demonic assert/failure

void IoCancelSpinLock(void)
{
    KeReleaseSpinLock();
    KeReleaseSpinLock();
    KeAcquireSpinLock();
    KeCheckSpinLock(); //~ demonic assert/failure
}

void Harness(void)
{
    LockDepth = 0;
    IoCancelSpinLock(); //~ conc assert/failure
}

/* Figure 6 (b): nothing on entry makes it hold. */
enum { PASSIVE, DISPATCH = 2 };
int irqlVal;

static void KeReleaseIrql(void)
{
    assert(irqlVal == PASSIVE); //~ demonic assert/failure
    irqlVal = DISPATCH;
}

void KeRaiseIrql(void)
{
    irqlVal = DISPATCH;
    KeReleaseIrql(); //~ conc assert/failure
}

/* Figure 6 (c): it holds if the three are different. What fails again in one function is told once. */
typedef struct { int x; } IRP;
typedef struct { IRP *FlushIrp, *LockIrp, *BlockIrp; } DE;
typedef struct { DE *DeviceExtension; } DO;
int completed;
IRP *global_irp;

static void IoCompleteRequest(IRP *p)
{
    if (p == global_irp) {
        assert(completed != 1); //~ demonic assert/failure
        completed = 1;
    }
}

void DispatchRoutine(DO *devobj, IRP *irp)
{
    completed = 0;
    global_irp = irp;
    DE *de = devobj->DeviceExtension;
    IoCompleteRequest(de->FlushIrp);
    IoCompleteRequest(de->BlockIrp); //~ demonic assert/failure
    IoCompleteRequest(de->LockIrp); //~ demonic assert/failure
}

/* The user says that it may well not hold. */
void angelic(int n)
{
    __cassini_angelic(n > 0);
    assert(n > 0); //~ conc assert/failure
}

void not_angelic(int n)
{
    assert(n > 0); //~ demonic assert/failure
}
