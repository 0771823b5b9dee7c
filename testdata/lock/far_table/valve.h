struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct valve;
struct valve_ops {
	void (*open)(struct valve *v);
	void (*shut)(struct valve *v);
};
struct valve {
	struct mutex lock;
	const struct valve_ops *ops;
	int turns;
};
void valve_open(struct valve *v);
void __valve_shut(struct valve *v);
