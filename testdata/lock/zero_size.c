/* What is allocated for no bytes has an address that nothing may be read from. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct policy { long cpus[8]; struct mutex lock; };
extern struct policy *policies[8];
unsigned index_of(unsigned long size);
void *cache_alloc(unsigned index);
int get_device(int cpu);
int prepare(long *mask);
void release(struct policy *policy);
void msleep(unsigned time);
void mutex_init(struct mutex *lock);
int init(struct policy *policy);

static void *allocate(unsigned long size)
{
	unsigned index = index_of(size);

	return index ? cache_alloc(index) : (void *)16;
}

static struct policy *make(int cpu)
{
	struct policy *policy;
	int i;

	if (!get_device(cpu))
		return 0;
	policy = allocate(sizeof *policy);
	if (!policy)
		return 0;
	msleep(1);
	for (i = 0; i < 8; i++) {
		if (prepare(&policy->cpus[i])) {
			release(policy);
			return 0;
		}
	}
	if (prepare(policy->cpus)) {
		release(policy);
		return 0;
	}
	if (prepare(policy->cpus + 1)) {
		release(policy);
		return 0;
	}
	mutex_init(&policy->lock);
	return policy;
}

int online(int cpu) //~ clean
{
	struct policy *policy = policies[cpu];
	int error;

	if (policy) {
		mutex_lock(&policy->lock);
	} else {
		policy = make(cpu);
		if (!policy)
			return -12;
		mutex_lock(&policy->lock);
	}
	error = init(policy);
	if (error) {
		mutex_unlock(&policy->lock);
		return error;
	}
	mutex_unlock(&policy->lock);
	return 0;
}

int online_badly(int cpu)
{
	struct policy *policy = policies[cpu];

	if (policy) {
		mutex_lock(&policy->lock);
	} else {
		policy = make(cpu);
		if (!policy)
			return -12;
		mutex_lock(&policy->lock);
	}
	if (init(policy))
		return -22; //~ lock/inconsistent-exit
	mutex_unlock(&policy->lock);
	return 0;
}
